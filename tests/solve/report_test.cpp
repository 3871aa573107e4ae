// Break-even figures worked out by hand, and the views of a report.
#include <doctest/doctest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "studies/solve/advice.hpp"
#include "studies/solve/solve_report.hpp"
#include "studies/solve/turns.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// 1 s of stages, 2 of building, 0.5 of copying, 0.5 of vectors; 10 iterations.
SolveOutcome outcome(const std::string& name, double set_up, double solve_seconds, std::int64_t iterations = 10) {
    SolveOutcome one;
    one.preparation.recipe = name;
    one.preparation.kernel.kernel = "rows";
    one.preparation.kernel.status = KernelOutcome::Status::measured;
    one.preparation.stage_seconds = set_up;
    one.end = SolveEnd::converged;
    one.iterations = one.products = iterations;
    one.solve_seconds = solve_seconds;
    one.vector_seconds = 0.5;
    one.product_seconds = 0.25;
    one.vector_bytes = 30;
    one.copy_bandwidth = 120;
    for (std::int64_t i = 0; i <= iterations; ++i) one.history.push_back(std::pow(10.0, -static_cast<double>(i)));
    return one;
}

SolveReport report() {
    SolveReport report;
    report.matrix = {"m.mtx", 100, 100, 1234, 0.1};
    report.right_hand_side = "ones";
    report.device.name = "a machine";
    report.outcomes = {outcome("base", 1, 10), outcome("costly", 7, 4), outcome("slow", 2, 20), outcome("cheap", 0.5, 5)};
    report.outcomes[0].baseline = true;
    return report;
}

}  // namespace

TEST_CASE("break-even in iterations and in solves") {
    const SolveReport all = report();
    const SolveOutcome& base = all.outcomes[0];
    CHECK_EQ(base.setup_seconds(), 1.5);
    CHECK_EQ(base.total_seconds(), 11.5);
    CHECK_EQ(base.iteration_seconds(), 1);
    CHECK_EQ(*base.over_parts(), 2);  // 1 over 0.25 + 30 / 120
    // Costs 6 s more and saves 0.6 s per iteration, 6 s per solve.
    CHECK_EQ(*break_even_iterations(all.outcomes[1], base), doctest::Approx(10));
    CHECK_EQ(*break_even_solves(all.outcomes[1], base), doctest::Approx(1));
    CHECK_FALSE(break_even_iterations(all.outcomes[2], base));  // slower
    CHECK_FALSE(break_even_solves(all.outcomes[2], base));
    CHECK_FALSE(break_even_iterations(all.outcomes[3], base));  // cheaper and faster
    SolveOutcome twice = outcome("twice the products", 1, 10);
    twice.products = 20;
    CHECK_EQ(*twice.over_parts(), doctest::Approx(1 / 0.75));
    twice.iterations = 0;
    CHECK_FALSE(twice.over_parts());
}

TEST_CASE("a solve that permutes its vectors pays for that each time") {
    SolveOutcome base = outcome("base", 1, 10);
    base.vector_seconds = 1;
    SolveOutcome other = outcome("other", 13, 4);
    other.vector_seconds = 4;
    // 12 s more once; each solve saves 6 s and permutes for 3 s longer.
    CHECK_EQ(*break_even_solves(other, base), 4);
    // 15 s more before the first iteration, each of which saves 0.6 s.
    CHECK_EQ(*break_even_iterations(other, base), doctest::Approx(25));
    other.vector_seconds = 7;
    CHECK_FALSE(break_even_solves(other, base));  // permuting takes what iterating saves
}

