// Stages that depend on the precision of a run or on a device.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/matrix/battery.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"
#include "support/layouts/scripted.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// Segments of x that fit 49 bytes: 6 columns in f64, 12 in f32.
constexpr const char* segments_by_precision =
    "[[stage]]\nuse = 'column_sort'\n"
    "[[stage]]\nuse = 'column_segmentation'\nfit = 'k20x:read_only'\ncache_share = 0.004\n"
    "[[stage]]\nuse = 'row_sort'\nshare = 'segment'\n"
    "[layout]\nuse = 'segmented'\n";

struct Watched {
    RunReport report;
    std::vector<std::string> stages;  // the stages that ran
    std::vector<Index> segments;      // the number of segments after each
};

Watched run_watched(const Recipe& recipe, const CsrMatrix& matrix, const std::vector<Precision>& precisions) {
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    RunOptions options;
    options.precisions = precisions;
    options.timing = quick;
    Runner runner(matrix, catalogue(), {host}, options);
    Watched watched;
    RunObserver observer;
    observer.progress = [&](const std::string& step) {
        if (step.starts_with("stage ")) watched.stages.push_back(step.substr(6));
    };
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome&) {
        check_invariants(staged, matrix);
        const Cuts* segments = staged.find_cuts(CutKind::segment);
        watched.segments.push_back(segments == nullptr ? 0 : segments->count());
    };
    watched.report = runner.run(recipe, observer);
    CHECK(watched.report.all_verified());
    return watched;
}

std::vector<std::string> labels_of(const RunReport& report) {
    std::vector<std::string> labels;
    for (const StageOutcome& stage : report.stages) labels.push_back(stage.label());
    return labels;
}

}  // namespace

TEST_CASE("stages that depend on the precision, and later ones, run for each precision; the others run once") {
    using Words = std::vector<std::string>;
    const Recipe recipe = recipe_of(segments_by_precision);
    std::vector<Entry> entries;
    for (Index i = 0; i < 24; ++i) {
        for (Index k = 0; k <= i % 5; ++k) entries.push_back({i, (i + 7 * k) % 24, 1.0 + k});
    }
    const CsrMatrix matrix = csr_from_entries(24, 24, entries);

    const Watched both = run_watched(recipe, matrix, {Precision::f64, Precision::f32});
    CHECK(both.stages == Words{"column_sort", "column_segmentation", "row_sort", "column_segmentation", "row_sort"});
    CHECK(both.segments == std::vector<Index>{0, 0, 4, 4, 2, 2});
    CHECK(labels_of(both.report) ==
          Words{"input", "column_sort", "column_segmentation f64", "row_sort f64", "column_segmentation f32", "row_sort f32"});
    REQUIRE(both.report.layouts.size() == 2);
    for (const LayoutOutcome& layout : both.report.layouts) {
        // [segments + 1]: the first column of each segment.
        const auto columns = std::find_if(layout.footprint.begin(), layout.footprint.end(),
                                          [](const auto& array) { return array.name == "segment_columns"; });
        REQUIRE(columns != layout.footprint.end());
        CHECK(columns->count == (layout.precision == Precision::f64 ? 5 : 3));
    }

    const Watched narrow = run_watched(recipe, matrix, {Precision::f32});
    CHECK(labels_of(narrow.report) == Words{"input", "column_sort", "column_segmentation", "row_sort"});
    CHECK(narrow.segments == std::vector<Index>{0, 0, 2, 2});

    // If the recipe states the size of a value, nothing depends on the precision.
    const Recipe fixed = recipe_of(
        std::string(segments_by_precision).insert(std::string(segments_by_precision).find("cache_share"), "value_bytes = 8\n"));
    const Watched once = run_watched(fixed, matrix, {Precision::f64, Precision::f32});
    CHECK(once.stages == Words{"column_sort", "column_segmentation", "row_sort"});
    CHECK(once.segments == std::vector<Index>{0, 0, 4, 4});
}

TEST_CASE("a stage counts for its precision only, and its picture is compared with its input") {
    RunReport report;
    const auto add = [&report](std::optional<Precision> precision, double seconds) {
        StageOutcome stage;
        stage.precision = precision;
        stage.seconds = seconds;
        report.stages.push_back(stage);
    };
    add({}, 0);
    add({}, 1);
    add(Precision::f32, 2);
    add(Precision::f32, 4);
    add(Precision::f64, 8);
    add(Precision::f64, 16);
    CHECK(report.stage_seconds(Precision::f32) == 7);
    CHECK(report.stage_seconds(Precision::f64) == 25);
    std::vector<std::size_t> before;
    for (std::size_t i = 1; i < report.stages.size(); ++i) before.push_back(report.stage_before(i));
    CHECK(before == std::vector<std::size_t>{0, 1, 2, 1, 4});
}

