#include "kernels/device/cuda_device.cuh"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>

#include "core/system/kokkos_runtime.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_stream.cuh"

namespace workbench {
namespace {

constexpr int threads_per_block = 512;
constexpr int blocks_per_processor = 4;  // 2048 threads: a full multiprocessor
constexpr int loads_in_flight = 4;       // of 16 bytes, by each thread

template <typename Value>
__global__ void scatter_kernel(const Value* __restrict__ values, const Index* __restrict__ target, Index count,
                               Value* __restrict__ y) {
    const Offset i = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) y[target[i]] = values[i];
}

template <typename Value>
__global__ void scatter_add_kernel(const Value* __restrict__ values, const Index* __restrict__ target, Index count,
                                   Value* __restrict__ y) {
    const Offset i = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) y[target[i]] += values[i];
}

/// The whole grid walks `count` words of 16 bytes; `visit` is called with the positions of a batch, which are a grid apart.
template <typename Visit>
__device__ void for_each_batch(std::size_t count, Visit visit) {
    const std::size_t grid = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += loads_in_flight * grid) {
        visit(i, grid);
    }
}

__global__ void fill_kernel(uint4* __restrict__ to, std::size_t count) {
    for_each_batch(count, [=](std::size_t i, std::size_t grid) {
        for (int u = 0; u < loads_in_flight; ++u, i += grid) {
            if (i < count) to[i] = make_uint4(1u, 2u, 3u, 4u);
        }
    });
}

__global__ void copy_kernel(const uint4* __restrict__ from, uint4* __restrict__ to, std::size_t count) {
    for_each_batch(count, [=](std::size_t i, std::size_t grid) {
        uint4 words[loads_in_flight] = {};
#pragma unroll
        for (int u = 0; u < loads_in_flight; ++u) {
            if (i + u * grid < count) words[u] = __ldcs(from + i + u * grid);
        }
#pragma unroll
        for (int u = 0; u < loads_in_flight; ++u) {
            if (i + u * grid < count) __stcs(to + i + u * grid, words[u]);
        }
    });
}

/// Reads everything. The store never happens (the words come from fill_kernel), which the compiler cannot find out.
__global__ void read_kernel(const uint4* __restrict__ from, std::size_t count, unsigned* result) {
    unsigned all = 0;
    for_each_batch(count, [&](std::size_t i, std::size_t grid) {
        uint4 words[loads_in_flight] = {};
#pragma unroll
        for (int u = 0; u < loads_in_flight; ++u) {
            if (i + u * grid < count) words[u] = from[i + u * grid];
        }
#pragma unroll
        for (int u = 0; u < loads_in_flight; ++u) all |= words[u].x | words[u].y | words[u].z | words[u].w;
    });
    if (all > 7u) *result = all;
}

__device__ unsigned long long nanoseconds() {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/// Keeps the stream busy until the host has queued all timed work, but at most 20 ms, in case that work waits for the stream.
__global__ void wait_kernel(const volatile unsigned* queued, unsigned number) {
    constexpr unsigned long long at_most = 20'000'000;
    const unsigned long long start = nanoseconds();
    while (*queued != number && nanoseconds() - start < at_most) {
    }
}

std::string bytes_in_words(std::size_t bytes) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%zu bytes (%.1f MiB)", bytes, static_cast<double>(bytes) / (1024.0 * 1024.0));
    return text.data();
}

template <typename Value>
void launch_scatter(cudaStream_t stream, const Value* values, const Index* target, Index count, Value* y) {
    if (count == 0) return;
    if (target == nullptr) {
        check_cuda(
            cudaMemcpyAsync(y, values, static_cast<std::size_t>(count) * sizeof(Value), cudaMemcpyDeviceToDevice, stream),
            "cudaMemcpyAsync");
        return;
    }
    scatter_kernel<<<blocks_for(count, threads_per_block), threads_per_block, 0, stream>>>(values, target, count, y);
    check_launch("scatter");
}

template <typename Value>
void launch_scatter_add(cudaStream_t stream, const Value* values, const Index* target, Index count, Value* y) {
    if (count == 0) return;
    scatter_add_kernel<<<blocks_for(count, threads_per_block), threads_per_block, 0, stream>>>(values, target, count, y);
    check_launch("scatter_add");
}

/// Replaces the stream of the device while the branch takes work.
class CudaBranch final : public Branch {
public:
    explicit CudaBranch(cudaStream_t& device) : device_(device) {}

