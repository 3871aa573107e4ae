// A stream and pooled memory for the plans that a GPU carries out.
#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <utility>
#include <vector>

#include "core/matrix/types.hpp"
#include "kernels/device/cuda_stream.cuh"
#include "kernels/device/gpu_memory.cuh"

namespace workbench {

/// Thrown if the GPU lacks memory for a plan; the host then prepares the matrix.
struct NoRoom {};

/// An array on the GPU for kernels of one stream. Returned to the pool in stream order.
template <typename Item>
class WorkspaceArray {
public:
    WorkspaceArray() = default;
    WorkspaceArray(Item* data, std::size_t size, cudaStream_t stream) : data_(data), size_(size), stream_(stream) {}
    WorkspaceArray(WorkspaceArray&& other) noexcept { swap(other); }
    WorkspaceArray& operator=(WorkspaceArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~WorkspaceArray() {
        if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
    }

    [[nodiscard]] Item* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    void swap(WorkspaceArray& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(stream_, other.stream_);
    }

    Item* data_ = nullptr;
    std::size_t size_ = 0;
    cudaStream_t stream_ = nullptr;
};

/// Arrays come from GpuMemory, in the order of the stream.
class Workspace {
public:
    Workspace() = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace();

    [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

    /// Throws NoRoom.
    template <typename Item>
    [[nodiscard]] WorkspaceArray<Item> make(std::size_t count) {
        return {static_cast<Item*>(allocate(count * sizeof(Item))), count, stream()};
    }

    /// Copies a small array to the GPU. The copy is complete on return.
    template <typename Item>
    [[nodiscard]] WorkspaceArray<Item> upload(std::span<const Item> from) {
        WorkspaceArray<Item> array = make<Item>(from.size());
        copy(array.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice);
        return array;
    }

    template <typename Item>
    [[nodiscard]] Item download_item(const WorkspaceArray<Item>& from, std::size_t index) {
        Item item{};
        copy(&item, from.data() + index, sizeof(Item), cudaMemcpyDeviceToHost);
        return item;
    }

    template <typename Item>
    [[nodiscard]] std::vector<Item> download(const WorkspaceArray<Item>& from) {
        std::vector<Item> items(from.size());
        copy(items.data(), from.data(), items.size() * sizeof(Item), cudaMemcpyDeviceToHost);
        return items;
    }

private:
    [[nodiscard]] void* allocate(std::size_t bytes);
    void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

    OwnedCuda<cudaStream_t> stream_ = make_stream();
    GpuMemory& memory_ = GpuMemory::of_current_gpu();
};

inline constexpr int block_threads = 256;  // of most kernels for preprocessing

/// The number of blocks of a launch over `count` items; beyond a limit, threads loop over items.
[[nodiscard]] inline unsigned blocks_of(std::size_t count, unsigned threads) {
    const std::size_t blocks = (count + threads - 1) / threads;
    return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 1U << 20 ? 1U << 20 : blocks);
}

}  // namespace workbench
