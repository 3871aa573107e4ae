// All iterations of a launch are one CUDA graph: a loop node whose body is one iteration, and whose condition a step of that
// iteration sets on the device. The host launches it and has nothing to do until the solve ends.
//
// A step that needs sums over the vectors is one kernel, too: each block leaves its sums in a place of its own, and the block
// that comes last, by an atomic count, adds these up in their order. So a solve gives the same bits every time.
#include "kernels/common/krylov/cuda_krylov.cuh"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_stream.cuh"
#include "kernels/common/krylov/memory.hpp"

namespace workbench {
namespace {

using krylov::Element;
using krylov::Scalars;
using krylov::Sums;

constexpr int threads_per_block = 256;
constexpr int most_blocks_per_processor = 4;  // as many as its registers are enough for
constexpr int elements_in_flight = 2;         // of a thread, each with up to six loads
constexpr int warps = threads_per_block / 32;

/// What a step needs beside the vectors.
struct Place {
    Scalars* scalars = nullptr;
    Sums* of_blocks = nullptr;    // [blocks]
    unsigned* arrived = nullptr;  // blocks that have left their sums; 0 between steps
    bool in_loop = false;
    cudaGraphConditionalHandle loop{};
};

/// The sums of all threads of the block, in thread 0.
__device__ Sums add_up_block(Sums sums) {
    __shared__ Sums of_warps[warps];
    for (int distance = 16; distance > 0; distance /= 2) {
        sums.first += __shfl_down_sync(~0u, sums.first, distance);
        sums.second += __shfl_down_sync(~0u, sums.second, distance);
    }
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) of_warps[warp] = sums;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < warps; ++w) {
            sums.first += of_warps[w].first;
            sums.second += of_warps[w].second;
        }
    }
    return sums;
}

/// True in all threads of the block that is the last of all to come here; what the others wrote before is there for it.
__device__ bool comes_last(unsigned* arrived) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

template <typename Step, typename Value>
__global__ void __launch_bounds__(threads_per_block) step_kernel(krylov::Vectors<Value> v, Place place) {
    const Scalars scalars = *place.scalars;  // read before any block can have come last
    if (scalars.state != KrylovState::running) {
        if constexpr (Step::ends) {
            if (place.in_loop && blockIdx.x == 0 && threadIdx.x == 0) cudaGraphSetConditional(place.loop, 0);
        }
        return;
    }
    Sums sums;
    const Offset grid = static_cast<Offset>(gridDim.x) * threads_per_block;
    for (Offset first = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x; first < v.size;
         first += elements_in_flight * grid) {
        Element<Value> elements[elements_in_flight];
#pragma unroll
        for (int u = 0; u < elements_in_flight; ++u) {
            if (first + u * grid < v.size) elements[u] = Step::read(v, static_cast<Index>(first + u * grid));
        }
#pragma unroll
        for (int u = 0; u < elements_in_flight; ++u) {
            if (first + u * grid < v.size) Step::write(v, scalars, static_cast<Index>(first + u * grid), elements[u], sums);
        }
    }
    if constexpr (Step::sums) {
        sums = add_up_block(sums);
        if (threadIdx.x == 0) place.of_blocks[blockIdx.x] = sums;
        if (!comes_last(place.arrived)) return;
        Sums of_thread;
        for (unsigned block = threadIdx.x; block < gridDim.x; block += threads_per_block) {
            of_thread.first += __ldcg(&place.of_blocks[block].first);
            of_thread.second += __ldcg(&place.of_blocks[block].second);
        }
        __syncthreads();  // add_up_block's memory is used again
        const Sums total = add_up_block(of_thread);
        if (threadIdx.x == 0) {
            Scalars next = scalars;
            Step::finish(next, total);
            *place.scalars = next;
            *place.arrived = 0;
            if constexpr (Step::ends) {
                if (place.in_loop) cudaGraphSetConditional(place.loop, next.goes_on() ? 1 : 0);
            }
        }
    }
}

/// Before the first iteration of a launch: is there one?
__global__ void condition_kernel(const Scalars* scalars, cudaGraphConditionalHandle loop) {
    cudaGraphSetConditional(loop, scalars->goes_on() ? 1 : 0);
}

__global__ void limit_kernel(Scalars* scalars, std::int64_t iterations, std::int64_t most_iterations) {
    const std::int64_t until = scalars->iterations + iterations;
    scalars->until = until < most_iterations ? until : most_iterations;
}

__global__ void run_again_kernel(Scalars* scalars) { scalars->state = KrylovState::running; }

template <ValueType Value>
class CudaKrylov final : public Krylov<Value> {
public:
    CudaKrylov(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal, CudaDevice& device)
        : plan_(plan),
          device_(device),
          memory_(plan.method, b, inverse_diagonal, device),
          blocks_(std::min(blocks_for(memory_.size(), threads_per_block),
                           static_cast<unsigned>(most_blocks_per_processor * device.properties().processors))),
          history_(device.allocate((static_cast<std::size_t>(plan.most_iterations) + 1) * sizeof(double),
                                   "the residual of each iteration")),
          scalars_(device.allocate(sizeof(Scalars), "the scalars of the solve")),
          sums_(device.allocate(blocks_ * sizeof(Sums), "the sums of the solve")),
          arrived_(device.allocate(sizeof(unsigned), "a count of blocks")) {
        device.zero(arrived_.address(), arrived_.bytes());
        begin_with_zero();
    }

    void use(KrylovProduct<Value> product) override {
        product_ = std::move(product);
        loop_.reset();
    }

    void restart() override {
        run_again();
        begin(product_);
    }

