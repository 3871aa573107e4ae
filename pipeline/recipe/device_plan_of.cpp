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
                    .kernel = {},
                    .shares = {},
                    .side_by_side = recipe.side_by_side};
    for (const RecipeStage& stage : recipe.stages) {
        const auto declared = stage.entry->on_device;
        std::optional<DeviceStep> step = declared == nullptr ? std::nullopt : declared(stage.parameters);
        if (!step) return fmt::format("a GPU does not do stage '{}'", stage.id);
        plan.steps.emplace_back(stage.id, *std::move(step));
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        const auto declared = layout.entry->on_device;
        const std::optional<DeviceStorage> storage =
            layout.own_kernels.empty() && declared != nullptr ? declared(layout.parameters) : std::nullopt;
        const auto is_auto = [&](const char* name) {
            return layout.parameters.has(name) && layout.parameters.is_word(name, "auto");
        };
        const bool settles = layout.entry->settle != nullptr && (is_auto("values") || is_auto("column_index"));
        if (!storage || (settles && recipe.is_hybrid())) return "a GPU does not store layout " + name_of_layouts(recipe);
        if (recipe.is_hybrid()) {
            plan.shares.push_back({*layout.share, *storage, layout.entry->kernel_on_device});
            continue;
        }
        plan.storage = *storage;
        if (settles) {
            plan.settle = [declared, settle = layout.entry->settle, parameters = layout.parameters](const ValueFacts& facts) {
                return declared(settle(parameters, facts));
            };
        }
        plan.kernel = layout.entry->kernel_on_device;
    }
    if (std::string reason = plan.refusal(); !reason.empty()) return reason;
    return plan;
}

}  // namespace workbench
