// The advice follows from the figures of solve.json: on the scripted machine for every combination of devices, engines,
// preparations, tuning and recipes, and for the model that chooses engines.
#include <doctest/doctest.h>

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pipeline/engine/solve_engine.hpp"
#include "run/scripted_runs.hpp"
#include "studies/solve/advice.hpp"
#include "studies/solve/solve_recipes.hpp"

namespace workbench {
namespace {

/// Second differences.
CsrMatrix chain_of(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        entries.push_back({i, i, 2.5});
        if (i > 0) entries.push_back({i, i - 1, -1});
        if (i + 1 < size) entries.push_back({i, i + 1, -1});
    }
    return csr_from_entries(size, size, entries);
}

Recipe recipe_named(const std::string& name, const std::string& text) {
    return scripted_recipe("[recipe]\nname = '" + name + "'\n" + text);
}

struct Combination {
    DeviceKind kind = DeviceKind::host;
    SolveEngine engine = SolveEngine::graph;
    bool prepares = false;
    bool tunes = false;
    double product = 1;  // of the recipes' kernels, in thousandths of a second; the baseline's takes 4
};

/// Recipes without a stage, twice, and with a reordering that takes two seconds.
SolveReport solve_with(const Combination& how) {
    Script& script = new_script();
    for (const char* run : {"run usual", "run own", "run vendor"}) script.seconds[run] = {4e-3};
    for (const char* run : {"run fast", "run gpu"}) script.seconds[run] = {how.product * 1e-3};
    script.seconds["stage reverse"] = {2};
    script.seconds["build csr"] = {50};
    script.seconds["build plain"] = {1};
    script.seconds["prepare usual"] = script.seconds["prepare vendor"] = script.seconds["prepare own"] = {0.25};
    script.seconds["prepare fast"] = script.seconds["prepare gpu"] = {0.5};
    script.seconds["scatter"] = {1e-3};
    script.seconds["upload"] = script.seconds["download"] = {0.5e-3};
    const CsrMatrix matrix = chain_of(24);
    const bool on_gpu = how.kind == DeviceKind::gpu;
    ScriptedDevice device(on_gpu ? gpu_properties() : host_properties(), {1e12, 1e12});
    SolveReport report;
    report.options.engine = how.engine;
    report.options.timing = {CacheState::warm, 1, 0, 0, scripted_clock()};
    std::vector<Recipe> recipes{recipe_named("plain", "[layout]\nuse = 'plain'\n"),
                                recipe_named("twin", "[layout]\nuse = 'plain'\n"),
                                recipe_named("reversed", "[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n")};
    if (how.prepares) {
        for (Recipe& recipe : recipes) recipe.prepare = "gpu";  // this GPU declines
    }
    SolvePlan plan{.matrix = matrix,
                   .b = std::vector<double>(24, 1.0),
                   .catalogue = scripted_catalogue(),
                   .device = device,
                   .backends = {on_gpu ? Backend::cuda : Backend::kokkos}};
    if (how.tunes) plan.tune_with = {recipes.back()};
    solve_recipes(plan, recipes, report);
    REQUIRE(report.failures.empty());
    REQUIRE(report.outcomes.size() == 4 + (how.tunes ? 1 : 0));
    return report;
}

double number(const nlohmann::json& json, const char* key) { return json[key].get<double>(); }

/// The recipe that the advice names for this many solves.
std::string advised(const nlohmann::json& json, double solves) {
    std::string recipe;
    for (const auto& step : json["advice"]) {
        if (number(step, "from_solves") <= solves) recipe = step["recipe"];
    }
    return recipe;
}

/// Repeats the arithmetic of the file.
void check_arithmetic(const nlohmann::json& json) {
    const auto& base = json["solves"][0];
    for (const auto& one : json["solves"]) {
        const double once = number(one, "stage_seconds") + number(one, "build_seconds") + number(one, "copy_seconds") +
                            number(one, "solver_seconds");
        CHECK(number(one, "once_seconds") == doctest::Approx(once));
        CHECK(number(one, "each_seconds") == doctest::Approx(number(one, "vector_seconds") + number(one, "solve_seconds")));
        CHECK(number(one, "total_seconds") == doctest::Approx(once + number(one, "each_seconds")));
        if (one["baseline"] == true || one["within_noise"] == true) continue;
        CHECK(number(one, "solve_speedup") == doctest::Approx(number(base, "solve_seconds") / number(one, "solve_seconds")));
        const double price = number(one, "once_seconds") - number(base, "once_seconds");
        const double gain = number(base, "each_seconds") - number(one, "each_seconds");
        CHECK(one["pays_after_solves"].is_null() == !(price > 0 && gain > 0));
        if (price > 0 && gain > 0) CHECK(number(one, "pays_after_solves") == doctest::Approx(price / gain));
    }
    for (const double solves : {1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 1000.0, 1e6}) {
        CAPTURE(solves);
        double least = INFINITY;
        double of_advised = INFINITY;
        for (const auto& one : json["solves"]) {
            if (one["tuned"] == true || one["control"] == true) continue;
            const double seconds = number(one, "once_seconds") + solves * number(one, "each_seconds");
            least = std::min(least, seconds);
            if (one["recipe"] == advised(json, solves)) of_advised = seconds;
        }
        CHECK(of_advised <= least * 1.05);
    }
}

}  // namespace

