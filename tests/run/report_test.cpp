// Text and JSON of a report with distinct figures, byte by byte.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "pipeline/report/pictures.hpp"
#include "pipeline/report/report.hpp"
#include "support/golden.hpp"
#include "support/layouts/counted_report.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

Metrics metrics_from(int first) {
    Metrics metrics;
    metrics.rows = first;
    metrics.columns = first + 1;
    metrics.nonzeros = 1000 + first;
    metrics.bandwidth = 2000 + first;
    metrics.mean_bandwidth = 3000.5 + first;
    metrics.profile = 4000 + first;
    metrics.row_lengths = {1 + first, 2.25 + first, 3 + first, 4.5 + first, -0.5 - first};
    metrics.sell32_slots = 5000 + first;
    metrics.sell32_padding = 0.01 * first;
    metrics.warp_iterations = 6000 + first;
    metrics.sorted_warp_iterations = 7000 + first;
    metrics.warp_work = 8000 + first;
    metrics.locality.row_span = {9000.5 + first, 9100 + first};
    metrics.locality.column_span = {9200.5 + first, 9300 + first};
    metrics.locality.x_lines = {CacheLines{32, 9400 + first, 9.5 + first, 0.125 * first},
                                CacheLines{64, 9600 + first, 9.75 + first, 0.25 * first},
                                CacheLines{128, 9800 + first, 9.875 + first, 0.375 * first}};
    metrics.locality.neighbour_runs = {9900 + first, 0.5 * first};
    metrics.locality.symmetry = Symmetry{0.01 * first, 0.02 * first};
    return metrics;
}

KernelOutcome measured(const std::string& layout, const std::string& kernel) {
    KernelOutcome outcome;
    outcome.layout = layout;
    outcome.kernel = kernel;
    outcome.status = KernelOutcome::Status::measured;
    return outcome;
}

/// A report whose figures are all different.
RunReport distinct_figures() {
    RunReport report;
    report.recipe_name = "a name";
    report.recipe_source = "a source";
    report.recipe_file = "folder/a.toml";
    report.resolved_recipe = "[layout]\n";
    report.matrix = {"m.mtx", 101, 102, 1003, 0.25};

    StageOutcome input;
    input.id = input.name = "input";
    input.metrics = metrics_from(10);
    input.metrics.locality.symmetry.reset();
    StageOutcome cut;
    cut.id = "first";
    cut.name = "cutting";
    cut.choices = "parts = 3";
    cut.seconds = 0.125;
    cut.metrics = metrics_from(20);
    cut.metrics.partition = PartitionMetrics{3, 510, 11, 1.5, 1.25};
    cut.notes = {{"how", "well"}};
    cut.picture = "1_first.png";
    StageOutcome tiled;
    tiled.id = tiled.name = "tiling";
    tiled.seconds = 2;
    tiled.metrics = metrics_from(30);
    tiled.metrics.tiles = TileMetrics{5, 66, 77, 0.375};
    tiled.tile_picture = "2_tiling_tiles.png";
    report.stages = {input, cut, tiled};

    LayoutOutcome layout;
    layout.name = "ell";
    layout.seconds = 0.5;
    layout.nonzeros = 1003;
    layout.footprint = {{"columns", ArrayRole::column, 2006, 4012},
                        {"values", ArrayRole::value, 2006, 16048, 2006},
                        {"none", ArrayRole::structure, 0, 0}};
    layout.notes = {{"kept", "3 of 17"}};
    LayoutOutcome refused;
    refused.name = "ell";
    refused.precision = Precision::f32;
    refused.unsuitable = "too wide";
    report.layouts = {layout, refused};

    KernelOutcome base = measured("csr", "rows");
    base.baseline = true;
    base.timing = {{0.004, 0.004, 0.005}, 0.004, 0.2, 3, {}};
    base.speedup = 1;
    base.warnings = {"said once"};
    KernelOutcome fast = measured("ell", "fast");
    fast.precision = Precision::f32;
    fast.error_over_bound = 0.0625;
    fast.prepare_seconds = 0.75;
    fast.vector_permutation_seconds = 0.0009;
    fast.setup_seconds = 1.25;
    fast.first_seconds = 0.0625;
    fast.new_values_seconds = 1;
    fast.timing = {{0.001, 0.003}, 0.002, 0.5, 4, {}};
    fast.bytes_to_move = 20000;
    fast.gflops = 5.5;
    fast.gbytes_per_second = 44;
    fast.bytes_per_nonzero = 19.9;
    fast.share_of_copy = 0.81;
    fast.share_of_read = 0.71;
    fast.speedup = 1.75;
    fast.speedup_interval = {1.5, 2};
    fast.break_even = 1234.1;
    fast.break_even_interval = {1000.5, 2000.25};
    fast.warnings = {"said once", "another"};
    KernelOutcome slow = measured("ell", "slow");
    slow.backend = Backend::eigen;
    slow.speedup = 0.5;
    slow.speedup_interval = {0.25, 0.75};
    slow.timing.median = 0.008;
    KernelOutcome alike = measured("ell", "alike");
    alike.speedup = 1.25;
    alike.speedup_interval = {0.875, 1.625};
    alike.timing.median = 0.006;
    KernelOutcome hasty = measured("ell", "hasty");
    hasty.speedup = 3.5;
    hasty.timing.median = 0.009;
    KernelOutcome alone = measured("ell", "alone");
    alone.timing.median = 7;
    KernelOutcome wrong;
    wrong.layout = "ell";
    wrong.kernel = "wrong";
    wrong.backend = Backend::cuda;
    wrong.status = KernelOutcome::Status::wrong;
    wrong.reason = "row 5 was never written";
    KernelOutcome unfit = wrong;
    unfit.kernel = "unfit";
    unfit.backend = Backend::cusparse;
    unfit.status = KernelOutcome::Status::unsuitable;
    unfit.reason = "not here";
    report.kernels = {base, fast, slow, alike, hasty, alone, wrong, unfit};

    report.devices = {{{DeviceKind::host, "a host", 8, 0, 9000, 10000}, {11000, 12000}},
                      {{DeviceKind::gpu, "a GPU", 80, 13, 14000, 15000}, {16000, 17000}}};
    report.machine["system"] = "Linux";
    report.versions["workbench"] = "1";
    report.turn_seed = 77;
    report.notes = {"no GPU"};
    report.failures = {{ExitCode::machine_error, "0_input.png: cannot be written"}};
    report.contact_sheet = "stages.png";
    return report;
}

