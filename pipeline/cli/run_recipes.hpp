// Recipes one after the other, and where their results go. What was measured is kept, whatever else fails.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/runner.hpp"

namespace workbench {

struct RunOutput {
    // Pictures and report.json of a recipe go to FOLDER/NAME, NAME being the recipe file's, and of a point of a sweep to a
    // folder therein.
    std::filesystem::path folder;
    std::string json;  // one more file, with all reports; "-": standard output, and nothing else there; empty: none
    bool pictures = true;
    std::optional<double> density_ceiling = {};  // of the pictures' shades; none: as suits each recipe
    bool page = true;                            // report.html; none without pictures
    std::string command = {};                    // that the page tells as the way to repeat it
};

/// Throws MachineError where the results cannot be written. Called before the work; leaves nothing behind.
void check_output(const RunOutput& output, const std::vector<Recipe>& recipes);

/// Makes ready what a recipe runs on. Called for each of them, in their order.
using FindRunner = std::function<Runner&(const Recipe&)>;

/// Adds to a report what the runner does not know.
using CompleteReport = std::function<void(RunReport&)>;

/// Runs the recipes, writes their results and prints them. A recipe that fails, or a file that cannot be written, is recorded
/// in its report, and the next one is run; a recipe that is the only one and fails before anything was measured throws.
/// Returns the exit code, 0 only where nothing at all went wrong.
[[nodiscard]] ExitCode run_recipes(const FindRunner& runner_for, const std::vector<Recipe>& recipes, const RunOutput& output,
                                   const CompleteReport& complete);

/// The same where all of them run on one.
[[nodiscard]] inline ExitCode run_recipes(Runner& runner, const std::vector<Recipe>& recipes, const RunOutput& output,
                                          const CompleteReport& complete) {
    return run_recipes([&runner](const Recipe&) -> Runner& { return runner; }, recipes, output, complete);
}

}  // namespace workbench