    void take(const std::function<void()>& give) override {
        const struct Restore {
            cudaStream_t& device;
            cudaStream_t before;
            ~Restore() { device = before; }
        } restore{device_, device_};
        device_ = stream_.get();
        give();
    }

    void fork() override { wait_for(stream_.get(), device_, event_.get()); }
    void join() override { wait_for(device_, stream_.get(), event_.get()); }

private:
    cudaStream_t& device_;
    OwnedCuda<cudaStream_t> stream_ = make_stream();
    OwnedCuda<cudaEvent_t> event_ = make_event();
};

DeviceProperties read_properties() {
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    cudaDeviceProp found{};
    check_cuda(cudaGetDeviceProperties(&found, number), "cudaGetDeviceProperties");
    DeviceProperties properties;
    properties.kind = DeviceKind::gpu;
    properties.name = found.name;
    properties.processors = found.multiProcessorCount;
    properties.shared_memory_per_block = found.sharedMemPerBlockOptin;
    properties.last_level_cache = static_cast<std::size_t>(found.l2CacheSize);
    properties.memory = found.totalGlobalMem;
    properties.shared_memory_per_processor = found.sharedMemPerMultiprocessor;
    return properties;
}

}  // namespace

std::string cuda_absence_reason() {
    int count = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);  // leaves the count unchanged if it fails
    if (result == cudaSuccess) return count > 0 ? "" : "no CUDA device (the driver lists none)";
    (void)cudaGetLastError();  // otherwise a later check would report this failure
    return std::string("no CUDA device (") + cudaGetErrorString(result) + ")";
}

void choose_cuda_device(int rank_on_machine) {
    if (!cuda_absence_reason().empty()) return;
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    check_cuda(cudaSetDevice(rank_on_machine % count), "cudaSetDevice");
}

int cuda_device_number() {
    int number = -1;
    if (cuda_absence_reason().empty()) check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    return number;
}

void* stream_of(Device& device) { return cuda_device(device).stream(); }

CudaDevice::CudaDevice() : CudaDevice(nullptr) {
    own_stream_ = make_stream();
    *users_ = stream_ = own_stream_.get();
}