std::filesystem::path golden(const char* name) {
    return std::filesystem::path(WORKBENCH_SOURCE_DIR) / "tests" / "golden" / "run" / name;
}

}  // namespace

TEST_SUITE("report") {
    TEST_CASE("as text, as JSON, and the captions of its pictures") {
        const RunReport report = distinct_figures();
        compare_with_golden(golden("report.json"), to_json(report));
        compare_with_golden(golden("report.txt"), to_text(with_square_stages(report)));
        std::string captions;
        for (const RunReport& one : {report, with_square_stages(report)}) {
            for (const StageCaption& caption : captions_of(one)) {
                captions += caption.title + "\n" + caption.subtitle + '\n';
                for (const auto& [label, value, before, factor] : caption.lines) {
                    captions += "  " + label + ": " + value + (before.empty() ? "" : ", was " + before) + '\n';
                }
            }
        }
        compare_with_golden(golden("captions.txt"), captions);
    }

    TEST_CASE("a recipe of an absolute path is named as seen from here") {
        RunReport report = distinct_figures();
        report.recipe_file = (std::filesystem::current_path() / "folder/a.toml").string();
        CHECK(to_json(report) == to_json(distinct_figures()));
    }

    TEST_CASE("the reason why a matrix is unsuitable is the first of its kind") {
        RunReport report;
        report.failures = {
            {ExitCode::machine_error, "no memory"}, {ExitCode::bad_input, "first"}, {ExitCode::bad_input, "second"}};
        const auto json = nlohmann::json::parse(to_json(report));
        CHECK(json["unsuitable"] == "first");
        CHECK(json["errors"] == nlohmann::json{"no memory", "first", "second"});
        report.failures.resize(1);
        CHECK(nlohmann::json::parse(to_json(report))["unsuitable"].is_null());
    }

    TEST_CASE("kernels of shares without figures are named with their share") {
        RunReport report = distinct_figures();
        for (KernelOutcome& kernel : report.kernels) kernel.share = "long";
        const std::string text = to_text(report);
        CHECK(text.find("  long: ell wrong cuda f64: WRONG RESULT: row 5 was never written\n") != std::string::npos);
        CHECK(text.find("  long: ell unfit cusparse f64: unsuitable: not here\n") != std::string::npos);
    }

    TEST_CASE("pictures of a report: that of reads only if the kernel's reads are known") {
        RunReport report;
        report.storage_picture = "storage.png";
        using Files = std::set<std::string>;
        CHECK(pictures_of(report) == Files{"storage.png", "storage.svg"});
        StorageMap map;
        map.parts.emplace_back();
        report.storage = std::make_shared<const StorageMap>(map);
        CHECK(pictures_of(report) == Files{"storage.png", "storage.svg"});
        map.parts.back().shown_warps.emplace_back();
        report.storage = std::make_shared<const StorageMap>(map);
        CHECK(pictures_of(report) == Files{"storage.png", "storage.svg", "storage_reads.png"});
    }

    TEST_CASE("the pictures that an earlier report refers to are found in its file, and no others") {
        const TemporaryFolder folder;
        RunReport report = distinct_figures();
        report.stages[0].picture = "../outside.png";
        report.stages[2].picture = "notes.txt";
        report.contact_sheet = "stages.png";
        report.storage_picture = "storage.png";
        report.page = "report.html";
        std::ofstream(folder.path() / "report.json") << to_json(report);
        CHECK(pictures_of_report(folder.path() / "report.json") ==
              std::set<std::string>{"1_first.png", "2_tiling_tiles.png", "report.html", "stages.png", "storage.png",
                                    "storage.svg", "storage_reads.png"});
        CHECK(pictures_of_report(folder.path() / "none.json").empty());
    }

    TEST_CASE("a value that serves two nonzeros counts twice") {
        StorageMap map;
        StoragePart& part = map.parts.emplace_back();
        part.layout = "halo";
        part.mirrors = 2;
        part.arrays.push_back({.name = "values", .role = ArrayRole::value, .length = 4, .nonzeros = 3, .padding = 1});
        const auto json = nlohmann::json(json_of(map))["parts"][0];
        CHECK(json["nonzeros"] == 5);
        CHECK(json["padding"] == 1);
        CHECK(json["arrays"][0]["nonzeros"] == 3);
    }

    TEST_CASE("sums") {
        const RunReport report = distinct_figures();
        CHECK(report.stage_seconds(Precision::f64) == 2.125);
        CHECK(report.layouts[0].bytes() == 20060);
        CHECK(report.layouts[0].slots() == 2006);
        CHECK(!report.all_verified());
        RunReport right = report;
        std::erase_if(right.kernels, [](const auto& kernel) { return kernel.status == KernelOutcome::Status::wrong; });
        CHECK(right.all_verified());
    }
}

}  // namespace workbench
