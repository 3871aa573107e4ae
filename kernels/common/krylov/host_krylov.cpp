#include "kernels/common/krylov/host_krylov.hpp"

#include <cmath>

#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/krylov/memory.hpp"

namespace workbench {
namespace {

using krylov::Sums;

/// Elements that are added up together, by one thread, so that a sum does not depend on how many threads there are.
constexpr Offset chunk = 4096;

template <ValueType Value>
class HostKrylov final : public Krylov<Value> {
public:
    HostKrylov(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal, Device& host)
        : plan_(plan),
          memory_(plan.method, b, inverse_diagonal, host),
          history_(static_cast<std::size_t>(plan.most_iterations) + 1),
          sums_((b.size() + chunk - 1) / chunk),
          scalars_(krylov::first_scalars(plan, history_.data())) {
        begin([](const Value*, Value*) {});  // x and its product are 0
    }

    void rest_of_iteration() override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::run_cg_steps([&](auto step) {
            scalars_.state = KrylovState::running;
            run(step, vectors);
        });
        if (!krylov::is_over(scalars_, plan_.most_iterations)) return;
        scalars_ = krylov::first_scalars(plan_, history_.data());
        memory_.begin_with_zero();
        begin([](const Value*, Value*) {});
    }

    [[nodiscard]] KrylovOperands<Value> operands() const override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        return {vectors.p, vectors.q};
    }

    void use(KrylovProduct<Value> product) override { product_ = std::move(product); }

    void restart() override {
        scalars_.state = KrylovState::running;
        begin(product_);
    }

    void launch(std::int64_t iterations) override {
        scalars_.until = std::min(scalars_.iterations + iterations, plan_.most_iterations);
        const krylov::Vectors<Value> vectors = memory_.vectors();
        while (scalars_.goes_on()) {
            krylov::iterate(
                plan_.method, vectors, [&](auto step) { run(step, vectors); }, product_);
        }
    }

    [[nodiscard]] KrylovProgress wait() override {
        return {scalars_.state, scalars_.iterations, std::sqrt(scalars_.residual), scalars_.divisor};
    }

    void reorder(const Index* target) override { memory_.reorder(target); }

    [[nodiscard]] std::vector<Value> x() override { return memory_.x(); }

    [[nodiscard]] std::vector<double> history() override {
        std::vector<double> norms(history_.begin(), history_.begin() + scalars_.iterations + 1);
        for (double& norm : norms) norm = std::sqrt(norm);
        return norms;
    }

    [[nodiscard]] std::int64_t vector_bytes() const override { return memory_.vector_bytes(plan_.method); }

private:
    void begin(const KrylovProduct<Value>& multiply) {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        krylov::begin(
            plan_.method, vectors, [&](auto step) { run(step, vectors); }, multiply);
    }

    template <typename Step>
    void run(Step step, const krylov::Vectors<Value>& vectors) {
        if (scalars_.state != KrylovState::running) return;
        Kokkos::parallel_for("krylov_step", Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::size_t>>(0, sums_.size()),
                             [&, scalars = scalars_](std::size_t c) {
                                 Sums sums;
                                 const Offset first = static_cast<Offset>(c) * chunk;
                                 const auto last = static_cast<Index>(std::min<Offset>(vectors.size, first + chunk));
                                 for (auto i = static_cast<Index>(first); i < last; ++i) {
                                     step.write(vectors, scalars, i, step.read(vectors, i), sums);
                                 }
                                 sums_[c] = sums;
                             });
        Sums total;
        for (const Sums& sums : sums_) {
            total.first += sums.first;
            total.second += sums.second;
        }
        step.finish(scalars_, total);
    }

    KrylovPlan plan_;
    krylov::Memory<Value> memory_;
    std::vector<double> history_;
    std::vector<Sums> sums_;
    krylov::Scalars scalars_;
    KrylovProduct<Value> product_;
};

}  // namespace

template <ValueType Value>
std::unique_ptr<Krylov<Value>> make_host_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                std::span<const Value> inverse_diagonal, Device& host) {
    return std::make_unique<HostKrylov<Value>>(plan, b, inverse_diagonal, host);
}

template std::unique_ptr<Krylov<float>> make_host_krylov(const KrylovPlan&, std::span<const float>, std::span<const float>,
                                                         Device&);
template std::unique_ptr<Krylov<double>> make_host_krylov(const KrylovPlan&, std::span<const double>, std::span<const double>,
                                                          Device&);

}  // namespace workbench
