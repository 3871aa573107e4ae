#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/multiply_slice.hpp"
#include "kernels/ehyb/layout.hpp"

namespace workbench {
namespace {

/// Inside slices in parallel, each with x addressed from its partition's first column, then the outside slices. Both write each
/// row at most once, so that no two threads meet in y.
template <ValueType Value>
class EhybPartitions final : public Kernel<Value> {
public:
    explicit EhybPartitions(const EhybLayout<Value>& layout) : layout_(layout) {
        const auto note_partitions = [&](const auto& inside) {
            for (Index partition = 0; partition < inside.group_count(); ++partition) {
                partition_of_slice_.resize(inside.group_slices[partition + 1], partition);
            }
        };
        std::visit(note_partitions, layout.inside);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        std::visit([&](const auto& inside) { run_inside(inside, x, y, accumulate); }, layout_.inside);
        run_outside(x, y);
    }

private:
    template <typename ColumnIndex>
    void run_inside(const Slices<Value, ColumnIndex>& inside, const Value* x, Value* y, bool accumulate) const {
        for_each_in_parallel(inside.slice_count(), slice_chunk, [&](std::int64_t slice) {
            const Index partition = partition_of_slice_[slice];
            const auto slice_in_partition = static_cast<Index>(slice) - inside.group_slices[partition];
            const Index first_row = layout_.partition_rows[partition] + slice_in_partition * inside.slice_height;
            const Index rows_left = layout_.partition_rows[partition + 1] - first_row;
            const Value* cached_x = x + layout_.partition_columns[partition];
            multiply_slice(inside, static_cast<Index>(slice), cached_x, [&](Index lane, Value sum) {
                if (lane < rows_left) put(y, first_row + lane, sum, accumulate);
            });
        });
    }

    void run_outside(const Value* x, Value* y) const {
        const auto& outside = layout_.outside;
        const auto row_count = static_cast<std::int64_t>(layout_.outside_rows.size());
        for_each_in_parallel(outside.slice_count(), slice_chunk, [&](std::int64_t slice) {
            const std::int64_t first = slice * outside.slice_height;
            multiply_slice(outside, static_cast<Index>(slice), x, [&](Index lane, Value sum) {
                if (first + lane < row_count) put(y, layout_.outside_rows[first + lane], sum, true);
            });
        });
    }

    const EhybLayout<Value>& layout_;
    std::vector<Index> partition_of_slice_;  // [inside slices]
};

}  // namespace

std::vector<KernelEntry> ehyb_reference_kernels() {
    return {{.name = "partitions",
             .backend = Backend::kokkos,
             .summary = "slices in parallel with x taken from their partition's share of it, then the rows outside add",
             .prepare = prepare_as<EhybPartitions, EhybLayout>}};
}

}  // namespace workbench