TEST_CASE("the recipe with the least time in all depends on the number of solves") {
    SolveReport all = report();
    const auto advice = [&] {
        std::string text = solve_text(all);
        for (std::size_t at = text.find("\n      "); at != std::string::npos; at = text.find("\n      "))
            text.replace(at, 7, " ");
        const std::size_t begin = text.find("Least time in all: ");
        return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
    };
    all.outcomes = {outcome("a", 1, 10), outcome("b", 10, 5), outcome("c", 2000, 4.8)};
    all.outcomes.front().baseline = true;
    // b makes up for 9 s by 5 s a solve, c for 1990 s by 0.2 s a solve; 4 % less time of one solve is within noise.
    CHECK_EQ(advice(), "Least time in all: a for 1 solve, b from 2 solves on");
    // c makes up for 62.5 s by 0.125 s a solve.
    all.outcomes[2] = outcome("c", 72.5, 4.875);
    CHECK_EQ(advice(),
             "Least time in all: a for 1 solve, b from 2 solves on; c takes less from 501 solves on, but within noise");
    all.outcomes[2] = outcome("c", 10, 4.875);
    CHECK_EQ(advice(), "Least time in all: a for 1 solve, c from 2 solves on");
    all.outcomes[2] = outcome("c", 2000, 4);
    CHECK_EQ(advice(), "Least time in all: a for 1 solve, b for 2 to 1,989 solves, c from 1,990 solves on");
    all.outcomes[1].preparation.recipe = "a";
    CHECK_EQ(advice(), "Least time in all: the baseline for 1 solve, a for 2 to 1,989 solves, c from 1,990 solves on");
    all.outcomes[1].end = SolveEnd::stagnated;
    all.outcomes[1].preparation.recipe = "b";
    CHECK_EQ(advice(), "Least time in all: a for 1 to 333 solves, c from 334 solves on");
    // Both pay from the second solve on: 13 s more and 7 s less a solve are better.
    all.outcomes = {all.outcomes[0], outcome("b", 10, 5), outcome("c", 14, 3)};
    CHECK_EQ(advice(), "Least time in all: a for 1 solve, c from 2 solves on");
    all.outcomes = {all.outcomes[0], outcome("c", 14, 3), outcome("b", 10, 5)};
    CHECK_EQ(advice(), "Least time in all: a for 1 solve, c from 2 solves on");
    all.outcomes[1].end = SolveEnd::stagnated;
    all.outcomes[2].end = SolveEnd::stagnated;
    CHECK_EQ(advice(), "");
}

TEST_CASE("times of the baseline that are noise support no advice and no break-even") {
    SolveReport all = report();
    CHECK(solve_text(all).find("Least time in all: ") != std::string::npos);
    // The percentiles of five samples lie between the outer two at either end: (59 - 3.8) / 10.
    all.outcomes[0].solve_samples = {3, 5, 10, 35, 75};
    CHECK(all.outcomes[0].noise() == "a spread of 552.0 % between the 10th and the 90th percentile of 5 solves");
    CHECK(all.outcomes[1].noise().empty());
    CHECK(speedup_of(all.outcomes[1], all.outcomes[0])->noise);
    CHECK_FALSE(break_even_solves(all.outcomes[1], all.outcomes[0]));
    CHECK_FALSE(break_even_iterations(all.outcomes[1], all.outcomes[0]));
    const std::string text = solve_text(all);
    CHECK(text.find("Least time in all: ") == std::string::npos);
    CHECK(text.find("\nNo advice: the times of the baseline are noise (a spread of 552.0 %") != std::string::npos);
    CHECK(time_by_solves(all).series.size() == all.outcomes.size());  // no marks
    const auto json = nlohmann::json::parse(solve_json(all));
    CHECK(json["advice"].empty());
    CHECK(json["advice_with_new_values"].empty());
    const auto& solves = json["solves"];
    CHECK(solves[0]["noise"] == all.outcomes[0].noise());
    CHECK(solves[1]["noise"] == nullptr);
    CHECK(solves[1]["pays_after_solves"] == nullptr);
}

TEST_CASE("recipes that did not converge are not compared with the baseline") {
    SolveReport all = report();
    all.outcomes[1].end = SolveEnd::iteration_limit;
    all.outcomes[1].reason = "10 iterations did not reach 1e-08";
    const std::string text = solve_text(all);
    CHECK_EQ(text.find("costly: 1.00 x"), std::string::npos);
    CHECK_NE(
        text.find("slow: 0.51 x as fast as the baseline with set-up, 0.50 x (1 solve timed: no\n      interval) without\n"),
        std::string::npos);
    CHECK_NE(text.find("  costly: iteration limit: 10 iterations did not reach 1e-08\n"), std::string::npos);
    CHECK_NE(text.find("4.00 s  11.5 s           -\n"), std::string::npos);  // no break-even
    const auto costly = nlohmann::json::parse(solve_json(all))["solves"][1];
    for (const char* key : {"solve_speedup", "within_noise", "level_after_iterations", "pays_after_solves"}) {
        CHECK(costly[key] == nullptr);
    }
    all.outcomes[0].end = SolveEnd::stagnated;
    CHECK_EQ(solve_text(all).find("as fast as the baseline"), std::string::npos);
}

