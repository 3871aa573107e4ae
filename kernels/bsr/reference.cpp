#include <array>
#include <type_traits>

#include "kernels/bsr/layout.hpp"
#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class BsrBlockRows final : public Kernel<Value> {
public:
    explicit BsrBlockRows(const BsrLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        // A size known to the compiler lets it unroll the product of a block.
        switch (layout_.size) {
            case 2: return multiply(std::integral_constant<Index, 2>{}, x, y, accumulate);
            case 3: return multiply(std::integral_constant<Index, 3>{}, x, y, accumulate);
            case 4: return multiply(std::integral_constant<Index, 4>{}, x, y, accumulate);
            default: return multiply(layout_.size, x, y, accumulate);
        }
    }

private:
    template <typename Size>
    void multiply(Size size, const Value* x, Value* y, bool accumulate) const {
        const Blocks<Value, HostArray>& blocks = layout_;
        for_each_in_parallel(blocks.block_rows(), 64, [&](std::int64_t block_row) {
            std::array<Value, largest_block> sums{};
            const Value* values = blocks.values.data() + Offset{blocks.block_offsets[block_row]} * size * size;
            for (Index block = blocks.block_offsets[block_row]; block < blocks.block_offsets[block_row + 1]; ++block) {
                const Index first_column = blocks.block_columns[block] * size;
                const auto add_block = [&](auto width) {
                    for (Index r = 0; r < size; ++r) {
                        for (Index c = 0; c < width; ++c) sums[r] += values[r * size + c] * x[first_column + c];
                    }
                };
                const Index columns_left = layout_.column_count - first_column;
                columns_left < size ? add_block(columns_left) : add_block(size);
                values += size * size;
            }
            const std::int64_t first_row = block_row * size;
            const auto rows = static_cast<Index>(std::min<std::int64_t>(size, layout_.row_count - first_row));
            for (Index r = 0; r < rows; ++r) put(y, static_cast<Index>(first_row + r), sums[r], accumulate);
        });
    }

    const BsrLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> bsr_reference_kernels() {
    return {{.name = "block_rows",
             .backend = Backend::kokkos,
             .summary = "block rows in parallel",
             .prepare = prepare_as<BsrBlockRows, BsrLayout>}};
}

}  // namespace workbench
