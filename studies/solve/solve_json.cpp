#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "studies/solve/advice.hpp"
#include "studies/solve/solve_report.hpp"
#include "viz/chart_files.hpp"
#include "viz/page_file.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

template <typename Number>
Json optional(const std::optional<Number>& number) {
    return number ? Json(*number) : Json(nullptr);
}

std::string_view status_of(const KernelOutcome& kernel) {
    switch (kernel.status) {
        case KernelOutcome::Status::measured: return "verified";
        case KernelOutcome::Status::wrong: return "wrong";
        case KernelOutcome::Status::unsuitable: return "unsuitable";
    }
    return "";
}

Json json_of(const std::vector<Trial>& trials) {
    Json list = Json::array();
    for (const Trial& trial : trials) {
        list.push_back({{"recipe", trial.recipe},
                        {"kernel", trial.kernel},
                        {"end", name_of(trial.end)},
                        {"reason", trial.reason},
                        {"preparation_seconds", trial.preparation_seconds},
                        {"ready_seconds", trial.ready_seconds},
                        {"iteration", trial.iteration},
                        {"iteration_seconds", trial.iteration_seconds},
                        {"before_seconds", trial.before_seconds}});
    }
    return list;
}

Json json_of(const std::vector<RightSideOutcome>& right_sides) {
    Json list = Json::array();
    for (const RightSideOutcome& one : right_sides) {
        list.push_back({{"end", name_of(one.end)},
                        {"reason", one.reason},
                        {"iterations", one.iterations},
                        {"restarts", one.restarts},
                        {"residual", one.residual},
                        {"true_residual", one.true_residual}});
    }
    return list;
}

Json json_of(const Preparation& preparation) {
    if (!preparation.rounding) return nullptr;
    return {{"to", name_of(preparation.rounding->to)},
            {"relative_norm", preparation.rounding->norm},
            {"largest_relative_change", preparation.rounding->largest},
            {"bytes_in_full", preparation.bytes_in_full}};
}

Json json_of(const SolveOutcome& one, const SolveOutcome* baseline) {
    const KernelOutcome& kernel = one.preparation.kernel;
    Json json = {{"recipe", one.preparation.recipe},
                 {"baseline", one.baseline},
                 {"tuned", one.tuned},
                 {"control", one.control},
                 {"layout", one.preparation.layout},
                 {"kernel", kernel.kernel},
                 {"backend", name_of(kernel.backend)},
                 {"kernel_status", status_of(kernel)},
                 {"kernel_reason", kernel.reason},
                 {"stage_seconds", one.preparation.stage_seconds},
                 {"build_seconds", one.preparation.build_seconds},
                 {"copy_seconds", one.preparation.copy_seconds},
                 {"rounding", json_of(one.preparation)},
                 {"notes", one.preparation.notes}};
    if (!kernel.verified()) return json;
    const bool compared = baseline != nullptr && baseline != &one;
    const std::optional<SolveSpeedup> speedup = compared ? speedup_of(one, *baseline) : std::nullopt;
    const bool has_interval = speedup && speedup->interval;
    json.update(
        {{"engine", name_of(one.engine)},
         {"end", name_of(one.end)},
         {"reason", one.reason},
         {"iterations", one.iterations},
         {"products", one.products},
         {"restarts", one.restarts},
         {"residual", one.residual},
         {"true_residual", one.true_residual},
         {"solver_seconds", one.solver_seconds},
         {"new_values_seconds", one.new_values_seconds},
         {"vector_seconds", one.vector_seconds},
         {"solve_seconds", one.solve_seconds},
         {"solve_samples", one.solve_samples},
         {"solve_speedup", speedup ? Json(speedup->ratio) : Json(nullptr)},
         {"solve_speedup_interval", has_interval ? Json{speedup->interval->low, speedup->interval->high} : Json(nullptr)},
         {"within_noise", speedup ? Json(speedup->noise) : Json(nullptr)},
         {"noise", one.noise().empty() ? Json(nullptr) : Json(one.noise())},
         {"once_seconds", one.once_seconds()},
         {"each_seconds", one.each_seconds()},
         {"total_seconds", one.total_seconds()},
         {"iteration_seconds", one.iteration_seconds()},
         {"product_seconds", one.product_seconds},
         {"product_inside_seconds", one.product_inside_seconds},
         {"vector_bytes", one.vector_bytes},
         {"copy_bytes_per_second", one.copy_bandwidth},
         {"iteration_over_parts", optional(one.over_parts())},
         {"level_after_iterations", compared ? optional(break_even_iterations(one, *baseline)) : Json(nullptr)},
         {"pays_after_solves", compared ? optional(break_even_solves(one, *baseline)) : Json(nullptr)},
         {"residuals", one.history}});
    if (one.tuned) json["trials"] = json_of(one.trials);
    if (one.right_sides.empty()) return json;
    json.update({{"right_sides", json_of(one.right_sides)},
                 {"right_side_seconds", one.each_seconds() / right_sides_of(one)},
                 {"alone_seconds", one.alone_seconds},
                 {"alone_solves", one.alone_solves},
                 {"alone_kernel", one.alone_kernel},
                 {"alone_engine", name_of(one.alone_engine)},
                 {"alone_solver_seconds", one.alone_solver_seconds}});
    return json;
}