TEST_CASE("captions and pictures compare a stage of one precision with what it began with") {
    const Recipe recipe = load_recipe(WORKBENCH_SOURCE_DIR "/recipes/hbp.toml", catalogue());
    const auto random =
        std::find_if(battery().begin(), battery().end(), [](const NamedMatrix& one) { return one.name == "random"; });
    REQUIRE(random != battery().end());
    StagedMatrix staged = stage_input(random->matrix);
    std::vector<std::shared_ptr<const StagePage>> pages;
    RunObserver observer;
    observer.stage_done = [&pages](const StagedMatrix& now, StageOutcome&) { pages.push_back(page_of(now)); };
    std::vector<StageOutcome> outcomes = apply_stages(recipe, staged, {}, observer).outcomes;
    REQUIRE(outcomes.size() == 4);  // the last orders rows in tiles
    RunReport report;
    PictureBook book;
    // The input, the tiles, and their orders, which are the same in both precisions.
    const std::vector<std::size_t> stages{0, 1, 2, 3, 3};
    for (std::size_t i = 0; i < stages.size(); ++i) {
        report.stages.push_back(outcomes[stages[i]]);
        report.stages.back().metrics.bandwidth = static_cast<Index>(100 * (i + 1));
        if (i >= 3) report.stages.back().precision = i == 3 ? Precision::f64 : Precision::f32;
        report.stages.back().id += std::to_string(i);
        book.add(pages[stages[i]]);
    }
    std::vector<std::string> before;
    for (const StageCaption& caption : captions_of(report)) {
        for (const CaptionLine& line : caption.lines) {
            if (line.label == "bandwidth") before.push_back(line.before);
        }
    }
    CHECK(before == std::vector<std::string>{"", "100", "200", "300", "300"});
    const TemporaryFolder folder;
    book.write(folder.path(), report);
    CHECK(report.failures.empty());
    CHECK(report.stages[2].tile_picture.empty());
    CHECK(!report.stages[3].tile_picture.empty());
    CHECK(!report.stages[4].tile_picture.empty());
    const auto json = nlohmann::json::parse(to_json(report));
    CHECK(json["stages"][2]["precision"] == nullptr);
    CHECK(json["stages"][3]["precision"] == "f64");
    CHECK(json["stages"][4]["precision"] == "f32");
}

TEST_CASE("a hybrid that cannot be compared with the baseline is listed as unsuitable, with its layouts") {
    Catalogue other = catalogue();
    other.baseline_layout = "jds";  // whose rows are to be sorted
    const CsrMatrix matrix = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1.5}, {1, 0, 2.5}, {1, 1, 3.5}});
    new_script();
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    Runner runner(matrix, other, {host}, {});
    const Recipe recipe = parse_recipe(
        "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 1\n"
        "[[layout]]\nshare = 'long'\nuse = 'csr'\n[[layout]]\nshare = 'short'\nuse = 'coo'\n",
        "t.toml", other);
    const RunReport report = runner.run(recipe, {});
    REQUIRE(report.layouts.size() == 1);
    CHECK(report.layouts[0].name == "csr + coo");
    CHECK(report.layouts[0].unsuitable != "");
    CHECK(report.kernels.empty());
}

TEST_CASE("a layout that rounds values rounds those of its share alone") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 5; ++row) {  // rows 0, 2 and 4 are short
        for (Index column = 0; column < (row % 2 == 0 ? 1 : 4); ++column)
            entries.push_back({row, column + 2, 1.0 / (3 + row + column)});
    }
    const CsrMatrix matrix = csr_from_entries(5, 6, entries);
    const Oracle<double> oracle(matrix);
    const auto built = [&](const std::string& text) {
        const Recipe recipe = parse_recipe(text, "r.toml", catalogue());
        StagedMatrix staged = stage_input(matrix);
        static_cast<void>(apply_stages(recipe, staged, {}));
        return build_layouts<double>(recipe, staged, {.exact = oracle.exact_problems()});
    };
    const auto expected = [&](bool short_rows, bool long_rows) {
        std::vector<double> values;
        for (const Entry& each : entries) {
            const bool rounds = each.row % 2 == 0 ? short_rows : long_rows;
            values.push_back(rounds ? rounded(each.value, Rounding::bf16) : each.value);
        }
        return values;
    };
    const auto check = [&](const BuiltLayouts<double>& all, const std::vector<double>& values) {
        REQUIRE(all.rounded != nullptr);
        CHECK(std::vector<double>(all.rounded->values.begin(), all.rounded->values.end()) == values);
        REQUIRE(all.outcome.rounding.has_value());
        CHECK(all.outcome.rounding->norm == error_of_rounding(matrix.values, values, Rounding::bf16).norm);
    };
    const std::string stage = "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 2\n";
    const std::string rounds = "values = 'rounded_bf16'\n";
    for (const bool short_rows : {true, false}) {
        const auto all = built(stage + "[[layout]]\nshare = 'short'\nuse = 'sell'\n" + (short_rows ? rounds : "") +
                               "[[layout]]\nshare = 'long'\nuse = 'sell'\n" + (short_rows ? "" : rounds));
        check(all, expected(short_rows, !short_rows));
        CHECK(all.shares[0].outcome.rounding.has_value() == short_rows);
        CHECK(all.shares[1].outcome.rounding.has_value() != short_rows);
        const auto& share = all.shares[short_rows ? 0 : 1].outcome.rounding;
        CHECK(share->norm > all.outcome.rounding->norm);  // of fewer values
        CHECK(share->largest == all.outcome.rounding->largest);
    }
    check(built("[layout]\nuse = 'sell'\n" + rounds), expected(true, true));
    CHECK(built("[layout]\nuse = 'sell'\n").rounded == nullptr);
}

TEST_CASE("a recipe may name the device that its stages depend on") {
    const DeviceProperties here{DeviceKind::gpu, "here", 1, 1, 1, 1};
    Recipe recipe = recipe_of("[layout]\nuse = 'csr'\n");
    CHECK(stage_context(recipe, Precision::f64, nullptr).device == nullptr);
    CHECK(stage_context(recipe, Precision::f64, &here).device == &here);
    CHECK(stage_context(recipe, Precision::f32, &here).precision == Precision::f32);
    recipe = recipe_of("[recipe]\ndevice = 'k20x'\n[layout]\nuse = 'csr'\n");
    CHECK(stage_context(recipe, Precision::f64, &here).device == find_device_model("k20x"));
    CHECK(resolved_recipe(recipe).find("device = \"k20x\"\n") != std::string::npos);
}

}  // namespace workbench
