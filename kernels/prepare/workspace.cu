#include "kernels/prepare/workspace.cuh"

#include <algorithm>
#include <chrono>

#include "kernels/prepare/staging.hpp"

namespace workbench {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;
constexpr std::size_t small_bytes = std::size_t{1} << 16;  // smaller copies are as fast through the driver

/// Adds the seconds of its lifetime to a sum.
class Timed {
public:
    explicit Timed(double& sum) : sum_(sum) {}
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

private:
    double& sum_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Workspace::Workspace() {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    check_cuda(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
    std::size_t available = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    std::uint64_t kept = total / 16;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
}

Workspace::~Workspace() {
    (void)cudaStreamSynchronize(stream());
    for (void* buffer : buffers_) (void)cudaFreeHost(buffer);
    (void)cudaMemPoolDestroy(pool_);
}

void* Workspace::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* address = nullptr;
    const cudaError_t result = cudaMallocFromPoolAsync(&address, bytes, pool_, stream());
    if (result == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        throw NoRoom();
    }
    check_cuda(result, "cudaMallocFromPoolAsync");
    return address;
}

void Workspace::require_buffers() {
    for (void*& buffer : buffers_) {
        if (buffer != nullptr) continue;
        check_cuda(cudaHostAlloc(&buffer, buffer_bytes, cudaHostAllocDefault), "cudaHostAlloc");
    }
}

void Workspace::send(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes > small_bytes) {
        return send_staged(to, bytes, [from](void* buffer, std::size_t begin, std::size_t some) {
            copy_together(buffer, static_cast<const std::byte*>(from) + begin, some);
        });
    }
    const Timed timed(transfer_seconds_);
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
}

void Workspace::fetch(const void* from, void* to, std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes > small_bytes) {
        return fetch_staged(from, bytes, [to](void* buffer, std::size_t begin, std::size_t some) {
            copy_together(static_cast<std::byte*>(to) + begin, buffer, some);
        });
    }
    check_cuda(cudaStreamSynchronize(stream()),
               "cudaStreamSynchronize");  // so that the transfer's time excludes the kernels before it
    const Timed timed(transfer_seconds_);
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
}

WorkspaceArray<std::uint32_t> Workspace::upload_narrow(std::span<const Offset> from) {
    auto array = make<std::uint32_t>(from.size());
    send_staged(array.data(), from.size() * sizeof(std::uint32_t), [from](void* buffer, std::size_t begin, std::size_t some) {
        narrow_together(static_cast<std::uint32_t*>(buffer), from.data() + begin / sizeof(std::uint32_t),
                        some / sizeof(std::uint32_t));
    });
    return array;
}

void Workspace::download_wide(const WorkspaceArray<std::uint32_t>& from, std::span<Offset> to) {
    fetch_staged(from.data(), to.size() * sizeof(std::uint32_t), [to](void* buffer, std::size_t begin, std::size_t some) {
        widen_together(to.data() + begin / sizeof(std::uint32_t), static_cast<const std::uint32_t*>(buffer),
                       some / sizeof(std::uint32_t));
    });
}

void Workspace::send_staged(void* to, std::size_t bytes, const Stage& fill) {
    require_buffers();
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    const Timed timed(transfer_seconds_);
    for (std::size_t begin = 0, turn = 0; begin < bytes; begin += buffer_bytes, turn ^= 1) {
        const std::size_t some = std::min(buffer_bytes, bytes - begin);
        check_cuda(cudaEventSynchronize(done_[turn].get()), "cudaEventSynchronize");
        fill(buffers_[turn], begin, some);
        check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(to) + begin, buffers_[turn], some, cudaMemcpyHostToDevice, stream()),
                   "cudaMemcpyAsync");
        check_cuda(cudaEventRecord(done_[turn].get(), stream()), "cudaEventRecord");
    }
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
}

void Workspace::fetch_staged(const void* from, std::size_t bytes, const Stage& empty) {
    require_buffers();
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    const Timed timed(transfer_seconds_);
    const auto begin_piece = [&](std::size_t begin, std::size_t turn) {
        if (begin >= bytes) return;
        check_cuda(cudaMemcpyAsync(buffers_[turn], static_cast<const std::byte*>(from) + begin,
                                   std::min(buffer_bytes, bytes - begin), cudaMemcpyDeviceToHost, stream()),
                   "cudaMemcpyAsync");
        check_cuda(cudaEventRecord(done_[turn].get(), stream()), "cudaEventRecord");
    };
    begin_piece(0, 0);
    for (std::size_t begin = 0, turn = 0; begin < bytes; begin += buffer_bytes, turn ^= 1) {
        begin_piece(begin + buffer_bytes, turn ^ 1);
        check_cuda(cudaEventSynchronize(done_[turn].get()), "cudaEventSynchronize");
        empty(buffers_[turn], begin, std::min(buffer_bytes, bytes - begin));
    }
}

}  // namespace workbench