TEST_CASE("the reasons name method, preconditioner and counts") {
    SolveOptions options;
    options.patience = 7;
    const auto reason = [&](EndOfSolve end, const KrylovProgress& progress, int restarts = 0) {
        return reason_text(end, progress, options, Precision::f32, restarts);
    };
    const KrylovProgress progress{KrylovState::indefinite, 1, 5, -0.25};
    CHECK_EQ(reason({SolveEnd::indefinite}, progress), "p.Ap is -0.25 after 1 iteration: the matrix is not positive definite");
    options.jacobi = true;
    CHECK_EQ(reason({SolveEnd::indefinite}, progress),
             "p.Ap or r.Mr is -0.25 after 1 iteration: the matrix or its diagonal is not positive definite");
    options.method = KrylovMethod::bicgstab;
    CHECK_EQ(reason({SolveEnd::breakdown}, {KrylovState::breakdown, 3, 5, 0}, 1),
             "a divisor of bicgstab is 0 after 3 iterations and 1 restart");
    CHECK_EQ(reason({SolveEnd::breakdown}, {KrylovState::breakdown, 1, NAN, 0}, 2),
             "a value is no longer finite in f32 after 1 iteration and 2 restarts");
    CHECK_EQ(reason({SolveEnd::iteration_limit}, {KrylovState::running, 2, 5, 0}), "2 iterations did not reach 1e-08");
    CHECK_EQ(reason({SolveEnd::stagnated, 0.5}, {KrylovState::converged, 1, 5, 0}),
             "the recurrence reached 1e-08, but the true residual stays at 0.5: f32 is not accurate enough");
    CHECK_EQ(reason({SolveEnd::stagnated, 0.125}, {KrylovState::running, 20, 5, 0}),
             "the last 7 of 20 iterations did not reduce the residual below 0.125 of |b|");
    CHECK_EQ(reason({SolveEnd::converged}, {KrylovState::converged, 1, 5, 0}), "");
}

TEST_CASE("break-even is rounded up") {
    SolveReport rounded = report();
    rounded.outcomes.resize(1);
    rounded.outcomes.push_back(outcome("costly", 7.03, 4));  // 6.03 s more, 0.6 s less per iteration, 6 s less per solve
    const std::string text = solve_text(rounded);
    CHECK_NE(text.find("11.5 s         ~11\n"), std::string::npos);  // of one solve
    CHECK_NE(text.find("after about 2 such solves\n"), std::string::npos);
    const auto json = nlohmann::json::parse(solve_json(rounded));
    CHECK_EQ(json["solves"][1]["level_after_iterations"], doctest::Approx(10.05));
    CHECK_EQ(json["solves"][1]["pays_after_solves"], doctest::Approx(1.005));
}

TEST_CASE("the speed-up of a solve has an interval if both were repeated, and noise has no break-even") {
    SolveReport all = report();
    SolveOutcome& base = all.outcomes[0];
    SolveOutcome& one = all.outcomes[1];
    CHECK_EQ(speedup_of(one, base)->ratio, 2.5);
    CHECK_FALSE(speedup_of(one, base)->interval);
    CHECK_FALSE(speedup_of(one, base)->noise);
    one.solve_seconds = 0;
    CHECK_FALSE(speedup_of(one, base).has_value());
    one.solve_seconds = 9.7;  // 3 % faster, once
    CHECK(speedup_of(one, base)->noise);
    CHECK_FALSE(break_even_solves(one, base));
    CHECK_FALSE(break_even_iterations(one, base));
    CHECK_NE(solve_text(all).find("costly: 0.67 x as fast as the baseline with set-up, 1.03 x (1 solve timed: no\n      "
                                  "interval) without, which is within noise\n"),
             std::string::npos);
    base.solve_samples = {9, 10, 10, 10, 11};
    one.solve_samples = {8, 9, 9.7, 10, 12};
    CHECK_EQ(speedup_of(one, base)->interval->low, 9.0 / 12);
    CHECK_EQ(speedup_of(one, base)->interval->high, 11.0 / 8);
    CHECK(speedup_of(one, base)->noise);
    one.solve_seconds = 4;
    one.solve_samples = {3, 4, 4, 4, 5};
    CHECK_FALSE(speedup_of(one, base)->noise);
    CHECK_NE(solve_text(all).find("2.50 x (1.80 to 3.67)\n      without; it pays after 1 such solve\n"), std::string::npos);
    CHECK_NE(solve_text(all).find("11.5 s          10\n"), std::string::npos);
    const auto json = nlohmann::json::parse(solve_json(all));
    CHECK_EQ(json["solves"][1]["solve_speedup_interval"][0], 1.8);
    CHECK_EQ(json["solves"][1]["within_noise"], false);
    CHECK(json["solves"][0]["within_noise"].is_null());
    one.solve_samples.pop_back();
    CHECK_NE(solve_text(all).find("2.50 x (4 solves timed: no\n      interval) without; it pays after about 1 such solve\n"),
             std::string::npos);
}

