// The parts of an order and EHYB's two shares in slices, made on the GPU; dividing.cuh has the kernels.
#include <limits>
#include <utility>

#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/prepare/dividing.cuh"
#include "kernels/prepare/slices_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

/// Rows that are stored in slices, with their entries in one share.
struct StoredRows {
    Index count = 0;
    WorkspaceArray<Offset> offsets;         // [count + 1]
    WorkspaceArray<std::uint32_t> entries;  // [entries] their numbers in the input
    WorkspaceArray<Index> columns;          // [entries]

    [[nodiscard]] dividing::EntriesOfShare view() const { return {offsets.data(), columns.data(), entries.data()}; }
};

template <ValueType Value, typename ColumnIndex>
class EhybMaker {
public:
    /// Throws Unsuitable.
    EhybMaker(const StorageTask<Value>& task, const ReorderedRows& rows)
        : task_(task),
          workspace_(task.workspace),
          device_(task.device),
          matrix_(rows.view(task.longest)),
          result_(task.result),
          partition_(result_.own_facts.partition),
          first_slices_(SlicePlan{.slice_height = ehyb_height, .group_places = partition_}.group_slices()) {
        ehyb_.row_count = ehyb_.column_count = matrix_.rows;
        ehyb_.partition_rows = {device_, std::span<const Index>(partition_), "the parts"};
        ehyb_.partition_columns = {device_, std::span<const Index>(partition_), "the parts"};
        ehyb_.inside_group_slices = {device_, std::span<const Index>(first_slices_), "the slices of parts"};
        parts_ = {ehyb_.partition_rows.data(), ehyb_.inside_group_slices.data(), static_cast<Index>(partition_.size()) - 1,
                  first_slices_.back()};
        if (lanes() >= std::numeric_limits<Index>::max()) throw Unsuitable("the slices of the parts have 2^31 rows or more");
    }

    void run(const std::vector<SortShare>& sorts) {
        divide();
        store(list_inside(), ehyb_.inside);
        for (const SortShare& sort : sorts) sort_outside(sort);
        store(list_outside(measure_outside()), ehyb_.outside);
        result_.note_arrays(ehyb_);
        DeviceArray<std::uint32_t> rows_outside;
        if (outside_count_ > 0) rows_outside = {std::move(rows_outside_), parts_.slices};
        result_.own_kernel = ehyb_kernel_on_gpu<Value, ColumnIndex>(std::move(ehyb_), std::move(rows_outside), partition_,
                                                                    first_slices_, device_);
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] std::size_t lanes() const { return static_cast<std::size_t>(parts_.slices) * ehyb_height; }
    [[nodiscard]] static unsigned blocks_for_rows(std::size_t count) { return blocks_of(count * on_gpu::lanes, block_threads); }

    void divide() {
        const auto rows = static_cast<std::size_t>(matrix_.rows);
        inside_ = workspace_.make<dividing::EntriesInside>(rows);
        inside_lengths_ = workspace_.make<Offset>(lanes() + 1);
        rows_outside_ = device_.allocate(static_cast<std::size_t>(parts_.slices) * sizeof(std::uint32_t), "the rows outside");
        sorted_rows_ = workspace_.make<std::uint32_t>(rows);
        auto keys = workspace_.make<std::uint64_t>(rows);
        const auto row_count = workspace_.make<unsigned>(1);
        check_cuda(cudaMemsetAsync(row_count.data(), 0, sizeof(unsigned), stream()), "cudaMemsetAsync");
        dividing::divide_rows<<<blocks_of(lanes(), block_threads), block_threads, 0, stream()>>>(
            parts_, matrix_, inside_.data(), inside_lengths_.data(), rows_outside_.as<std::uint32_t>(), row_count.data(),
            keys.data(), sorted_rows_.data());
        check_launch("divide_rows");
        sort_pairs(workspace_, keys, sorted_rows_, 0, 1);
        outside_count_ = static_cast<Index>(workspace_.download_item(row_count, 0));
    }

    /// Room for the entries of stored rows. lengths: the length of row i at place i + 1; afterwards the prefix sums.
    [[nodiscard]] StoredRows room_for(Index count, WorkspaceArray<Offset> lengths) {
        sum_up(workspace_, lengths);
        const auto entries = static_cast<std::size_t>(workspace_.download_item(lengths, static_cast<std::size_t>(count)));
        return {count, std::move(lengths), workspace_.make<std::uint32_t>(entries), workspace_.make<Index>(entries)};
    }

    [[nodiscard]] StoredRows list_inside() {
        StoredRows stored = room_for(static_cast<Index>(lanes()), std::move(inside_lengths_));
        dividing::list_inside<<<blocks_for_rows(lanes()), block_threads, 0, stream()>>>(parts_, matrix_, inside_.data(),
                                                                                        stored.view());
        check_launch("list_inside");
        return stored;
    }

