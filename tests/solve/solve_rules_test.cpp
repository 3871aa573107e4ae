#include "pipeline/solving/solve_rules.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

namespace workbench {
namespace {

KrylovProgress at(KrylovState state, std::int64_t iterations = 0, double residual = 0) {
    return {state, iterations, residual, 0};
}

std::vector<double> not_needed() { throw std::logic_error("not needed"); }

/// How a solve ends whose recurrence has converged.
std::optional<EndOfSolve> converged_at(SolveRules& rules, double true_residual) {
    return rules.end(at(KrylovState::converged, 9), not_needed, [&] { return true_residual; });
}

/// How a running solve ends that has this history of residuals, [iterations + 1].
std::optional<EndOfSolve> running_with(SolveRules& rules, const std::vector<double>& history) {
    return rules.end(
        at(KrylovState::running, std::ssize(history) - 1), [&] { return history; }, []() -> double { throw 1; });
}

}  // namespace

TEST_CASE("rules of a solve: the true residual may exceed the tolerance by a tenth; restarts must gain a tenth") {
    SolveRules rules(0.001, 7, 1000, 10);
    CHECK(converged_at(rules, 0.00109)->how == SolveEnd::converged);
    CHECK_FALSE(converged_at(rules, 0.00111));
    CHECK(converged_at(rules, 0.00110)->how == SolveEnd::converged);
    const auto stuck = converged_at(rules, 0.00111);
    REQUIRE(stuck);
    CHECK(stuck->how == SolveEnd::stagnated);
    CHECK(stuck->residual == 0.00111);

    SolveRules slow(1e-9, 7, 1000, 10);
    for (const double residual : {1.0, 0.89, 0.8, 0.71}) CHECK_FALSE(converged_at(slow, residual));
    CHECK(converged_at(slow, 0.65)->how == SolveEnd::stagnated);
    CHECK(converged_at(slow, std::numeric_limits<double>::quiet_NaN())->how == SolveEnd::stagnated);
}

TEST_CASE("rules of a solve: breakdowns restart while the residual falls by a tenth, whatever restarts for accuracy found") {
    SolveRules rules(0.001, 7, 1000, 10);
    const auto end = [&](double residual) {
        return rules.end(at(KrylovState::breakdown, 5, residual), not_needed, []() -> double { throw 1; });
    };
    CHECK_FALSE(converged_at(rules, 0.002));
    CHECK_FALSE(end(4));
    CHECK_FALSE(end(3.5));
    CHECK(end(3.2)->how == SolveEnd::breakdown);
    CHECK(end(std::numeric_limits<double>::infinity())->how == SolveEnd::breakdown);
    CHECK(rules.end(at(KrylovState::indefinite, 5), not_needed, []() -> double { throw 1; })->how == SolveEnd::indefinite);
}

TEST_CASE("rules of a solve: stagnation is looked for after each `patience` iterations, and not in the first two") {
    SolveRules rules(0.001, 10, 1000, 2);
    CHECK(rules.iterations_until_check(0) == 2);
    CHECK_FALSE(running_with(rules, {10, 20}));
    CHECK(rules.iterations_until_check(1) == 1);
    CHECK_FALSE(running_with(rules, {10, 20, 30}));
    CHECK(rules.iterations_until_check(2) == 2);
    CHECK_FALSE(running_with(rules, {10, 20, 30, 40}));
    CHECK_FALSE(running_with(rules, {10, 20, 30, 40, 19}));
    CHECK_FALSE(running_with(rules, {10, 20, 30, 40, 19, 21}));
    const auto end = running_with(rules, {10, 20, 30, 40, 19, 21, 18.9});
    REQUIRE(end);
    CHECK(end->how == SolveEnd::stagnated);
    CHECK(end->residual == 1.9);  // over |b|

    SolveRules limited(0.001, 10, 5, 2);
    CHECK_FALSE(running_with(limited, {10, 9, 8, 7, 6}));
    CHECK(limited.iterations_until_check(4) == 1);
    CHECK(running_with(limited, {10, 9, 8, 7, 6, 5})->how == SolveEnd::iteration_limit);
    CHECK_FALSE(converged_at(limited, 1));  // at iteration 9: a restart
}

}  // namespace workbench
