// Runs the steps of a solve on the host.
#pragma once

#include <algorithm>
#include <vector>

#include "core/matrix/host_threads.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/krylov/memory.hpp"
#include "kernels/krylov/steps_across_ranks.hpp"

namespace workbench::krylov {

class HostSteps {
public:
    HostSteps(const KrylovPlan& plan, Index size, Device& /*host*/)
        : plan_(plan),
          history_(static_cast<std::size_t>(plan.most_iterations) + 1),
          sums_((static_cast<std::size_t>(size) + chunk - 1) / chunk) {
        begin_with_zero();
    }

    void begin_with_zero() { scalars_ = first_scalars(plan_, history_.data()); }
    double stop_below(double tolerance) { return krylov::stop_below(scalars_, tolerance); }
    void run_again() { scalars_.state = KrylovState::running; }

    [[nodiscard]] Scalars fetch() const { return scalars_; }

    [[nodiscard]] std::vector<double> history() const {
        return norms_of({history_.begin(), history_.begin() + scalars_.iterations + 1});
    }

    template <typename Step, typename Value>
    void run(Step step, const Vectors<Value>& vectors) {
        if (scalars_.state != KrylovState::running) return;
        const auto work = [&, scalars = scalars_](std::size_t c) {
            Sums sums;
            const Offset first = static_cast<Offset>(c) * chunk;
            const auto last = static_cast<Index>(std::min<Offset>(vectors.size, first + chunk));
            for (auto i = static_cast<Index>(first); i < last; ++i) {
                step.write(vectors, scalars, i, step.read(vectors, i), sums);
            }
            sums_[c] = sums;
        };
        if (sums_.size() == 1) {
            work(0);  // a parallel region would take longer
        } else {
            Kokkos::parallel_for("krylov_step", Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::size_t>>(0, sums_.size()),
                                 work);
        }
        Sums total;
        for (const Sums& sums : sums_) {
            total.first += sums.first;
            total.second += sums.second;
        }
        step.finish(scalars_, total);
    }

    static constexpr bool calls_functions = true;  // of the caller

    /// Runs up to `iterations` iterations; iterate(run) does one.
    template <typename Iterate>
    void loop(std::int64_t iterations, const Iterate& iterate) {
        scalars_.until = std::min(scalars_.iterations + iterations, plan_.most_iterations);
        while (scalars_.goes_on()) iterate([this](auto step, const auto& vectors) { run(step, vectors); });
    }
    void forget_loop() {}

    /// False once another iteration would do nothing.
    [[nodiscard]] bool may_go_on() const { return scalars_.state == KrylovState::running; }

    // ---- Across ranks.

    [[nodiscard]] const double* own() const { return scalars_.own; }
    void add_up_ranks(const double* all, int ranks) { krylov::add_up_ranks(scalars_, all, ranks); }

private:
    /// Elements that one thread adds up, so that sums do not depend on the number of threads.
    static constexpr Offset chunk = 4096;

    KrylovPlan plan_;
    std::vector<double> history_;
    std::vector<Sums> sums_;
    Scalars scalars_;
};

}  // namespace workbench::krylov
