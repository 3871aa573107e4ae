#include <fstream>

#include <nlohmann/json.hpp>

#include "pipeline/run/report.hpp"
#include "pipeline/run/row_statistics.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(ArrayRole role) {
    switch (role) {
        case ArrayRole::value: return "value";
        case ArrayRole::column: return "column";
        case ArrayRole::structure: return "structure";
        case ArrayRole::number: return "number";
    }
    return "unknown";
}

std::string_view name_of(KernelOutcome::Status status) {
    switch (status) {
        case KernelOutcome::Status::measured: return "measured";
        case KernelOutcome::Status::wrong: return "wrong";
        case KernelOutcome::Status::unsuitable: return "unsuitable";
    }
    return "unknown";
}

Json optional(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json json_of(const Parameters& parameters) {
    Json json = Json::object();
    for (const auto& [name, value] : parameters.values()) {
        json[name] = std::visit([](const auto& plain) { return Json(plain); }, value);
    }
    return json;
}

Json json_of(const Span& span) { return {{"mean", span.mean}, {"max", span.maximum}}; }

void add_locality(Json& json, const Locality& locality) {
    json["row_span"] = json_of(locality.row_span);
    json["column_span"] = json_of(locality.column_span);
    json["x_lines"] = Json::array();
    for (const CacheLines& lines : locality.x_lines) {
        json["x_lines"].push_back({{"line_bytes", lines.line_bytes},
                                   {"lines", lines.lines},
                                   {"per_row_block", lines.per_row_block},
                                   {"bytes_per_nonzero", lines.bytes_per_nonzero}});
    }
    json["neighbour_runs"] = {{"count", locality.neighbour_runs.count}, {"mean_length", locality.neighbour_runs.mean_length}};
    json["symmetry"] = nullptr;
    if (locality.symmetry) json["symmetry"] = {{"pattern", locality.symmetry->pattern}, {"values", locality.symmetry->values}};
}

Json json_of(const Metrics& metrics) {
    Json json{{"rows", metrics.rows},
              {"columns", metrics.columns},
              {"nonzeros", metrics.nonzeros},
              {"bandwidth", metrics.bandwidth},
              {"mean_bandwidth", metrics.mean_bandwidth},
              {"profile", metrics.profile},
              {"row_length",
               {{"min", metrics.row_lengths.minimum},
                {"mean", metrics.row_lengths.mean},
                {"max", metrics.row_lengths.maximum},
                {"std", metrics.row_lengths.standard_deviation},
                {"skew", metrics.row_lengths.skew}}},
              {"sell32_slots", metrics.sell32_slots},
              {"sell32_padding", metrics.sell32_padding},
              {"warp_iterations", metrics.warp_iterations},
              {"sorted_warp_iterations", metrics.sorted_warp_iterations},
              {"warp_work", metrics.warp_work},
              {"partition", nullptr},
              {"tiles", nullptr}};
    add_locality(json, metrics.locality);
    if (metrics.partition) {
        json["partition"] = {{"count", metrics.partition->count},
                             {"nonzeros_inside", metrics.partition->nonzeros_inside},
                             {"edge_cut", metrics.partition->edge_cut},
                             {"row_imbalance", metrics.partition->row_imbalance},
                             {"nonzero_imbalance", metrics.partition->nonzero_imbalance}};
    }
    if (metrics.tiles) {
        json["tiles"] = {{"count", metrics.tiles->count},
                         {"rows_present", metrics.tiles->rows_present},
                         {"warp_iterations", metrics.tiles->warp_iterations},
                         {"idle_lanes", metrics.tiles->idle_lanes}};
    }
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
            {"metrics", json_of(stage.metrics)},
            {"notes", notes},
            {"picture", stage.picture.empty() ? Json(nullptr) : Json(stage.picture)},
            {"tile_picture", stage.tile_picture.empty() ? Json(nullptr) : Json(stage.tile_picture)}};
}

