// Krylov solvers on a GPU; all iterations of a launch form one CUDA graph (cuda_loop.cuh).
#include "kernels/krylov/cuda_krylov.cuh"

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_stream.cuh"
#include "kernels/krylov/cuda_loop.cuh"
#include "kernels/krylov/cuda_steps.cuh"

namespace workbench {
namespace {

using krylov::Scalars;

__global__ void limit_kernel(Scalars* scalars, std::int64_t iterations, std::int64_t most_iterations) {
    const std::int64_t until = scalars->iterations + iterations;
    scalars->until = until < most_iterations ? until : most_iterations;
}

template <ValueType Value>
class CudaKrylov final : public KrylovByProducts<Value> {
public:
    CudaKrylov(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal, CudaDevice& device)
        : plan_(plan), device_(device), memory_(plan, b, inverse_diagonal, device), steps_(plan, memory_.size(), device) {
        begin([](const Value*, Value*) {});  // x = 0, so A x = 0 needs no product
    }

    void use(KrylovProduct<Value> product) override {
        product_ = std::move(product);
        loop_.reset();
    }

    [[nodiscard]] Value* right_hand_side() override { return memory_.right_hand_side(); }
    [[nodiscard]] Value* solution() override { return memory_.vectors().x; }
    [[nodiscard]] Value* inverse_diagonal() override { return memory_.inverse_diagonal(); }

    double begin_again(double tolerance) override {
        steps_.begin_with_zero();
        memory_.begin_with_zero();
        begin([](const Value*, Value*) {});
        return steps_.stop_below(tolerance);
    }

    void restart() override {
        steps_.run_again();
        begin(product_);
    }

    void launch(std::int64_t iterations) override {
        if (loop_ == nullptr) {
            loop_ = krylov::make_loop(steps_.scalars(), 1, device_, [this](cudaGraphConditionalHandle condition) {
                const krylov::Vectors<Value> vectors = memory_.vectors();
                krylov::iterate(
                    plan_.method, vectors, [&](auto step) { steps_.run(step, vectors, condition); }, product_);
            });
        }
        limit_kernel<<<1, 1, 0, device_.stream()>>>(steps_.scalars(), iterations, plan_.most_iterations);
        check_launch("limit");
        check_cuda(cudaGraphLaunch(loop_.get(), device_.stream()), "cudaGraphLaunch");
    }

    void rest_of_iteration() override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::run_cg_steps([&](auto step) {
            steps_.run_again();
            steps_.run(step, vectors);
        });
        if (!krylov::is_over(steps_.fetch(), plan_.most_iterations)) return;
        steps_.begin_with_zero();
        memory_.begin_with_zero();
        begin([](const Value*, Value*) {});
        (void)steps_.fetch();
    }

    [[nodiscard]] KrylovOperands<Value> operands() const override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        return {vectors.p, vectors.q};
    }

    [[nodiscard]] KrylovProgress wait() override { return krylov::progress_of(steps_.fetch()); }

    void reorder(const Index* target) override {
        memory_.reorder(target);
        loop_.reset();  // it holds the old addresses
    }

    [[nodiscard]] std::vector<Value> x() override { return memory_.x(); }

    [[nodiscard]] std::vector<double> history() override { return steps_.history(); }

    [[nodiscard]] std::int64_t vector_bytes() const override { return memory_.vector_bytes(plan_.method); }

private:
    void begin(const KrylovProduct<Value>& multiply) {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::begin(
            plan_.method, vectors, [&](auto step) { steps_.run(step, vectors); }, multiply);
    }

    KrylovPlan plan_;
    CudaDevice& device_;
    krylov::Memory<Value> memory_;
    krylov::CudaSteps steps_;
    KrylovProduct<Value> product_;
    OwnedCuda<cudaGraphExec_t> loop_;
};

}  // namespace

template <ValueType Value>
std::unique_ptr<KrylovByProducts<Value>> make_cuda_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                          std::span<const Value> inverse_diagonal, CudaDevice& device) {
    return std::make_unique<CudaKrylov<Value>>(plan, b, inverse_diagonal, device);
}

template std::unique_ptr<KrylovByProducts<float>> make_cuda_krylov(const KrylovPlan&, std::span<const float>,
                                                                   std::span<const float>, CudaDevice&);
template std::unique_ptr<KrylovByProducts<double>> make_cuda_krylov(const KrylovPlan&, std::span<const double>,
                                                                    std::span<const double>, CudaDevice&);

}  // namespace workbench
