#include <algorithm>

#include "kernels/banded_block/layout.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class BandedBlockRows final : public Kernel<Value> {
public:
    explicit BandedBlockRows(const BandedBlockLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Offset height = layout_.block_height;
        for_each_in_parallel(layout_.block_rows(), 32, [&](std::int64_t block_row) {
            const Offset first_row = block_row * height;
            const Offset rows = std::min(height, layout_.row_count - first_row);
            Value* const share = y + first_row;
            if (!accumulate) std::fill(share, share + rows, Value{0});
            const Offset first_column = layout_.first_column(static_cast<Index>(block_row));
            const Offset begin = std::max(first_column, Offset{0});
            const Offset end = std::min(first_column + layout_.band_width(), Offset{layout_.column_count});
            const Value* const band = layout_.values.data() + first_row * layout_.band_width();
            for (Offset column = begin; column < end; ++column) {
                const Value* const values = band + (column - first_column) * height;
                for (Offset r = 0; r < rows; ++r) share[r] += values[r] * x[column];
            }
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    const BandedBlockLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> banded_block_reference_kernels() {
    return {{.name = "block_rows",
             .backend = Backend::kokkos,
             .summary = "block rows in parallel, the rows of one side by side",
             .prepare = prepare_as<BandedBlockRows, BandedBlockLayout>()}};
}

}  // namespace workbench
