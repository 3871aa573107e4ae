#include "pipeline/recipe/device_plan_of.hpp"

#include <fmt/format.h>

#include "core/contract/device.hpp"
#include "core/contract/value_facts.hpp"

namespace workbench {

std::variant<DevicePlan, std::string> device_plan_of(const Recipe& recipe) {
    DevicePlan plan{.node_size = recipe.node_size,
                    .model = recipe.device.empty() ? nullptr : find_device_model(recipe.device),
                    .steps = {},
                    .storage = {},
                    .settle = {},
                    .kernel = {}};
    for (const RecipeStage& stage : recipe.stages) {
        const auto declared = stage.entry->on_device;
        std::optional<DeviceStep> step = declared == nullptr ? std::nullopt : declared(stage.parameters);
        if (!step) return fmt::format("a GPU does not do stage '{}'", stage.id);
        plan.steps.emplace_back(stage.id, *std::move(step));
    }
    const RecipeLayout& layout = recipe.layouts.front();
    const auto declared = layout.entry->on_device;
    const bool is_plain = !recipe.is_hybrid() && layout.own_kernels.empty() && declared != nullptr;
    const std::optional<DeviceStorage> storage = is_plain ? declared(layout.parameters) : std::nullopt;
    if (!storage) return "a GPU does not store layout " + name_of_layouts(recipe);
    plan.storage = *storage;
    const auto is_auto = [&](const char* name) {
        return layout.parameters.has(name) && layout.parameters.is_word(name, "auto");
    };
    if (layout.entry->settle != nullptr && (is_auto("values") || is_auto("column_index"))) {
        plan.settle = [declared, settle = layout.entry->settle, parameters = layout.parameters](const ValueFacts& facts) {
            return declared(settle(parameters, facts));
        };
    }
    plan.kernel = layout.entry->kernel_on_device;
    if (std::string reason = plan.refusal(); !reason.empty()) return reason;
    return plan;
}

}  // namespace workbench
