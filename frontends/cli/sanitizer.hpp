// The kernels beside a recipe under compute-sanitizer of the CUDA toolkit (--sanitize).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

inline constexpr const char* sanitizer_program = "compute-sanitizer";

/// The words before a command that writes to this folder alone.
using Confine = std::function<std::vector<std::string>(const std::filesystem::path& writable)>;

/// A tool found errors. what() has its lines.
struct SanitizerErrors : UserError {
    SanitizerErrors(std::string matrix_of_run, bool races, const std::string& text)
        : UserError(ExitCode::wrong_result, text), matrix(std::move(matrix_of_run)), is_race(races) {}

    std::string matrix;
    bool is_race;  // found by racecheck
};

/// Runs the recipes that bring code for a GPU once on small matrices under the tools memcheck and racecheck, each in a process
/// of its own that runs this program. overrides: as given with --set. confine: closes these processes in. Throws
/// SanitizerErrors, UserError if a kernel is wrong there (exit code 1), RecipeError if no recipe brings such code, and
/// MachineError if the machine lacks the tool or a GPU. Returns a sentence that says what was run.
[[nodiscard]] std::string sanitize(const std::vector<Recipe>& recipes, const std::vector<std::string>& overrides,
                                   const Confine& confine = nullptr);

}  // namespace workbench
