// Two runs side by side, on a machine with scripted times.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pipeline/report/comparison.hpp"
#include "run/scripted_runs.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

std::vector<RunReport> run_priced(const std::vector<std::string>& texts,
                                  const std::vector<Precision>& precisions = {Precision::f64}) {
    Script& script = new_script();
    script.seconds["stage reverse"] = {1};
    script.seconds["stage rotate_rows"] = {0.002};
    script.seconds["build plain"] = {3, 500, 4, 500};  // the second build of each is for the exact problem
    script.seconds["run usual"] = {16};
    script.seconds["run fast"] = {4};
    script.seconds["run slow"] = {32};
    script.seconds["run eigen"] = {10};
    script.seconds["scatter"] = {0.5};
    ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0}, {376, 752});
    RunOptions options;
    options.precisions = precisions;
    options.timing = {CacheState::warm, 5, 0, 1e9, scripted_clock()};
    Runner runner(example(), scripted_catalogue(), {host}, options);
    std::vector<Recipe> recipes;
    for (const std::string& text : texts) recipes.push_back(parse_recipe(text, "recipes/test.toml", scripted_catalogue()));
    std::vector<RunReport> reports(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        runner.make_ready(recipes[i], {}, reports[i]);
        reports[i].matrix = {"a.mtx", 4, 4, 7, 0};
    }
    runner.time_together({});
    return reports;
}

const std::string a = "[recipe]\nname = 'all kernels'\n[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n";
const std::string bad = "[recipe]\nname = 'wrong'\n[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong'\n";

void compare_with_lines(const std::string& name, const std::string& text) {
    compare_with_golden(std::string(WORKBENCH_SOURCE_DIR) + "/tests/golden/run/" + name, text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
}

}  // namespace

TEST_CASE("two runs side by side fit 80 columns") {
    const std::string rotated =
        "[[stage]]\nuse = 'rotate_rows'\n[[stage]]\nid = 'back'\nuse = 'reverse'\n[layout]\nuse = 'plain'\n";
    const std::vector<RunReport> reports = run_priced({a, rotated, bad});
    compare_with_lines("compare.txt", compare_text(reports[0], reports[1]));
    compare_with_lines("compare_wrong.txt", compare_text(reports[2], reports[0]));
}

TEST_CASE("long names are cut between letters") {
    RunReport report;
    StageOutcome stage;
    std::string many;
    std::string fitting;
    for (int i = 0; i < 40; ++i) {
        many += "\u00e9";
        if (i < 25) fitting += "\u00e9";
    }
    stage.id = many;
    report.stages = {stage};
    const std::string text = compare_text(report, {});
    CHECK_MESSAGE(text.find("\n  0                  " + fitting + "...\n") != std::string::npos, text);
}

TEST_CASE("the change of a stage of one precision is that since the last stage of both or of this precision") {
    RunReport report;
    report.recipe_name = "two precisions";
    const auto add = [&report](const std::string& id, std::optional<Precision> precision, Index bandwidth) {
        StageOutcome stage;
        stage.id = stage.name = id;
        stage.precision = precision;
        stage.metrics.bandwidth = bandwidth;
        report.stages.push_back(stage);
    };
    add("input", {}, 900);
    add("sort", {}, 800);
    add("cut", Precision::f64, 700);
    add("turn", Precision::f64, 600);
    add("cut", Precision::f32, 500);
    add("turn", Precision::f32, 400);
    std::istringstream lines(compare_text(report, report));
    std::vector<std::string> bandwidths;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("    bandwidth ")) bandwidths.push_back(line.substr(21, 10));
    }
    CHECK(bandwidths ==
          std::vector<std::string>{"900       ", "900 -> 800", "800 -> 700", "700 -> 600", "800 -> 500", "500 -> 400"});
}

