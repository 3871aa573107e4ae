#include "studies/bench/own_kernel.hpp"

#include <filesystem>
#include <set>

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

}  // namespace workbench