Json json_of(const LayoutOutcome& layout) {
    Json footprint = Json::object();
    for (const LayoutOutcome::Array& array : layout.footprint) {
        footprint[array.name] = {{"role", name_of(array.role)}, {"count", array.count}, {"bytes", array.bytes}};
    }
    return {{"name", layout.name},
            {"parameters", json_of(layout.parameters)},
            {"precision", name_of(layout.precision)},
            {"seconds", layout.seconds},
            {"unsuitable", layout.unsuitable.empty() ? Json(nullptr) : Json(layout.unsuitable)},
            {"bytes", layout.bytes()},
            {"slots", layout.slots()},
            {"footprint", footprint}};
}

Json json_of(const KernelOutcome& kernel) {
    return {{"layout", kernel.layout},
            {"kernel", kernel.kernel},
            {"backend", name_of(kernel.backend)},
            {"precision", name_of(kernel.precision)},
            {"baseline", kernel.baseline},
            {"status", name_of(kernel.status)},
            {"reason", kernel.reason.empty() ? Json(nullptr) : Json(kernel.reason)},
            {"verified", kernel.verified()},
            {"error_over_bound", kernel.error_over_bound},
            {"prepare_seconds", kernel.prepare_seconds},
            {"vector_permutation_seconds", kernel.vector_permutation_seconds},
            {"median_seconds", kernel.timing.median},
            {"spread", kernel.timing.spread},
            {"interruptions", kernel.timing.interruptions},
            {"samples", kernel.timing.samples},
            {"bytes_to_move", kernel.bytes_to_move},
            {"bytes_per_nonzero", kernel.bytes_per_nonzero},
            {"gflops", kernel.gflops},
            {"gbytes_per_second", kernel.gbytes_per_second},
            {"share_of_copy_bandwidth", kernel.share_of_copy},
            {"share_of_read_bandwidth", kernel.share_of_read},
            {"speedup", optional(kernel.speedup)},
            {"break_even", optional(kernel.break_even)},
            {"warnings", kernel.warnings}};
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
    return {{"source", matrix.source},
            {"rows", matrix.rows},
            {"columns", matrix.columns},
            {"nonzeros", matrix.nonzeros},
            {"read_seconds", matrix.read_seconds}};
}

Json json_of(const RunReport& report);

template <typename Things>
Json list_of(const Things& things) {
    Json list = Json::array();
    for (const auto& thing : things) list.push_back(json_of(thing));
    return list;
}

Json json_of(const RunReport& report) {
    Json layouts = list_of(report.layouts);
    Json errors = Json::array();
    for (const Failure& failure : report.failures) errors.push_back(failure.text);
    return {{"recipe",
             {{"name", report.recipe_name},
              {"source", report.recipe_source},
              {"file", report.recipe_file},
              {"resolved", report.resolved_recipe}}},
            {"matrix", json_of(report.matrix)},
            {"stages", list_of(report.stages)},
            {"layout", layouts.empty() ? Json(nullptr) : layouts.front()},
            {"layouts", layouts},
            {"cache", report.cache == CacheState::cold ? "cold" : "warm"},
            {"kernels", list_of(report.kernels)},
            {"devices", list_of(report.devices)},
            {"machine", report.machine},
            {"versions", report.versions},
            {"notes", report.notes},
            {"errors", errors},
            {"contact_sheet", report.contact_sheet.empty() ? Json(nullptr) : Json(report.contact_sheet)}};
}

/// Names of files need not be UTF-8; what is not is replaced. NaN and infinities, which JSON lacks, become null.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

}  // namespace

std::string to_json(const RunReport& report) { return text_of(json_of(report)); }

std::string to_json(const std::vector<RunReport>& reports) { return text_of({{"runs", list_of(reports)}}); }

std::set<std::string> pictures_of(const RunReport& report) {
    std::set<std::string> pictures{report.contact_sheet};
    for (const StageOutcome& stage : report.stages) pictures.insert({stage.picture, stage.tile_picture});
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
        // Whatever the file says: only pictures beside it.
        if (name == name.filename() && name.extension() == ".png") pictures.insert(name.string());
    };
    std::ifstream stream(file);
    const Json report = Json::parse(stream, nullptr, false);
    if (!report.is_object()) return pictures;
    add(report, "contact_sheet");
    const auto stages = report.find("stages");
    if (stages == report.end() || !stages->is_array()) return pictures;
    for (const Json& stage : *stages) {
        if (!stage.is_object()) continue;
        add(stage, "picture");
        add(stage, "tile_picture");
    }
    return pictures;
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
