#include "support/layouts/counted_report.hpp"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace workbench {
namespace {

StageOutcome stage(Counted& next, const std::string& id, std::optional<Precision> precision) {
    StageOutcome one;
    one.id = id;
    one.name = "name_of_" + id;
    const int parts = next.count();
    one.parameters = {{integer_parameter("parts", required, {}, "")}, {{"parts", std::int64_t{parts}}}};
    one.choices = fmt::format("parts = {}", parts);
    one.precision = precision;
    one.seconds = next.milliseconds();
    one.metrics = counted_metrics(next);
    one.notes = {{"seen", std::to_string(next.count())}};
    one.picture = fmt::format("{}.png", next.count());
    one.tile_picture = fmt::format("{}_tiles.png", next.count());
    return one;
}

void add_stages(Counted& next, RunReport& report) {
    report.stages = {stage(next, "input", {}), stage(next, "sort", {})};
    report.stages.back().shared = true;
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        StageOutcome cut = stage(next, "cut", precision);
        cut.kept_seconds = next.milliseconds();
        cut.metrics.partition = PartitionMetrics{next.count(), next.count(), next.count(), next.number(), next.number()};
        report.stages.push_back(cut);
        StageOutcome fold = stage(next, "fold", precision);
        fold.metrics.partition = PartitionMetrics{next.count(), next.count(), next.count(), next.number(), next.number()};
        fold.metrics.tiles = TileMetrics{next.count(), next.count(), next.count(), next.share()};
        report.stages.push_back(fold);
    }
}

LayoutOutcome layout(Counted& next, const std::string& name, const std::string& share, Precision precision) {
    LayoutOutcome one;
    one.name = name;
    one.share = share;
    one.precision = precision;
    one.rows = next.count();
    one.nonzeros = next.count();
    one.seconds = next.milliseconds();
    one.kept_seconds = next.milliseconds();
    if (precision == Precision::f32) one.rounding = RoundingError{Rounding::bf16, next.share(), next.share()};
    const auto count = static_cast<std::size_t>(next.count());
    const auto slots = static_cast<std::size_t>(1000 + next.count());
    const std::size_t bytes = precision == Precision::f64 ? 8 : 4;
    one.footprint = {{"columns", ArrayRole::column, count, 4 * count, 0},
                     {"values", ArrayRole::value, slots, bytes * slots, slots}};
    one.notes = {{"split", std::to_string(next.count())}};
    return one;
}

KernelOutcome kernel(Counted& next, const std::string& layout, const std::string& share, Backend backend, Precision precision) {
    KernelOutcome one;
    one.layout = layout;
    one.share = share;
    one.kernel = fmt::format("kernel{}", next.count());
    one.backend = backend;
    one.precision = precision;
    one.status = KernelOutcome::Status::measured;
    one.error_over_bound = next.share();
    one.prepare_seconds = next.milliseconds();
    one.vector_permutation_seconds = next.milliseconds();
    if (share.empty()) one.setup_seconds = next.milliseconds();
    one.first_seconds = next.milliseconds();
    if (share.empty()) one.new_values_seconds = next.milliseconds();
    one.timing = {{next.milliseconds(), next.milliseconds()}, next.milliseconds(), next.share(), next.count(), {}};
    one.bytes_to_move = next.count();
    one.gflops = next.number();
    one.gbytes_per_second = next.number();
    one.bytes_per_nonzero = next.number();
    one.share_of_copy = next.share();
    one.share_of_read = next.share();
    one.speedup = next.number();
    one.speedup_interval = Interval{next.number() - 2, next.number() + 2};
    one.break_even = next.number();
    one.break_even_interval = Interval{next.number() - 2, next.number() + 2};
    one.warnings = {fmt::format("warning {}", next.count())};
    return one;
}

KernelOutcome failed(KernelOutcome one, KernelOutcome::Status status) {
    KernelOutcome failure;
    failure.layout = one.layout;
    failure.share = one.share;
    failure.kernel = one.kernel;
    failure.backend = one.backend;
    failure.precision = one.precision;
    failure.status = status;
    failure.reason = "reason of " + one.kernel;
    return failure;
}