TEST_CASE("the advice follows from the JSON for every combination") {
    for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu}) {
        for (const SolveEngine engine : {SolveEngine::graph, SolveEngine::automatic}) {
            for (const bool prepares : {false, true}) {
                for (const bool tunes : {false, true}) {
                    for (const double product : {1.0, 3.9, 4.0, 20.0}) {
                        CAPTURE(static_cast<int>(kind));
                        CAPTURE(prepares);
                        CAPTURE(tunes);
                        CAPTURE(product);
                        const SolveReport report = solve_with({kind, engine, prepares, tunes, product});
                        const auto json = nlohmann::json::parse(solve_json(report));
                        check_arithmetic(json);
                        const auto& base = json["solves"][0];
                        CHECK(base["build_seconds"] == 0);  // the caller holds CSR
                        CHECK(base["copy_seconds"] == (kind == DeviceKind::gpu ? 0.25 : 0.0));
                        CHECK(advised(json, 1) == base["recipe"]);
                        CHECK((advised(json, 1e6) == base["recipe"]) == (product >= 4));
                        // Both are the same; the reversed one takes longer once and each time.
                        if (product < 4) CHECK(advised(json, 1e6) == "plain");
                    }
                }
            }
        }
    }
}

TEST_CASE("b and x are permuted in each solve, and nothing else is paid twice") {
    const SolveReport on_host = solve_with({});
    CHECK(on_host.outcomes[1].vector_seconds == doctest::Approx(0));
    CHECK(on_host.outcomes[3].vector_seconds == doctest::Approx(2e-3));  // scatter b, scatter x
    const SolveReport on_gpu = solve_with({.kind = DeviceKind::gpu});
    CHECK(on_gpu.outcomes[1].vector_seconds == doctest::Approx(1e-3));  // upload b, download x
    CHECK(on_gpu.outcomes[3].vector_seconds == doctest::Approx(3e-3));
    CHECK(on_gpu.outcomes[3].solver_seconds == doctest::Approx(1e-3));  // two permutations
}

TEST_CASE("a recipe whose vectors take what its iterations save never pays, which is said") {
    SolveReport report;
    for (const bool baseline : {true, false}) {
        SolveOutcome one;
        one.preparation.recipe = baseline ? "base" : "other";
        one.preparation.kernel.status = KernelOutcome::Status::measured;
        one.baseline = baseline;
        one.end = SolveEnd::converged;
        one.iterations = 10;
        one.solver_seconds = baseline ? 0 : 1;
        one.solve_seconds = baseline ? 4 : 3;
        one.vector_seconds = baseline ? 0.5 : 1.75;
        report.outcomes.push_back(one);
    }
    const auto text = [&] {
        std::string found = solve_text(report);
        for (std::size_t at = found.find("\n      "); at != std::string::npos; at = found.find("\n      ")) {
            found.replace(at, 7, " ");
        }
        return found;
    };
    CHECK(text().find("it never pays: bringing b and x takes 1.75 s instead of 500 ms in each solve, and its iterations save "
                      "1.00 s\n") != std::string::npos);
    CHECK(text().find("Least time in all: base for any number of solves") != std::string::npos);
    report.outcomes[1].vector_seconds = 0.75;  // saves 0.75 a solve
    CHECK(text().find("it pays after about 2 such solves\n") != std::string::npos);
    report.outcomes[1].control = true;
    CHECK(text().find("such solves; a control: no advice\n") != std::string::npos);
    CHECK(text().find("Least time in all") == std::string::npos);
    report.outcomes[1].control = false;
    report.outcomes[1].solver_seconds = 0.6;
    report.outcomes[1].vector_seconds = 0.5;
    CHECK(text().find("Least time in all: other (within 5 % of base) for any number") == std::string::npos);
    report.outcomes[1].solver_seconds = 0.9;
    CHECK(text().find("Least time in all: other (within 5 % of base) for any number") != std::string::npos);
}

