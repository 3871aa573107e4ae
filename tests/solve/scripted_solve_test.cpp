// Solves on the scripted machine, where a product takes a second and all else takes none: what is counted, and whose time it
// is.
#include <doctest/doctest.h>

#include <vector>

#include "run/scripted_runs.hpp"
#include "studies/solve/prepared_solver.hpp"
#include "studies/solve/solve_recipes.hpp"

namespace workbench {
namespace {

/// Second differences, with a diagonal that makes Jacobi useful.
CsrMatrix differences(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        entries.push_back({i, i, 2.5 + 0.25 * (i % 4)});
        if (i > 0) entries.push_back({i, i - 1, -1});
        if (i + 1 < size) entries.push_back({i, i + 1, -1});
    }
    return csr_from_entries(size, size, entries);
}

template <ValueType Value>
SolveOutcome solve_scripted(const SolveOptions& options, const CsrMatrix& matrix = differences(40), double b = 1) {
    new_script().seconds = {{"run usual", {1}}, {"build csr", {20}}, {"prepare usual", {300}}, {"stage reverse", {4000}}};
    const System<Value> system(matrix, std::vector<double>(matrix.rows, b));
    ScriptedDevice host(host_properties(), {1000, 2000});
    static const Recipe recipe = scripted_recipe("[recipe]\nname = 'R'\n[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'csr'\n");
    Multiplier<Value> multiplier(recipe, matrix, {.device = host, .filter = {DeviceKind::host}, .clock = options.timing.clock});
    PreparedSolver<Value> solver(system, multiplier, host, options);
    return solve(solver, options);
}

SolveOptions scripted_options(KrylovMethod method, double tolerance) {
    SolveOptions options;
    options.method = method;
    options.tolerance = tolerance;
    options.timing = {CacheState::warm, 1, 0, 0, scripted_clock()};
    return options;
}

/// Solves with the baseline and these recipes on a device, in f64.
SolveReport solved_on(Device& device, const std::vector<Recipe>& recipes = {},
                      const std::function<void(const std::string&)>& progress = {}) {
    const CsrMatrix matrix = differences(40);
    SolveReport report;
    report.options = scripted_options(KrylovMethod::cg, 1e-3);
    const bool on_gpu = device.properties().kind == DeviceKind::gpu;
    solve_recipes({.matrix = matrix,
                   .b = std::vector<double>(40, 1.0),
                   .catalogue = scripted_catalogue(),
                   .device = device,
                   .backends = {on_gpu ? Backend::cuda : Backend::kokkos},
                   .progress = progress},
                  recipes, report);
    return report;
}

}  // namespace

TEST_CASE("the time of a solve has that of its restarts, whose products are counted") {
    // f32 does not reach this tolerance, and restarts try to.
    const SolveOutcome coarse = solve_scripted<float>(scripted_options(KrylovMethod::cg, 1e-11));
    CHECK(coarse.end == SolveEnd::stagnated);
    CHECK(coarse.restarts >= 1);
    CHECK(coarse.products == coarse.iterations + coarse.restarts);
    CHECK(coarse.solve_seconds == static_cast<double>(coarse.products));
    CHECK(coarse.product_seconds == 1);
}

TEST_CASE("a solve for a right-hand side of zeros runs nothing") {
    SolveOptions options = scripted_options(KrylovMethod::cg, 1e-8);
    int polls = 0;  // after each launch
    options.poll = [&polls] { ++polls; };
    const SolveOutcome outcome = solve_scripted<double>(options, differences(40), 0);
    CHECK(outcome.end == SolveEnd::converged);
    CHECK(outcome.iterations == 0);
    CHECK(outcome.x == std::vector<double>(40, 0));
    CHECK(polls == 0);
}

TEST_CASE("new values take as long as building the layout and bringing it to the device") {
    new_script().seconds = {{"build csr", {20}}, {"prepare usual", {300}}, {"stage reverse", {4000}}};
    const CsrMatrix matrix = differences(7);
    ScriptedDevice host(host_properties());
    Multiplier<double> multiplier(scripted_recipe("[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'csr'\n"), matrix,
                                  {.device = host, .filter = {DeviceKind::host}, .clock = scripted_clock()});
    CHECK(multiplier.new_values_seconds(scripted_clock()) == 320);
}

TEST_CASE("a recipe that is ready knows the parts of its matrix") {
    const CsrMatrix matrix = differences(7);
    ScriptedDevice host(host_properties());
    for (const int parts : {0, 2}) {
        const std::string stage = parts == 0 ? "" : "[[stage]]\nuse = 'halve'\n";
        const Ready<double> ready(scripted_recipe(stage + "[layout]\nuse = 'csr'\n"), matrix,
                                  {.device = host, .filter = {DeviceKind::host}, .clock = scripted_clock()});
        CHECK(ready.partition() == (parts == 0 ? std::vector<Index>() : std::vector<Index>{0, matrix.rows / 2, matrix.rows}));
    }
}

