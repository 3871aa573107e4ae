// The option --distributed of run and solve, which distributes one matrix over the ranks of mpirun.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/contract/precision.hpp"
#include "pipeline/solve/right_hand_side.hpp"
#include "pipeline/solve/solve.hpp"

namespace CLI {
class App;
}

namespace workbench {

struct DistributedArguments {
    bool on = false;
    std::string rows_to_ranks = "equal";
};

/// Adds --distributed and --rows-to-ranks. `arguments` must live until the command line is parsed.
void add_distributed_options(CLI::App& command, DistributedArguments& arguments);

/// The options of a distributed run.
struct DistributedRun {
    DistributedArguments distributed;
    std::vector<std::string> recipes;
    RecipeChanges changes;
    std::string prepare;
    std::vector<std::string> backends;
    std::string only;
    Precision precision = Precision::f64;
    int samples = 20;
    std::string out;   // folder of distributed.json
    std::string json;  // a second output file; "-": standard output; empty: none
    struct Solve {
        SolveOptions options;
        RightHandSide right_hand_side;
    };
    std::optional<Solve> solve = {};
};

/// Collective; rank 0 prints and writes the results. Returns the exit code. If one rank fails, all end with its message.
[[nodiscard]] ExitCode run_distributed(const DistributedRun& run);

}  // namespace workbench
