// Stages and layouts with the parameters that a recipe would give them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "pipeline/contract/layout.hpp"
#include "pipeline/contract/stage.hpp"

namespace workbench {

using Given = std::map<std::string, ParameterValue>;

/// A whole number, as parameters have it.
constexpr std::int64_t operator""_i(unsigned long long number) { return static_cast<std::int64_t>(number); }

/// Runs a stage on a matrix, which changes with it.
StageResult pass(StagedMatrix& staged, const StageEntry& stage, const Given& given);

template <ValueType Value = double>
[[nodiscard]] std::unique_ptr<Layout<Value>> build(const LayoutEntry& entry, const StagedMatrix& staged,
                                                   const Given& given = {}) {
    return entry.build_for<Value>(staged, Parameters(entry.parameters, given));
}

}  // namespace workbench
