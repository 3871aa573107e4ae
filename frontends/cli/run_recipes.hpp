// Runs several recipes and writes their results; a failure of one does not lose the results of the others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/runner.hpp"

namespace workbench {

struct RunOutput {
    // A recipe's results go to FOLDER/NAME, where NAME is that of the recipe file, or to a subfolder for a point of a sweep.
    std::filesystem::path folder;
    std::string json;  // file for all reports; "-": standard output, which then has nothing else; empty: none
    bool pictures = true;
    std::optional<double> density_ceiling = {};  // of the pictures' density scale; by default chosen for each recipe
    bool page = true;                            // write report.html; requires pictures
    std::string command = {};                    // the command line shown on the page
};

/// Throws MachineError if the results cannot be written. Leaves no files behind.
void check_output(const RunOutput& output, const std::vector<Recipe>& recipes);

/// Returns the runner for a recipe; called once per recipe, in order.
using FindRunner = std::function<Runner&(const Recipe&)>;

/// Fills the members of a report that the runner cannot fill.
using CompleteReport = std::function<void(RunReport&)>;

/// Runs the recipes, prints their results and writes them. A failing recipe or an unwritable file is recorded in the report,
/// and the next recipe runs; a single recipe that fails before anything was measured throws, and only the
/// file of `json` is written for it. Results of an earlier run are kept in their folder until a run measures something. After
/// Ctrl-C, the recipes that have run are kept, and ExitCode::stopped is returned; throws Stopped if there are none. After a
/// recipe that has broken its device, no other recipe runs. Returns ExitCode::ok only if nothing failed.
[[nodiscard]] ExitCode run_recipes(const FindRunner& runner_for, const std::vector<Recipe>& recipes, const RunOutput& output,
                                   const CompleteReport& complete);

}  // namespace workbench