CudaDevice::CudaDevice(cudaStream_t stream)
    : properties_(read_properties()), stream_(stream), users_(std::make_shared<std::optional<cudaStream_t>>(stream)) {
    check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
    check_cuda(cudaEventCreateWithFlags(&reached_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    queued_ = allocate_word();
    *queued_.as<unsigned>() = 0;
}

CudaDevice::~CudaDevice() {
    flush_buffer_ = {};
    (void)cudaStreamSynchronize(stream_);
    users_->reset();
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(end_);
    (void)cudaEventDestroy(reached_);
}

DeviceMemory CudaDevice::allocate(std::size_t bytes, std::string_view purpose) {
    if (bytes == 0) return {};
    void* const address = memory_.take(bytes);
    if (address == nullptr) refuse(bytes, purpose);
    // Other streams may get it at once.
    return {address, bytes, [&memory = memory_, users = users_](void* returned) {
                if (*users) (void)cudaStreamSynchronize(**users);
                memory.give_back(returned);
            }};
}

DeviceMemory CudaDevice::allocate_word() {
    return {memory_.take_word(), sizeof(std::uint64_t), [&memory = memory_, users = users_](void* returned) {
                if (*users) (void)cudaStreamSynchronize(**users);
                memory.give_back_word(static_cast<std::uint64_t*>(returned));
            }};
}

DeviceMemory CudaDevice::allocate_for_processes(std::size_t bytes, std::string_view purpose) {
    if (bytes == 0) return {};
    void* address = nullptr;
    const cudaError_t result = cudaMalloc(&address, bytes);
    if (result == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        refuse(bytes, purpose);
    }
    check_cuda(result, "cudaMalloc");
    return {address, bytes, [](void* returned) { (void)cudaFree(returned); }};  // a destructor cannot report a failure
}

void CudaDevice::refuse(std::size_t bytes, std::string_view purpose) const {
    throw MachineError("GPU memory: " + std::string(purpose) + " needs " + bytes_in_words(bytes) + ", free are " +
                       bytes_in_words(memory_.free_bytes()) + " of " + bytes_in_words(memory_.all_bytes()) + " on " +
                       properties_.name);
}

void CudaDevice::upload(std::span<const std::byte> from, DeviceMemory& to) {
    if (from.size() > to.bytes()) throw std::logic_error("upload: the device memory is too small");
    if (from.empty()) return;
    if (ring_.suits(from.size())) return ring_.send(to.address(), from.size(), converted<std::byte>(from), stream_);
    check_cuda(cudaMemcpyAsync(to.address(), from.data(), from.size(), cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CudaDevice::upload_pieces(std::size_t bytes, const FillPiece& fill, DeviceMemory& to) {
    if (!ring_.suits(bytes)) return Device::upload_pieces(bytes, fill, to);
    if (bytes > to.bytes()) throw std::logic_error("upload_pieces: the device memory is too small");
    ring_.send(to.address(), bytes, fill, stream_);
}

std::unique_ptr<PendingCopy> CudaDevice::begin_upload(std::size_t bytes, FillPiece fill, DeviceMemory& to) {
    if (!ring_.suits(bytes)) return Device::begin_upload(bytes, std::move(fill), to);
    if (bytes > to.bytes()) throw std::logic_error("begin_upload: the device memory is too small");
    class Copy final : public PendingCopy {
    public:
        explicit Copy(std::future<void> copied) : copied_(std::move(copied)) {}
        void wait() override {
            if (copied_.valid()) copied_.get();
        }

    private:
        std::future<void> copied_;  // waits in its destructor
    };
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    return std::make_unique<Copy>(std::async(
        std::launch::async, [number, bytes, fill = std::move(fill), address = to.address(), after = stream_, &ring = ring_] {
            ProcessorsOfPlaces().use();  // of which OpenMP may have bound the caller, and hence this thread, to one
            check_cuda(cudaSetDevice(number), "cudaSetDevice");
            ring.send(address, bytes, fill, after, PinnedRing::Threads::others);
        }));
}

void CudaDevice::download(const DeviceMemory& from, std::span<std::byte> to) {
    if (to.size() > from.bytes()) throw std::logic_error("download: the device memory is too small");
    if (to.empty()) return;
    if (ring_.suits(to.size())) return ring_.fetch(to, from.address(), stream_);
    check_cuda(cudaMemcpyAsync(to.data(), from.address(), to.size(), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CudaDevice::scatter(const float* values, const Index* target, Index count, float* y) {
    launch_scatter(stream_, values, target, count, y);
}

void CudaDevice::scatter(const double* values, const Index* target, Index count, double* y) {
    launch_scatter(stream_, values, target, count, y);
}

void CudaDevice::scatter_add(const float* values, const Index* target, Index count, float* y) {
    launch_scatter_add(stream_, values, target, count, y);
}

void CudaDevice::scatter_add(const double* values, const Index* target, Index count, double* y) {
    launch_scatter_add(stream_, values, target, count, y);
}

void CudaDevice::fill(void* memory, std::byte byte, std::size_t bytes) {
    if (bytes > 0) check_cuda(cudaMemsetAsync(memory, std::to_integer<int>(byte), bytes, stream_), "cudaMemsetAsync");
}

void CudaDevice::flush_cache() {
    if (flush_buffer_.bytes() == 0) {
        const std::size_t at_least = 2 * properties_.last_level_cache;
        flush_buffer_ = allocate((at_least / sizeof(uint4) + 2) * sizeof(uint4), "the buffer that flushes the cache");
    }
    // The last word is the one that read_kernel could write.
    const std::size_t words = flush_buffer_.bytes() / sizeof(uint4) - 1;
    const auto blocks = static_cast<unsigned>(blocks_per_processor * properties_.processors);
    uint4* buffer = flush_buffer_.as<uint4>();
    fill_kernel<<<blocks, threads_per_block, 0, stream_>>>(buffer, words);
    read_kernel<<<blocks, threads_per_block, 0, stream_>>>(buffer, words, &buffer[words].x);
    check_launch("flush_cache");
}

double CudaDevice::time(const std::function<void()>& work) {
    // All launches of the work are queued behind a wait, so that the time is that of the device and not of launching.
    volatile unsigned& queued = *queued_.as<volatile unsigned>();
    const unsigned number = queued + 1;
    const struct Release {
        volatile unsigned& queued;
        unsigned number;
        ~Release() { queued = number; }  // even if the work throws
    } when_queued{queued, number};
    wait_kernel<<<1, 1, 0, stream_>>>(&queued, number);
    check_launch("wait");
    check_cuda(cudaEventRecord(start_, stream_), "cudaEventRecord");
    work();
    check_cuda(cudaEventRecord(end_, stream_), "cudaEventRecord");
    queued = number;
    check_cuda(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start_, end_), "cudaEventElapsedTime");
    return 1e-3 * milliseconds;
}

void CudaDevice::wait_for(Device& earlier) {
    CudaDevice& other = cuda_device(earlier);
    workbench::wait_for(stream_, other.stream_, other.reached_);
}

std::unique_ptr<Branch> CudaDevice::make_branch() { return std::make_unique<CudaBranch>(stream_); }

Bandwidth CudaDevice::bandwidth() {
    // Once a process and GPU: it takes some 20 ms, and each solver of the library has a device of its own.
    static std::mutex turn;
    static std::map<int, Bandwidth> measured;
    const std::lock_guard<std::mutex> lock(turn);
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    const auto found = measured.find(number);
    return found != measured.end() ? found->second : measured.emplace(number, measure_bandwidth()).first->second;
}

double CudaDevice::read_bandwidth(std::size_t bytes) {
    const std::size_t most = std::min(4 * properties_.last_level_cache, properties_.memory / 16);
    const std::size_t words = std::clamp<std::size_t>(bytes, std::size_t{1} << 16, most) / sizeof(uint4);
    const DeviceMemory from = allocate((words + 1) * sizeof(uint4), "a buffer to measure bandwidth");
    const auto blocks = static_cast<unsigned>(blocks_per_processor * properties_.processors);
    fill_kernel<<<blocks, threads_per_block, 0, stream_>>>(from.as<uint4>(), words);
    check_launch("fill");
    constexpr std::size_t read_at_least = std::size_t{1} << 28;  // so that the first launch takes no time
    const std::size_t passes = std::clamp<std::size_t>(read_at_least / (words * sizeof(uint4)), 1, 200);
    double seconds = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 5; ++round) {
        seconds = std::min(seconds, time([&] {
                               for (std::size_t pass = 0; pass < passes; ++pass) {
                                   read_kernel<<<blocks, threads_per_block, 0, stream_>>>(from.as<uint4>(), words,
                                                                                          &from.as<uint4>()[words].x);
                                   check_launch("read");
                               }
                           }));
    }
    return static_cast<double>(passes * words * sizeof(uint4)) / seconds;
}

void CudaDevice::enter_range(std::string_view name) { (void)nvtxRangePushA(std::string(name).c_str()); }

void CudaDevice::leave_range() { (void)nvtxRangePop(); }

Bandwidth CudaDevice::measure_bandwidth() {
    // Much larger than the cache, whose content of the last run then does not matter, but never most of the memory.
    const std::size_t bytes = std::min(16 * properties_.last_level_cache, properties_.memory / 16);
    const std::size_t words = bytes / sizeof(uint4);
    const DeviceMemory from = allocate(words * sizeof(uint4), "a buffer to measure bandwidth");
    const DeviceMemory to = allocate(words * sizeof(uint4), "a buffer to measure bandwidth");
    const auto blocks = static_cast<unsigned>(blocks_per_processor * properties_.processors);
    fill_kernel<<<blocks, threads_per_block, 0, stream_>>>(from.as<uint4>(), words);
    check_launch("fill");

    constexpr int warm_up = 2;
    std::array<double, 11> copy{};
    std::array<double, 11> driver_copy{};
    std::array<double, 11> read{};
    for (int run = -warm_up; run < static_cast<int>(copy.size()); ++run) {
        const double copy_seconds = time([&] {
            copy_kernel<<<blocks, threads_per_block, 0, stream_>>>(from.as<uint4>(), to.as<uint4>(), words);
            check_launch("copy");
        });
        const double driver_copy_seconds = time([&] {
            check_cuda(cudaMemcpyAsync(to.address(), from.address(), words * sizeof(uint4), cudaMemcpyDeviceToDevice, stream_),
                       "cudaMemcpyAsync");
        });
        const double read_seconds = time([&] {
            read_kernel<<<blocks, threads_per_block, 0, stream_>>>(from.as<uint4>(), words, to.as<unsigned>());
            check_launch("read");
        });
        if (run < 0) continue;
        copy[run] = copy_seconds;
        driver_copy[run] = driver_copy_seconds;
        read[run] = read_seconds;
    }
    const auto median = [](std::array<double, 11>& samples) {
        std::sort(samples.begin(), samples.end());
        return samples[samples.size() / 2];
    };
    const auto moved = static_cast<double>(words * sizeof(uint4));
    return {2 * moved / std::min(median(copy), median(driver_copy)), moved / median(read)};
}

}  // namespace workbench
