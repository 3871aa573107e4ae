// Solving A x = b with a recipe's kernel, from the recipe to the true residual.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/krylov.hpp"
#include "pipeline/solve/multiplier.hpp"

namespace workbench {

/// How a solve ended. stagnated: so many iterations brought no smaller residual, or the true residual stays above the tolerance
/// although the recurrence went below it, and restarts do not mend that.
enum class SolveEnd { converged, iteration_limit, stagnated, indefinite, breakdown };

[[nodiscard]] std::string_view name_of(SolveEnd end);

struct SolveOptions {
    KrylovMethod method = KrylovMethod::cg;
    bool jacobi = false;
    double tolerance = 1e-8;  // of |b - A x| / |b|
    std::int64_t most_iterations = 10000;
    std::int64_t patience = 1000;  // iterations without a residual smaller by 1 % than all before: stagnated
    std::string only = {};         // the kernel of this name; empty: the recipe's, or the usual one
    TimingOptions timing = {};     // of one product alone
};

/// What became of a recipe that was offered to a running solve.
struct Trial {
    enum class End { kept, slower, failed, too_late };
    std::string recipe;
    std::string kernel;
    End end = End::too_late;
    std::string reason;              // where it failed or came too late
    double preparation_seconds = 0;  // stages, layout, verification, copying
    double ready_seconds = 0;        // since the solve began
    std::int64_t iteration = 0;      // at which it was tried
    double iteration_seconds = 0;    // with it, and with what was there before
    double before_seconds = 0;
};

[[nodiscard]] std::string_view name_of(Trial::End end);

/// One recipe's solve.
struct SolveOutcome {
    Preparation preparation;
    bool baseline = false;
    bool tuned = false;  // the preparation is that of what it began with

    SolveEnd end = SolveEnd::breakdown;
    std::string reason;  // of every end but convergence: a sentence with the numbers
    std::int64_t iterations = 0;
    std::int64_t products = 0;    // that the iterations took
    int restarts = 0;             // from x as it was: after a breakdown, or because the true residual was larger
    double residual = 0;          // |r| / |b|, as the recurrence has it
    double true_residual = 0;     // |b - A x| / |b| in f64, with the input matrix
    std::vector<double> history;  // |r| / |b| before the first iteration and after each one
    double solve_seconds = 0;     // of the iterations, on the device
    double vector_seconds = 0;    // bringing b to the recipe's order and the device, and x back
    double product_seconds = 0;   // of one product alone, the median
    double vector_bytes = 0;      // that the vectors' part of an iteration moves at least
    double copy_bandwidth = 0;    // of the device, bytes a second
    std::vector<double> x;        // in the input's order
    std::vector<Trial> trials;    // of a solve that was tuned, in their order, then those that were not tried

    [[nodiscard]] bool solved() const { return end == SolveEnd::converged; }
    /// Of reordering, building, copying: before the first iteration.
    [[nodiscard]] double setup_seconds() const { return preparation.seconds() + vector_seconds; }
    [[nodiscard]] double total_seconds() const { return setup_seconds() + solve_seconds; }
    [[nodiscard]] double iteration_seconds() const {
        return iterations > 0 ? solve_seconds / static_cast<double>(iterations) : 0;
    }
    /// An iteration over what its products alone and its vectors at copy bandwidth would take.
    [[nodiscard]] std::optional<double> over_parts() const;
};

/// After how many iterations a recipe that is dearer to set up is level with another one; none: never, or from the start.
[[nodiscard]] std::optional<double> crossing(const SolveOutcome& dear, const SolveOutcome& cheap);

/// After how many solves like this one; likewise.
[[nodiscard]] std::optional<double> solves_to_pay(const SolveOutcome& dear, const SolveOutcome& cheap);

/// A square system, and what all its solves share. b: [rows], in the input's order.
template <ValueType Value>
class System {
public:
    /// Throws InputError where the matrix is not square, b has another size or is not finite.
    System(const CsrMatrix& input, std::vector<double> b);

    [[nodiscard]] const CsrMatrix& input() const { return input_; }
    /// Made when it is first asked for, by one thread. Throws Unsuitable, see Oracle.
    [[nodiscard]] const Oracle<Value>& oracle() const {
        if (!oracle_) oracle_.emplace(input_);
        return *oracle_;
    }
    /// Likewise.
    [[nodiscard]] const OneProduct<Value>& one_product() const {
        if (!one_product_) one_product_.emplace(input_);
        return *one_product_;
    }
    [[nodiscard]] const std::vector<double>& b() const { return b_; }
    [[nodiscard]] double norm_of_b() const { return norm_of_b_; }

    /// b and 1 / a_ii in another order; where a_ii is 0, 1 stands there.
    [[nodiscard]] std::vector<Value> b_in(const Permutation& order) const;
    [[nodiscard]] std::vector<Value> inverse_diagonal_in(const Permutation& order) const;

    /// |b - A x| / |b|, or |A x| where b is 0, in f64. x: [rows], in the input's order.
    [[nodiscard]] double true_residual(std::span<const double> x) const;

private:
    const CsrMatrix& input_;
    std::vector<double> b_;
    double norm_of_b_;
    mutable std::optional<Oracle<Value>> oracle_;
    mutable std::optional<OneProduct<Value>> one_product_;
};

/// Solves with a multiplier that is ready. Fills all but `baseline`. Throws MachineError where the device fails.
template <ValueType Value>
[[nodiscard]] SolveOutcome solve(const System<Value>& system, Multiplier<Value>& multiplier, Device& device,
                                 const SolveOptions& options);

}  // namespace workbench
