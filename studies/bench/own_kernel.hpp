// Kernels beside a recipe that gave no result: the layout's own kernels must not stand in for them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace workbench {

/// A kernel beside the recipe that was not measured.
struct FailedOwnKernel {
    std::string device;     // "host" or "gpu"
    std::string precision;  // "f32" or "f64"
    std::string status;     // "wrong", "unsuitable", "failed"
    std::string reason;
};

/// "host" or "gpu".
[[nodiscard]] std::string device_of_backend(const std::string& backend);

/// `facts`: see facts_of_recipe. `report`: the report of a run, or a line of a bench; its lists may be missing.
[[nodiscard]] std::vector<FailedOwnKernel> failed_own_kernels(const std::map<std::string, std::string>& facts,
                                                              const nlohmann::ordered_json& report);

}  // namespace workbench