TEST_CASE("padding and prices are those of each precision") {
    const auto report_with = [](double seconds, std::size_t f64_slots, std::size_t f32_slots) {
        RunReport report;
        report.matrix = {"m.mtx", 4, 4, 10, 0};
        report.stages.emplace_back();
        report.stages.back().id = "input";
        for (const Precision precision : {Precision::f64, Precision::f32}) {
            const bool f32 = precision == Precision::f32;
            StageOutcome stage;
            stage.id = stage.name = "cut";
            stage.precision = precision;
            stage.seconds = f32 ? 10 * seconds : seconds;
            report.stages.push_back(stage);
            LayoutOutcome layout;
            layout.name = "ell";
            layout.precision = precision;
            layout.seconds = f32 ? 3 : 2;
            layout.nonzeros = 10;
            const std::size_t slots = f32 ? f32_slots : f64_slots;
            layout.footprint = {{"values", ArrayRole::value, slots, slots * (f32 ? 4 : 8), slots}};
            report.layouts.push_back(layout);
            KernelOutcome kernel;
            kernel.layout = "ell";
            kernel.kernel = "rows";
            kernel.precision = precision;
            kernel.status = KernelOutcome::Status::measured;
            report.kernels.push_back(kernel);
        }
        return report;
    };
    std::istringstream lines(compare_text(report_with(1, 20, 40), report_with(2, 10, 100)));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
        for (const char* label : {"    padding ", "    stages in all ", "    bytes "}) {
            if (line.starts_with(label)) found.push_back(line.substr(21));
        }
    }
    const std::string blanks(28, ' ');
    const auto cells = [&](const std::string& a, const std::string& b) { return a + blanks.substr(a.size()) + " " + b; };
    // The precisions of layouts are listed in the order of the enumeration, f32 first.
    CHECK(found == std::vector<std::string>{cells("160 B", "400 B"), cells("10.0 s", "20.0 s"), cells("160 B", "80.0 B"),
                                            cells("1.00 s", "2.00 s"), cells("50.0 %", "0.0 %"), cells("75.0 %", "90.0 %")});
    // With fewer slots than nonzeros, some serve two.
    const std::string fewer = compare_text(report_with(1, 5, 40), report_with(2, 20, 40));
    CHECK_MESSAGE(fewer.find("\n    padding          " + cells("-", "50.0 %") + '\n') != std::string::npos, fewer);
}

TEST_CASE("kernels of hybrids are paired by share") {
    const auto report_of_shares = [](const std::vector<std::string>& shares) {
        RunReport report;
        for (const std::string& share : shares) {
            KernelOutcome kernel;
            kernel.kernel = "rows";
            kernel.share = share;
            report.kernels.push_back(kernel);
        }
        return report;
    };
    const RunReport a = report_of_shares({"", "long", "short"});
    const RunReport b = report_of_shares({"short", "", "far"});
    std::vector<std::string> pairs;
    const auto share_of = [](const KernelOutcome* kernel) { return kernel == nullptr ? "-" : "'" + kernel->share + "'"; };
    for (const KernelPair& pair : pairs_of(a, b)) pairs.push_back(share_of(pair.a) + " " + share_of(pair.b));
    CHECK(pairs == std::vector<std::string>{"'' ''", "'long' -", "'short' 'short'", "- 'far'"});
}

TEST_CASE("kernels are paired by name, then in order; the rest is listed alone") {
    const std::vector<RunReport> reports = run_priced(
        {a, "[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\n", "[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'coarse'\n"});
    const auto names = [](const std::vector<KernelPair>& pairs) {
        std::vector<std::string> text;
        const auto name = [](const KernelOutcome* kernel) { return kernel == nullptr ? "-" : kernel->kernel; };
        for (const KernelPair& pair : pairs) text.push_back(name(pair.a) + " " + name(pair.b));
        return text;
    };
    CHECK(names(pairs_of(reports[0], reports[1])) == Names{"usual usual", "fast -", "slow slow", "eigen eigen"});
    CHECK(names(pairs_of(reports[1], reports[0])) == Names{"usual usual", "slow slow", "eigen eigen", "- fast"});
    CHECK(names(pairs_of(reports[0], reports[2])) == Names{"usual usual", "fast coarse", "slow -", "eigen -"});
    const std::vector<RunReport> both = run_priced({a, a}, {Precision::f64, Precision::f32});
    for (const KernelPair& pair : pairs_of(both[0], both[1])) {
        CHECK(pair.a->precision == pair.b->precision);
        CHECK(pair.ratio()->value == 1);
    }
    // No kernel of one precision stands in for a missing one of the other.
    const std::vector<RunReport> fewer =
        run_priced({a, "[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'coarse'\n"}, {Precision::f64, Precision::f32});
    const Names of_precision{"usual usual", "fast coarse", "slow -", "eigen -"};
    Names twice{"usual usual", "usual usual"};  // baselines come first
    for (int i = 0; i < 2; ++i) twice.insert(twice.end(), of_precision.begin() + 1, of_precision.end());
    CHECK(names(pairs_of(fewer[0], fewer[1])) == twice);
}

