// Conjugate gradients with several right-hand sides, for every device. Steps: HostStepsOfSeveral or CudaStepsOfSeveral.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/krylov/memory.hpp"

namespace workbench {

template <ValueType Value, typename Steps>
class SeveralOverSteps final : public SeveralKrylov<Value> {
public:
    /// device: the same, as the steps see it.
    template <typename StepsDevice>
    SeveralOverSteps(const SeveralPlan<Value>& plan, StepsDevice& device)
        : plan_(plan),
          memory_({.method = KrylovMethod::cg}, elements(0), plan.preconditioned ? elements(1) : std::vector<Value>(), device),
          steps_({.method = KrylovMethod::cg, .most_iterations = plan.most_iterations}, plan.size, plan.count, device) {}

    void use(KrylovProduct<Value> product) override {
        product_ = std::move(product);
        steps_.forget_loop();
    }

    [[nodiscard]] int count() const override { return plan_.count; }
    [[nodiscard]] Value* right_hand_sides() override { return memory_.right_hand_side(); }
    [[nodiscard]] Value* solutions() override { return memory_.vectors().x; }
    [[nodiscard]] Value* inverse_diagonal() override { return memory_.inverse_diagonal(); }

    std::vector<double> begin_again(double tolerance) override {
        steps_.begin_with_zero();
        memory_.begin_with_zero();
        begin([](const Value*, Value*) {});  // A X = 0 needs no product
        std::vector<krylov::Scalars> all = steps_.fetch();
        std::vector<double> norms;
        for (krylov::Scalars& one : all) norms.push_back(krylov::stop_below(one, tolerance));
        steps_.store(all);
        return norms;
    }

    void restart(std::span<const int> which) override {
        const std::vector<krylov::Scalars> before = steps_.fetch();
        std::vector<krylov::Scalars> begins = before;
        for (krylov::Scalars& one : begins) one.state = KrylovState::converged;  // the others stay as they are
        for (const int j : which) begins[j].state = KrylovState::running;
        steps_.store(begins);
        begin(product_);
        const std::vector<krylov::Scalars> begun = steps_.fetch();
        std::vector<krylov::Scalars> after = before;
        for (const int j : which) after[j] = begun[j];
        steps_.store(after);
    }

    void stop(int which) override {
        std::vector<krylov::Scalars> all = steps_.fetch();
        all[which].state = KrylovState::converged;
        steps_.store(all);
    }

    void launch(std::int64_t iterations) override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        steps_.loop(iterations, [&](const auto& step) {
            krylov::iterate(
                KrylovMethod::cg, vectors, [&](auto each) { step(each, vectors); }, product_);
        });
    }

    [[nodiscard]] std::vector<KrylovProgress> wait() override {
        std::vector<KrylovProgress> progress;
        for (const krylov::Scalars& one : steps_.fetch()) progress.push_back(krylov::progress_of(one));
        return progress;
    }

    [[nodiscard]] std::vector<double> history(int which) override { return steps_.history(which); }

    [[nodiscard]] std::int64_t vector_bytes() const override { return memory_.vector_bytes(KrylovMethod::cg); }

private:
    [[nodiscard]] std::vector<Value> elements(Value value) const {
        return std::vector<Value>(static_cast<std::size_t>(plan_.size) * plan_.count, value);
    }

    void begin(const KrylovProduct<Value>& multiply) {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::begin(
            KrylovMethod::cg, vectors, [&](auto step) { steps_.run(step, vectors); }, multiply);
    }

    SeveralPlan<Value> plan_;
    krylov::Memory<Value> memory_;  // vectors of size * count elements
    Steps steps_;
    KrylovProduct<Value> product_;
};

}  // namespace workbench