namespace {

/// Adds a recipe with these seconds once, in each solve and for new values. The first one is the baseline.
void add(SolveReport& report, const char* name, double once, double solve, double new_values) {
    SolveOutcome one;
    one.preparation.recipe = name;
    one.preparation.kernel.status = KernelOutcome::Status::measured;
    one.baseline = report.outcomes.empty();
    one.end = SolveEnd::converged;
    one.iterations = 10;
    one.solver_seconds = once;
    one.solve_seconds = solve;
    one.new_values_seconds = new_values;
    report.outcomes.push_back(one);
}

}  // namespace

TEST_CASE("advice for solves with new values counts storing them before each solve") {
    SolveReport report;
    add(report, "base", 0, 10, 1);
    add(report, "dear values", 1, 4, 8);
    add(report, "cheap values", 20, 6, 2);
    const auto names = [&](bool new_values) {
        std::string found;
        for (const Advised& one : advice_of(report, new_values)) {
            found += fmt::format("{} from {};", one.outcome->preparation.recipe, one.from);
        }
        return found;
    };
    CHECK(names(false) == "dear values from 1;");
    CHECK(names(true) == "base from 1;cheap values from 7;");  // 20 + 8 N against 11 N
    CHECK(*break_even_solves(report.outcomes[2], report.outcomes[0], true) == doctest::Approx(20.0 / 3));
    CHECK(*break_even_solves(report.outcomes[2], report.outcomes[0]) == doctest::Approx(5));
    std::string text = solve_text(report);
    text = text.substr(text.find("With new values"));
    text.replace(text.find("\n      "), 7, " ");
    CHECK(text.starts_with("With new values before each solve: base for 1 to 6 solves, cheap values from 7 solves on\n"));
}

TEST_CASE("time over the number of solves, with the crossings") {
    const SolveReport report = solve_with({});
    const XyChart chart = time_by_solves(report);
    REQUIRE(chart.series.size() == 5);
    CHECK(chart.foot.empty());
    CHECK(chart.series[0].points.front().second == doctest::Approx(report.outcomes[0].total_seconds()));
    CHECK(chart.series[0].points.front().first == 1);
    CHECK(chart.series[0].points[20].first == doctest::Approx(10));
    CHECK(chart.series[0].points.back().first == doctest::Approx(std::pow(10, (chart.series[0].points.size() - 1) / 20)));
    const std::vector<Advised> advice = advice_of(report);
    REQUIRE(advice.size() == 2);
    REQUIRE(chart.series[4].points.size() == 1);
    CHECK(chart.series[4].points[0].first == static_cast<double>(advice[1].from));
    const SolveOutcome& plain = report.outcomes[1];
    const SolveOutcome& base = report.outcomes[0];
    const auto from = static_cast<double>(advice[1].from);
    CHECK(plain.once_seconds() + from * plain.each_seconds() <= base.once_seconds() + from * base.each_seconds());
    CHECK(plain.once_seconds() + (from - 1) * plain.each_seconds() > base.once_seconds() + (from - 1) * base.each_seconds());
}

