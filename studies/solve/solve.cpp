#include "studies/solve/solve.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/kernel.hpp"
#include "core/input/read_matrix.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/solving/solve_range.hpp"
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

/// Like `solve`, with a multiplier that rounds. The iterations solve A' d = r with rounded values A' until |r| is smaller by a
/// factor, for which the product with A' suffices; then x += d, and r = b - A x is computed anew with the values in full (a
/// restart), until the true residual is small enough. Everything is in the precision of the vectors but the values of A'.
/// Source: Moler, "Iterative refinement in floating point" (1967), with a Krylov method for the correction as in Carson,
/// Higham, "Accelerating the solution of linear systems by iterative refinement in three precisions" (2018).
template <ValueType Value>
SolveOutcome solve_refined(PreparedSolver<Value>& solver, const SolveOptions& options) {
    return RefinedSolve<Value>(solver, options).run();
}

template SolveOutcome solve_refined(PreparedSolver<float>&, const SolveOptions&);
template SolveOutcome solve_refined(PreparedSolver<double>&, const SolveOptions&);

}  // namespace

std::string_view name_of(SolveEnd end) {
    switch (end) {
        case SolveEnd::converged: return "converged";
        case SolveEnd::iteration_limit: return "iteration limit";
        case SolveEnd::stagnated: return "stagnated";
        case SolveEnd::indefinite: return "indefinite";
        case SolveEnd::breakdown: return "breakdown";
    }
    return "";
}

std::string_view name_of(Trial::End end) {
    switch (end) {
        case Trial::End::kept: return "kept";
        case Trial::End::slower: return "slower";
        case Trial::End::failed: return "failed";
        case Trial::End::too_late: return "too late";
        case Trial::End::not_tried: return "not tried";
    }
    return "";
}

std::optional<double> SolveOutcome::over_parts() const {
    if (iterations == 0 || product_seconds <= 0 || copy_bandwidth <= 0) return std::nullopt;
    const double products_of_one = static_cast<double>(products) / static_cast<double>(iterations);
    return iteration_seconds() / (products_of_one * product_seconds + vector_bytes / copy_bandwidth);
}

std::string SolveOutcome::noise() const {
    constexpr double most_spread = 0.5;
    const double spread = summarise(solve_samples).spread;
    if (solve_samples.size() < fewest_for_interval || spread <= most_spread) return "";
    return fmt::format("a spread of {} between the 10th and the 90th percentile of {} solves", spread_text(spread),
                       solve_samples.size());
}

std::optional<SolveSpeedup> speedup_of(const SolveOutcome& one, const SolveOutcome& other) {
    if (!one.solved() || !other.solved() || one.iterations == 0 || other.iterations == 0) return std::nullopt;
    if (one.solve_seconds <= 0 || other.solve_seconds <= 0) return std::nullopt;
    const std::size_t solves = std::min(one.solve_samples.size(), other.solve_samples.size());
    SolveSpeedup speedup{.ratio = other.solve_seconds / one.solve_seconds, .solves = std::max<std::size_t>(1, solves)};
    const std::optional<Interval> of_one = median_of(one.solve_samples).interval;
    const std::optional<Interval> of_other = median_of(other.solve_samples).interval;
    if (of_one && of_other) speedup.interval = Interval{of_other->low / of_one->high, of_other->high / of_one->low};
    speedup.noise = speedup.interval ? speedup.interval->low <= 1 && speedup.interval->high >= 1
                                     : std::abs(speedup.ratio - 1) < single_solve_noise;
    speedup.noise = speedup.noise || !one.noise().empty() || !other.noise().empty();
    return speedup;
}

bool is_nearly_symmetric(const CsrMatrix& matrix) {
    constexpr double rounding = 1e-10;
    Index unlike = 0;  // rows with an entry unlike its mirror image
    Kokkos::parallel_reduce(
        "symmetric rows", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>(0, matrix.rows),
        [&](Index row, Index& count) {
            bool alike = true;
            for (Offset k = matrix.row_offsets[row]; alike && k < matrix.row_offsets[row + 1]; ++k) {
                const std::span<const Index> mirror = matrix.row_columns(matrix.column_indices[k]);
                const auto found = std::lower_bound(mirror.begin(), mirror.end(), row);
                const double value = matrix.values[k];
                double other = 0;
                if (found != mirror.end() && *found == row) {
                    other = matrix.values[matrix.row_offsets[matrix.column_indices[k]] + (found - mirror.begin())];
                }
                alike = std::abs(value - other) <= rounding * std::max(std::abs(value), std::abs(other));
            }
            count += alike ? 0 : 1;
        },
        unlike);
    return unlike == 0;
}

