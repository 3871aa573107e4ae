// The iterations of a launch as one CUDA graph: a loop node whose body is one iteration and whose condition is set on the
// device by a step of that iteration. The host launches the graph and is idle until the solve ends.
#pragma once

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/cuda_stream.cuh"
#include "kernels/krylov/steps.hpp"

namespace workbench::krylov {

/// Decides before the first iteration of a launch whether to run it.
static __global__ void condition_kernel(const Scalars* scalars, int count, cudaGraphConditionalHandle loop) {
    cudaGraphSetConditional(loop, go_on(scalars, count) ? 1 : 0);
}

/// Captures what `iterate(condition)` enqueues into the body of a loop.
template <typename Iterate>
void record_iteration(cudaGraph_t body, cudaGraphConditionalHandle condition, cudaStream_t stream, const Iterate& iterate) {
    // Other threads may allocate CUDA memory during the capture.
    check_cuda(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCaptureToGraph");
    try {
        iterate(condition);
    } catch (...) {
        cudaGraph_t unfinished = nullptr;
        (void)cudaStreamEndCapture(stream, &unfinished);
        throw;
    }
    cudaGraph_t same = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &same), "cudaStreamEndCapture");
}

/// The graph of a launch of solves with these scalars [count] on the device. iterate(condition) enqueues one iteration on the
/// device's stream; its last step sets the condition to go_on.
template <typename Iterate>
[[nodiscard]] OwnedCuda<cudaGraphExec_t> make_loop(const Scalars* scalars, int count, const CudaDevice& device,
                                                   const Iterate& iterate) {
    cudaGraph_t made = nullptr;
    check_cuda(cudaGraphCreate(&made, 0), "cudaGraphCreate");
    const OwnedCuda<cudaGraph_t> graph(made);
    cudaGraphConditionalHandle condition{};
    check_cuda(cudaGraphConditionalHandleCreate(&condition, made, 0, 0), "cudaGraphConditionalHandleCreate");

    cudaGraphNode_t first = nullptr;
    void* arguments[] = {&scalars, &count, &condition};
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(condition_kernel);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    check_cuda(cudaGraphAddKernelNode(&first, made, nullptr, 0, &kernel), "cudaGraphAddKernelNode");

    cudaGraphNodeParams loop{};
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = condition;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check_cuda(cudaGraphAddNode(&node, made, &first, nullptr, 1, &loop), "cudaGraphAddNode");
    record_iteration(loop.conditional.phGraph_out[0], condition, device.stream(), iterate);

    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaGraphInstantiate(&executable, made, 0), "cudaGraphInstantiate");
    OwnedCuda<cudaGraphExec_t> owned(executable);
    check_cuda(cudaGraphUpload(executable, device.stream()), "cudaGraphUpload");
    return owned;
}

static __global__ void limit_kernel(Scalars* scalars, std::int64_t iterations, std::int64_t most_iterations) {
    Scalars& own = scalars[threadIdx.x];
    const std::int64_t until = own.iterations + iterations;
    own.until = until < most_iterations ? until : most_iterations;
}

/// The iterations of a launch, and all iterations of the solve.
struct LoopLimits {
    std::int64_t iterations = 0;
    std::int64_t most_iterations = 0;
};

/// A loop that is recorded at its first launch.
class RecordedLoop {
public:
    /// See make_loop.
    template <typename Iterate>
    void launch(Scalars* scalars, int count, const CudaDevice& device, const LoopLimits& limits, const Iterate& iterate) {
        if (loop_ == nullptr) loop_ = make_loop(scalars, count, device, iterate);
        limit_kernel<<<1, count, 0, device.stream()>>>(scalars, limits.iterations, limits.most_iterations);
        check_launch("limit");
        check_cuda(cudaGraphLaunch(loop_.get(), device.stream()), "cudaGraphLaunch");
    }

    void forget() { loop_.reset(); }

private:
    OwnedCuda<cudaGraphExec_t> loop_;
};

}  // namespace workbench::krylov