TEST_CASE("short solves are repeated in turns, and the first one is reported with the median time") {
    struct Repeated {
        std::vector<double> seconds;
        double each = 0;  // of the wall, in all
        SolveEnd end = SolveEnd::converged;
    };
    const auto repeated = [](const std::vector<Repeated>& all, std::string* order = nullptr) {
        double now = 0;
        Clock clock;
        clock.seconds = [&] { return now; };
        std::vector<RepeatableSolve> solves(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            solves[i].solve = [&, i, count = 0](const SolveOptions& with) mutable {
                CHECK_EQ(with.timing.minimum_samples > 0, count == 0);  // products are timed after the first solve alone
                now += all[i].each;
                if (order != nullptr) *order += static_cast<char>('a' + i);
                SolveOutcome next = outcome("one", 1, all[i].seconds[count % all[i].seconds.size()]);
                next.end = all[i].end;
                next.product_seconds = count == 0 ? 7 : 0;
                next.vector_seconds = count == 0 ? 3 : 1;
                next.x = {static_cast<double>(count)};
                next.restarts = count++;
                return next;
            };
            solves[i].begin();
        }
        std::vector<RepeatableSolve*> short_ones;
        for (RepeatableSolve& one : solves) {
            if (one.is_short()) short_ones.push_back(&one);
        }
        repeat_in_turns(short_ones, clock);
        std::vector<SolveOutcome> found;
        for (const RepeatableSolve& one : solves) found.push_back(summary_of(one));
        for (const SolveOutcome& one : found) {
            CHECK_EQ(one.product_seconds, 7);
            CHECK_EQ(one.vector_seconds, one.solve_samples.size() > 1 ? 1 : 3);
            REQUIRE_EQ(one.x.size(), 1);
            CHECK_EQ(one.x.front(), one.restarts);  // all figures but the times are those of one solve
        }
        return found;
    };
    const auto alone = [&](const Repeated& one) { return repeated({one}).front(); };
    CHECK_EQ(alone({{0.2}}).solve_samples.size(), 1);
    CHECK_EQ(alone({{0.19}, 0.19}).solve_samples.size(), 7);
    const SolveOutcome eleven = alone({{0.01, 0.05, 0.02}});
    CHECK_EQ(eleven.solve_samples.size(), 11);
    CHECK_EQ(eleven.solve_seconds, 0.02);
    CHECK_EQ(alone({{0.01}, 0.4}).solve_samples.size(), 4);  // at most 1 s of repetitions with whatever else they do
    const SolveOutcome four = alone({{0.04, 0.01, 0.03, 0.02}, 0.4});
    CHECK_EQ(four.solve_seconds, 0.02);  // the faster of the middle two
    CHECK_EQ(alone({{0.01}, 0, SolveEnd::stagnated}).solve_samples.size(), 1);
    CHECK_EQ(alone({{0}}).solve_samples.size(), 1);

    std::string order;
    const std::vector<SolveOutcome> both = repeated({{{0.01}, 0.3}, {{3.0}, 3}, {{0.02}, 0.5}}, &order);
    CHECK_EQ(order, "abccaacca");  // 2 s for two short ones
    CHECK_EQ(both[0].solve_samples.size(), 4);
    CHECK_EQ(both[1].solve_samples.size(), 1);
    CHECK_EQ(both[2].solve_samples.size(), 4);
}

