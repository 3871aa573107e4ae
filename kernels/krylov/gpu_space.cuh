// The memory of a GPU as the space in which a persistent matrix is made (persistent_builder.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contract/solvers.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/krylov/persistent_builder.hpp"
#include "kernels/krylov/value_passes.hpp"
#include "kernels/primitives/rows.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench::krylov {

/// An array that outlives the space.
template <typename Item>
class KeptOnGpu {
public:
    KeptOnGpu() = default;
    KeptOnGpu(DeviceMemory memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}

    [[nodiscard]] Item* data() const { return memory_.template as<Item>(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    DeviceMemory memory_;
    std::size_t size_ = 0;
};

template <typename Pass>
__global__ void call_for_each(std::size_t count, Pass pass) {
    on_gpu::for_each_item(count, pass);
}

/// Throws NoRoom if the GPU lacks memory. The results are complete once it is destroyed.
class GpuSpace {
public:
    template <typename Item>
    using Array = WorkspaceArray<Item>;
    template <typename Item>
    using Kept = KeptOnGpu<Item>;

    explicit GpuSpace(CudaDevice& device) : device_(device) {}

    [[nodiscard]] Workspace& workspace() { return workspace_; }
    [[nodiscard]] CudaDevice& device() const { return device_; }

    /// Later work of this space waits for the work that the device has so far.
    void wait_for_device() { wait_for(workspace_.stream(), device_.stream(), event_.get()); }

    template <typename Item>
    [[nodiscard]] Array<Item> make(std::size_t count) {
        return workspace_.make<Item>(count);
    }
    template <typename Item>
    [[nodiscard]] Kept<Item> keep(std::size_t count) {
        return {device_.allocate(count * sizeof(Item), "the matrix of persistent solves"), count};
    }
    void fill(auto& array, std::byte byte) {
        const std::size_t bytes = array.size() * sizeof(*array.data());
        if (bytes == 0) return;
        check_cuda(cudaMemsetAsync(array.data(), static_cast<int>(byte), bytes, workspace_.stream()), "cudaMemsetAsync");
    }
    template <typename Item>
    [[nodiscard]] Array<Item> upload(std::span<const Item> items) {
        return workspace_.upload(items);
    }
    template <typename Item>
    [[nodiscard]] std::vector<Item> download(const Array<Item>& array) {
        std::vector<Item> items(array.size());
        if (items.empty()) return items;
        check_cuda(cudaMemcpyAsync(items.data(), array.data(), items.size() * sizeof(Item), cudaMemcpyDeviceToHost,
                                   workspace_.stream()),
                   "cudaMemcpyAsync");
        check_cuda(cudaStreamSynchronize(workspace_.stream()), "cudaStreamSynchronize");
        return items;
    }
    template <typename Item>
    [[nodiscard]] Item item(const Array<Item>& array, std::size_t number) {
        return workspace_.download_item(array, number);
    }

    template <typename Pass>
    void for_each(std::size_t count, const Pass& pass) {
        call_for_each<<<blocks_of(count, block_threads), block_threads, 0, workspace_.stream()>>>(count, pass);
        check_launch("a pass over a persistent matrix");
    }
    void sort_pairs(Array<std::uint64_t>& keys, Array<std::uint32_t>& values, int bits) {
        workbench::sort_pairs(workspace_, keys, values, 0, bits);
    }
    void sum_up(Array<Offset>& counts) { workbench::sum_up(workspace_, counts); }
    void wait() { (void)cudaStreamSynchronize(workspace_.stream()); }

private:
    CudaDevice& device_;
    Workspace workspace_;
    OwnedCuda<cudaEvent_t> event_ = make_event();
};

/// The matrix of a problem in the memory of a GPU, in the order of the solve, whose values are stored as Stored, exactly. The
/// space must outlive it.
template <ValueType Value, ValueType Stored>
class OrderedOnGpu {
public:
    OrderedOnGpu(GpuSpace& space, const PersistentProblem<Value>& problem) {
        if (problem.there != nullptr) {
            space.wait_for_device();
            refer_to(space, *problem.there);
        } else {
            const CsrOnDevice<Stored> copied = copy(space.device(), *problem.matrix);
            space.wait_for_device();
            refer_to(space, copied);
        }
        if (problem.old_of_new != nullptr) reorder(space, problem);
    }

    [[nodiscard]] const OrderedRows& rows() const { return rows_; }

private:
    /// A persistent matrix has fewer than 2^31 nonzeros.
    [[nodiscard]] CsrOnDevice<Stored> copy(CudaDevice& device, const CsrMatrix& matrix) {
        offsets_ = to_device_as<std::int32_t>(device, std::span<const Offset>(matrix.row_offsets), "row offsets");
        columns_ = to_device(device, std::span<const Index>(matrix.column_indices), "columns");
        values_ = to_device_as<Stored>(device, std::span<const double>(matrix.values), "values");
        return {.rows = matrix.rows,
                .columns = matrix.columns,
                .nonzeros = matrix.nonzeros(),
                .row_offsets = offsets_.address(),
                .long_offsets = false,
                .column_indices = columns_.as<const Index>(),
                .values = values_.as<const Stored>()};
    }

    template <ValueType Given>
    void refer_to(GpuSpace& space, const CsrOnDevice<Given>& there) {
        rows_.rows = there.rows;
        rows_.column_count = there.columns;
        rows_.columns = there.column_indices;
        if constexpr (std::is_same_v<Given, double>) {
            rows_.values = there.values;
        } else {
            rows_.values_in_f32 = there.values;
        }
        if (there.long_offsets) {
            rows_.offsets = static_cast<const Offset*>(there.row_offsets);
            return;
        }
        const auto count = static_cast<std::size_t>(there.rows) + 1;
        long_offsets_ = space.make<Offset>(count);
        space.for_each(count, passes::Widen{static_cast<const std::int32_t*>(there.row_offsets), long_offsets_.data()});
        rows_.offsets = long_offsets_.data();
    }

    void reorder(GpuSpace& space, const PersistentProblem<Value>& problem) {
        const auto rows = static_cast<std::size_t>(rows_.rows);
        const auto nonzeros = static_cast<std::size_t>(problem.nonzeros());
        const cudaStream_t stream = space.workspace().stream();
        const auto offsets = space.make<std::uint32_t>(rows + 1);
        const auto to_old = space.make<Index>(rows);
        const auto to_new = space.make<Index>(rows);
        reordered_offsets_ = space.make<Offset>(rows + 1);
        reordered_columns_ = space.make<Index>(nonzeros);
        entries_ = space.make<std::uint32_t>(nonzeros);
        on_gpu::narrow<<<blocks_of(rows + 1, block_threads), block_threads, 0, stream>>>(rows_.offsets, rows + 1,
                                                                                         offsets.data());
        check_launch("narrow");
        on_gpu::invert<<<blocks_of(rows, block_threads), block_threads, 0, stream>>>(
            reinterpret_cast<const std::uint32_t*>(problem.old_of_new), rows, to_old.data(), to_new.data());
        check_launch("invert");
        on_gpu::measure_moved_rows<<<blocks_of(rows, block_threads), block_threads, 0, stream>>>(
            offsets.data(), to_old.data(), rows_.rows, reordered_offsets_.data());
        check_launch("measure_moved_rows");
        space.sum_up(reordered_offsets_);
        on_gpu::reorder_rows<<<blocks_of(rows * on_gpu::lanes, block_threads), block_threads, 0, stream>>>(
            offsets.data(), rows_.columns, to_old.data(), to_new.data(), reordered_offsets_.data(), rows_.rows,
            reordered_columns_.data(), entries_.data());
        check_launch("reorder_rows");
        rows_.offsets = reordered_offsets_.data();
        rows_.columns = reordered_columns_.data();
        rows_.entries = entries_.data();
        rows_.old_of_new = problem.old_of_new;
    }

    DeviceMemory offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
    OrderedRows rows_;
    WorkspaceArray<Offset> long_offsets_;
    WorkspaceArray<Offset> reordered_offsets_;
    WorkspaceArray<Index> reordered_columns_;
    WorkspaceArray<std::uint32_t> entries_;
};

}  // namespace workbench::krylov
