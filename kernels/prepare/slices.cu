// A block fills the slots of one slice after another, and each thread writes its own slots, so threads cannot race. An atomic
// counts entries outside the columns of their group.
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

/// The task on the GPU. A null array is the identity.
struct Sliced {
    const SlicePlaces* places;
    const Offset* slice_offsets;
    const Index* stored_rows;
    const Index* column_bounds;
    const std::uint32_t* share_offsets;
    const std::uint32_t* share_entries;
    const Index* matrix_columns;
    const double* matrix_values;
    Index slice_count;
    Index slice_height;
};

template <typename Column, typename Value>
__global__ void fill_slices(Sliced sliced, Column* __restrict__ columns, Value* __restrict__ values,
                            unsigned long long* strays) {
    for (Index slice = static_cast<Index>(blockIdx.x); slice < sliced.slice_count; slice += static_cast<Index>(gridDim.x)) {
        const SlicePlaces places = sliced.places[slice];
        const Index first_column = sliced.column_bounds[places.group];
        const Index end_column = sliced.column_bounds[places.group + 1];
        const Offset first = sliced.slice_offsets[slice];
        const Offset slots = sliced.slice_offsets[slice + 1] - first;
        // With a stride of `block_threads` slots, lane and column follow by addition instead of division.
        const Index lane_step = block_threads % sliced.slice_height;
        const Offset k_step = block_threads / sliced.slice_height;
        Index lane = static_cast<Index>(threadIdx.x) % sliced.slice_height;
        Offset k = static_cast<Index>(threadIdx.x) / sliced.slice_height;
        for (Offset slot = threadIdx.x; slot < slots; slot += block_threads) {
            Column column{0};
            Value value{0};
            const Index stored = lane >= places.count            ? -1
                                 : sliced.stored_rows == nullptr ? places.begin + lane
                                                                 : sliced.stored_rows[places.begin + lane];
            if (stored >= 0) {
                const Offset position = sliced.share_offsets[stored] + k;
                if (position < sliced.share_offsets[stored + 1]) {
                    const std::uint32_t nonzero =
                        sliced.share_entries == nullptr ? static_cast<std::uint32_t>(position) : sliced.share_entries[position];
                    const Index of_matrix = sliced.matrix_columns[nonzero];
                    if (of_matrix < first_column || of_matrix >= end_column) atomicAdd(strays, 1ULL);
                    column = static_cast<Column>(of_matrix - first_column);
                    value = static_cast<Value>(sliced.matrix_values[nonzero]);
                }
            }
            columns[first + slot] = column;
            values[first + slot] = value;
            lane += lane_step;
            k += k_step;
            if (lane >= sliced.slice_height) {
                lane -= sliced.slice_height;
                ++k;
            }
        }
    }
}

template <typename Column, typename Value>
std::int64_t fill(Workspace& workspace, const Sliced& sliced, const SliceTask& task) {
    const auto slots = static_cast<std::size_t>(task.slice_offsets.back());
    const auto columns = workspace.make<Column>(slots);
    const auto values = workspace.make<Value>(slots);
    const auto strays = workspace.make<unsigned long long>(1);
    check_cuda(cudaMemsetAsync(strays.data(), 0, sizeof(unsigned long long), workspace.stream()), "cudaMemsetAsync");
    fill_slices<<<blocks_of(static_cast<std::size_t>(sliced.slice_count) * block_threads, block_threads), block_threads, 0,
                  workspace.stream()>>>(sliced, columns.data(), values.data(), strays.data());
    check_launch("fill_slices");
    workspace.download(columns, std::span(reinterpret_cast<Column*>(task.columns.data()), slots));
    workspace.download(values, std::span(reinterpret_cast<Value*>(task.values.data()), slots));
    return static_cast<std::int64_t>(workspace.download_item(strays, 0));
}

}  // namespace

std::int64_t fill_slices_on_gpu(Workspace& workspace, const SliceTask& task) {
    const auto places = workspace.upload<SlicePlaces>(task.places);
    const auto slice_offsets = workspace.upload<Offset>(task.slice_offsets);
    const auto stored_rows = workspace.upload<Index>(task.stored_rows);
    const auto column_bounds = workspace.upload<Index>(task.column_bounds);
    const auto share_offsets = workspace.upload_narrow(task.share.offsets());
    const auto share_entries = workspace.upload_narrow(task.share.entries());
    const auto columns = workspace.upload<Index>(std::span(task.matrix.column_indices));
    const auto values = workspace.upload<double>(std::span(task.matrix.values));
    const Sliced sliced{places.data(),        slice_offsets.data(), stored_rows.data(),
                        column_bounds.data(), share_offsets.data(), share_entries.data(),
                        columns.data(),       values.data(),        static_cast<Index>(task.places.size()),
                        task.slice_height};
    const bool narrow = task.column_bytes == sizeof(std::uint16_t);
    if (task.value_bytes == sizeof(float)) {
        return narrow ? fill<std::uint16_t, float>(workspace, sliced, task) : fill<Index, float>(workspace, sliced, task);
    }
    return narrow ? fill<std::uint16_t, double>(workspace, sliced, task) : fill<Index, double>(workspace, sliced, task);
}

}  // namespace workbench
