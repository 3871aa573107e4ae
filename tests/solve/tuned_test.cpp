// Tuning while solving on the scripted machine: candidates are tried, kept or dropped, and x stays correct as its order
// changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/contract/errors.hpp"
#include "run/scripted_runs.hpp"
#include "studies/solve/tuned_solve.hpp"

namespace workbench {
namespace {

/// Second differences with another first row, so that reversing the order changes the matrix.
CsrMatrix chain(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        entries.push_back({i, i, i == 0 ? 3.0 : 2.0});
        if (i > 0) entries.push_back({i, i - 1, -1});
        if (i + 1 < size) entries.push_back({i, i + 1, -1});
    }
    return csr_from_entries(size, size, entries);
}

Recipe recipe_of(const std::string& name, const std::string& rest) {
    return parse_recipe("[recipe]\nname = '" + name + "'\n" + rest, "t.toml", scripted_catalogue());
}

const Recipe& csr() {
    static const Recipe recipe = recipe_of("csr", "[layout]\nuse = 'csr'\n[kernel]\ncusparse = 'vendor'\n");
    return recipe;
}
const Recipe& reversed() {
    static const Recipe recipe = recipe_of("reversed", "[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n");
    return recipe;
}
const Recipe& plain() {
    static const Recipe recipe = recipe_of("plain", "[layout]\nuse = 'plain'\n");
    return recipe;
}
const Recipe& refusing() {
    static const Recipe recipe = recipe_of("refusing", "[layout]\nuse = 'refusing'\n");
    return recipe;
}

SolveOptions options() {
    SolveOptions options;
    options.tolerance = 1e-9;
    options.timing = {CacheState::warm, 1, 0, 0, scripted_clock()};
    return options;
}

class Bench {
public:
    explicit Bench(Index size) : Bench(size, std::vector<double>(size, 1.0)) {}
    Bench(Index size, std::vector<double> b) : matrix(chain(size)), system(matrix, std::move(b)) {}

    /// `concurrent`: candidates have their own devices, and iterations their own thread.
    SolveOutcome solve(const std::vector<Recipe>& recipes, bool concurrent = false, SolveOptions with = options()) {
        ScriptedDevice gpu{gpu_properties(), {3000, 4000}};
        Multiplier<double> begin(csr(), matrix,
                                 {.device = gpu, .filter = {DeviceKind::gpu, "", of_vendor}, .clock = with.timing.clock});
        TuningPlan plan{.recipes = recipes, .filter = {DeviceKind::gpu, "", ours}};
        if (concurrent) {
            plan.make_device = [this] {
                ++devices;
                std::this_thread::sleep_for(pause);
                return std::make_unique<ScriptedDevice>(gpu_properties(), Bandwidth{3000, 4000});
            };
        }
        return solve_tuned(system, begin, gpu, with, plan);
    }

    void check(const SolveOutcome& outcome) const {
        CHECK(outcome.end == SolveEnd::converged);
        CHECK(outcome.tuned);
        CHECK_LE(outcome.true_residual, 1.01e-9);
        CHECK_EQ(system.true_residual(outcome.x), outcome.true_residual);
        CHECK_EQ(outcome.history.size(), outcome.iterations + 1);
    }

    CsrMatrix matrix;
    System<double> system;
    std::atomic<int> devices = 0;        // that were made for candidates
    std::chrono::milliseconds pause{0};  // while one is made

private:
    static bool of_vendor(const KernelEntry& kernel) { return kernel.name == "vendor"; }
    static bool ours(const KernelEntry& kernel) { return kernel.name != "own" && kernel.name != "vendor"; }
};

}  // namespace

TEST_CASE("a faster candidate is kept, and the vectors are permuted once") {
    Script& script = new_script();
    script.seconds["run vendor"] = {0.010};
    script.seconds["run gpu"] = {0.004};
    Bench bench(400);
    const SolveOutcome outcome = bench.solve({reversed()});
    bench.check(outcome);
    REQUIRE_EQ(outcome.trials.size(), 1);
    const Trial& trial = outcome.trials[0];
    CHECK(trial.end == Trial::End::kept);
    CHECK_EQ(trial.recipe, "reversed");
    CHECK_EQ(trial.kernel, "gpu");
    CHECK_EQ(trial.iteration_seconds, doctest::Approx(0.004));
    CHECK_EQ(trial.before_seconds, doctest::Approx(0.010));
    CHECK_GE(trial.iteration, 8);  // trials may cost 2 % of the time so far
    CHECK_EQ(script.count("reorder"), 1);
    // The faster kernel runs all iterations from its trial on.
    CHECK_EQ(
        outcome.solve_seconds,
        doctest::Approx(0.010 * trial.iteration + 0.004 * (outcome.iterations - trial.iteration) + 0.004 * 6).epsilon(0.02));
}

