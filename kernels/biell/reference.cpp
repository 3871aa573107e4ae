#include <array>

#include "kernels/biell/layout.hpp"
#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"

namespace workbench {
namespace {

constexpr Index most_lanes = 32;
constexpr int strip_chunk = 8;

/// Strips in parallel, each the way a warp does it: the last group first, in which the whole strip shares the longest row. The
/// sums of shares that meet in the group before are then folded, until each lane has a row of its own.
template <ValueType Value>
class BiellStrips final : public Kernel<Value> {
public:
    explicit BiellStrips(const BiellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Index height = layout_.strip_height;
        for_each_in_parallel(layout_.strip_count(), strip_chunk, [&](std::int64_t strip) {
            std::array<Value, most_lanes> sums{};
            for (int group = layout_.group_count() - 1; group >= 0; --group) {
                add_group(strip * layout_.group_count() + group, x, sums);
                if (group > 0) fold(height >> group, sums);
            }
            for (Index lane = 0; lane < height; ++lane) {
                const std::int64_t row = strip * height + lane;
                if (row < layout_.row_count) put(y, static_cast<Index>(row), sums[lane], accumulate);
            }
        });
    }

private:
    void add_group(Offset group, const Value* x, std::array<Value, most_lanes>& sums) const {
        const Index height = layout_.strip_height;
        for (Offset slot = layout_.group_offsets[group]; slot < layout_.group_offsets[group + 1]; slot += height) {
            for (Index lane = 0; lane < height; ++lane) {
                sums[lane] += layout_.values[slot + lane] * x[layout_.column_indices[slot + lane]];
            }
        }
    }

    /// From a group of `rows` rows to the one before it, of twice as many: lanes 0 .. rows - 1 of each share there go on with
    /// what two lanes have found here, the others begin another row.
    void fold(Index rows, std::array<Value, most_lanes>& sums) const {
        for (Index lane = 0; lane < layout_.strip_height; lane += rows) {
            for (const Index end = lane + rows; lane < end; ++lane) {
                sums[lane] += sums[lane + rows];
                sums[lane + rows] = 0;
            }
        }
    }

    const BiellLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> biell_reference_kernels() {
    return {{.name = "strips",
             .backend = Backend::kokkos,
             .summary = "strips in parallel, the shares of a row folded together at the end",
             .prepare = prepare_as<BiellStrips, BiellLayout>}};
}

}  // namespace workbench