    void launch(std::int64_t iterations) override {
        if (loop_ == nullptr) make_loop();
        limit_kernel<<<1, 1, 0, device_.stream()>>>(scalars_.as<Scalars>(), iterations, plan_.most_iterations);
        check_launch("limit");
        check_cuda(cudaGraphLaunch(loop_.get(), device_.stream()), "cudaGraphLaunch");
    }

    void rest_of_iteration() override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::run_cg_steps([&](auto step) {
            run_again();
            run(step, vectors);
        });
        if (!krylov::is_over(fetch(), plan_.most_iterations)) return;
        memory_.begin_with_zero();
        begin_with_zero();
        (void)fetch();
    }

    [[nodiscard]] KrylovOperands<Value> operands() const override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        return {vectors.p, vectors.q};
    }

    [[nodiscard]] KrylovProgress wait() override {
        const Scalars scalars = fetch();
        return {scalars.state, scalars.iterations, std::sqrt(scalars.residual), scalars.divisor};
    }

    void reorder(const Index* target) override {
        memory_.reorder(target);
        loop_.reset();  // it has the addresses
    }

    [[nodiscard]] std::vector<Value> x() override { return memory_.x(); }

    [[nodiscard]] std::vector<double> history() override {
        std::vector<double> norms(static_cast<std::size_t>(fetch().iterations) + 1);
        device_.download(history_, std::as_writable_bytes(std::span(norms)));
        for (double& norm : norms) norm = std::sqrt(norm);
        return norms;
    }

    [[nodiscard]] std::int64_t vector_bytes() const override { return memory_.vector_bytes(plan_.method); }

private:
    [[nodiscard]] Scalars fetch() {
        Scalars scalars;
        device_.download(scalars_, std::as_writable_bytes(std::span(&scalars, 1)));
        return scalars;
    }

    template <typename Step>
    void run(Step, const krylov::Vectors<Value>& vectors, std::optional<cudaGraphConditionalHandle> loop = {}) {
        step_kernel<Step><<<blocks_, threads_per_block, 0, device_.stream()>>>(
            vectors, Place{scalars_.as<Scalars>(), sums_.as<Sums>(), arrived_.as<unsigned>(), loop.has_value(),
                           loop.value_or(cudaGraphConditionalHandle{})});
        check_launch("a step of the solve");
    }

    void run_again() {
        run_again_kernel<<<1, 1, 0, device_.stream()>>>(scalars_.as<Scalars>());
        check_launch("run again");
    }

    /// With x and its product at 0.
    void begin_with_zero() {
        const Scalars first = krylov::first_scalars(plan_, history_.as<double>());
        device_.upload(std::as_bytes(std::span(&first, 1)), scalars_);
        begin([](const Value*, Value*) {});
    }

    void begin(const KrylovProduct<Value>& multiply) {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::begin(
            plan_.method, vectors, [&](auto step) { run(step, vectors); }, multiply);
    }

    /// The graph of a launch: a loop over one iteration, which is recorded from the stream.
    void make_loop() {
        cudaGraph_t made = nullptr;
        check_cuda(cudaGraphCreate(&made, 0), "cudaGraphCreate");
        const OwnedCuda<cudaGraph_t> graph(made);
        cudaGraphConditionalHandle condition{};
        check_cuda(cudaGraphConditionalHandleCreate(&condition, made, 0, 0), "cudaGraphConditionalHandleCreate");

        const Scalars* scalars = scalars_.as<const Scalars>();
        cudaGraphNode_t first = nullptr;
        void* arguments[] = {&scalars, &condition};
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
        record_iteration(loop.conditional.phGraph_out[0], condition);

        cudaGraphExec_t executable = nullptr;
        check_cuda(cudaGraphInstantiate(&executable, made, 0), "cudaGraphInstantiate");
        loop_.reset(executable);
        check_cuda(cudaGraphUpload(loop_.get(), device_.stream()), "cudaGraphUpload");
    }

    void record_iteration(cudaGraph_t body, cudaGraphConditionalHandle condition) {
        const cudaStream_t stream = device_.stream();
        // Other threads may go on asking CUDA for memory meanwhile.
        check_cuda(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
                   "cudaStreamBeginCaptureToGraph");
        try {
            const krylov::Vectors<Value> vectors = memory_.vectors();
            krylov::iterate(
                plan_.method, vectors, [&](auto step) { run(step, vectors, condition); }, product_);
        } catch (...) {
            cudaGraph_t unfinished = nullptr;
            (void)cudaStreamEndCapture(stream, &unfinished);
            throw;
        }
        cudaGraph_t same = nullptr;
        check_cuda(cudaStreamEndCapture(stream, &same), "cudaStreamEndCapture");
    }

    KrylovPlan plan_;
    CudaDevice& device_;
    krylov::Memory<Value> memory_;
    unsigned blocks_;
    DeviceMemory history_;
    DeviceMemory scalars_;
    DeviceMemory sums_;
    DeviceMemory arrived_;
    KrylovProduct<Value> product_;
    OwnedCuda<cudaGraphExec_t> loop_;
};

}  // namespace

template <ValueType Value>
std::unique_ptr<Krylov<Value>> make_cuda_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                std::span<const Value> inverse_diagonal, CudaDevice& device) {
    return std::make_unique<CudaKrylov<Value>>(plan, b, inverse_diagonal, device);
}

template std::unique_ptr<Krylov<float>> make_cuda_krylov(const KrylovPlan&, std::span<const float>, std::span<const float>,
                                                         CudaDevice&);
template std::unique_ptr<Krylov<double>> make_cuda_krylov(const KrylovPlan&, std::span<const double>, std::span<const double>,
                                                          CudaDevice&);

}  // namespace workbench