TEST_CASE("the tables of a solve") {
    const std::string text = solve_text(report());
    const auto line = [&](const std::string& begin, std::size_t number) {
        std::size_t at = 0;
        for (std::size_t i = 0; i <= number; ++i) at = text.find("\n  " + begin, at + (i > 0 ? 1 : 0));
        return text.substr(at + 3, text.find('\n', at + 1) - at - 3);
    };
    CHECK_EQ(line("base *", 1), "base *  1.50 s     1.00 s      2.00  10.0 s  11.5 s           -");
    CHECK_EQ(line("costly", 1), "costly  7.50 s     400 ms      0.80  4.00 s  11.5 s         ~10");
    CHECK_EQ(line("slow", 1), "slow    2.50 s     2.00 s      4.00  20.0 s  22.5 s       never");
    CHECK_EQ(line("cheap", 1), "cheap   1.00 s     500 ms      1.00  5.00 s  6.00 s     at once");
    CHECK_NE(
        text.find(
            "costly: 1.00 x as fast as the baseline with set-up, 2.50 x (1 solve timed: no\n      interval) without; it pays "
            "after about 1 such solve\n"),
        std::string::npos);
    CHECK_NE(text.find("\nLeast time in all: cheap for 1 to 6 solves, costly from 7 solves on\n"), std::string::npos);
    SolveReport renamed = report();
    renamed.outcomes[1].preparation.recipe = "a name of forty letters, with its points";
    const std::string wide = solve_text(renamed);  // its tables are not broken
    CHECK_NE(
        wide.find("\n  a name of forty letters, with its points  7.50 s     400 ms      0.80  4.00 s  11.5 s         ~10\n"),
        std::string::npos);
    CHECK_EQ(exit_code_of(report()), ExitCode::ok);
}

TEST_CASE("a solve with rounded values is compared with that of its own recipe with values in full") {
    SolveReport all = report();
    all.outcomes = {all.outcomes[0], outcome("wide", 1, 8), outcome("narrow", 1, 6), outcome("~f32 narrow", 1, 3)};
    all.outcomes[1].in_full = "layout wide";
    all.outcomes[2].in_full = all.outcomes[3].in_full = "layout narrow";
    all.outcomes[3].preparation.rounding = RoundingError{};
    const std::string text = solve_text(all);
    CHECK_NE(text.find("as fast as narrow, which has its"), std::string::npos);
    CHECK_EQ(text.find("as fast as wide"), std::string::npos);
    all.outcomes.erase(all.outcomes.begin() + 2);
    CHECK_EQ(solve_text(all).find(", which has its"), std::string::npos);
}

TEST_CASE("trials of a tuned solve") {
    SolveReport tuned = report();
    SolveOutcome one = outcome("tuned", 1, 8);
    one.tuned = true;
    one.trials = {{.recipe = "ehyb",
                   .kernel = "fused",
                   .end = Trial::End::kept,
                   .preparation_seconds = 1,
                   .ready_seconds = 1.5,
                   .iteration = 3,
                   .iteration_seconds = 0.5,
                   .before_seconds = 1},
                  {.recipe = "jds", .end = Trial::End::failed, .reason = "no memory for it"},
                  {.recipe = "ell", .end = Trial::End::not_tried, .reason = "too short", .ready_seconds = 0.002},
                  {.recipe = "sell",
                   .kernel = "rows",
                   .end = Trial::End::slower,
                   .ready_seconds = 2.5,
                   .iteration = 5,
                   .iteration_seconds = 0.75,
                   .before_seconds = 0.5}};
    tuned.outcomes.push_back(one);
    const std::string text = solve_text(tuned);
    CHECK_NE(text.find("ehyb                 kept            1.50 s             3     500 ms  1.00 s\n"), std::string::npos);
    CHECK_NE(text.find("sell                 slower          2.50 s             5     750 ms  500 ms\n"), std::string::npos);
    CHECK_NE(text.find("  jds: failed: no memory for it\n"), std::string::npos);
    CHECK_NE(text.find("  ell: not tried: too short\n"), std::string::npos);
    CHECK_NE(text.find("tuned: 1.25 x (1 solve timed: no interval) as fast as the baseline, including\n      all trials\n"),
             std::string::npos);
    const auto json = nlohmann::json::parse(solve_json(tuned));
    CHECK_EQ(json["solves"][4]["trials"].size(), 4);
    CHECK_EQ(json["solves"][4]["trials"][0]["end"], "kept");
    CHECK_FALSE(json["solves"][0].contains("trials"));
}

TEST_CASE("files, charts and remarks name the baseline \"the baseline\" if a recipe has the same name") {
    SolveReport all = report();
    all.outcomes.resize(2);
    all.outcomes[1].preparation.recipe = all.outcomes[0].preparation.recipe;
    for (SolveOutcome& one : all.outcomes) one.preparation.notes = {"said"};
    CHECK(history_csv(all).starts_with("iteration,\"the baseline\",\"base\"\n"));
    for (const XyChart& chart : {residual_by_iteration(all), residual_by_time(all), time_by_solves(all)}) {
        CHECK_EQ(chart.series.at(0).name, "the baseline");
        CHECK_EQ(chart.series.at(1).name, "base");
    }
    const std::string text = solve_text(all);
    CHECK_NE(text.find("\n  the baseline: note: said\n  base: note: said\n"), std::string::npos);
}

