// The GPU as kernels see it: the Device of the contract, and the stream of its work.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/cuda_stream.cuh"
#include "kernels/device/gpu_memory.cuh"
#include "kernels/device/pinned_ring.cuh"

namespace workbench {

class CudaDevice : public Device {
public:
    /// With a stream of its own, or on the caller's.
    CudaDevice();
    explicit CudaDevice(cudaStream_t stream);
    ~CudaDevice() override;

    /// Kernels are launched on this stream, in order: that of a branch while it takes work. It does not wait for the legacy
    /// default stream.
    [[nodiscard]] cudaStream_t stream() const { return stream_; }

    [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
    [[nodiscard]] DeviceMemory allocate(std::size_t bytes, std::string_view purpose) override;
    void upload(std::span<const std::byte> from, DeviceMemory& to) override;
    void download(const DeviceMemory& from, std::span<std::byte> to) override;
    void upload_pieces(std::size_t bytes, const FillPiece& fill, DeviceMemory& to) override;
    [[nodiscard]] std::unique_ptr<PendingCopy> begin_upload(std::size_t bytes, FillPiece fill, DeviceMemory& to) override;
    void prepare_copies() override { ring_.prepare(); }
    /// A word of the host that kernels read and write.
    [[nodiscard]] DeviceMemory allocate_word();
    /// Memory that other processes can open, which that of the pool is not.
    [[nodiscard]] DeviceMemory allocate_for_processes(std::size_t bytes, std::string_view purpose);
    void scatter(const float* values, const Index* target, Index count, float* y) override;
    void scatter(const double* values, const Index* target, Index count, double* y) override;
    void scatter_add(const float* values, const Index* target, Index count, float* y) override;
    void scatter_add(const double* values, const Index* target, Index count, double* y) override;
    void fill(void* memory, std::byte byte, std::size_t bytes) override;
    void flush_cache() override;
    [[nodiscard]] double time(const std::function<void()>& work) override;
    void wait_for(Device& earlier) override;
    [[nodiscard]] std::unique_ptr<Branch> make_branch() override;
    [[nodiscard]] Bandwidth bandwidth() override;
    [[nodiscard]] double read_bandwidth(std::size_t bytes) override;
    void enter_range(std::string_view name) override;
    void leave_range() override;

private:
    [[nodiscard]] Bandwidth measure_bandwidth();
    [[noreturn]] void refuse(std::size_t bytes, std::string_view purpose) const;

    DeviceProperties properties_;
    OwnedCuda<cudaStream_t> own_stream_;  // null if the stream is the caller's
    cudaStream_t stream_ = nullptr;
    cudaEvent_t start_ = nullptr;
    cudaEvent_t end_ = nullptr;
    cudaEvent_t reached_ = nullptr;  // the work of another device waits for it
    GpuMemory& memory_ = GpuMemory::of_current_gpu();
    PinnedRing& ring_ = PinnedRing::of_current_gpu();
    /// The stream whose work may use memory of this device; none once the device is gone, and has no work.
    std::shared_ptr<std::optional<cudaStream_t>> users_;
    DeviceMemory flush_buffer_;  // allocated by the first flush
    DeviceMemory queued_;        // unsigned, a word of the host: how often all timed work has been queued
};

/// The GPU behind a device of the contract. Throws std::bad_cast for any other device: only kernels of a GPU backend call it.
[[nodiscard]] inline CudaDevice& cuda_device(Device& device) { return dynamic_cast<CudaDevice&>(device); }

/// The thread blocks that give each of `count` items a thread: at least 1, so that the launch is legal.
[[nodiscard]] constexpr unsigned blocks_for(Offset count, int threads) {
    return count <= 0 ? 1u : static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace workbench
