#include "studies/bench/line.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/parameters.hpp"
#include "core/text/text_table.hpp"
#include "studies/bench/tell_apart.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

/// The list under a key, or an empty one.
Json items_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : Json::array();
}

std::string string_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The first error that names the file.
std::string error_about(const Json& report, const std::string& file) {
    for (const Json& error : items_of(report, "errors")) {
        if (error.is_string() && error.get<std::string>().find(file) != std::string::npos) return error;
    }
    return "";
}

using Json = nlohmann::ordered_json;

Json json_of(const BenchRecipeFacts& recipe, const std::string& hash) {
    return {
        {"name", recipe.name}, {"source", recipe.source},     {"file", recipe.file.empty() ? "" : seen_from_here(recipe.file)},
        {"hash", hash},        {"resolved", recipe.resolved}, {"baseline", recipe.baseline}};
}

/// The elements of this precision, and those without one.
Json of_precision(const Json& list, Precision precision) {
    Json some = Json::array();
    for (const Json& one : list) {
        const Json& its = one["precision"];
        if (its.is_null() || its == name_of(precision)) some.push_back(one);
    }
    return some;
}

struct BestKernel {
    std::string status;
    std::string reason;
    const Json* best = nullptr;  // the fastest verified kernel
};

/// True if the kernel belongs to a hybrid and multiplies with one of its shares.
bool is_of_share(const Json& kernel) { return kernel.contains("share") && !kernel["share"].is_null(); }

/// The kernels of the recipe, without the baseline and without the kernels of single shares.
std::vector<const Json*> own_kernel_lines(const Json& kernels) {
    std::vector<const Json*> own;
    for (const Json& kernel : kernels) {
        if (!kernel["baseline"] && !is_of_share(kernel)) own.push_back(&kernel);
    }
    return own;
}

/// `facts`: see facts_of_recipe.
BestKernel best_of(const Json& report, const Json& layouts, const Json& kernels,
                   const std::map<std::string, std::string>& facts) {
    for (const Json& kernel : kernels) {
        if (kernel["status"] == "wrong") return {"wrong", kernel["reason"]};
    }
    if (!layouts.empty() && !layouts[0]["unsuitable"].is_null()) return {"unsuitable", layouts[0]["unsuitable"]};
    if (report.contains("unsuitable") && report["unsuitable"].is_string()) return {"unsuitable", report["unsuitable"]};
    const bool broke_off = !report["errors"].empty();
    std::vector<const Json*> own = own_kernel_lines(kernels);
    if (own.empty() && !broke_off) {
        for (const Json& kernel : kernels) own.push_back(&kernel);
    }
    Json of_precision{{"kernels", kernels}, {"errors", report["errors"]}};
    for (const FailedOwnKernel& failed : failed_own_kernels(facts, of_precision)) {
        const auto on_its_device = [&](const Json* kernel) { return device_of_backend((*kernel)["backend"]) == failed.device; };
        std::erase_if(own, on_its_device);
        if (own.empty()) return {failed.status, failed.reason};
    }
    BestKernel found{"measured", "", nullptr};
    for (const Json* kernel : own) {
        if ((*kernel)["status"] != "measured") {
            found.reason = (*kernel)["reason"];
        } else if (found.best == nullptr || (*kernel)["median_seconds"] < (*found.best)["median_seconds"]) {
            found.best = kernel;
        }
    }
    if (found.best != nullptr) return {"measured", "", found.best};
    if (broke_off) return {"failed", report["errors"][0]};
    if (own.empty()) return {"unsuitable", report["notes"].empty() ? "no kernel ran" : report["notes"].back()};
    return {"unsuitable", found.reason};
}

std::string summary_of(const Json& kernel) {
    std::string text;
    if (kernel["baseline"]) {
        text = "the baseline";
    } else if (!kernel["speedup"].is_number()) {
        text = duration(kernel["median_seconds"]);
    } else if (!kernel["speedup_interval"].is_array()) {
        text = "too few samples";
    } else {
        const bool noise = kernel["verdict"] == "within noise";
        text = kernel["verdict"] == "busy machine"
                   ? "busy machine"
                   : fmt::format("{} ({} to {})", noise ? "within noise" : significant(kernel["speedup"]) + " x",
                                 significant(kernel["speedup_interval"][0]), significant(kernel["speedup_interval"][1]));
    }
    return fmt::format("{}, {} {}", text, kernel["backend"].get<std::string>(), kernel["kernel"].get<std::string>());
}

/// Those about the time of the fastest kernel and about the baseline's.
void add_warnings_of_best(const Json& kernels, const Json& best, std::vector<std::string>& warnings) {
    for (const Json& kernel : kernels) {
        const bool is_its_baseline =
            kernel["baseline"] && device_of_backend(kernel["backend"]) == device_of_backend(best["backend"]);
        if (&kernel != &best && !is_its_baseline) continue;
        for (const Json& warning : kernel.value("warnings", Json::array())) warnings.push_back(warning);
    }
}

}  // namespace

