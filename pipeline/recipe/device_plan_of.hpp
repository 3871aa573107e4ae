// Recipes that a device can prepare in its own memory.
#pragma once

#include <variant>

#include "core/contract/device_plan.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The plan of a recipe whose stages and layout all declare what a device does (StageEntry::on_device, LayoutEntry::on_device),
/// or the reason why the host prepares it.
[[nodiscard]] std::variant<DevicePlan, std::string> device_plan_of(const Recipe& recipe);

}  // namespace workbench
