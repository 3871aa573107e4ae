#include "pipeline/bench/own_kernel.hpp"

#include <filesystem>
#include <set>

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

/// The list under a key, or an empty one.
Json list_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : Json::array();
}

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The first error that names the file.
std::string error_about(const Json& report, const std::string& file) {
    for (const Json& error : list_of(report, "errors")) {
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
        for (const Json& kernel : list_of(report, "kernels")) without.insert(text_of(kernel, "precision"));
        for (const Json& kernel : list_of(report, "kernels")) {
            if (text_of(kernel, "kernel") != file.stem() || text_of(kernel, "backend") != backend) continue;
            const std::string precision = text_of(kernel, "precision");
            const std::string status = text_of(kernel, "status");
            without.erase(precision);
            if (status == "measured") continue;
            failed.push_back({device_of_backend(backend), precision, status, text_of(kernel, "reason")});
        }
        const std::string error = error_about(report, file.filename().string());
        for (const std::string& precision : without) {
            if (!error.empty()) failed.push_back({device_of_backend(backend), precision, "failed", error});
        }
    }
    return failed;
}

}  // namespace workbench
