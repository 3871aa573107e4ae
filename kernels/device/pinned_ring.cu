#include "kernels/device/pinned_ring.cuh"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/device/host_loops.hpp"

namespace workbench {

PinnedRing::~PinnedRing() { (void)cudaFreeHost(buffers_); }

void PinnedRing::require_buffers() {
    if (buffers_ != nullptr) return;
    for (auto& of_lane : done_) {
        for (OwnedCuda<cudaEvent_t>& event : of_lane) event = make_event();
    }
    check_cuda(cudaHostAlloc(&buffers_, 2 * lanes * piece, cudaHostAllocDefault), "cudaHostAlloc");
}

std::byte* PinnedRing::buffer(int lane, int turn) const {
    return static_cast<std::byte*>(buffers_) + static_cast<std::size_t>(2 * lane + turn) * piece;
}

template <typename Work>
void PinnedRing::on_lanes(const Work& work) {
    require_buffers();
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    for_each_in_parallel(lanes, 1, [&](std::int64_t lane) {
        check_cuda(cudaSetDevice(device), "cudaSetDevice");  // which is a property of a thread
        work(static_cast<int>(lane));
    });
}

void PinnedRing::send(void* to, std::span<const std::byte> from, cudaStream_t stream) {
    std::atomic<std::size_t> next = 0;
    on_lanes([&](int lane) {
        for (int turn = 0;; turn ^= 1) {
            const std::size_t begin = next.fetch_add(piece);
            if (begin >= from.size()) return;
            const std::span<const std::byte> part = from.subspan(begin, std::min(piece, from.size() - begin));
            cudaEvent_t done = done_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(turn)].get();
            check_cuda(cudaEventSynchronize(done), "cudaEventSynchronize");
            std::memcpy(buffer(lane, turn), part.data(), part.size());
            check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(to) + begin, buffer(lane, turn), part.size(),
                                       cudaMemcpyHostToDevice, stream),
                       "cudaMemcpyAsync");
            check_cuda(cudaEventRecord(done, stream), "cudaEventRecord");
        }
    });
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void PinnedRing::fetch(std::span<std::byte> to, const void* from, cudaStream_t stream) {
    std::atomic<std::size_t> next = 0;
    on_lanes([&](int lane) {
        std::array<std::span<std::byte>, 2> parts;  // on their way, one in each buffer; empty: none
        const auto ask = [&](std::size_t turn) {
            const std::size_t begin = next.fetch_add(piece);
            parts[turn] = begin >= to.size() ? std::span<std::byte>() : to.subspan(begin, std::min(piece, to.size() - begin));
            if (parts[turn].empty()) return;
            check_cuda(cudaMemcpyAsync(buffer(lane, static_cast<int>(turn)), static_cast<const std::byte*>(from) + begin,
                                       parts[turn].size(), cudaMemcpyDeviceToHost, stream),
                       "cudaMemcpyAsync");
            check_cuda(cudaEventRecord(done_[static_cast<std::size_t>(lane)][turn].get(), stream), "cudaEventRecord");
        };
        ask(0);
        for (std::size_t turn = 0; !parts[turn].empty(); turn ^= 1) {
            ask(turn ^ 1);
            check_cuda(cudaEventSynchronize(done_[static_cast<std::size_t>(lane)][turn].get()), "cudaEventSynchronize");
            std::memcpy(parts[turn].data(), buffer(lane, static_cast<int>(turn)), parts[turn].size());
        }
    });
}

}  // namespace workbench
