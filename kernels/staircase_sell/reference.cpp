#include <algorithm>
#include <array>

#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/multiply_slice.hpp"
#include "kernels/staircase_sell/layout.hpp"

namespace workbench {
namespace {

constexpr Index lanes_at_a_time = 32;

template <ValueType Value>
class StaircaseSlices final : public Kernel<Value> {
public:
    explicit StaircaseSlices(const StaircaseSellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for (Index group = 0; group < layout_.group_count(); ++group) {
            const Index first_row = layout_.group_rows[group];
            const std::int64_t rows = layout_.group_rows[group + 1] - first_row;
            const std::int64_t blocks_of_slice = (layout_.slice_height + lanes_at_a_time - 1) / lanes_at_a_time;
            for_each_in_parallel(layout_.slice_count(group) * blocks_of_slice, slice_chunk, [&](std::int64_t block) {
                const std::int64_t slice = block / blocks_of_slice;
                const auto first_lane = static_cast<Index>(block % blocks_of_slice * lanes_at_a_time);
                const std::int64_t place = slice * layout_.slice_height + first_lane;
                const auto lanes = static_cast<Index>(
                    std::min<std::int64_t>({lanes_at_a_time, layout_.slice_height - first_lane, rows - place}));
                if (lanes <= 0) return;
                multiply_lanes(group, layout_.slice_slot(group, slice) + first_lane, lanes, x, y + first_row + place,
                               accumulate);
            });
        }
    }

private:
    /// Neighbouring rows of a slice, from their first slots on, side by side.
    void multiply_lanes(Index group, Offset slot, Index lanes, const Value* x, Value* y, bool accumulate) {
        std::array<Value, lanes_at_a_time> sums{};
        for (Index k = 0; k < layout_.group_widths[group]; ++k, slot += layout_.slice_height) {
            for (Index lane = 0; lane < lanes; ++lane) {
                const Index column = layout_.column_indices[slot + lane];
                // Not > 0, as in the source's kernel (section 4.3.4, line 13): column 0 is a column like any other.
                if (column >= 0) sums[lane] += layout_.values[slot + lane] * x[column];
            }
        }
        for (Index lane = 0; lane < lanes; ++lane) put(y, lane, sums[lane], accumulate);
    }

    const StaircaseSellLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> staircase_sell_reference_kernels() {
    return {{.name = "groups",
             .backend = Backend::kokkos,
             .summary = "group after group, its slices in parallel, the rows of a slice side by side",
             .prepare = prepare_as<StaircaseSlices, StaircaseSellLayout>}};
}

}  // namespace workbench
