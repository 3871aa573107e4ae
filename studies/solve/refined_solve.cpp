#include "studies/solve/refined_solve.hpp"

#include <algorithm>
#include <cmath>

#include "studies/solve/iterative_solve.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class RefinedSolve final : public IterativeSolve<Value> {
public:
    RefinedSolve(PreparedSolver<Value>& solver, const SolveOptions& options)
        : IterativeSolve<Value>(solver, options),
          rounding_(solver.multiplier().preparation().rounding.value()),
          stop_below_(options.tolerance * solver.system().norm_of_b()) {
        begin_round(solver.system().norm_of_b(), std::sqrt(rounding_.norm));
    }

protected:
    /// Runs until about the end of a round.
    double advance() override {
        const std::int64_t iterations =
            std::min(this->rules_.iterations_until_check(this->progress_.iterations), iterations_of_round());
        const double seconds = this->device_.time([&] { this->krylov_->launch(iterations); });
        this->progress_ = this->krylov_->wait();
        return seconds;
    }

    void check_progress() override {
        if (this->progress_.state == KrylovState::running && this->progress_.residual <= target_) return refine();
        IterativeSolve<Value>::check_progress();
        if (!this->ended_) return;
        const SolveEnd end = this->outcome_.end;
        if (end == SolveEnd::stagnated || end == SolveEnd::indefinite) this->outcome_.reason += of_rounded_matrix();
    }

    /// r = b - A x with the values in full.
    void restart() override {
        this->solver_.multiplies_in_full = true;
        IterativeSolve<Value>::restart();
        this->solver_.multiplies_in_full = false;
        begin_round(this->progress_.residual, target_ / begin_);
    }

private:
    [[nodiscard]] std::string of_rounded_matrix() const {
        return fmt::format(" (the iterations multiply with values rounded to {})", name_of(rounding_.to));
    }

    void refine() {
        const double begin = begin_;
        const double of_recurrence = this->progress_.residual;
        restart();
        const double residual = this->progress_.residual;
        if (!SolveRules::gains(residual, begin)) {
            const double norm_of_b = this->system_.norm_of_b();
            return this->end(
                SolveEnd::stagnated,
                fmt::format("a round of refinement reduced the residual of the recurrence to {:.3g}, but the true "
                            "residual from {:.3g} to {:.3g} only: values rounded to {} are not accurate enough",
                            of_recurrence / norm_of_b, begin / norm_of_b, residual / norm_of_b, name_of(rounding_.to)));
        }
        // The next round goes as far as the true residual can be expected to follow.
        const double gap = std::sqrt(std::max(0.0, residual * residual - of_recurrence * of_recurrence));
        begin_round(residual, std::min(gap / begin, largest_factor));
    }

    /// factor: the residual at the end of the round over the residual at its beginning.
    void begin_round(double residual, double factor) {
        begin_ = residual;
        target_ = std::max(residual * factor, stop_below_ / 2);
        first_ = this->progress_.iterations;
    }

    /// By the mean rate since the round began, but at most as many as it has had.
    [[nodiscard]] std::int64_t iterations_of_round() const {
        constexpr std::int64_t fewest = 8;
        if (target_ < stop_below_) return this->options_.patience;  // the device ends the last round
        const std::int64_t done = this->progress_.iterations - first_;
        const double rate = done == 0 ? 0 : std::log(begin_ / this->progress_.residual) / static_cast<double>(done);
        if (!(rate > 0)) return std::max(done, fewest);
        const double left = std::ceil(std::log(this->progress_.residual / target_) / rate);
        return std::max(fewest, static_cast<std::int64_t>(std::min(left, static_cast<double>(done))));
    }

    static constexpr double largest_factor = 0.1;

    RoundingError rounding_;
    double stop_below_;
    // The round: the norm of r at its beginning, that at which it is to end, its first iteration.
    double begin_ = 0;
    double target_ = 0;
    std::int64_t first_ = 0;
};

}  // namespace

template <ValueType Value>
SolveOutcome solve_refined(PreparedSolver<Value>& solver, const SolveOptions& options) {
    return RefinedSolve<Value>(solver, options).run();
}

template SolveOutcome solve_refined(PreparedSolver<float>&, const SolveOptions&);
template SolveOutcome solve_refined(PreparedSolver<double>&, const SolveOptions&);

}  // namespace workbench
