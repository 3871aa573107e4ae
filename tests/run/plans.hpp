// Plans of recipes for devices, for tests.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/device_plan_of.hpp"

namespace workbench {

inline Recipe recipe_of_plan(const std::string& text) {
    return parse_recipe("[recipe]\nname = 'x'\n" + text, "x.toml", catalogue());
}

inline DevicePlan plan_of(const std::string& text) {
    const auto plan = device_plan_of(recipe_of_plan(text));
    if (const auto* reason = std::get_if<std::string>(&plan)) FAIL(text << ": " << *reason);
    return std::get<DevicePlan>(plan);
}

/// Why the host prepares the recipe.
inline std::string reason_of(const std::string& text) {
    const auto plan = device_plan_of(recipe_of_plan(text));
    const auto* reason = std::get_if<std::string>(&plan);
    return reason == nullptr ? "" : *reason;
}

template <typename Step>
const Step& step(const DevicePlan& plan, std::size_t i) {
    REQUIRE(i < plan.steps.size());
    REQUIRE(std::holds_alternative<Step>(plan.steps[i].step));
    return std::get<Step>(plan.steps[i].step);
}

}  // namespace workbench