TEST_CASE("vectors follow an order whose inverse is another one, and come back from it") {
    for (const bool faster : {true, false}) {
        Script& script = new_script();
        script.seconds["run vendor"] = {0.010};
        script.seconds["run gpu"] = {faster ? 0.004 : 0.011};
        std::vector<double> b(400);
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + 0.5 * static_cast<double>(i % 5);  // changes with its order
        Bench bench(400, b);
        const Recipe rotated = recipe_of("rotated", "[[stage]]\nuse = 'rotate'\n[layout]\nuse = 'plain'\n");
        const SolveOutcome outcome = bench.solve({rotated});
        bench.check(outcome);
        REQUIRE_EQ(outcome.trials.size(), 1);
        CHECK_EQ(outcome.trials[0].reason, "");
        CHECK(outcome.trials[0].end == (faster ? Trial::End::kept : Trial::End::slower));
        CHECK_EQ(script.count("reorder"), faster ? 1 : 2);
    }
}

TEST_CASE("a slower candidate is dropped after one iteration, and the vectors are permuted back") {
    Script& script = new_script();
    script.seconds["run vendor"] = {0.010};
    script.seconds["run gpu"] = {0.050};
    Bench bench(400);
    const SolveOutcome outcome = bench.solve({reversed()});
    bench.check(outcome);
    REQUIRE_EQ(outcome.trials.size(), 1);
    CHECK(outcome.trials[0].end == Trial::End::slower);
    CHECK_EQ(outcome.trials[0].iteration_seconds, doctest::Approx(0.050));
    CHECK_EQ(script.count("reorder"), 2);
    CHECK_EQ(script.count("run vendor"), outcome.iterations - 1);
}

TEST_CASE("a slightly slower candidate is dropped after more iterations") {
    Script& script = new_script();
    script.seconds["run vendor"] = {0.010};
    script.seconds["run gpu"] = {0.011};
    Bench bench(400);
    const SolveOutcome outcome = bench.solve({reversed()});
    bench.check(outcome);
    CHECK(outcome.trials.at(0).end == Trial::End::slower);
    CHECK_EQ(script.count("run vendor"), outcome.iterations - 33);
}

TEST_CASE("several candidates; failures are reported and have no other effect") {
    Script& script = new_script();
    script.seconds["run vendor"] = {0.010};
    script.seconds["run gpu"] = {0.006};
    Bench bench(600);
    const SolveOutcome outcome = bench.solve({refusing(), plain(), reversed()});
    bench.check(outcome);
    REQUIRE_EQ(outcome.trials.size(), 3);
    CHECK_EQ(outcome.trials[0].recipe, "plain");
    CHECK(outcome.trials[0].end == Trial::End::kept);
    CHECK_EQ(outcome.trials[1].recipe, "reversed");  // as fast as the current one
    CHECK(outcome.trials[1].end == Trial::End::slower);
    CHECK_EQ(outcome.trials[1].before_seconds, doctest::Approx(0.006));
    CHECK_EQ(outcome.trials[2].recipe, "refusing");
    CHECK(outcome.trials[2].end == Trial::End::failed);
    CHECK_NE(outcome.trials[2].reason, "");
}

TEST_CASE("trials cost at most a fraction of the time so far") {
    Script& script = new_script();
    script.seconds["run vendor"] = {0.010};
    script.seconds["run gpu"] = {0.029};
    script.seconds["reorder"] = {0.005};
    Bench bench(1000);
    const std::vector<Recipe> many(40, reversed());
    const SolveOutcome outcome = bench.solve(many);
    bench.check(outcome);
    double preparing = 0;  // alternates with iterations here
    for (const Trial& trial : outcome.trials) preparing += trial.preparation_seconds;
    CHECK_LE(outcome.solve_seconds - preparing, 1.03 * 0.010 * static_cast<double>(outcome.iterations));
    CHECK_GT(std::count_if(
                 outcome.trials.begin(), outcome.trials.end(),
                 [](const Trial& trial) { return trial.end == Trial::End::too_late || trial.end == Trial::End::not_tried; }),
             20);
    CHECK_EQ(outcome.trials.size(), 40);
}

TEST_CASE("the expected cost of a trial is the mean of the trials so far") {
    Script& script = new_script();
    script.seconds["run vendor"] = {0.010};
    // The checks of two candidates, then trials: one iteration of 60 ms, nine of 12.5 ms, and so on.
    script.seconds["run gpu"] = {0, 0, 0.060, 0.0125};
    Bench bench(700);
    const SolveOutcome outcome = bench.solve({plain(), plain(), plain()});
    REQUIRE_EQ(outcome.trials.size(), 3);
    CHECK_EQ(outcome.trials[0].iteration_seconds, doctest::Approx(0.060));
    CHECK_EQ(outcome.trials[1].iteration_seconds, doctest::Approx(0.0125));
    // Lost so far: 50 and 22.5 ms; the third may cost their mean, at 2 % of the time.
    const double seconds = (0.0725 + 0.0725 / 2) / 0.02;
    CHECK_GE(outcome.trials[2].iteration, 0.98 * (seconds - 0.0725) / 0.010);
    CHECK_LE(outcome.trials[2].iteration, 1.1 * seconds / 0.010);
}