TEST_CASE("products, times and bytes of a solve in both methods") {
    const SolveOutcome cg = solve_scripted<double>(scripted_options(KrylovMethod::cg, 1e-8));
    CHECK(cg.end == SolveEnd::converged);
    CHECK(cg.restarts == 0);
    CHECK(cg.products == cg.iterations);
    CHECK(cg.solve_seconds == static_cast<double>(cg.iterations));
    CHECK(cg.preparation.stage_seconds == 4000);
    CHECK(cg.preparation.build_seconds == 20);
    CHECK(cg.preparation.copy_seconds == 300);
    CHECK(cg.setup_seconds() == 4320);
    CHECK(cg.copy_bandwidth == 1000);
    CHECK(cg.vector_bytes == 1000);
    CHECK(cg.over_parts() == 1.0 / (1 + 1));  // a product, and as long for 1000 bytes

    SolveOptions jacobi = scripted_options(KrylovMethod::bicgstab, 1e-8);
    jacobi.jacobi = true;
    const SolveOutcome two = solve_scripted<double>(jacobi);
    CHECK(two.end == SolveEnd::converged);
    CHECK(two.products == 2 * two.iterations);
    CHECK(two.solve_seconds == static_cast<double>(two.products));
    CHECK(two.over_parts() == 2.0 / (2 + 1));
}

TEST_CASE("Jacobi solves a diagonal matrix in one iteration, and without it each distinct value takes one") {
    std::vector<Entry> entries;
    for (Index i = 0; i < 40; ++i) entries.push_back({i, i, 1.0 + i % 5});
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        SolveOptions options = scripted_options(method, 1e-10);
        const CsrMatrix diagonal = csr_from_entries(40, 40, entries);
        CHECK(solve_scripted<double>(options, diagonal).iterations == 5);
        options.jacobi = true;
        CHECK(solve_scripted<double>(options, diagonal).iterations == 1);
    }
}

TEST_CASE("the baseline is the fastest of the vendor's kernel and the program's, and steps name the recipe") {
    for (const double own : {1e-5, 4e-5}) {
        new_script().seconds = {{"run vendor", {2e-5}}, {"run own", {own}}};
        ScriptedDevice gpu(gpu_properties(), {1000, 2000});
        std::vector<std::string> steps;
        const SolveReport report = solved_on(gpu, {}, [&](const std::string& step) { steps.push_back(step); });
        REQUIRE(report.baseline() != nullptr);
        CHECK(report.baseline()->preparation.kernel.kernel == (own < 2e-5 ? "own" : "vendor"));
        CHECK(report.notes == std::vector<std::string>{});
        CHECK(std::ranges::count(steps, report.baseline()->preparation.recipe + ": cg") == 1);
    }
}

TEST_CASE("a solve warns if its repetitions take times that differ by more than a tenth") {
    const auto warnings = [](double slow) {
        new_script().seconds["run usual"] = std::deque<double>(60, slow * 1e-5);
        script().seconds["run usual"].push_back(1e-5);
        ScriptedDevice host(host_properties(), {1000, 2000});
        const SolveReport report = solved_on(host);
        CHECK(report.outcomes.at(0).solve_samples.size() == 11);
        return report.warnings;
    };
    CHECK(warnings(1) == std::vector<std::string>{});
    const std::vector<std::string> uneven = warnings(3);
    REQUIRE(uneven.size() == 1);
    CHECK(uneven[0].starts_with("the baseline: a spread of "));
    CHECK(uneven[0].ends_with(" between the 10th and the 90th percentile of 11 solves"));
}

TEST_CASE("permuting b before the iterations and x after them counts") {
    SolveOptions options = scripted_options(KrylovMethod::cg, 1e-8);
    options.timing.clock.seconds = [now = 0.0]() mutable { return now += 5; };  // 5 s between two readings of a stopwatch
    CHECK(solve_scripted<double>(options).vector_seconds == 10);
}

TEST_CASE("a solve warns about each recipe, not about the baseline alone") {
    new_script().seconds = {{"run usual", {1}}, {"run fast", {1}}};
    script().bytes["fast"] = 8;
    ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 2 * 40 * 8 + 8 + 1, 0}, {1000, 2000});
    CHECK(solved_on(host, {scripted_recipe("[layout]\nuse = 'plain'\n")}).warnings.size() == 1);
}

TEST_CASE("a solve warns if all that an iteration moves fits in the cache, x and r of the precision included") {
    const CsrMatrix matrix = differences(40);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        const auto solved = [&](std::int64_t cache) {
            new_script();
            ScriptedDevice host({DeviceKind::host, "a host", 8, 0, static_cast<std::size_t>(cache), 0}, {1000, 2000});
            SolveReport report;
            report.precision = precision;
            report.options = scripted_options(KrylovMethod::cg, 1e-3);
            const SolvePlan plan{.matrix = matrix,
                                 .b = std::vector<double>(40, 1.0),
                                 .catalogue = scripted_catalogue(),
                                 .device = host,
                                 .backends = {Backend::kokkos}};
            solve_recipes(plan, {}, report);
            return report;
        };
        const SolveReport unknown = solved(0);
        CHECK(unknown.warnings.empty());
        const std::int64_t bytes = unknown.outcomes.at(0).preparation.bytes_to_move + 2 * 40 * value_bytes(precision);
        CHECK(solved(bytes).warnings.empty());
        CHECK(solved(bytes + 1).warnings ==
              std::vector<std::string>{"the matrix and the vectors fit in the last-level cache of a host: times say little "
                                       "about memory traffic"});
    }
}

}  // namespace workbench
