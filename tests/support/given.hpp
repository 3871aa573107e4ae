// Stages and layouts with the parameters of a recipe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/contract/layout.hpp"
#include "core/contract/stage.hpp"

namespace workbench {

using Given = std::map<std::string, ParameterValue>;

/// An integer of the type that parameters have.
constexpr std::int64_t operator""_i(unsigned long long number) { return static_cast<std::int64_t>(number); }

/// Runs a stage and applies its changes to the matrix.
StageResult pass(StagedMatrix& staged, const StageEntry& stage, const Given& given);

template <ValueType Value = double>
[[nodiscard]] std::unique_ptr<Layout<Value>> build(const LayoutEntry& entry, const StagedMatrix& staged,
                                                   const Given& given = {}) {
    return entry.build_for<Value>(staged, Parameters(entry.parameters, given));
}

}  // namespace workbench
