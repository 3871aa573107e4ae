#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/parameters.hpp"
#include "pipeline/report/comparison.hpp"
#include "pipeline/report/figures.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/report/row_statistics.hpp"
#include "viz/storage_map.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(KernelOutcome::Status status) {
    switch (status) {
        case KernelOutcome::Status::measured: return "measured";
        case KernelOutcome::Status::wrong: return "wrong";
        case KernelOutcome::Status::unsuitable: return "unsuitable";
    }
    return "unknown";
}

Json json_of(const Parameters& parameters) {
    Json json = Json::object();
    for (const auto& [name, value] : parameters.values()) {
        json[name] = std::visit([](const auto& plain) { return Json(plain); }, value);
    }
    return json;
}

Json json_of(const ParameterValue& value) {
    return std::visit([](const auto& plain) { return Json(plain); }, value);
}

Json json_of(const SweepPoint& sweep) {
    Json json = Json::object();
    for (const auto& [name, value] : sweep.values) json[name] = json_of(value);
    return json;
}

/// "x_lines[0].lines" as "/x_lines/0/lines".
Json::json_pointer pointer_of(const std::string& key) {
    std::string path = "/";
    for (const char letter : key) {
        if (letter != ']') path += letter == '.' || letter == '[' ? '/' : letter;
    }
    return Json::json_pointer(path);
}

/// A figure that is not there is null; one within an object or list that is not there is left out with it.
template <typename Measured>
void add_figures(Json& json, const std::vector<Figure<Measured>>& figures, const Measured& measured) {
    for (const Figure<Measured>& figure : figures) {
        if (figure.key.empty()) continue;
        const FigureValue value = figure.value ? figure.value(measured) : FigureValue();
        const bool within = figure.key.find('.') != std::string::npos;
        if (within && std::holds_alternative<std::monostate>(value)) continue;
        Json& place = json[pointer_of(figure.key)];
        std::visit(
            [&place](const auto& plain) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(plain)>, std::monostate>) place = plain;
            },
            value);
    }
}

Json json_of(const Metrics& metrics) {
    Json json;
    add_figures(json, metric_figures(), metrics);
    return json;
}

Json json_of(const StageOutcome& stage) {
    Json notes = Json::object();
    for (const auto& [name, value] : stage.notes) notes[name] = value;
    return {{"id", stage.id},
            {"name", stage.name},
            {"parameters", json_of(stage.parameters)},
            {"precision", stage.precision ? Json(name_of(*stage.precision)) : Json(nullptr)},
            {"seconds", stage.seconds},
            {"kept_seconds", stage.kept_seconds ? Json(*stage.kept_seconds) : Json(nullptr)},
            {"shared", stage.shared},
            {"metrics", json_of(stage.metrics)},
            {"notes", notes},
            {"picture", stage.picture.empty() ? Json(nullptr) : Json(stage.picture)},
            {"tile_picture", stage.tile_picture.empty() ? Json(nullptr) : Json(stage.tile_picture)}};
}

Json json_of(const RoundingError& rounding) {
    return {{"to", name_of(rounding.to)}, {"relative_norm", rounding.norm}, {"largest_relative_change", rounding.largest}};
}

Json json_of(const LayoutOutcome& layout) {
    Json footprint = Json::object();
    for (const LayoutOutcome::Array& array : layout.footprint) {
        footprint[array.name] = {{"role", name_of(array.role)}, {"count", array.count}, {"bytes", array.bytes}};
    }
    Json notes = Json::object();
    for (const auto& [what, text] : layout.notes) notes[what] = text;
    return {{"name", layout.name},
            {"share", layout.share.empty() ? Json(nullptr) : Json(layout.share)},
            {"parameters", json_of(layout.parameters)},
            {"precision", name_of(layout.precision)},
            {"seconds", layout.seconds},
            {"kept_seconds", layout.kept_seconds ? Json(*layout.kept_seconds) : Json(nullptr)},
            {"unsuitable", layout.unsuitable.empty() ? Json(nullptr) : Json(layout.unsuitable)},
            {"nonzeros", layout.nonzeros},
            {"bytes", layout.bytes()},
            {"slots", layout.slots()},
            {"rounding", layout.rounding ? json_of(*layout.rounding) : Json(nullptr)},
            {"footprint", footprint},
            {"notes", notes}};
}