std::string device_of_backend(const std::string& backend) {
    return backend == "cuda" || backend == "cusparse" ? "gpu" : "host";
}

std::vector<FailedOwnKernel> failed_own_kernels(const std::map<std::string, std::string>& facts, const Json& report) {
    std::vector<FailedOwnKernel> failed;
    for (const char* backend : {"cpu", "cuda"}) {
        const auto source = facts.find(std::string("kernel.") + backend + "_source");
        if (source == facts.end()) continue;
        if (source->second.size() < 3) continue;
        const std::filesystem::path file = source->second.substr(1, source->second.size() - 2);  // without quotes
        std::set<std::string> without;                                                           // precisions
        for (const Json& kernel : items_of(report, "kernels")) without.insert(string_at(kernel, "precision"));
        for (const Json& kernel : items_of(report, "kernels")) {
            if (string_at(kernel, "kernel") != file.stem() || string_at(kernel, "backend") != backend) continue;
            const std::string precision = string_at(kernel, "precision");
            const std::string status = string_at(kernel, "status");
            without.erase(precision);
            if (status == "measured") continue;
            failed.push_back({device_of_backend(backend), precision, status, string_at(kernel, "reason")});
        }
        const std::string error = error_about(report, file.filename().string());
        for (const std::string& precision : without) {
            if (!error.empty()) failed.push_back({device_of_backend(backend), precision, "failed", error});
        }
    }
    return failed;
}

std::string content_hash(const std::string& text) {
    std::uint64_t hash = 14695981039346656037U;
    for (const char letter : text) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 1099511628211U;
    }
    return fmt::format("{:016x}", hash);
}

std::string in_given_name(std::string text, const BenchRecipeFacts& recipe) {
    if (recipe.copy.empty()) return text;
    const std::string given = recipe.file.empty() ? recipe.name : recipe.file;
    for (std::size_t at = 0; (at = text.find(recipe.copy, at)) != std::string::npos; at += given.size()) {
        const std::size_t name_end = at + recipe.copy.size();
        std::size_t end = std::min(text.find_first_not_of(":0123456789", name_end), text.size());
        if (end > name_end && text[end - 1] == ':') --end;  // the colon before the message
        text.replace(at, end - at, given);
    }
    return text;
}

std::string in_one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json BenchKey::json() const {
    Json json{{"recipe", recipe},   {"matrix", matrix}, {"bytes", bytes},    {"precision", name_of(precision)},
              {"program", program}, {"device", device}, {"options", options}};
    if (!files.empty()) json["files"] = files;
    if (!software.empty()) json["software"] = software;
    return json;
}

std::string BenchKey::text() const { return in_one_line(json()); }

BenchLine line_of_report(const BenchKey& key, const BenchRecipeFacts& recipe, const Json& report, bool keep_samples,
                         const MatrixFacts& facts, const Json* trial) {
    Json kernels = of_precision(report.at("kernels"), key.precision);
    const Json layouts = of_precision(report.at("layouts"), key.precision);
    if (!keep_samples) {
        for (Json& kernel : kernels) {
            kernel["sample_count"] = kernel["samples"].size();
            kernel.erase("samples");
        }
    }
    BestKernel found = best_of(report, layouts, kernels, facts_of_recipe(recipe.resolved));
    found.reason = in_given_name(found.reason, recipe);
    const Json& matrix = report.at("matrix");
    std::vector<std::string> warnings;
    Json notes = report.at("notes");
    if (std::string warning = contradiction(facts, matrix.at("rows"), matrix.at("nonzeros")); !warning.empty()) {
        notes.push_back(warning);
        warnings.push_back(std::move(warning));
    }
    if (found.best != nullptr) add_warnings_of_best(kernels, *found.best, warnings);
    Json line{{"key", key.json()},
              {"status", found.status},
              {"reason", found.reason.empty() ? Json(nullptr) : Json(found.reason)},
              {"recipe", json_of(recipe, key.recipe)},
              {"matrix", matrix},
              {"stages", of_precision(report.at("stages"), key.precision)},
              {"layouts", layouts},
              {"cache", report.at("cache")},
              {"vectors", report.value("vectors", 1)},
              {"turn_seed", report.at("turn_seed")},
              {"kernels", kernels},
              {"devices", report.at("devices")},
              {"machine", report.at("machine")},
              {"versions", report.at("versions")},
              {"notes", notes}};
    if (trial != nullptr) line["trial"] = *trial;
    return {in_one_line(line), found.status, warnings, found.best == nullptr ? found.reason : summary_of(*found.best)};
}

BenchLine line_of_failure(const BenchKey& key, const BenchRecipeFacts& recipe, const std::string& reason) {
    const Json line{{"key", key.json()},
                    {"status", "failed"},
                    {"reason", reason},
                    {"recipe", json_of(recipe, key.recipe)},
                    {"matrix", {{"source", key.matrix}}}};
    return {in_one_line(line), "failed", {}, reason};
}

}  // namespace workbench