void add_kernels(Counted& next, RunReport& report) {
    constexpr std::array backends{Backend::kokkos, Backend::cuda};
    constexpr std::array precisions{Precision::f64, Precision::f32};
    for (const Backend backend : backends) {
        for (const Precision precision : precisions) {
            report.kernels.push_back(kernel(next, "csr", "", backend, precision));
            KernelOutcome& baseline = report.kernels.back();
            baseline.baseline = true;
            baseline.speedup = 1;
            baseline.speedup_interval.reset();
            baseline.break_even.reset();
            baseline.break_even_interval.reset();
        }
    }
    for (const Precision precision : precisions) {
        for (const Backend backend : backends) {
            report.kernels.push_back(kernel(next, "ell + jds", "", backend, precision));
            report.kernels.push_back(kernel(next, "ell", "long", backend, precision));
            report.kernels.push_back(kernel(next, "jds", "short", backend, precision));
        }
        report.kernels.push_back(
            failed(kernel(next, "ell", "long", Backend::cusparse, precision), KernelOutcome::Status::wrong));
        report.kernels.push_back(
            failed(kernel(next, "jds", "short", Backend::eigen, precision), KernelOutcome::Status::unsuitable));
    }
}

DeviceReport device(Counted& next, DeviceKind kind, const std::string& name) {
    DeviceReport one;
    one.properties.kind = kind;
    one.properties.name = name;
    one.properties.processors = next.count();
    one.properties.shared_memory_per_block = next.count();
    one.properties.last_level_cache = next.count();
    one.properties.memory = next.count();
    one.bandwidth = {next.count() * 1e9, next.count() * 1e9};
    return one;
}

}  // namespace

Metrics counted_metrics(Counted& next) {
    Metrics metrics;
    metrics.rows = next.count();
    metrics.columns = next.count();
    metrics.nonzeros = 1000 + next.count();
    metrics.bandwidth = next.count();
    metrics.mean_bandwidth = next.number();
    metrics.profile = next.count();
    metrics.row_lengths = {next.count(), next.number(), 1000 + next.count(), next.number(), next.number()};
    metrics.sell32_slots = next.count();
    metrics.sell32_padding = next.share();
    metrics.warp_iterations = next.count();
    metrics.sorted_warp_iterations = next.count();
    metrics.warp_work = next.count();
    metrics.locality.row_span = {next.number(), next.count()};
    metrics.locality.column_span = {next.number(), next.count()};
    for (std::size_t i = 0; i < metrics.locality.x_lines.size(); ++i) {
        metrics.locality.x_lines[i] = {cache_line_bytes[i], next.count(), next.number(), next.number()};
    }
    metrics.locality.neighbour_runs = {next.count(), next.number()};
    metrics.locality.symmetry = Symmetry{next.share(), next.share()};
    return metrics;
}

RunReport counted_report(int first) {
    Counted next(first);
    RunReport report;
    report.recipe_name = fmt::format("counted {}", first);
    report.recipe_source = "a source";
    report.recipe_file = "folder/counted.toml";
    report.resolved_recipe =
        fmt::format("[recipe]\nname = \"counted {}\"\n\n[[layout]]\nshare = \"long\"\nuse = \"ell\"\n", first);
    const int height = next.count();
    report.sweep = {
        {{"layout.height", std::int64_t{height}}}, fmt::format("height={}", height), fmt::format("height={}", height)};
    report.matrix = {"m.mtx", next.count(), next.count(), 1000 + next.count(), next.milliseconds()};
    report.matrix.values = ValueStatistics{next.count(), false, true, false, next.number()};
    add_stages(next, report);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        report.layouts.push_back(layout(next, "ell + jds", "", precision));
        report.layouts.push_back(layout(next, "ell", "long", precision));
        report.layouts.push_back(layout(next, "jds", "short", precision));
    }
    add_kernels(next, report);
    report.cache = CacheState::inside_cg;
    report.turn_seed = next.count();
    report.devices = {device(next, DeviceKind::host, "a host"), device(next, DeviceKind::gpu, "a GPU")};
    report.machine["system"] = "Linux";
    report.machine["threads"] = std::to_string(next.count());
    report.versions["workbench"] = "1";
    report.notes = {fmt::format("note {}", next.count())};
    report.failures = {{ExitCode::machine_error, fmt::format("failure {}", next.count())}};
    report.contact_sheet = "stages.png";
    report.storage_picture = "storage.png";
    report.page = "report.html";
    report.density_ceiling = next.number();
    return report;
}

RunReport with_square_stages(RunReport report) {
    for (StageOutcome& stage : report.stages) stage.metrics.columns = stage.metrics.rows;
    return report;
}

}  // namespace workbench
