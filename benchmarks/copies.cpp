// How fast do large copies cross the link to a GPU, by the threads that fill pinned buffers and the size of a buffer? One line
// of JSON for each shape of the ring (kernels/device/pinned_ring.cuh), the least of several copies:
//
//   copies_benchmark [MEGABYTES] > copies.jsonl
#include <cuda_runtime_api.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <vector>

#include "benchmarks/clock.hpp"
#include "kernels/device/pinned_ring.cuh"

namespace workbench {
namespace {

constexpr int repetitions = 7;

template <typename Work>
double least(const Work& work) {
    double seconds = 1e9;
    for (int i = 0; i < repetitions; ++i) seconds = std::min(seconds, seconds_of(CLOCK_MONOTONIC, work));
    return seconds;
}

class Copies {
public:
    explicit Copies(std::size_t bytes) : values_(bytes / sizeof(double), 0.5), back_(values_.size()) {
        check_cuda(cudaMalloc(&there_, bytes), "cudaMalloc");
    }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;
    ~Copies() { (void)cudaFree(there_); }

    /// The link with pinned memory, and the driver with memory that is not.
    void link() {
        void* pinned = nullptr;
        const std::size_t bytes = values_.size() * sizeof(double);
        check_cuda(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault), "cudaHostAlloc");
        std::memset(pinned, 1, bytes);
        for (const void* from : {static_cast<const void*>(pinned), static_cast<const void*>(values_.data())}) {
            const double seconds =
                least([&] { check_cuda(cudaMemcpy(there_, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy"); });
            std::printf("{\"copy\": \"%s\", \"bytes\": %zu, \"seconds\": %.6f, \"gigabytes_per_second\": %.2f}\n",
                        from == pinned ? "pinned memory" : "driver", bytes, seconds,
                        1e-9 * static_cast<double>(bytes) / seconds);
        }
        check_cuda(cudaFreeHost(pinned), "cudaFreeHost");
    }

    void ring(const RingShape& shape) {
        PinnedRing ring(shape);
        const std::span<const double> values(values_);
        const std::size_t bytes = values.size_bytes();
        const cudaStream_t stream = stream_.get();
        const auto send = [&](std::size_t size, const FillPiece& fill, PinnedRing::Threads threads) {
            return least([&] { ring.send(there_, size, fill, stream, threads); });
        };
        const double first = seconds_of(CLOCK_MONOTONIC, [&] { ring.send(there_, bytes, converted<double>(values), stream); });
        const double of_host = send(bytes, converted<double>(values), PinnedRing::Threads::of_host);
        const double others = send(bytes, converted<double>(values), PinnedRing::Threads::others);
        const double in_f32 = send(bytes / 2, converted<float>(values), PinnedRing::Threads::of_host);
        const double back =
            least([&] { ring.fetch(std::as_writable_bytes(std::span(back_)).first(bytes / 2), there_, stream); });
        std::printf(
            "{\"copy\": \"ring\", \"lanes\": %d, \"piece\": %zu, \"bytes\": %zu, \"first_seconds\": %.6f, "
            "\"seconds\": %.6f, \"gigabytes_per_second\": %.2f, \"other_threads_seconds\": %.6f, \"in_f32_seconds\": %.6f, "
            "\"half_back_seconds\": %.6f}\n",
            shape.lanes, shape.piece, bytes, first, of_host, 1e-9 * static_cast<double>(bytes) / of_host, others, in_f32, back);
        (void)std::fflush(stdout);
    }

private:
    std::vector<double> values_;
    std::vector<double> back_;
    OwnedCuda<cudaStream_t> stream_ = make_stream();
    void* there_ = nullptr;
};

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) try {
    const Kokkos::ScopeGuard kokkos;
    workbench::Copies copies(static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 306) * 1'000'000);
    copies.link();
    for (const int lanes : {2, 4, 6, 8, 12, 16}) {
        for (const std::size_t piece : {256, 512, 1024, 2048}) copies.ring({.lanes = lanes, .piece = piece << 10});
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