Json json_of(const KernelOutcome& kernel) {
    Json json{{"layout", kernel.layout},
              {"share", kernel.share.empty() ? Json(nullptr) : Json(kernel.share)},
              {"kernel", kernel.kernel},
              {"backend", name_of(kernel.backend)},
              {"precision", name_of(kernel.precision)},
              {"baseline", kernel.baseline},
              {"status", name_of(kernel.status)},
              {"reason", kernel.reason.empty() ? Json(nullptr) : Json(kernel.reason)},
              {"verified", kernel.status == KernelOutcome::Status::unsuitable ? Json(nullptr) : Json(kernel.verified())}};
    add_figures(json, kernel_figures(), kernel);
    json["warnings"] = kernel.warnings;
    return json;
}

Json json_of(const DeviceReport& device) {
    return {{"kind", device.properties.kind == DeviceKind::host ? "host" : "gpu"},
            {"name", device.properties.name},
            {"processors", device.properties.processors},
            {"shared_memory_per_block", device.properties.shared_memory_per_block},
            {"last_level_cache", device.properties.last_level_cache},
            {"memory", device.properties.memory},
            {"copy_bytes_per_second", device.bandwidth.copy},
            {"read_bytes_per_second", device.bandwidth.read}};
}

Json json_of(const MatrixReport& matrix) {
    Json json{{"source", matrix.source},
              {"rows", matrix.rows},
              {"columns", matrix.columns},
              {"nonzeros", matrix.nonzeros},
              {"read_seconds", matrix.read_seconds}};
    if (matrix.values) {
        json["values"] = {{"distinct", matrix.values->distinct},
                          {"exact_in_f32", matrix.values->exact_in_f32},
                          {"one_a_row", matrix.values->one_a_row},
                          {"one_a_column", matrix.values->one_a_column},
                          {"entropy_bytes", matrix.values->entropy_bytes}};
    }
    return json;
}

template <typename Things>
Json list_of(const Things& things) {
    Json list = Json::array();
    for (const auto& thing : things) list.push_back(json_of(thing));
    return list;
}

void replace_non_finite(Json& json) {
    if (json.is_structured()) std::for_each(json.begin(), json.end(), replace_non_finite);
    if (json.is_number_float() && !std::isfinite(json.get<double>())) json = nullptr;
}

/// Names of files need not be UTF-8; what is not is replaced. NaN and infinities, which JSON lacks, become null.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

void add_with_companions(std::set<std::string>& pictures, const std::string& name) {
    const std::string stem = std::filesystem::path(name).stem().string();
    pictures.insert({name, stem + ".svg", stem + "_reads.png"});
}

}  // namespace

Json json_of(const RunReport& report) {
    Json layouts = list_of(report.layouts);
    Json errors = Json::array();
    Json unsuitable;
    for (const Failure& failure : report.failures) {
        errors.push_back(failure.text);
        if (failure.exit_code == ExitCode::bad_input && unsuitable.is_null()) unsuitable = failure.text;
    }
    Json json{{"recipe",
               {{"name", report.recipe_name},
                {"source", report.recipe_source},
                {"file", report.recipe_file.empty() ? "" : seen_from_here(report.recipe_file)},
                {"resolved", report.resolved_recipe}}},
              {"sweep", json_of(report.sweep)},
              {"matrix", json_of(report.matrix)},
              {"stages", list_of(report.stages)},
              {"layout", layouts.empty() ? Json(nullptr) : layouts.front()},
              {"layouts", layouts},
              {"cache", name_of(report.cache)},
              {"vectors", report.vectors},
              {"turn_seed", report.turn_seed},
              {"kernels", list_of(report.kernels)},
              {"devices", list_of(report.devices)},
              {"machine", report.machine},
              {"versions", report.versions},
              {"process_seconds", report.process_seconds},
              {"notes", report.notes},
              {"errors", errors},
              {"unsuitable", unsuitable},
              {"contact_sheet", report.contact_sheet.empty() ? Json(nullptr) : Json(report.contact_sheet)},
              {"storage_picture", report.storage_picture.empty() ? Json(nullptr) : Json(report.storage_picture)},
              {"page", report.page.empty() ? Json(nullptr) : Json(report.page)},
              {"density_ceiling", report.density_ceiling ? Json(*report.density_ceiling) : Json(nullptr)}};
    replace_non_finite(json);
    return json;
}