/// The first most_series outcomes that iterated.
std::vector<const SolveOutcome*> shown(const SolveReport& report) {
    std::vector<const SolveOutcome*> solves;
    for (const SolveOutcome& one : report.outcomes) {
        if (one.history.size() > 1 && solves.size() < most_series) solves.push_back(&one);
    }
    return solves;
}

/// A short history in full, otherwise about 2000 evenly spaced points including the last one.
template <typename At>
Series series_of(const SolveReport& report, const SolveOutcome& one, const At& at) {
    constexpr std::size_t most_points = 2000;
    Series series{report.label_of(one), {}, Drawn::curves};
    const std::size_t count = one.history.size();
    const std::size_t step = count / most_points + 1;
    for (std::size_t i = 0; i < count; i = i + step < count || i + 1 == count ? i + step : count - 1) {
        if (std::isfinite(one.history[i]) && one.history[i] > 0) series.points.emplace_back(at(i), one.history[i]);
    }
    return series;
}

XyChart chart_of(const SolveReport& report, const std::string& title, const std::string& label) {
    XyChart chart{title, subtitle_of(report), {label}, {"|r| / |b|", true}, {}};
    const auto all =
        std::count_if(report.outcomes.begin(), report.outcomes.end(), [](const auto& one) { return one.history.size() > 1; });
    if (all > static_cast<std::ptrdiff_t>(most_series))
        chart.foot = fmt::format("the first {} of {}", most_series, counted_with_commas(all, "recipe"));
    return chart;
}

/// The arithmetic of advice_of.
Json json_of(const std::vector<Advised>& advice) {
    Json list = Json::array();
    for (const auto& [outcome, from] : advice) {
        list.push_back({{"recipe", outcome->preparation.recipe}, {"baseline", outcome->baseline}, {"from_solves", from}});
    }
    return list;
}

std::string title_of(const SolveReport& report) { return fmt::format("Solves with {}", report.matrix.source); }

Json json_of(const SolveReport& report) {
    Json solves = Json::array();
    for (const SolveOutcome& one : report.outcomes) solves.push_back(json_of(one, report.baseline()));
    Json failures = Json::array();
    for (const Failure& failure : report.failures) {
        failures.push_back({{"exit_code", failure.exit_code}, {"text", failure.text}});
    }
    return {{"matrix",
             {{"source", report.matrix.source},
              {"rows", report.matrix.rows},
              {"columns", report.matrix.columns},
              {"nonzeros", report.matrix.nonzeros},
              {"read_seconds", report.matrix.read_seconds}}},
            {"method", name_of(report.options.method)},
            {"preconditioner", report.options.jacobi ? "jacobi" : "none"},
            {"precision", name_of(report.precision)},
            {"right_hand_side", report.right_hand_side},
            {"right_sides", report.options.right_sides},
            {"tolerance", report.options.tolerance},
            {"most_iterations", report.options.most_iterations},
            {"patience", report.options.patience},
            {"planned_solves", report.options.solves},
            {"device", report.device.name},
            {"process_seconds", report.process_seconds},
            {"solves", solves},
            {"advice", json_of(advice_of(report))},
            {"advice_with_new_values", json_of(advice_of(report, true))},
            {"errors", failures},
            {"machine", report.machine},
            {"versions", report.versions},
            {"notes", report.notes},
            {"warnings", report.warnings}};
}

}  // namespace