TEST_CASE("the axis of the number of solves contains the last crossing") {
    SolveReport report;
    add(report, "base", 0, 10, 1);
    add(report, "one", 5, 9, 1);
    add(report, "other", 20'000, 8, 1);
    const std::vector<Advised> advice = advice_of(report);
    REQUIRE(advice.size() == 3);
    const XyChart chart = time_by_solves(report);
    for (const Series& series : chart.series) {
        if (series.name.find("takes less") == std::string::npos)
            CHECK(series.points.back().first > static_cast<double>(advice[2].from));
    }
}

TEST_CASE("time over the number of solves has room for the crossings, and says how many recipes it leaves out") {
    SolveReport report = solve_with({});
    const std::size_t before = report.outcomes.size();
    while (report.outcomes.size() < 9) report.outcomes.push_back(report.outcomes.back());
    const XyChart chart = time_by_solves(report);
    CHECK(before < most_series - 1);
    CHECK(chart.series.size() <= most_series);
    CHECK(chart.series.back().name == "another recipe takes less");
    CHECK(chart.series.size() == most_series);
    CHECK(chart.foot == "without the last 3 recipes");
}

TEST_CASE("the model of engines agrees with an H200 on which is faster, and counts the preparation") {
    DeviceProperties h200 = *find_device_model("h200");
    h200.shared_memory_per_block = 232448;
    struct Measured {
        Index rows;
        Offset nonzeros;
        Index parts;
        double graph;  // us per iteration (docs/results/h200-on-chip.md)
        double persistent;
        std::int64_t padding = 0;  // bytes of the recipe's layout
    };
    for (const Measured& one : {Measured{97336, 668656, 132, 15.5, 3.9}, Measured{97336, 668656, 0, 15.5, 5.0},
                                Measured{262144, 1810432, 132, 21.1, 5.4}, Measured{262144, 1810432, 0, 21.1, 8.2},
                                Measured{125000, 3241792, 132, 23.9, 6.6}, Measured{1000000, 4996000, 132, 41.6, 11.0},
                                Measured{1000000, 6940000, 132, 45.9, 16.7}, Measured{2197000, 15277600, 132, 98.6, 62.4},
                                Measured{634273, 8791395, 132, 45.7, 24.8}, Measured{1627533, 11371657, 132, 75.1, 40.0},
                                Measured{1627533, 11371657, 0, 75.1, 50.1}, Measured{790767, 20489405, 0, 84.2, 93.9},
                                Measured{512000, 3545600, 0, 30.6, 11.5}, Measured{1000000, 6940000, 0, 47.1, 31.7},
                                Measured{592704, 8810590, 0, 53.4, 32.2, 30'000'000}}) {
        CAPTURE(one.nonzeros);
        CAPTURE(one.parts);
        const EngineForecast forecast = forecast_engines({.rows = one.rows,
                                                          .nonzeros = one.nonzeros,
                                                          .bytes_of_product = 10 * one.nonzeros + 16 * one.rows + one.padding,
                                                          .parts = one.parts,
                                                          .device = h200,
                                                          .copy_bandwidth = 4.23e12});
        CHECK(forecast.graph_seconds == doctest::Approx(one.graph * 1e-6).epsilon(0.2));
        CHECK(forecast.persistent_seconds == doctest::Approx(one.persistent * 1e-6).epsilon(0.4));
        CHECK((forecast.persistent_seconds < forecast.graph_seconds) == (one.persistent < one.graph));
        if (one.padding > 0) CHECK(forecast.persistent_seconds < 1.2e-6 * one.persistent);  // without this padding
        CHECK_FALSE(forecast.persistent_pays(1));
        CHECK(forecast.persistent_pays(1000000000) == (one.persistent < one.graph));
    }
    const EngineForecast forecast{.graph_seconds = 20e-6, .persistent_seconds = 5e-6, .preparation_seconds = 30e-3};
    CHECK_FALSE(forecast.persistent_pays(1999));
    CHECK(forecast.persistent_pays(2001));
    CHECK(reason_for(forecast, 250) ==
          "persistent kernel: by the model, it saves 15.0 us an iteration and takes 30.0 ms to prepare: it pays after 2,000 "
          "iterations, and 250 are expected");
    for (const std::int64_t iterations : {1999, 2001}) {
        const EngineChoice choice = choose_engine(forecast, iterations);
        CHECK(choice.persistent == (iterations > 2000));
        CHECK(choice.note == reason_for(forecast, iterations));
    }
    const CsrMatrix rows = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}});
    CHECK(SolvedMatrix<double>{.matrix = &rows}.rows() == 2);
    CHECK(SolvedMatrix<double>{.matrix = &rows}.nonzeros() == 3);
}

}  // namespace workbench
