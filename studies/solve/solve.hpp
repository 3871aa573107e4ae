// Solves A x = b with a recipe's kernel and measures everything from preprocessing to the true residual.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/krylov.hpp"
#include "pipeline/engine/solve_engine.hpp"
#include "pipeline/solving/solve_rules.hpp"
#include "studies/solve/multiplier.hpp"

namespace workbench {

[[nodiscard]] std::string_view name_of(SolveEnd end);

struct SolveOptions {
    KrylovMethod method = KrylovMethod::cg;
    SolveEngine engine = SolveEngine::graph;
    bool jacobi = false;
    double tolerance = 1e-8;  // on |b - A x| / |b|
    std::int64_t most_iterations = 10000;
    std::int64_t patience = 1000;  // this many iterations must reduce the residual by 1 %
    // For the choice of an engine: the solves planned with this matrix, and the iterations of each; 0: the most.
    std::int64_t solves = 1;
    std::int64_t expected_iterations = 0;
    int right_sides = 1;              // that are solved for together; several: conjugate gradients, engine graph
    std::string only = {};            // name of the kernel; empty: the recipe's choice or the layout's default
    TimingOptions timing = {};        // of a product outside the solve
    std::function<void()> poll = {};  // called between launches of iterations; may throw Stopped
};

/// A recipe that was offered to a running solve.
struct Trial {
    enum class End { kept, slower, failed, too_late, not_tried };
    std::string recipe;
    std::string kernel = {};
    End end = End::too_late;
    std::string reason = {};         // if it failed, was too late or was not tried
    double preparation_seconds = 0;  // stages, layout, verification, copying
    double ready_seconds = 0;        // time since the start of the solve when it was ready
    std::int64_t iteration = 0;      // at which it was tried
    double iteration_seconds = 0;    // with this recipe
    double before_seconds = 0;       // with the kernel that was in use before
};

[[nodiscard]] std::string_view name_of(Trial::End end);

/// How the solve for one of several right-hand sides ended; see SolveOutcome.
struct RightSideOutcome {
    SolveEnd end = SolveEnd::breakdown;
    std::string reason = {};
    std::int64_t iterations = 0;
    int restarts = 0;
    double residual = 0;
    double true_residual = 0;
};

/// One recipe's solve. With several right-hand sides: `end` and `reason` are of the first that did not converge; `iterations`,
/// `products` and `restarts` are of all together; the residuals, and each of `history`, are the largest of all; x is [rows x
/// right-hand sides], row by row.
struct SolveOutcome {
    Preparation preparation;
    bool baseline = false;
    bool control = false;  // see is_control: no advice
    std::string in_full;   // the recipe with values in full, without its name: equal for recipes that differ by rounding alone
    bool tuned = false;    // `preparation` describes the kernel that the tuned solve started with

    SolveEngine engine = SolveEngine::graph;  // the one that ran
    SolveEnd end = SolveEnd::breakdown;
    std::string reason;  // a sentence with the numbers; empty if it converged
    std::int64_t iterations = 0;
    std::int64_t products = 0;          // SpMVs of all iterations
    int restarts = 0;                   // from the current x, after a breakdown, to reduce the true residual or to refine x
    double residual = 0;                // |r| / |b| of the recurrence
    double true_residual = 0;           // |b - A x| / |b| in f64, with the input matrix
    std::vector<double> history;        // |r| / |b| before the first iteration and after each one
    double solve_seconds = 0;           // of the iterations, on the device; the median if the solve was repeated
    std::vector<double> solve_samples;  // of a solve that was repeated, because it is short; otherwise one
    double solver_seconds = 0;          // the solver's vectors, and the matrix of a persistent kernel; once a matrix
    double new_values_seconds = 0;      // storing new values: in the layout, or in the matrix of a persistent kernel
    double vector_seconds = 0;          // bringing b to the solver in its order, and x back; the median of the solves
    double product_seconds = 0;         // median of a product outside the solve
    double product_inside_seconds = 0;  // median of the products of the iterations; 0: unknown, as on a GPU
    double vector_bytes = 0;            // minimum traffic of an iteration's vector operations
    double copy_bandwidth = 0;          // of the device, in bytes per second
    std::vector<double> x;              // in input order
    std::vector<RightSideOutcome> right_sides = {};  // if there are several
    // With several right-hand sides, some of them are also solved one at a time, by the engine of a solve with one: the mean
    // time of such a solve, with copying b and x, their number, the recipe's kernel for one vector, and solver_seconds.
    double alone_seconds = 0;
    int alone_solves = 0;
    std::string alone_kernel = {};
    SolveEngine alone_engine = SolveEngine::graph;
    double alone_solver_seconds = 0;
    std::vector<Trial> trials;  // of a tuned solve, in order; those that were never tried come last