std::string subtitle_of(const SolveReport& report) {
    const int count = report.options.right_sides;
    return fmt::format(
        "{}: {}{}{}, {}, {}", report.matrix.source, name_of(report.options.method), report.options.jacobi ? " with Jacobi" : "",
        count > 1 ? fmt::format(", {} right-hand sides together", count) : "", name_of(report.precision), report.device.name);
}

std::string solve_json(const SolveReport& report) {
    return json_of(report).dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string history_csv(const SolveReport& report) {
    std::vector<const SolveOutcome*> solves;
    std::size_t longest = 0;
    std::string text = "iteration";
    for (const SolveOutcome& one : report.outcomes) {
        if (one.history.empty()) continue;
        solves.push_back(&one);
        longest = std::max(longest, one.history.size());
        std::string name = report.label_of(one);
        for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) name.insert(at, 1, '"');
        text += ",\"" + name + '"';
    }
    text += '\n';
    for (std::size_t i = 0; i < longest; ++i) {
        text += std::to_string(i);
        for (const SolveOutcome* one : solves) {
            text += i < one->history.size() ? fmt::format(",{:.6e}", std::abs(one->history[i])) : ",";
        }
        text += '\n';
    }
    return text;
}

XyChart residual_by_iteration(const SolveReport& report) {
    XyChart chart = chart_of(report, "Residual by iteration", "iterations");
    for (const SolveOutcome* one : shown(report)) {
        chart.series.push_back(series_of(report, *one, [](std::size_t i) { return static_cast<double>(i); }));
    }
    return chart;
}

XyChart residual_by_time(const SolveReport& report) {
    XyChart chart = chart_of(report, "Residual by time, set-up included", "seconds");
    for (const SolveOutcome* one : shown(report)) {
        chart.series.push_back(series_of(report, *one, [one](std::size_t i) {
            return one->setup_seconds() + static_cast<double>(i) * one->iteration_seconds();
        }));
    }
    return chart;
}

std::string solve_document(const SolveReport& report, const std::string& command) {
    const Json document = {{"kind", "solve"},       {"title", title_of(report)}, {"command", command},
                           {"runs", Json::array()}, {"solve", json_of(report)},  {"sentences", advice_text(report)}};
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> write_solve(const SolveReport& report, const std::filesystem::path& folder, const std::string& command,
                                     const PaperColumn& column) {
    std::vector<std::string> files{"solve.json", "residuals.csv", "solve.html"};
    write_whole_file(folder / files[0], solve_json(report));
    write_whole_file(folder / files[1], history_csv(report));
    write_whole_file(folder / files[2], PageFile().html(title_of(report), solve_document(report, command)));
    for (const auto& [name, chart] :
         {std::pair("residual_by_iteration", residual_by_iteration(report)),
          std::pair("residual_by_time", residual_by_time(report)), std::pair("time_by_solves", time_by_solves(report))}) {
        // Those of an earlier solve do not belong to this solve.json.
        for (const char* ending : {".png", ".svg", ".pdf"}) {
            std::error_code ignored;
            std::filesystem::remove(folder / (name + std::string(ending)), ignored);
        }
        if (shown(report).empty() || chart.series.empty()) continue;
        write_chart(chart, name, column, folder);
        for (const std::string& file : chart_files(name, column)) files.push_back(file);
    }
    return files;
}

}  // namespace workbench