std::string to_json(const RunReport& report) { return text_of(json_of(report)); }

std::string to_json(const std::vector<RunReport>& reports) { return text_of({{"runs", list_of(reports)}}); }

std::string compare_json(const RunReport& a, const RunReport& b) {
    Json kernels = Json::array();
    const auto number = [](const RunReport& report, const KernelOutcome* kernel) {
        return kernel == nullptr ? Json(nullptr) : Json(kernel - report.kernels.data());
    };
    for (const KernelPair& pair : pairs_of(a, b)) {
        const std::optional<Median> ratio = pair.ratio();
        const bool has_interval = ratio && ratio->interval;
        kernels.push_back(
            {{"backend", name_of(pair.either().backend)},
             {"precision", name_of(pair.either().precision)},
             {"baseline", pair.either().baseline},
             {"a", number(a, pair.a)},
             {"b", number(b, pair.b)},
             {"ratio", ratio ? Json(ratio->value) : Json(nullptr)},
             {"ratio_interval", has_interval ? Json{ratio->interval->low, ratio->interval->high} : Json(nullptr)}});
    }
    return text_of({{"runs", {json_of(a), json_of(b)}}, {"kernels", kernels}});
}

std::set<std::string> pictures_of(const RunReport& report) {
    std::set<std::string> pictures{report.contact_sheet, report.page};
    for (const StageOutcome& stage : report.stages) pictures.insert({stage.picture, stage.tile_picture});
    if (!report.storage_picture.empty()) add_with_companions(pictures, report.storage_picture);
    if (report.storage == nullptr || !report.storage->has_reads()) pictures.erase("storage_reads.png");
    pictures.erase("");
    return pictures;
}

std::set<std::string> pictures_of_report(const std::filesystem::path& file) {
    std::set<std::string> pictures;
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) return pictures;
    const auto add = [&pictures](const Json& object, const char* key) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_string()) return;
        const std::filesystem::path name = found->get<std::string>();
        // Only pictures and pages in the report's own folder, whatever the file names.
        const bool is_ours = name.extension() == ".png" || name.extension() == ".html";
        if (name != name.filename() || !is_ours) return;
        pictures.insert(name.string());
        if (std::string_view(key) == "storage_picture") add_with_companions(pictures, name.string());
    };
    std::ifstream stream(file);
    const Json report = Json::parse(stream, nullptr, false);
    if (!report.is_object()) return pictures;
    add(report, "contact_sheet");
    add(report, "storage_picture");
    add(report, "page");
    const auto stages = report.find("stages");
    if (stages == report.end() || !stages->is_array()) return pictures;
    for (const Json& stage : *stages) {
        if (!stage.is_object()) continue;
        add(stage, "picture");
        add(stage, "tile_picture");
    }
    return pictures;
}

double density_ceiling_of_report(const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& found) {
        return RecipeError(file.string() + ": found " + found + ", expected the report.json of a run with pictures");
    };
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) throw refuse("no such file");
    std::ifstream stream(file);
    const Json report = Json::parse(stream, nullptr, false);
    if (!report.is_object() || !report.contains("stages")) throw refuse("something else");
    const auto ceiling = report.find("density_ceiling");
    if (ceiling == report.end() || !ceiling->is_number()) throw refuse("a report without \"density_ceiling\"");
    const double value = ceiling->get<double>();
    if (!(value >= 1)) throw refuse("a \"density_ceiling\" below 1");
    return value;
}

std::string to_json(const MatrixReport& matrix, const Metrics& metrics) {
    return text_of({{"matrix", json_of(matrix)}, {"metrics", json_of(metrics)}});
}

std::string to_json(const std::vector<MeasuredMatrix>& matrices) {
    Json list = Json::array();
    for (const auto& [matrix, metrics] : matrices) list.push_back({{"matrix", json_of(matrix)}, {"metrics", json_of(metrics)}});
    return text_of({{"matrices", list}});
}

}  // namespace workbench
