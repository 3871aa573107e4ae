#include "kernels/primitives/workspace.cuh"

namespace workbench {

Workspace::~Workspace() { (void)cudaStreamSynchronize(stream()); }

void* Workspace::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* const address = memory_.take(bytes, stream());
    if (address == nullptr) throw NoRoom();
    return address;
}

void Workspace::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream()), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
}

}  // namespace workbench
