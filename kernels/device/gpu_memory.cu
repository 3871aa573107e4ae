#include "kernels/device/gpu_memory.cuh"

#include <map>
#include <memory>
#include <mutex>

#include "kernels/device/cuda_check.cuh"

namespace workbench {

GpuMemory& GpuMemory::of_current_gpu() {
    static std::mutex turn;
    static auto* const of_gpus = new std::map<int, std::unique_ptr<GpuMemory>>;  // outlives static objects with memory
    const std::lock_guard<std::mutex> lock(turn);
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    std::unique_ptr<GpuMemory>& found = (*of_gpus)[number];
    if (found == nullptr) found.reset(new GpuMemory(number));
    return *found;
}

GpuMemory::GpuMemory(int number) {
    std::size_t available = 0;
    check_cuda(cudaMemGetInfo(&available, &all_), "cudaMemGetInfo");
    int has_pools = 0;
    check_cuda(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, number), "cudaDeviceGetAttribute");
    if (has_pools == 0) return;
    check_cuda(cudaDeviceGetDefaultMemPool(&pool_, number), "cudaDeviceGetDefaultMemPool");
    std::uint64_t kept = all_ / 32;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
}

void* GpuMemory::take(std::size_t bytes, cudaStream_t stream) {
    void* address = nullptr;
    const auto tried = [&] {
        const cudaError_t result =
            pool_ == nullptr ? cudaMalloc(&address, bytes) : cudaMallocFromPoolAsync(&address, bytes, pool_, stream);
        if (result == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            return false;
        }
        check_cuda(result, "cudaMallocFromPoolAsync");
        return true;
    };
    if (tried()) return address;
    if (pool_ == nullptr) return nullptr;
    check_cuda(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");  // what is kept may be in pieces that are too small
    return tried() ? address : nullptr;
}

void* GpuMemory::take(std::size_t bytes) {
    void* const address = take(bytes, stream_.get());
    check_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    return address;
}

void GpuMemory::give_back(void* address) {
    if (pool_ == nullptr) {
        (void)cudaFree(address);  // a destructor cannot report a failure
    } else {
        (void)cudaFreeAsync(address, stream_.get());
    }
}

std::uint64_t* GpuMemory::take_word() {
    const std::lock_guard<std::mutex> lock(turn_);
    if (free_words_.empty()) {
        void* page = nullptr;
        check_cuda(cudaHostAlloc(&page, words_of_page * sizeof(std::uint64_t), cudaHostAllocMapped), "cudaHostAlloc");
        for (std::size_t i = 0; i < words_of_page; ++i) free_words_.push_back(static_cast<std::uint64_t*>(page) + i);
    }
    std::uint64_t* const word = free_words_.back();
    free_words_.pop_back();
    return word;
}

void GpuMemory::give_back_word(std::uint64_t* word) {
    const std::lock_guard<std::mutex> lock(turn_);
    free_words_.push_back(word);
}

std::size_t GpuMemory::free_bytes() const {
    std::size_t available = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    if (pool_ == nullptr) return available;
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    check_cuda(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved), "cudaMemPoolGetAttribute");
    check_cuda(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), "cudaMemPoolGetAttribute");
    return available + (reserved - used);
}

}  // namespace workbench
