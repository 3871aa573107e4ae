// The option --distributed of run and solve, which distributes one matrix over the ranks of mpirun.
#pragma once

#include <optional>
#include <vector>

#include "frontends/cli/measuring.hpp"
#include "studies/solve/solve.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --distributed and --rows-to-ranks. `arguments` must live until the command line is parsed.
void add_distributed_options(CLI::App& command, SharedArguments& arguments);

/// Refuses these options beside --distributed.
void exclude_from_distributed(CLI::App& command, std::vector<const char*> options);

struct DistributedSolve {
    SolveOptions options;
    RightHandSide right_hand_side;
};

/// Collective; rank 0 prints and writes the results. Returns the exit code. If one rank fails, all end with its message.
[[nodiscard]] ExitCode run_distributed(const SharedArguments& arguments, int samples,
                                       const std::optional<DistributedSolve>& solve = {});

}  // namespace workbench