TEST_CASE("candidates that are ready too late are reported") {
    new_script().seconds["run vendor"] = {0.010};
    Bench bench(4);
    const SolveOutcome outcome = bench.solve({reversed(), plain()});
    bench.check(outcome);
    REQUIRE_EQ(outcome.trials.size(), 2);
    for (const Trial& trial : outcome.trials) {
        CHECK(trial.end == Trial::End::too_late);
        CHECK_EQ(trial.reason, "the solve had ended");
    }
}

TEST_CASE("a candidate that is ready early in a short solve is not tried, and not too late") {
    new_script().seconds["run vendor"] = {0.0005};
    Bench bench(60);
    const SolveOutcome outcome = bench.solve({reversed()});
    bench.check(outcome);
    REQUIRE_EQ(outcome.trials.size(), 1);
    CHECK(outcome.trials[0].end == Trial::End::not_tried);
    CHECK_LT(outcome.trials[0].ready_seconds, 0.5 * outcome.solve_seconds);
    CHECK_EQ(outcome.trials[0].reason, "trials may take 2 % of the solve, which was too short for one");
}

TEST_CASE("candidates that are ready before a restart are not too late") {
    new_script().seconds["run vendor"] = {0.0005};
    Bench bench(60);
    SolveOptions accurate = options();
    accurate.tolerance = 1e-15;
    const SolveOutcome outcome = bench.solve({reversed(), plain(), plain()}, false, accurate);
    CHECK_GE(outcome.restarts, 1);
    REQUIRE_EQ(outcome.trials.size(), 3);
    for (const Trial& trial : outcome.trials) {
        CHECK_LT(trial.ready_seconds, 0.5 * outcome.solve_seconds);
        CHECK(trial.end == Trial::End::not_tried);
    }
}

TEST_CASE("a solve that ends during a trial leaves the candidate unjudged") {
    const auto solve = [](std::int64_t most_iterations) {
        Script& script = new_script();
        script.seconds["run vendor"] = {0.010};
        script.seconds["run gpu"] = {0.004};
        SolveOptions few = options();
        few.most_iterations = most_iterations;
        return Bench(400).solve({reversed()}, false, few);
    };
    const std::int64_t first = solve(10000).trials.at(0).iteration;
    const SolveOutcome outcome = solve(first + 5);  // a trial has up to 33
    CHECK_EQ(outcome.iterations, first + 5);
    REQUIRE_EQ(outcome.trials.size(), 1);
    CHECK(outcome.trials[0].end == Trial::End::too_late);
    CHECK_EQ(outcome.trials[0].reason, "the solve ended during its trial");
}

TEST_CASE("a solve can be stopped between launches of iterations") {
    new_script().seconds["run vendor"] = {0.010};
    Bench bench(400);
    SolveOptions with = options();
    int polls = 0;
    with.poll = [&polls] {
        if (++polls == 3) throw Stopped("stopped");
    };
    CHECK_THROWS_AS((void)bench.solve({reversed()}, false, with), Stopped);
    polls = 0;
    CHECK_THROWS_AS((void)bench.solve({reversed()}, true, with), Stopped);
}

TEST_CASE("the iteration limit applies to a tuned solve") {
    new_script().seconds["run vendor"] = {0.010};
    Bench bench(400);
    SolveOptions few = options();
    few.most_iterations = 30;
    const SolveOutcome outcome = bench.solve({reversed()}, false, few);
    CHECK(outcome.end == SolveEnd::iteration_limit);
    CHECK_EQ(outcome.iterations, 30);
}

TEST_CASE("with own devices for candidates, iterations run in a second thread") {
    Bench bench(3000);
    SolveOptions real_time = options();
    real_time.timing.clock = {};
    const Stopwatch watch;
    real_time.poll = [&bench, &watch] {  // the solve waits for the first candidate
        while (bench.devices == 0 && watch.seconds() < 10) std::this_thread::yield();
    };
    for (int round = 0; round < 3; ++round) {
        new_script();
        bench.devices = 0;
        const SolveOutcome outcome = bench.solve({reversed(), refusing(), plain(), reversed(), plain()}, true, real_time);
        bench.check(outcome);
        CHECK_EQ(outcome.trials.size(), 5);
        CHECK_GE(bench.devices, 1);
        CHECK_LE(bench.devices, 5);
        CHECK_GT(outcome.solve_seconds, 0);
    }
}

TEST_CASE("no candidate is prepared after the solve has ended") {
    Bench bench(3);
    bench.pause = std::chrono::milliseconds(5);
    SolveOptions real_time = options();
    real_time.timing.clock = {};
    const std::vector<Recipe> many(200, plain());
    const SolveOutcome outcome = bench.solve(many, true, real_time);
    bench.check(outcome);
    CHECK_EQ(outcome.trials.size(), many.size());
    CHECK_LT(bench.devices, many.size());
}

}  // namespace workbench
