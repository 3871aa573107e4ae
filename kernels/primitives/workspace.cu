#include "kernels/primitives/workspace.cuh"

namespace workbench {

/// The device's own pool, so that one plan after another uses the same memory.
Workspace::Workspace() {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetDefaultMemPool(&pool_, device), "cudaDeviceGetDefaultMemPool");
    std::size_t available = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    std::uint64_t kept = total / 64;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
}

Workspace::~Workspace() { (void)cudaStreamSynchronize(stream()); }

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

void Workspace::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream()), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
}

}  // namespace workbench
