// Krylov solvers on a GPU; all iterations of a launch form one CUDA graph (cuda_loop.cuh). With several right-hand sides, a
// thread has the elements of one, so that its sums are those of a step with one (cuda_steps.cuh).
#include "kernels/krylov/cuda_krylov.cuh"

#include <vector>

#include "core/contract/kernel.hpp"
#include "kernels/krylov/cuda_loop.cuh"
#include "kernels/krylov/cuda_steps.cuh"
#include "kernels/krylov/krylov_over_steps.hpp"
#include "kernels/krylov/several_over_steps.hpp"

namespace workbench {
namespace krylov {
namespace {

class LoopSteps : public CudaSteps {
public:
    using CudaSteps::CudaSteps;

    static constexpr bool calls_functions = false;

    template <typename Iterate>
    void loop(std::int64_t iterations, const Iterate& iterate) {
        loop_.launch(scalars(), 1, device(), {iterations, plan().most_iterations}, [&](cudaGraphConditionalHandle condition) {
            iterate([&](auto step, const auto& vectors) { run(step, vectors, condition); });
        });
    }
    void forget_loop() { loop_.forget(); }

private:
    RecordedLoop loop_;
};

/// Threads of a block that have elements, of which neighbours have neighbouring right-hand sides.
__host__ __device__ constexpr int threads_with_elements(int count) { return threads_per_block / count * count; }

/// The sums of the threads t, t + count, ... of the block, in thread t < count, in a fixed order.
__device__ Sums add_up_threads(Sums sums, int count) {
    __shared__ Sums of_threads[threads_per_block];
    const int thread = static_cast<int>(threadIdx.x);
    of_threads[thread] = sums;
    __syncthreads();
    for (int rows = threads_with_elements(count) / count; rows > 1; rows = (rows + 1) / 2) {
        const int kept = (rows + 1) / 2 * count;  // threads
        if (thread < rows * count - kept) {
            of_threads[thread].first += of_threads[thread + kept].first;
            of_threads[thread].second += of_threads[thread + kept].second;
        }
        __syncthreads();
    }
    sums = of_threads[thread];
    __syncthreads();  // the memory is used again
    return sums;
}

/// place.scalars: [count]; place.of_blocks: [blocks x count]. v: of size * count elements.
template <typename Step, typename Value>
__global__ void __launch_bounds__(threads_per_block) step_of_several_kernel(Vectors<Value> v, StepArguments place, int count) {
    const int thread = static_cast<int>(threadIdx.x);
    const int of_block = threads_with_elements(count);
    const int own = thread % count;
    const Scalars scalars = place.scalars[own];  // read before any block can be the last one
    const bool is_running = thread < of_block && scalars.state == KrylovState::running;
    if (__syncthreads_or(is_running) == 0) {
        if constexpr (Step::ends) {
            if (place.in_loop && blockIdx.x == 0 && thread == 0) cudaGraphSetConditional(place.loop, 0);
        }
        return;
    }
    Sums sums;
    if (is_running) {
        const Offset elements = Offset{v.size};
        const Offset grid = static_cast<Offset>(gridDim.x) * of_block;
        for (Offset i = static_cast<Offset>(blockIdx.x) * of_block + thread; i < elements; i += grid) {
            const auto element = static_cast<Index>(i);
            Step::write(v, scalars, element, Step::read(v, element), sums);
        }
    }
    if constexpr (Step::sums) {
        sums = add_up_threads(sums, count);
        if (thread < count) place.of_blocks[static_cast<Offset>(blockIdx.x) * count + thread] = sums;
        __threadfence();
        __syncthreads();  // all sums of this block are stored before it arrives
        if (!comes_last(place.arrived)) return;
        Sums of_thread;
        if (thread < of_block) {
            for (unsigned block = thread / count; block < gridDim.x; block += of_block / count) {
                const Sums& stored = place.of_blocks[static_cast<Offset>(block) * count + own];
                of_thread.first += __ldcg(&stored.first);
                of_thread.second += __ldcg(&stored.second);
            }
        }
        const Sums total = add_up_threads(of_thread, count);
        if (thread < count && is_running) {
            Scalars next = scalars;
            Step::finish(next, total);
            place.scalars[own] = next;
        }
        if (thread == 0) *place.arrived = 0;
        if constexpr (Step::ends) {
            __threadfence_block();
            __syncthreads();
            if (place.in_loop && thread == 0) cudaGraphSetConditional(place.loop, go_on(place.scalars, count) ? 1 : 0);
        }
    }
}

class CudaStepsOfSeveral {
public:
    CudaStepsOfSeveral(const KrylovPlan& plan, Index size, int count, CudaDevice& device)
        : plan_(plan),
          device_(device),
          count_(count),
          blocks_(std::min(blocks_for(Offset{size} * count, threads_with_elements(count)),
                           static_cast<unsigned>(most_blocks_per_processor * device.properties().processors))),
          history_(device.allocate(count * history_size() * sizeof(double), "the residual of each iteration")),
          scalars_(device.allocate(count * sizeof(Scalars), "the scalars of the solve")),
          sums_(device.allocate(std::size_t{blocks_} * count * sizeof(Sums), "the sums of the solve")),
          arrived_(device.allocate(sizeof(unsigned), "a count of blocks")) {
        device.zero(arrived_.address(), arrived_.bytes());
        begin_with_zero();
    }

