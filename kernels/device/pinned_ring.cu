#include "kernels/device/pinned_ring.cuh"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <thread>

#include "kernels/device/host_loops.hpp"

namespace workbench {

PinnedRing& PinnedRing::of_current_gpu() {
    static std::mutex turn;
    static auto* const of_gpus = new std::map<int, std::unique_ptr<PinnedRing>>;  // outlives the driver
    const std::lock_guard<std::mutex> lock(turn);
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    std::unique_ptr<PinnedRing>& found = (*of_gpus)[number];
    if (found == nullptr) found = std::make_unique<PinnedRing>();
    return *found;
}

PinnedRing::~PinnedRing() { (void)cudaFreeHost(buffers_); }

void PinnedRing::prepare() {
    const std::lock_guard<std::mutex> lock(turn_);
    require_buffers();
}

void PinnedRing::require_buffers() {
    if (is_ready_) return;
    const std::size_t bytes = 2 * static_cast<std::size_t>(shape_.lanes) * shape_.piece;
    check_cuda(cudaHostAlloc(&buffers_, bytes, cudaHostAllocDefault), "cudaHostAlloc");
    stream_ = make_stream();
    lanes_.resize(static_cast<std::size_t>(shape_.lanes));
    for (Lane& lane : lanes_) {
        for (OwnedCuda<cudaEvent_t>& event : lane) event = make_event();
    }
    before_ = make_event();
    is_ready_ = true;
}

std::byte* PinnedRing::buffer(int lane, std::size_t turn) const {
    return static_cast<std::byte*>(buffers_) + (2 * static_cast<std::size_t>(lane) + turn) * shape_.piece;
}

template <typename Work>
void PinnedRing::on_lanes(Threads threads, const Work& work) {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    const auto on_thread = [&](std::int64_t lane) {
        check_cuda(cudaSetDevice(device), "cudaSetDevice");  // which is a property of a thread
        work(static_cast<int>(lane));
    };
    if (threads == Threads::of_host) return for_each_in_parallel(shape_.lanes, 1, on_thread);
    std::vector<std::future<void>> others;
    const int cores = static_cast<int>(std::thread::hardware_concurrency());  // 0: unknown
    for (int lane = 1; lane < std::min(shape_.lanes, cores); ++lane) {
        others.push_back(std::async(std::launch::async, on_thread, lane));
    }
    on_thread(0);
    for (std::future<void>& other : others) other.get();
}

void PinnedRing::send(void* to, std::size_t bytes, const FillPiece& fill, cudaStream_t after, Threads threads) {
    const std::lock_guard<std::mutex> lock(turn_);
    require_buffers();
    wait_for(stream_.get(), after, before_.get());
    std::atomic<std::size_t> next = 0;
    const auto copy_pieces = [&](int number) {
        const Lane& lane = lanes_[static_cast<std::size_t>(number)];
        for (std::size_t turn = 0;; turn ^= 1) {
            const std::size_t first = next.fetch_add(shape_.piece);
            if (first >= bytes) return;
            const std::size_t size = std::min(shape_.piece, bytes - first);
            check_cuda(cudaEventSynchronize(lane[turn].get()), "cudaEventSynchronize");
            fill(first, {buffer(number, turn), size});
            check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(to) + first, buffer(number, turn), size, cudaMemcpyHostToDevice,
                                       stream_.get()),
                       "cudaMemcpyAsync");
            check_cuda(cudaEventRecord(lane[turn].get(), stream_.get()), "cudaEventRecord");
        }
    };
    try {
        on_lanes(threads, copy_pieces);
    } catch (...) {
        (void)cudaStreamSynchronize(stream_.get());  // the caller may free the memory
        throw;
    }
    check_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
}

void PinnedRing::fetch(std::span<std::byte> to, const void* from, cudaStream_t after) {
    const std::lock_guard<std::mutex> lock(turn_);
    require_buffers();
    wait_for(stream_.get(), after, before_.get());
    std::atomic<std::size_t> next = 0;
    on_lanes(Threads::of_host, [&](int number) {
        const Lane& lane = lanes_[static_cast<std::size_t>(number)];
        std::array<std::span<std::byte>, 2> parts;  // on their way, one in each buffer; empty: none
        const auto ask = [&](std::size_t turn) {
            const std::size_t first = next.fetch_add(shape_.piece);
            parts[turn] =
                first >= to.size() ? std::span<std::byte>() : to.subspan(first, std::min(shape_.piece, to.size() - first));
            if (parts[turn].empty()) return;
            check_cuda(cudaMemcpyAsync(buffer(number, turn), static_cast<const std::byte*>(from) + first, parts[turn].size(),
                                       cudaMemcpyDeviceToHost, stream_.get()),
                       "cudaMemcpyAsync");
            check_cuda(cudaEventRecord(lane[turn].get(), stream_.get()), "cudaEventRecord");
        };
        ask(0);
        for (std::size_t turn = 0; !parts[turn].empty(); turn ^= 1) {
            ask(turn ^ 1);
            check_cuda(cudaEventSynchronize(lane[turn].get()), "cudaEventSynchronize");
            std::memcpy(parts[turn].data(), buffer(number, turn), parts[turn].size());
        }
    });
}

}  // namespace workbench
