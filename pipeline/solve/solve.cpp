#include "pipeline/solve/solve.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/solve/course.hpp"

namespace workbench {
namespace {

double norm(std::span<const double> vector) {
    double sum = 0;
    for (const double value : vector) sum += value * value;
    return std::sqrt(sum);
}

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
    }
    return "";
}

std::optional<double> SolveOutcome::over_parts() const {
    if (iterations == 0 || product_seconds <= 0 || copy_bandwidth <= 0) return std::nullopt;
    const double products_of_one = static_cast<double>(products) / static_cast<double>(iterations);
    return iteration_seconds() / (products_of_one * product_seconds + vector_bytes / copy_bandwidth);
}

std::optional<double> crossing(const SolveOutcome& dear, const SolveOutcome& cheap) {
    const double more = dear.setup_seconds() - cheap.setup_seconds();
    const double gain = cheap.iteration_seconds() - dear.iteration_seconds();
    if (more <= 0 || gain <= 0) return std::nullopt;
    return more / gain;
}

std::optional<double> solves_to_pay(const SolveOutcome& dear, const SolveOutcome& cheap) {
    // b and x are brought to the recipe's order and back each time.
    const auto of_each = [](const SolveOutcome& one) { return one.solve_seconds + one.vector_seconds; };
    const double more = dear.preparation.seconds() - cheap.preparation.seconds();
    const double gain = of_each(cheap) - of_each(dear);
    if (more <= 0 || gain <= 0) return std::nullopt;
    return more / gain;
}

template <ValueType Value>
System<Value>::System(const CsrMatrix& input, std::vector<double> b) : input_(input), b_(std::move(b)), norm_of_b_(norm(b_)) {
    if (!input.square()) {
        throw InputError(fmt::format("a system of equations needs a square matrix; this one has {} rows and {} columns",
                                     input.rows, input.columns));
    }
    if (std::ssize(b_) != input.rows) {
        throw InputError(fmt::format("the right-hand side has {} elements, expected {}, as many as the matrix has rows",
                                     b_.size(), input.rows));
    }
    if (!std::isfinite(norm_of_b_)) throw InputError("the right-hand side is not finite, or its norm is not");
}

template <ValueType Value>
std::vector<Value> System<Value>::b_in(const Permutation& order) const {
    std::vector<Value> there(b_.size());
    for (Index i = 0; i < order.size(); ++i) there[i] = static_cast<Value>(b_[order.old_of_new(i)]);
    return there;
}

template <ValueType Value>
std::vector<Value> System<Value>::inverse_diagonal_in(const Permutation& order) const {
    std::vector<Value> inverse(b_.size(), Value{1});
    for (Index i = 0; i < order.size(); ++i) {
        const Index row = order.old_of_new(i);
        const std::span<const Index> columns = input_.row_columns(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), row);
        if (found == columns.end() || *found != row) continue;
        const double diagonal = input_.values[input_.row_offsets[row] + (found - columns.begin())];
        if (diagonal != 0) inverse[i] = static_cast<Value>(1 / diagonal);
    }
    return inverse;
}

template <ValueType Value>
double System<Value>::true_residual(std::span<const double> x) const {
    double sum = 0;
    Kokkos::parallel_reduce(
        "true residual", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>(0, input_.rows),
        [&](Index row, double& squares) {
            double r = b_[row];
            for (Offset k = input_.row_offsets[row]; k < input_.row_offsets[row + 1]; ++k) {
                r -= input_.values[k] * x[input_.column_indices[k]];
            }
            squares += r * r;
        },
        sum);
    return std::sqrt(sum) / (norm_of_b_ > 0 ? norm_of_b_ : 1);
}

template <ValueType Value>
SolveOutcome solve(const System<Value>& system, Multiplier<Value>& multiplier, Device& device, const SolveOptions& options) {
    return Course<Value>(system, multiplier, device, options).run();
}

template class System<float>;
template class System<double>;
template SolveOutcome solve(const System<float>&, Multiplier<float>&, Device&, const SolveOptions&);
template SolveOutcome solve(const System<double>&, Multiplier<double>&, Device&, const SolveOptions&);

}  // namespace workbench