    /// The rows outside, and room for their entries.
    [[nodiscard]] StoredRows measure_outside() {
        const auto count = static_cast<std::size_t>(outside_count_);
        auto lengths = workspace_.make<Offset>(count + 1);
        check_cuda(cudaMemsetAsync(lengths.data(), 0, sizeof(Offset), stream()), "cudaMemsetAsync");
        ehyb_.outside_rows = {device_.allocate(count * sizeof(Index), "the rows outside"), outside_count_};
        auto* const outside_rows = const_cast<Index*>(ehyb_.outside_rows.data());
        dividing::measure_outside<<<blocks_of(count, block_threads), block_threads, 0, stream()>>>(
            sorted_rows_.data(), outside_count_, matrix_, inside_.data(), outside_rows, lengths.data());
        check_launch("measure_outside");
        return room_for(outside_count_, std::move(lengths));
    }

    [[nodiscard]] StoredRows list_outside(StoredRows stored) {
        const auto count = static_cast<std::size_t>(outside_count_);
        dividing::list_outside<<<blocks_for_rows(count), block_threads, 0, stream()>>>(
            ehyb_.outside_rows.data(), outside_count_, matrix_, inside_.data(), stored.view());
        check_launch("list_outside");
        return stored;
    }

    void sort_outside(const SortShare& sort) {
        if (outside_count_ == 0) return;
        const std::vector<Index> one_group{0, outside_count_};
        const auto groups = sort.within_partition ? grouped_by_parts() : workspace_.upload<Index>(std::span(one_group));
        StoredRows given = measure_outside();
        if (depends_on_columns(sort.key)) given = list_outside(std::move(given));
        const RowsToPlace rows{.offsets = given.offsets.data(),
                               .columns = given.columns.data(),
                               .count = outside_count_,
                               .column_count = matrix_.rows,
                               .groups = groups.data(),
                               .group_count = static_cast<Index>(groups.size()) - 1,
                               .longest = matrix_.longest};
        auto numbers = placed_rows(workspace_, rows, sort);
        compose(workspace_, sorted_rows_.data(), numbers.data(), numbers.size());
        sorted_rows_ = std::move(numbers);
    }

    /// Sorts the rows outside by their parts, stably. Returns the first place of each part, and the end.
    [[nodiscard]] WorkspaceArray<Index> grouped_by_parts() {
        const auto count = static_cast<std::size_t>(outside_count_);
        auto keys = workspace_.make<std::uint64_t>(count);
        dividing::key_by_part<<<blocks_of(count, block_threads), block_threads, 0, stream()>>>(parts_, sorted_rows_.data(),
                                                                                               count, keys.data());
        check_launch("key_by_part");
        auto rows = workspace_.make<std::uint32_t>(count);
        check_cuda(cudaMemcpyAsync(rows.data(), sorted_rows_.data(), count * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice,
                                   stream()),
                   "cudaMemcpyAsync");
        sort_pairs(workspace_, keys, rows, 0, on_gpu::bits_of(static_cast<std::uint32_t>(parts_.parts)));
        sorted_rows_ = std::move(rows);
        auto groups = workspace_.make<Index>(static_cast<std::size_t>(parts_.parts) + 1);
        dividing::group_by_part<<<blocks_of(groups.size(), block_threads), block_threads, 0, stream()>>>(
            keys.data(), outside_count_, parts_.parts, groups.data());
        check_launch("group_by_part");
        return groups;
    }

    template <typename Columns>
    void store(const StoredRows& rows, Slices<Value, Columns, DeviceArray>& slices) {
        slices.slice_height = ehyb_height;
        store_slices<Value>(task_, {rows.offsets.data(), rows.columns.data(), rows.entries.data(), rows.count}, {}, slices);
    }

    StorageTask<Value> task_;
    Workspace& workspace_;
    Device& device_;
    ReorderedOnGpu matrix_;
    PlannedOnGpu<Value>& result_;
    const std::vector<Index>& partition_;
    HostArray<Index> first_slices_;  // of each part
    Ehyb<Value, ColumnIndex, DeviceArray> ehyb_;
    dividing::PartsOnGpu parts_{};
    WorkspaceArray<dividing::EntriesInside> inside_;  // [rows]
    WorkspaceArray<Offset> inside_lengths_;           // [lanes + 1]
    WorkspaceArray<std::uint32_t> sorted_rows_;  // the rows outside in their order, and others after the first outside_count_
    Index outside_count_ = 0;
    DeviceMemory rows_outside_;  // ehyb::Meeting::rows_outside
};

}  // namespace

template <ValueType Value>
void store_ehyb(const StorageTask<Value>& task, const ReorderedRows& rows, const PartSlices& storage,
                const std::vector<SortShare>& sorts) {
    storage.short_columns ? EhybMaker<Value, std::uint16_t>(task, rows).run(sorts)
                          : EhybMaker<Value, Index>(task, rows).run(sorts);
}

template void store_ehyb(const StorageTask<float>&, const ReorderedRows&, const PartSlices&, const std::vector<SortShare>&);
template void store_ehyb(const StorageTask<double>&, const ReorderedRows&, const PartSlices&, const std::vector<SortShare>&);

}  // namespace workbench