std::optional<double> break_even_iterations(const SolveOutcome& one, const SolveOutcome& other) {
    if (const auto speedup = speedup_of(one, other); !speedup || speedup->noise) return std::nullopt;
    const double price = one.setup_seconds() - other.setup_seconds();
    const double gain = other.iteration_seconds() - one.iteration_seconds();
    if (price <= 0 || gain <= 0) return std::nullopt;
    return price / gain;
}

std::optional<double> break_even_solves(const SolveOutcome& one, const SolveOutcome& other, bool new_values) {
    if (const auto speedup = speedup_of(one, other); !speedup || speedup->noise) return std::nullopt;
    const double price = one.once_seconds() - other.once_seconds();
    const double gain = other.each_seconds(new_values) - one.each_seconds(new_values);
    if (price <= 0 || gain <= 0) return std::nullopt;
    return price / gain;
}

std::string reason_text(const EndOfSolve& end, const KrylovProgress& progress, const SolveOptions& options, Precision precision,
                        int restarts) {
    const std::string iterations = counted_with_commas(progress.iterations, "iteration");
    const bool finite = std::isfinite(progress.residual) && std::isfinite(progress.divisor);
    switch (end.how) {
        case SolveEnd::converged: return "";
        case SolveEnd::iteration_limit: return fmt::format("{} did not reach {:.3g}", iterations, options.tolerance);
        case SolveEnd::indefinite:
            return fmt::format("{} is {:.3g} after {}: the matrix{} is not positive definite",
                               options.jacobi ? "p.Ap or r.Mr" : "p.Ap", progress.divisor, iterations,
                               options.jacobi ? " or its diagonal" : "");
        case SolveEnd::breakdown:
            return fmt::format("{} after {} and {}",
                               finite ? fmt::format("a divisor of {} is {:.3g}", name_of(options.method), progress.divisor)
                                      : fmt::format("a value is no longer finite in {}", name_of(precision)),
                               iterations, counted_with_commas(restarts, "restart"));
        case SolveEnd::stagnated: break;
    }
    if (progress.state == KrylovState::running) {
        return fmt::format("the last {} of {} did not reduce the residual below {:.3g} of |b|", options.patience,
                           counted_with_commas(progress.iterations, "iteration"), end.residual);
    }
    return fmt::format("the recurrence reached {:.3g}, but the true residual stays at {:.3g}: {} is not accurate enough",
                       options.tolerance, end.residual, name_of(precision));
}

double inverse_of_diagonal(const CsrMatrix& matrix, Index row) {
    const std::span<const Index> columns = matrix.row_columns(row);
    const auto found = std::lower_bound(columns.begin(), columns.end(), row);
    if (found == columns.end() || *found != row) return 1;
    const double diagonal = matrix.values[matrix.row_offsets[row] + (found - columns.begin())];
    return diagonal == 0 ? 1 : 1 / diagonal;
}

void require_finite(const CsrMatrix& matrix, Index first_row) {
    const auto is_finite = [](double value) { return std::isfinite(value); };
    const auto found = std::find_if_not(matrix.values.begin(), matrix.values.end(), is_finite);
    if (found == matrix.values.end()) return;
    const Offset k = found - matrix.values.begin();
    const auto behind = std::upper_bound(matrix.row_offsets.begin(), matrix.row_offsets.end(), k);
    throw InputError(fmt::format("the matrix has {} in row {} and column {}, from 0; expected finite values", *found,
                                 first_row + (behind - matrix.row_offsets.begin()) - 1, matrix.column_indices[k]));
}

void require_finite(std::span<const double> b, const std::string& where) {
    const auto found = std::find_if_not(b.begin(), b.end(), [](double value) { return std::isfinite(value); });
    if (found == b.end()) return;
    throw InputError(fmt::format("{}b[{}] is {}; expected finite numbers", where, found - b.begin(), *found));
}

std::string RightHandSide::text() const {
    switch (kind) {
        case Kind::ones: return "ones";
        case Kind::random: return fmt::format("random (seed {})", seed);
        case Kind::file: return file.filename().string();
    }
    return "";
}

std::vector<double> make_right_hand_side(const RightHandSide& choice, Index rows) {
    if (choice.kind == RightHandSide::Kind::ones) return std::vector<double>(static_cast<std::size_t>(rows), 1.0);
    if (choice.kind == RightHandSide::Kind::random) return real_vector(rows, choice.seed);
    std::vector<double> b = read_vector(choice.file, choice.member);
    if (std::ssize(b) != rows) {
        throw InputError(fmt::format("{}: found {}; expected {}, one per row of the matrix", choice.file.string(),
                                     counted_with_commas(b.size(), "number"), rows));
    }
    require_finite(b, choice.file.string() + ": ");
    return b;
}

