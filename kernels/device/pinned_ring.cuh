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

/// Measured on an H200 with 16 cores: a second stream, fewer threads and smaller pieces are slower, and more of either take
/// longer to pin than they save (docs/results/h200-prepare.md).
struct RingShape {
    int lanes = 8;                             // threads, each with two buffers
    std::size_t piece = std::size_t{1} << 20;  // bytes of a buffer
};

/// The driver copies pageable memory with one core, at a fifth of what the link can do. Here several cores write pieces to
/// pinned buffers, from which they go on their way while the next are written; and likewise back. Pinned memory takes
/// milliseconds to allocate, once for all copies.
class PinnedRing {
public:
    /// For the calling thread's GPU. The buffers are allocated by the first copy, if not before.
    explicit PinnedRing(const RingShape& shape = {}) : shape_(shape) {}
    /// The one that all devices of this GPU share. It exists until the process ends.
    [[nodiscard]] static PinnedRing& of_current_gpu();
    PinnedRing(const PinnedRing&) = delete;
    PinnedRing& operator=(const PinnedRing&) = delete;
    ~PinnedRing();

    /// Copies that are so small are as fast through the driver, or do not pay for the buffers.
    [[nodiscard]] bool suits(std::size_t bytes) const { return bytes >= (is_ready_ ? shape_.piece : to_begin); }

    /// Allocates the buffers.
    void prepare();

    /// The threads that fill buffers. others: new ones, so that the host's threads can work meanwhile.
    enum class Threads { of_host, others };

    /// Copies what `fill` writes, after the work of the stream so far. Complete on return. Copies of several threads take
    /// turns.
    void send(void* to, std::size_t bytes, const FillPiece& fill, cudaStream_t after, Threads threads = Threads::of_host);
    void fetch(std::span<std::byte> to, const void* from, cudaStream_t after);

private:
    static constexpr std::size_t to_begin = std::size_t{32} << 20;

    using Lane = std::array<OwnedCuda<cudaEvent_t>, 2>;  // the last copies of its buffers

    void require_buffers();
    [[nodiscard]] std::byte* buffer(int lane, std::size_t turn) const;
    /// Calls work(lane) with all lanes at once, on the current device.
    template <typename Work>
    void on_lanes(Threads threads, const Work& work);

    RingShape shape_;
    std::mutex turn_;
    std::atomic<bool> is_ready_ = false;
    void* buffers_ = nullptr;
    OwnedCuda<cudaStream_t> stream_;
    std::vector<Lane> lanes_;
    OwnedCuda<cudaEvent_t> before_;
};

}  // namespace workbench
