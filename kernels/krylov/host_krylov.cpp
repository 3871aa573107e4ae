#include "kernels/krylov/host_krylov.hpp"

#include <algorithm>

#include "kernels/krylov/host_steps.hpp"
#include "kernels/krylov/memory.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class HostKrylov final : public KrylovByProducts<Value> {
public:
    HostKrylov(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal, Device& host)
        : plan_(plan), memory_(plan, b, inverse_diagonal, host), steps_(plan, memory_.size(), host) {
        if (!plan_.precondition) begin_with_zero();
    }

    void rest_of_iteration() override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::run_cg_steps([&](auto step) {
            steps_.run_again();
            steps_.run(step, vectors);
        });
        if (!krylov::is_over(steps_.scalars(), plan_.most_iterations)) return;
        begin_with_zero();
    }

    [[nodiscard]] KrylovOperands<Value> operands() const override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        return {vectors.p, vectors.q};
    }

    void use(KrylovProduct<Value> product) override { product_ = std::move(product); }

    [[nodiscard]] Value* right_hand_side() override { return memory_.right_hand_side(); }
    [[nodiscard]] Value* solution() override { return memory_.vectors().x; }
    [[nodiscard]] Value* inverse_diagonal() override { return memory_.inverse_diagonal(); }

    double begin_again(double tolerance) override {
        begin_with_zero();
        return steps_.stop_below(tolerance);
    }

    void restart() override {
        steps_.run_again();
        begin(product_);
    }

    void launch(std::int64_t iterations) override {
        krylov::Scalars& scalars = steps_.scalars();
        scalars.until = std::min(scalars.iterations + iterations, plan_.most_iterations);
        const krylov::Vectors<Value> vectors = memory_.vectors();
        while (scalars.goes_on()) {
            const auto step = [&](auto each) { steps_.run(each, vectors); };
            if (plan_.precondition) {
                krylov::iterate(plan_.method, vectors, step, product_, preconditioner());
            } else {
                krylov::iterate(plan_.method, vectors, step, product_);
            }
        }
    }

    [[nodiscard]] KrylovProgress wait() override { return krylov::progress_of(steps_.scalars()); }

    void reorder(const Index* target) override { memory_.reorder(target); }

    [[nodiscard]] std::vector<Value> x() override { return memory_.x(); }

    [[nodiscard]] std::vector<double> history() override { return steps_.history(); }

    [[nodiscard]] std::int64_t vector_bytes() const override { return memory_.vector_bytes(plan_.method); }

private:
    void begin(const KrylovProduct<Value>& multiply) {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        const auto step = [&](auto each) { steps_.run(each, vectors); };
        if (plan_.precondition) {
            krylov::begin(plan_.method, vectors, step, multiply, preconditioner());
        } else {
            krylov::begin(plan_.method, vectors, step, multiply);
        }
    }

    /// Begins with x = 0, so that A x = 0 needs no product.
    void begin_with_zero() {
        steps_.begin_with_zero();
        memory_.begin_with_zero();
        begin([](const Value*, Value*) {});
    }

    /// The caller's function, which is not called for an iteration that has ended.
    [[nodiscard]] auto preconditioner() {
        return [this](const Value* from, Value* to) {
            if (steps_.scalars().state == KrylovState::running) plan_.precondition(from, to);
        };
    }

    KrylovPlan plan_;
    krylov::Memory<Value> memory_;
    krylov::HostSteps steps_;
    KrylovProduct<Value> product_;
};

}  // namespace

template <ValueType Value>
std::unique_ptr<KrylovByProducts<Value>> make_host_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                          std::span<const Value> inverse_diagonal, Device& host) {
    return std::make_unique<HostKrylov<Value>>(plan, b, inverse_diagonal, host);
}

template std::unique_ptr<KrylovByProducts<float>> make_host_krylov(const KrylovPlan&, std::span<const float>,
                                                                   std::span<const float>, Device&);
template std::unique_ptr<KrylovByProducts<double>> make_host_krylov(const KrylovPlan&, std::span<const double>,
                                                                    std::span<const double>, Device&);

}  // namespace workbench
