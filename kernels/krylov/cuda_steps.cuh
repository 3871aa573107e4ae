// Runs the steps of a solve on a GPU. Each step is one kernel, including its reductions: every block stores its partial sums,
// and the block that arrives last, by an atomic counter, adds them in the order of the blocks. Solves are therefore
// reproducible to the bit.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/krylov/memory.hpp"
#include "kernels/krylov/steps.hpp"

namespace workbench::krylov {

inline constexpr int threads_per_block = 256;
inline constexpr int most_blocks_per_processor = 4;  // what the registers of a multiprocessor allow
inline constexpr int elements_in_flight = 2;         // per thread, each with up to six loads
inline constexpr int warps = threads_per_block / 32;

/// The arguments of a step in addition to the vectors.
struct StepArguments {
    Scalars* scalars = nullptr;
    Sums* of_blocks = nullptr;    // [blocks]
    unsigned* arrived = nullptr;  // blocks that have stored their sums; 0 between steps
    bool in_loop = false;
    cudaGraphConditionalHandle loop{};
};

/// The sums of all threads of the block, in thread 0.
static __device__ Sums add_up_block(Sums sums) {
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

/// True in all threads of the last block that arrives; the writes of all other blocks are then visible to it.
static __device__ bool comes_last(unsigned* arrived) {
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
__global__ void __launch_bounds__(threads_per_block) step_kernel(Vectors<Value> v, StepArguments place) {
    const Scalars scalars = *place.scalars;  // read before any block can be the last one
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
        __syncthreads();  // add_up_block's shared memory is reused
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

static __global__ void run_again_kernel(Scalars* scalars) { scalars->state = KrylovState::running; }

class CudaSteps {
public:
    CudaSteps(const KrylovPlan& plan, Index size, CudaDevice& device)
        : plan_(plan),
          device_(device),
          blocks_(std::min(blocks_for(size, threads_per_block),
                           static_cast<unsigned>(most_blocks_per_processor * device.properties().processors))),
          history_(device.allocate((static_cast<std::size_t>(plan.most_iterations) + 1) * sizeof(double),
                                   "the residual of each iteration")),
          scalars_(device.allocate(sizeof(Scalars), "the scalars of the solve")),
          sums_(device.allocate(blocks_ * sizeof(Sums), "the sums of the solve")),
          arrived_(device.allocate(sizeof(unsigned), "a count of blocks")) {
        device.zero(arrived_.address(), arrived_.bytes());
        begin_with_zero();
    }

    void begin_with_zero() {
        const Scalars first = first_scalars(plan_, history_.as<double>());
        device_.upload(std::as_bytes(std::span(&first, 1)), scalars_);
    }

    double stop_below(double tolerance) {
        Scalars scalars = fetch();
        const double norm = krylov::stop_below(scalars, tolerance);
        device_.upload(std::as_bytes(std::span(&scalars, 1)), scalars_);
        return norm;
    }

    void run_again() {
        run_again_kernel<<<1, 1, 0, device_.stream()>>>(scalars());
        check_launch("run again");
    }

    [[nodiscard]] Scalars* scalars() const { return scalars_.as<Scalars>(); }

    [[nodiscard]] Scalars fetch() {
        Scalars scalars;
        device_.download(scalars_, std::as_writable_bytes(std::span(&scalars, 1)));
        return scalars;
    }

    [[nodiscard]] std::vector<double> history() {
        std::vector<double> squares(static_cast<std::size_t>(fetch().iterations) + 1);
        device_.download(history_, std::as_writable_bytes(std::span(squares)));
        return norms_of(std::move(squares));
    }

    template <typename Step, typename Value>
    void run(Step, const Vectors<Value>& vectors, std::optional<cudaGraphConditionalHandle> loop = {}) {
        step_kernel<Step><<<blocks_, threads_per_block, 0, device_.stream()>>>(
            vectors, StepArguments{scalars(), sums_.as<Sums>(), arrived_.as<unsigned>(), loop.has_value(),
                                   loop.value_or(cudaGraphConditionalHandle{})});
        check_launch("a step of the solve");
    }

protected:
    [[nodiscard]] CudaDevice& device() const { return device_; }
    [[nodiscard]] const KrylovPlan& plan() const { return plan_; }

private:
    KrylovPlan plan_;
    CudaDevice& device_;
    unsigned blocks_;
    DeviceMemory history_;
    DeviceMemory scalars_;
    DeviceMemory sums_;
    DeviceMemory arrived_;
};

}  // namespace workbench::krylov