    void begin_with_zero() {
        std::vector<Scalars> all;
        for (int j = 0; j < count_; ++j) all.push_back(first_scalars(plan_, history_.as<double>() + j * history_size()));
        store(all);
    }

    [[nodiscard]] std::vector<Scalars> fetch() const {
        std::vector<Scalars> all(count_);
        device_.download(scalars_, std::as_writable_bytes(std::span(all)));
        return all;
    }
    void store(const std::vector<Scalars>& all) { device_.upload(std::as_bytes(std::span(all)), scalars_); }

    void forget_loop() { loop_.forget(); }

    [[nodiscard]] std::vector<double> history(int which) const {
        std::vector<double> squares(static_cast<std::size_t>(fetch()[which].iterations) + 1);
        const DeviceMemory own(history_.as<double>() + which * history_size(), squares.size() * sizeof(double), [](void*) {});
        device_.download(own, std::as_writable_bytes(std::span(squares)));
        return norms_of(std::move(squares));
    }

    template <typename Iterate>
    void loop(std::int64_t iterations, const Iterate& iterate) {
        const auto record = [&](cudaGraphConditionalHandle condition) {
            iterate([&](auto step, const auto& vectors) { run(step, vectors, condition); });
        };
        loop_.launch(scalars_.as<Scalars>(), count_, device_, {iterations, plan_.most_iterations}, record);
    }

    template <typename Step, typename Value>
    void run(Step, const Vectors<Value>& vectors, std::optional<cudaGraphConditionalHandle> loop = {}) {
        step_of_several_kernel<Step><<<blocks_, threads_per_block, 0, device_.stream()>>>(
            vectors,
            StepArguments{scalars_.as<Scalars>(), sums_.as<Sums>(), arrived_.as<unsigned>(), loop.has_value(),
                          loop.value_or(cudaGraphConditionalHandle{})},
            count_);
        check_launch("a step of several solves");
    }

private:
    [[nodiscard]] std::size_t history_size() const { return static_cast<std::size_t>(plan_.most_iterations) + 1; }

    KrylovPlan plan_;
    CudaDevice& device_;
    int count_;
    unsigned blocks_;
    DeviceMemory history_;  // [count x history_size]
    DeviceMemory scalars_;
    DeviceMemory sums_;
    DeviceMemory arrived_;
    RecordedLoop loop_;
};

}  // namespace
}  // namespace krylov

template <ValueType Value>
std::unique_ptr<KrylovByProducts<Value>> make_cuda_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                          std::span<const Value> inverse_diagonal, CudaDevice& device) {
    return std::make_unique<KrylovOverSteps<Value, krylov::LoopSteps>>(plan, b, inverse_diagonal, device);
}

template std::unique_ptr<KrylovByProducts<float>> make_cuda_krylov(const KrylovPlan&, std::span<const float>,
                                                                   std::span<const float>, CudaDevice&);
template std::unique_ptr<KrylovByProducts<double>> make_cuda_krylov(const KrylovPlan&, std::span<const double>,
                                                                    std::span<const double>, CudaDevice&);

template <ValueType Value>
std::unique_ptr<SeveralKrylov<Value>> make_cuda_several_krylov(const SeveralPlan<Value>& plan, CudaDevice& device) {
    return std::make_unique<SeveralOverSteps<Value, krylov::CudaStepsOfSeveral>>(plan, device);
}

template std::unique_ptr<SeveralKrylov<float>> make_cuda_several_krylov(const SeveralPlan<float>&, CudaDevice&);
template std::unique_ptr<SeveralKrylov<double>> make_cuda_several_krylov(const SeveralPlan<double>&, CudaDevice&);

}  // namespace workbench
