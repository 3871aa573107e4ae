// The memory of a GPU, which all devices and workspaces of a process take from one pool.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels/device/cuda_stream.cuh"

namespace workbench {

/// The GPU's own pool. Memory that was returned is taken again without a call of the operating system, so that a second matrix
/// costs less than the first. At most a 32nd of the GPU's memory is kept; the driver gets the rest back.
class GpuMemory {
public:
    /// That of the calling thread's GPU. It exists until the process ends.
    [[nodiscard]] static GpuMemory& of_current_gpu();

    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;
    ~GpuMemory() = default;

    /// For any work that is submitted from now on. Null if memory is short.
    [[nodiscard]] void* take(std::size_t bytes);
    /// For later work of the stream. Null if memory is short.
    [[nodiscard]] void* take(std::size_t bytes, cudaStream_t stream);
    /// Returns memory that no work uses any more.
    void give_back(void* address);

    /// A word of the host that kernels read and write, and its return. Pinning memory takes a millisecond, so that the words of
    /// all share a page.
    [[nodiscard]] std::uint64_t* take_word();
    void give_back_word(std::uint64_t* word);

    /// The bytes that nothing uses, in the pool and beside it, and those of the GPU.
    [[nodiscard]] std::size_t free_bytes() const;
    [[nodiscard]] std::size_t all_bytes() const { return all_; }

private:
    explicit GpuMemory(int number);

    static constexpr std::size_t words_of_page = 512;

    std::mutex turn_;
    std::vector<std::uint64_t*> free_words_;  // on pages that are kept until the process ends
    cudaMemPool_t pool_ = nullptr;            // null: this GPU has no pools
    std::size_t all_ = 0;
    OwnedCuda<cudaStream_t> stream_ = make_stream();  // on which memory changes hands; it has no other work
};

}  // namespace workbench