    [[nodiscard]] bool solved() const { return end == SolveEnd::converged; }
    /// N solves with one matrix take once_seconds() + N each_seconds().
    [[nodiscard]] double once_seconds() const { return preparation.seconds() + solver_seconds; }
    [[nodiscard]] double each_seconds() const { return vector_seconds + solve_seconds; }
    /// Likewise for solves that have new values each: N of them take once_seconds() + N each_seconds(true).
    [[nodiscard]] double each_seconds(bool new_values) const { return each_seconds() + (new_values ? new_values_seconds : 0); }
    /// All that a solve takes beside its iterations.
    [[nodiscard]] double setup_seconds() const { return once_seconds() + vector_seconds; }
    [[nodiscard]] double total_seconds() const { return once_seconds() + each_seconds(); }
    [[nodiscard]] double iteration_seconds() const {
        return iterations > 0 ? solve_seconds / static_cast<double>(iterations) : 0;
    }
    /// Why the times of the solve support no comparison: those of its repetitions differ by more than half of their median.
    /// Empty if they do not, or if there are fewer than five.
    [[nodiscard]] std::string noise() const;
    /// Time of an iteration over the sum of its products' time and its vectors' traffic at copy bandwidth.
    [[nodiscard]] std::optional<double> over_parts() const;
};

/// The speed of `one`'s iterations over that of `other`'s, for whole solves.
struct SolveSpeedup {
    double ratio = 0;
    std::optional<Interval> interval = {};  // if both solves were repeated often enough
    std::size_t solves = 1;                 // the number of timed solves of the one that has fewer
    /// The interval contains 1; without an interval: the ratio differs from 1 by less than single_solve_noise. Also if the
    /// times of one of them are noise.
    bool noise = true;
};

/// Solves that ran once differ by this much on an otherwise idle machine.
inline constexpr double single_solve_noise = 0.05;

/// None if one of them did not converge, or did no iteration.
[[nodiscard]] std::optional<SolveSpeedup> speedup_of(const SolveOutcome& one, const SolveOutcome& other);

/// Throws InputError with the place of the first value that is not finite. first_row: the number of row 0 in the input.
void require_finite(const CsrMatrix& matrix, Index first_row = 0);
/// Likewise of b. where: the start of the message, such as "b.txt: ".
void require_finite(std::span<const double> b, const std::string& where);

/// False if a value differs from its mirror image by more than rounding, or has none. The matrix must be square.
[[nodiscard]] bool is_nearly_symmetric(const CsrMatrix& matrix);

/// The warning if conjugate gradients get a matrix that is not symmetric.
inline constexpr const char* not_symmetric =
    "the matrix is not symmetric: conjugate gradients need a symmetric positive definite one";

/// Iterations after which `one` makes up for its longer set-up than `other`'s; none if it never does, if its set-up is not
/// longer, or if its speed-up is noise.
[[nodiscard]] std::optional<double> break_even_iterations(const SolveOutcome& one, const SolveOutcome& other);

/// The number of solves of this length, of new values each or not, after which `one` makes up for a higher once_seconds() than
/// `other`'s by a lower each_seconds(); none if it never does, if it takes no longer once, or if its speed-up is noise.
[[nodiscard]] std::optional<double> break_even_solves(const SolveOutcome& one, const SolveOutcome& other,
                                                      bool new_values = false);

/// The reason of an end, as a sentence for the user; empty if the solve converged.
[[nodiscard]] std::string reason_text(const EndOfSolve& end, const KrylovProgress& progress, const SolveOptions& options,
                                      Precision precision, int restarts);

/// 1 / a_ii for the Jacobi preconditioner; 1 if the diagonal entry is missing or zero.
[[nodiscard]] double inverse_of_diagonal(const CsrMatrix& matrix, Index row);

/// 1, or that of several.
[[nodiscard]] inline int right_sides_of(const SolveOutcome& one) {
    return one.right_sides.empty() ? 1 : static_cast<int>(one.right_sides.size());
}

/// ones: every element is 1. random: hashed multiples of 2^-20 in [-1, 1). file: see read_vector.
struct RightHandSide {
    enum class Kind { ones, random, file };
    Kind kind = Kind::ones;
    std::uint32_t seed = 1;
    std::filesystem::path file = {};
    std::string member = {};  // of an archive