TEST_CASE("the ratio of two times is that of samples which were taken in turns") {
    Script& script = new_script();
    ScriptedDevice host(host_properties(), {376, 752});
    const auto ratio_of = [](const std::vector<RunReport>& reports) { return pairs_of(reports[0], reports[1])[1].ratio(); };
    const Recipe fast = scripted_recipe("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'fast'\neigen = 'eigen'\n");
    const Recipe slow = scripted_recipe("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\neigen = 'eigen'\n");
    script.seconds["run fast"] = {4};
    script.seconds["run slow"] = {8};
    std::vector<RunReport> reports(2);
    Runner together(example(), scripted_catalogue(), {host}, options_of());
    together.make_ready(fast, {}, reports[0]);
    together.make_ready(slow, {}, reports[1]);
    CHECK(reports[0].kernels.empty());
    together.time_together({});
    CHECK(ratio_of(reports)->value == 0.5);
    // The kernels of both recipes run in each round: the baseline, two kernels of each.
    CHECK(kernel_of(reports[0], "fast").series == kernel_of(reports[1], "slow").series);
    CHECK(kernel_of(reports[0], "usual").timing.samples == kernel_of(reports[1], "usual").timing.samples);
    CHECK(reports[1].devices.size() == 1);

    Runner apart(example(), scripted_catalogue(), {host}, options_of());
    reports = {apart.run(fast, {}), apart.run(slow, {})};
    CHECK_FALSE(ratio_of(reports));
    CHECK(compare_text(reports[0], reports[1]).find("not timed in turns") != std::string::npos);
}

TEST_CASE("without memory for both recipes, the first is timed before the second is prepared") {
    Script& script = new_script();
    script.seconds["run fast"] = {4};
    ScriptedDevice host(host_properties(), {376, 752});
    const Recipe recipe = scripted_recipe("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'fast'\neigen = 'eigen'\n");
    std::vector<RunReport> reports(2);
    Runner runner(example(), scripted_catalogue(), {host}, options_of());
    runner.make_ready(recipe, {}, reports[0]);
    script.fails["prepare fast"] = {static_cast<int>(script.count("prepare fast")) + 1};
    runner.make_ready(recipe, {}, reports[1]);
    CHECK(kernel_of(reports[0], "fast").verified());  // timed already
    runner.time_together({});
    CHECK(kernel_of(reports[1], "fast").verified());
    CHECK(kernel_of(reports[0], "fast").series != kernel_of(reports[1], "fast").series);
}

TEST_CASE("the ratio of two times requires both") {
    const std::vector<RunReport> reports = run_priced({"[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'fast'\neigen = 'eigen'\n",
                                                       "[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\n", bad});
    CHECK(pairs_of(reports[0], reports[1])[1].ratio()->value == 4.0 / 32);
    CHECK(pairs_of(reports[0], reports[1])[0].ratio()->value == 1);
    CHECK_FALSE(pairs_of(reports[0], reports[2])[1].ratio());
    const auto json = nlohmann::json::parse(compare_json(reports[0], reports[1]));
    CHECK(json["runs"].size() == 2);
    CHECK(json["runs"][1]["recipe"]["resolved"] == reports[1].resolved_recipe);
    CHECK(json["kernels"][1]["a"] == 1);
    CHECK(json["kernels"][1]["b"] == 1);
    CHECK(json["kernels"][1]["ratio"] == 0.125);
    CHECK(json["kernels"][1]["ratio_interval"] == nlohmann::json{0.125, 0.125});
    CHECK(json["kernels"][1]["baseline"] == false);
    CHECK(json["kernels"][1]["backend"] == "kokkos");
    CHECK(json["runs"][0]["kernels"][1]["kernel"] == "fast");
    CHECK(nlohmann::json::parse(compare_json(reports[0], reports[2]))["kernels"][1]["ratio"] == nullptr);
}

}  // namespace workbench
