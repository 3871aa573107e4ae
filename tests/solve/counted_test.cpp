// Every view of a solve report in which every figure is another number: recipes of all endings, in f32 on a GPU and in f64 on
// the host.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "studies/solve/solve_report.hpp"
#include "support/chart_text.hpp"
#include "support/golden.hpp"
#include "support/layouts/counted_report.hpp"

namespace workbench {
namespace {

SolveOutcome counted_outcome(Counted& next, const std::string& recipe, SolveEnd end = SolveEnd::converged) {
    SolveOutcome one;
    Preparation& preparation = one.preparation;
    preparation.recipe = recipe;
    preparation.layout = "layout of " + recipe;
    preparation.kernel.kernel = fmt::format("kernel{}", next.count());
    preparation.kernel.backend = Backend::cuda;
    preparation.kernel.status = KernelOutcome::Status::measured;
    preparation.bytes = next.count();
    preparation.bytes_to_move = next.count();
    preparation.stage_seconds = next.seconds();
    preparation.build_seconds = next.seconds();
    preparation.copy_seconds = next.seconds();
    preparation.notes = {fmt::format("note {}", next.count())};
    one.in_full = recipe;
    one.end = end;
    if (end != SolveEnd::converged) one.reason = fmt::format("reason {}", next.count());
    one.iterations = next.count();
    one.products = next.count();
    one.restarts = next.count();
    one.residual = next.share();
    one.true_residual = next.share();
    one.history = {1, next.share(), next.share()};
    one.solve_seconds = 10 * next.seconds();
    one.vector_seconds = next.seconds();
    one.solver_seconds = next.seconds();
    one.product_seconds = next.milliseconds();
    one.vector_bytes = next.count();
    one.copy_bandwidth = next.count();
    return one;
}

std::vector<Trial> counted_trials(Counted& next) {
    std::vector<Trial> trials;
    for (const Trial::End end :
         {Trial::End::slower, Trial::End::kept, Trial::End::failed, Trial::End::too_late, Trial::End::not_tried}) {
        Trial trial{
            .recipe = fmt::format("tried {}", next.count()), .kernel = fmt::format("kernel{}", next.count()), .end = end};
        if (end != Trial::End::slower && end != Trial::End::kept) trial.reason = fmt::format("reason {}", next.count());
        trial.preparation_seconds = next.milliseconds();
        trial.ready_seconds = next.milliseconds();
        trial.iteration = next.count();
        trial.iteration_seconds = next.milliseconds();
        trial.before_seconds = next.milliseconds();
        trials.push_back(trial);
    }
    return trials;
}

SolveReport counted_solve(Precision precision) {
    const bool f64 = precision == Precision::f64;
    Counted next(f64 ? 101 : 501);
    SolveReport report;
    report.matrix = {"m.mtx", next.count(), next.count(), next.count(), next.milliseconds()};
    report.right_hand_side = f64 ? "ones" : "b.mtx";
    report.precision = precision;
    report.options.method = f64 ? KrylovMethod::cg : KrylovMethod::bicgstab;
    report.options.jacobi = f64;
    report.options.tolerance = next.share();
    report.options.most_iterations = next.count();
    report.options.patience = next.count();
    report.device.name = f64 ? "a host" : "a GPU";
    report.machine["system"] = "Linux";
    report.versions["workbench"] = "1";
    report.outcomes = {counted_outcome(next, "base"), counted_outcome(next, "full"), counted_outcome(next, "~f32 full"),
                       counted_outcome(next, "slow"), counted_outcome(next, "tuned")};
    report.outcomes[0].baseline = true;
    report.outcomes[0].solve_seconds *= 3;
    report.outcomes[2].in_full = "full";
    report.outcomes[2].preparation.rounding = RoundingError{Rounding::f32, next.share(), next.share()};
    report.outcomes[2].preparation.bytes_in_full = next.count();
    report.outcomes[2].preparation.stage_seconds *= 50;
    report.outcomes[2].solve_seconds *= 0.5;
    report.outcomes[2].engine = SolveEngine::persistent;
    report.outcomes[3].solve_seconds *= 5;
    report.outcomes[3].control = true;
    report.outcomes[4].tuned = true;
    report.outcomes[4].trials = counted_trials(next);
    for (SolveOutcome& one : report.outcomes) {
        if (one.baseline || f64) one.solve_samples.assign(5, one.solve_seconds);
        if (one.solve_samples.size() == 5) one.solve_samples[0] *= 0.9;
    }
    for (const SolveEnd end : {SolveEnd::iteration_limit, SolveEnd::stagnated, SolveEnd::indefinite, SolveEnd::breakdown}) {
        report.outcomes.push_back(counted_outcome(next, std::string(name_of(end)), end));
    }
    for (const auto status : {KernelOutcome::Status::wrong, KernelOutcome::Status::unsuitable}) {
        SolveOutcome one;
        one.preparation = counted_outcome(next, "not iterated").preparation;
        one.preparation.kernel.status = status;
        one.preparation.kernel.reason = fmt::format("reason {}", next.count());
        report.outcomes.push_back(one);
    }
    report.failures = {{ExitCode::bad_input, fmt::format("failure {}", next.count())}};
    report.notes = {fmt::format("note {}", next.count())};
    report.warnings = {fmt::format("warning {}", next.count())};
    report.process_seconds = next.milliseconds();
    for (SolveOutcome& one : report.outcomes) {
        one.new_values_seconds = next.seconds();
        one.product_inside_seconds = next.milliseconds();
    }
    report.outcomes[1].new_values_seconds *= 20;  // so that the advice for new values is another one
    return report;
}

}  // namespace

TEST_CASE("counted figures of a solve in all its views") {
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        const SolveReport report = counted_solve(precision);
        const auto compare = [&](const std::string& view, const std::string& text) {
            compare_with_golden(
                fmt::format("{}/tests/golden/counted/solve_{}_{}", WORKBENCH_SOURCE_DIR, name_of(precision), view), text);
        };
        compare("text.txt", solve_text(report));
        compare("report.json", solve_json(report));
        compare("history.csv", history_csv(report));
        compare("charts.txt", text_of_chart(residual_by_iteration(report)) + text_of_chart(residual_by_time(report)));
    }
}