    /// "ones", "random (seed 3)", "b.mtx"
    [[nodiscard]] std::string text() const;
};

/// b, [rows]. Throws InputError if the file cannot be read, has another number of elements, or has one that is not finite.
[[nodiscard]] std::vector<double> make_right_hand_side(const RightHandSide& choice, Index rows);

/// Several b.
struct RightHandSides {
    std::vector<std::vector<double>> columns;  // [count][rows]
    std::string text;                          // "ones, random (seeds 1 to 3)"
};

/// b as above, then random ones: of the seeds from choice.seed on, or after it if b is random. If the file has several columns,
/// they are the first ones. Throws InputError if it has fewer.
[[nodiscard]] RightHandSides make_right_hand_sides(const RightHandSide& choice, Index rows, int count);

/// A square linear system, and data shared by all its solves. b: [rows], in input order.
template <ValueType Value>
class System {
public:
    /// Throws InputError if the matrix is not square, or b has the wrong size or values that are not finite.
    System(const CsrMatrix& input, std::vector<double> b);

    [[nodiscard]] const CsrMatrix& input() const { return input_; }
    /// Computed on first use; not thread-safe. Throws Unsuitable, see Oracle.
    [[nodiscard]] const Oracle<Value>& oracle() const {
        if (!oracle_) oracle_.emplace(input_);
        return *oracle_;
    }
    /// Computed on first use; not thread-safe.
    [[nodiscard]] const OneProduct<Value>& one_product() const {
        if (!one_product_) one_product_.emplace(input_);
        return *one_product_;
    }
    /// b as the solver stores it. In input order.
    [[nodiscard]] std::span<const Value> b_values() const { return b_values_; }
    [[nodiscard]] double norm_of_b() const { return norm_of_b_; }
    /// Throws InputError if a solve with these options would leave its range of numbers (solve_range.hpp).
    void require_range(const SolveOptions& options) const;

    /// inverse_of_diagonal in this order.
    [[nodiscard]] std::vector<Value> inverse_diagonal_in(const Permutation& order) const;

    /// |b - A x| / |b|, or |A x| if b is 0, in f64. x: [rows], in input order.
    [[nodiscard]] double true_residual(std::span<const double> x) const;

private:
    const CsrMatrix& input_;
    std::vector<double> b_;
    std::vector<Value> b_values_;
    double norm_of_b_;
    mutable std::optional<Oracle<Value>> oracle_;
    mutable std::optional<OneProduct<Value>> one_product_;
};

template <ValueType Value>
class PreparedSolver;  // prepared_solver.hpp

/// Solves with a solver of these options; with refinement if its multiplier rounds values (solve_refined). Fills every
/// member but `baseline` and `control`. Throws MachineError if the device fails.
template <ValueType Value>
[[nodiscard]] SolveOutcome solve(PreparedSolver<Value>& solver, const SolveOptions& options);

}  // namespace workbench
