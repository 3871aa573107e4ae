// Large copies between the host's memory and a GPU's.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>

#include "kernels/device/cuda_stream.cuh"

namespace workbench {

/// The driver copies pageable memory with one core, at a fifth of what the link can do. Here several cores copy pieces to
/// pinned buffers, from which they go on their way while the next are filled; and likewise back. Pinned memory takes
/// milliseconds to allocate, once for all copies.
class PinnedRing {
public:
    /// Copies that are so small are as fast through the driver, or do not pay for the buffers.
    [[nodiscard]] bool suits(std::size_t bytes) const { return bytes >= (buffers_ == nullptr ? to_begin : piece); }

    PinnedRing() = default;
    PinnedRing(const PinnedRing&) = delete;
    PinnedRing& operator=(const PinnedRing&) = delete;
    ~PinnedRing();

    /// After the work of the stream so far. Complete on return.
    void send(void* to, std::span<const std::byte> from, cudaStream_t stream);
    void fetch(std::span<std::byte> to, const void* from, cudaStream_t stream);

private:
    static constexpr std::size_t piece = std::size_t{1} << 20;
    static constexpr std::size_t to_begin = std::size_t{32} << 20;
    static constexpr int lanes = 4;  // threads, each with two buffers: more take longer to pin than they save

    void require_buffers();
    [[nodiscard]] std::byte* buffer(int lane, int turn) const;
    /// Calls work(lane) with all lanes at once, on the current device.
    template <typename Work>
    void on_lanes(const Work& work);

    void* buffers_ = nullptr;
    std::array<std::array<OwnedCuda<cudaEvent_t>, 2>, lanes> done_;
};

}  // namespace workbench
