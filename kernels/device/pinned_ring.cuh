// Large copies between the host's memory and a GPU's.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "core/contract/device.hpp"
#include "kernels/device/cuda_stream.cuh"

namespace workbench {

/// Measured on an H200 with 16 cores (docs/results/h200-prepare.md).
struct RingShape {
    int lanes = 8;                               // threads, each with two buffers: more take longer to pin than they save
    std::size_t piece = std::size_t{512} << 10;  // bytes of a buffer
    int streams = 1;
};

/// The driver copies pageable memory with one core, at a fifth of what the link can do. Here several cores write pieces to
/// pinned buffers, from which they go on their way while the next are written; and likewise back. Pinned memory takes
/// milliseconds to allocate, once for all copies.
class PinnedRing {
public:
    /// For the calling thread's GPU. The buffers are allocated by the first copy.
    explicit PinnedRing(const RingShape& shape = {}) : shape_(shape) {}
    /// The one that all devices of this GPU share. It exists until the process ends.
    [[nodiscard]] static PinnedRing& of_current_gpu();
    PinnedRing(const PinnedRing&) = delete;
    PinnedRing& operator=(const PinnedRing&) = delete;
    ~PinnedRing();

    /// Copies that are so small are as fast through the driver, or do not pay for the buffers.
    [[nodiscard]] bool suits(std::size_t bytes) const { return bytes >= (is_ready_ ? shape_.piece : to_begin); }

    /// The threads that fill buffers. others: new ones, so that the host's threads can work meanwhile.
    enum class Threads { of_host, others };

    /// Copies what `fill` writes, after the work of the stream so far. Complete on return. Copies of several threads take
    /// turns.
    void send(void* to, std::size_t bytes, const FillPiece& fill, cudaStream_t after, Threads threads = Threads::of_host);
    void fetch(std::span<std::byte> to, const void* from, cudaStream_t after);

private:
    static constexpr std::size_t to_begin = std::size_t{32} << 20;

    struct Lane {
        std::array<OwnedCuda<cudaEvent_t>, 2> done;  // of the last copy of each buffer
        cudaStream_t stream = nullptr;
    };

    /// Allocates the buffers if there are none, and lets the streams wait for another.
    void begin(cudaStream_t after);
    /// Waits for the copies.
    void finish();
    [[nodiscard]] std::byte* buffer(int lane, std::size_t turn) const;
    /// Calls work(lane) with all lanes at once, on the current device.
    template <typename Work>
    void on_lanes(Threads threads, const Work& work);

    RingShape shape_;
    std::mutex turn_;
    std::atomic<bool> is_ready_ = false;
    void* buffers_ = nullptr;
    std::vector<OwnedCuda<cudaStream_t>> streams_;
    std::vector<Lane> lanes_;
    OwnedCuda<cudaEvent_t> before_;
};

}  // namespace workbench
