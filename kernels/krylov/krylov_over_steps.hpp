// Krylov solvers that call their product, for every device. Steps: HostSteps or LoopSteps (cuda_krylov.cu).
#pragma once

#include <utility>

#include "kernels/krylov/memory.hpp"

namespace workbench {

template <ValueType Value, typename Steps>
class KrylovOverSteps final : public KrylovByProducts<Value> {
public:
    /// device: the same, as the steps see it.
    template <typename StepsDevice>
    KrylovOverSteps(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal,
                    StepsDevice& device)
        : plan_(plan), memory_(plan, b, inverse_diagonal, device), steps_(plan, memory_.size(), device) {
        if (!plan_.precondition) begin_with_zero();
    }

    void use(KrylovProduct<Value> product) override {
        product_ = std::move(product);
        steps_.forget_loop();
    }

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
        const krylov::Vectors<Value> vectors = memory_.vectors();
        steps_.loop(iterations, [&](const auto& step) {
            with_preconditioner([&](const auto& precondition) {
                krylov::iterate(
                    plan_.method, vectors, [&](auto each) { step(each, vectors); }, product_, precondition);
            });
        });
    }

    void rest_of_iteration() override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::run_cg_steps([&](auto step) {
            steps_.run_again();
            steps_.run(step, vectors);
        });
        if (!krylov::is_over(steps_.fetch(), plan_.most_iterations)) return;
        begin_with_zero();
        (void)steps_.fetch();
    }

    [[nodiscard]] KrylovOperands<Value> operands() const override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        return {vectors.p, vectors.q};
    }

    [[nodiscard]] KrylovProgress wait() override { return krylov::progress_of(steps_.fetch()); }

    void reorder(const Index* target) override {
        memory_.reorder(target);
        steps_.forget_loop();  // it holds the old addresses
    }

    [[nodiscard]] std::vector<Value> x() override { return memory_.x(); }
    [[nodiscard]] std::vector<double> history() override { return steps_.history(); }
    [[nodiscard]] std::int64_t vector_bytes() const override { return memory_.vector_bytes(plan_.method); }

private:
    void begin(const KrylovProduct<Value>& multiply) {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        with_preconditioner([&](const auto& precondition) {
            krylov::begin(
                plan_.method, vectors, [&](auto step) { steps_.run(step, vectors); }, multiply, precondition);
        });
    }

    /// Begins with x = 0, so that A x = 0 needs no product.
    void begin_with_zero() {
        steps_.begin_with_zero();
        memory_.begin_with_zero();
        begin([](const Value*, Value*) {});
    }

    /// Calls `run` with the caller's function, which does nothing in an iteration that has ended, or with InSteps.
    template <typename Run>
    void with_preconditioner(const Run& run) {
        if constexpr (Steps::calls_functions) {
            if (plan_.precondition) {
                return run([this](const Value* from, Value* to) {
                    if (steps_.may_go_on()) plan_.precondition(from, to);
                });
            }
        }
        run(krylov::InSteps());
    }

    KrylovPlan plan_;
    krylov::Memory<Value> memory_;
    Steps steps_;
    KrylovProduct<Value> product_;
};

}  // namespace workbench
