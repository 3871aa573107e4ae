// The kernels beside a recipe under compute-sanitizer of the CUDA toolkit (--sanitize).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

inline constexpr const char* sanitizer_program = "compute-sanitizer";

/// The words before a command that writes to this folder alone.
using Confine = std::function<std::vector<std::string>(const std::filesystem::path& writable)>;

/// Runs the recipes that bring code for a GPU once on small matrices under the tools memcheck and racecheck, each in a process
/// of its own that runs this program. overrides: as given with --set. confine: closes these processes in. Throws UserError with
/// what a tool found (exit code 1), RecipeError if no recipe brings such code, and MachineError if the machine lacks the tool
/// or a GPU. Returns a sentence that says what was run.
[[nodiscard]] std::string sanitize(const std::vector<Recipe>& recipes, const std::vector<std::string>& overrides,
                                   const Confine& confine = nullptr);

}  // namespace workbench