RightHandSides make_right_hand_sides(const RightHandSide& choice, Index rows, int count) {
    if (count == 1) return {{make_right_hand_side(choice, rows)}, choice.text()};
    RightHandSides sides;
    if (choice.kind == RightHandSide::Kind::file) {
        sides.columns = read_columns(choice.file, choice.member, most_vectors);
        const auto found = std::ssize(sides.columns);
        if (found > 1 && found < count) {
            throw InputError(fmt::format("{}: found {} columns; expected 1, or at least the {} right-hand sides",
                                         choice.file.string(), found, count));
        }
        if (std::ssize(sides.columns.front()) != rows) {
            throw InputError(fmt::format("{}: found {}; expected {}, one per row of the matrix", choice.file.string(),
                                         counted_with_commas(sides.columns.front().size(), "row"), rows));
        }
        sides.columns.resize(std::min<std::size_t>(sides.columns.size(), count));
        for (std::ptrdiff_t j = 0; j < std::ssize(sides.columns); ++j) {
            require_finite(sides.columns[j], fmt::format("{}: column {}: ", choice.file.string(), j + 1));
        }
        if (found > 1) sides.text = fmt::format("columns 1 to {} of {}", count, choice.text());
    } else if (choice.kind == RightHandSide::Kind::ones) {
        sides.columns.push_back(make_right_hand_side(choice, rows));
    }
    std::uint32_t last = choice.seed;
    for (std::uint32_t seed = choice.seed; std::ssize(sides.columns) < count; ++seed) {
        sides.columns.push_back(real_vector(rows, seed));
        last = seed;
    }
    if (!sides.text.empty()) return sides;
    if (choice.kind != RightHandSide::Kind::random) sides.text = choice.text() + ", ";
    sides.text +=
        last == choice.seed ? fmt::format("random (seed {})", last) : fmt::format("random (seeds {} to {})", choice.seed, last);
    return sides;
}

template <ValueType Value>
System<Value>::System(const CsrMatrix& input, std::vector<double> b)
    : input_(input), b_(std::move(b)), b_values_(b_.begin(), b_.end()), norm_of_b_(norm_of(b_)) {
    if (!input.square()) {
        throw InputError(fmt::format("a linear system needs a square matrix; this one has {} and {}",
                                     counted_with_commas(input.rows, "row"), counted_with_commas(input.columns, "column")));
    }
    if (std::ssize(b_) != input.rows) {
        throw InputError(fmt::format("the right-hand side has {}; expected {}, one per row of the matrix",
                                     counted_with_commas(b_.size(), "element"), input.rows));
    }
    require_finite(b_, "");
}

template <ValueType Value>
void System<Value>::require_range(const SolveOptions& options) const {
    const std::string reason = reason_against({.method = options.method,
                                               .jacobi = options.jacobi,
                                               .tolerance = options.tolerance,
                                               .precision = precision_of<Value>,
                                               .norm_of_b = norm_of_b_,
                                               .largest_of_b = largest_magnitude(b_),
                                               .largest_of_matrix = largest_magnitude(input_.values)});
    if (!reason.empty()) throw InputError(reason);
}

template <ValueType Value>
std::vector<Value> System<Value>::inverse_diagonal_in(const Permutation& order) const {
    std::vector<Value> inverse(b_.size());
    for_pieces(inverse.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
            inverse[i] = static_cast<Value>(inverse_of_diagonal(input_, order.old_of_new(i)));
        }
    });
    return inverse;
}

template <ValueType Value>
double System<Value>::true_residual(std::span<const double> x) const {
    const double scale = scale_for_squares(norm_of_b_);
    double sum = 0;
    Kokkos::parallel_reduce(
        "true residual", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>(0, input_.rows),
        [&](Index row, double& squares) {
            double r = b_[row];
            for (Offset k = input_.row_offsets[row]; k < input_.row_offsets[row + 1]; ++k) {
                r -= input_.values[k] * x[input_.column_indices[k]];
            }
            squares += r * scale * (r * scale);
        },
        sum);
    return std::sqrt(sum) / (norm_of_b_ > 0 ? norm_of_b_ * scale : 1);
}

template <ValueType Value>
SolveOutcome solve(PreparedSolver<Value>& solver, const SolveOptions& options) {
    if (solver.multiplier().rounds()) return solve_refined(solver, options);
    return IterativeSolve<Value>(solver, options).run();
}

template class System<float>;
template class System<double>;
template SolveOutcome solve(PreparedSolver<float>&, const SolveOptions&);
template SolveOutcome solve(PreparedSolver<double>&, const SolveOptions&);

}  // namespace workbench