TEST_CASE("the data of a solve") {
    SolveReport all = report();
    all.outcomes.resize(2);
    all.outcomes[1].history.resize(3);
    all.outcomes[1].preparation.recipe = "a \"quoted\" name";
    CHECK_EQ(history_csv(all).substr(0, 90),
             "iteration,\"base\",\"a \"\"quoted\"\" name\"\n0,1.000000e+00,1.000000e+00\n1,1.000000e-01,1.000000e-");
    CHECK_NE(history_csv(all).find("\n10,1.000000e-10,\n"), std::string::npos);
    SolveReport distinct = report();
    distinct.outcomes[1].residual = 0.25;
    distinct.outcomes[1].true_residual = 0.5;
    const auto json = nlohmann::json::parse(solve_json(distinct));
    CHECK_EQ(json["solves"][1]["residual"], 0.25);
    CHECK_EQ(json["solves"][1]["true_residual"], 0.5);
    CHECK_EQ(json["matrix"]["nonzeros"], 1234);
    CHECK_EQ(json["solves"][1]["level_after_iterations"], doctest::Approx(10));
    CHECK(json["solves"][0]["level_after_iterations"].is_null());
    CHECK(json["solves"][2]["pays_after_solves"].is_null());
    CHECK_EQ(json["solves"][1]["residuals"].size(), 11);
    distinct.outcomes.erase(distinct.outcomes.begin());  // the baseline failed
    const auto alone = nlohmann::json::parse(solve_json(distinct));
    CHECK_EQ(alone["solves"][0]["recipe"], "costly");
    for (const char* compared : {"solve_speedup", "within_noise", "level_after_iterations", "pays_after_solves"}) {
        CHECK_MESSAGE(alone["solves"][0][compared].is_null(), compared);
    }

    const XyChart by_time = residual_by_time(report());
    REQUIRE_EQ(by_time.series.size(), 4);
    CHECK_EQ(by_time.series[1].points.front().first, 7.5);
    CHECK_EQ(by_time.series[1].points.back().first, 11.5);
    CHECK_EQ(by_time.series[1].points.back().second, doctest::Approx(1e-10));
    const XyChart by_iteration = residual_by_iteration(report());
    CHECK_EQ(by_iteration.series[0].points.size(), 11);
    CHECK_EQ(by_iteration.series[0].points[3].first, 3);

    const TemporaryFolder folder;
    CHECK_EQ(write_solve(report(), folder.path() / "new", "a command").size(), 9);
    CHECK(std::filesystem::exists(folder.path() / "new" / "residual_by_time.png"));
    CHECK(std::filesystem::exists(folder.path() / "new" / "solve.html"));
    // Plots that a solve does not write are not those of an earlier one.
    const auto plots = [&] {
        std::ptrdiff_t count = 0;
        for (const auto& file : std::filesystem::directory_iterator(folder.path() / "new")) {
            count += file.path().stem() == "residual_by_time" || file.path().stem() == "time_by_solves" ? 1 : 0;
        }
        return count;
    };
    CHECK_EQ(plots(), 4);
    SolveReport failed = report();
    for (SolveOutcome& one : failed.outcomes) one.end = SolveEnd::breakdown;
    CHECK_EQ(write_solve(failed, folder.path() / "new", "a command", {.inches = 3}).size(), 5);
    CHECK_EQ(plots(), 1);
    for (SolveOutcome& one : failed.outcomes) one.history.clear();
    CHECK_EQ(write_solve(failed, folder.path() / "new", "a command").size(), 3);
    CHECK_EQ(plots(), 0);
    const auto page = nlohmann::ordered_json::parse(solve_document(report(), "a command"));
    CHECK_EQ(page["kind"], "solve");
    CHECK_EQ(page["command"], "a command");
    CHECK_EQ(page["solve"], nlohmann::ordered_json::parse(solve_json(report())));
    CHECK_EQ(page["sentences"].size(), 2);
    CHECK(page["sentences"][0].get<std::string>().starts_with("Least time in all: "));
}

TEST_CASE("a long history is drawn with few points, including the last") {
    SolveReport all = report();
    all.outcomes.resize(1);
    all.outcomes[0].history.assign(12345, 0.5);
    all.outcomes[0].history.back() = 0.25;
    const XyChart chart = residual_by_iteration(all);
    CHECK_LT(chart.series[0].points.size(), 2100);
    CHECK_EQ(chart.series[0].points.back(), std::pair<double, double>{12344, 0.25});
}

}  // namespace workbench
