// Owning handles of streams, events and graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

#include "kernels/device/cuda_check.cuh"

namespace workbench {

struct DestroyCuda {
    void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
    void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
    void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
    void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
};

template <typename Handle>
using OwnedCuda = std::unique_ptr<std::remove_pointer_t<Handle>, DestroyCuda>;

/// A stream that does not wait for the legacy default stream.
inline OwnedCuda<cudaStream_t> make_stream() {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return OwnedCuda<cudaStream_t>(stream);
}

/// An event without timing.
inline OwnedCuda<cudaEvent_t> make_event() {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return OwnedCuda<cudaEvent_t>(event);
}

/// Work queued on `later` from now on waits for the work queued on `earlier` so far.
inline void wait_for(cudaStream_t later, cudaStream_t earlier, cudaEvent_t event) {
    check_cuda(cudaEventRecord(event, earlier), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
}

}  // namespace workbench