TEST_CASE("the exit code of a solve for each ending, alone and among others") {
    const SolveReport all = counted_solve(Precision::f64);
    const auto code_of = [&](const std::vector<std::size_t>& outcomes, const std::vector<Failure>& failures = {}) {
        SolveReport report;
        for (const std::size_t i : outcomes) report.outcomes.push_back(all.outcomes[i]);
        report.failures = failures;
        return exit_code_of(report);
    };
    CHECK(code_of({0, 1}) == ExitCode::ok);
    CHECK(code_of({0, 5}) == ExitCode::iteration_limit);
    CHECK(code_of({0, 6}) == ExitCode::stagnated);
    CHECK(code_of({0, 7}) == ExitCode::indefinite);
    CHECK(code_of({0, 8}) == ExitCode::breakdown);
    CHECK(code_of({0, 8, 5}) == ExitCode::breakdown);  // the first one
    CHECK(code_of({0, 5, 9}) == ExitCode::wrong_result);
    CHECK(code_of({0, 10}) == ExitCode::ok);
    CHECK(code_of({10}) == ExitCode::bad_input);
    CHECK(code_of({0}, {{ExitCode::machine_error, "m"}, {ExitCode::bad_input, "b"}}) == ExitCode::machine_error);
    CHECK(code_of({0, 6}, {{ExitCode::machine_error, "m"}}) == ExitCode::stagnated);
    CHECK(code_of({10}, {{ExitCode::machine_error, "m"}}) == ExitCode::machine_error);
}

}  // namespace workbench
