// The ranks that this process is one of.
#pragma once

#include <memory>

#include "pipeline/contract/ranks.hpp"

namespace workbench {

/// Starts MPI; started without mpirun, there is one rank. Throws MachineError where the program was built without MPI, or where
/// this machine has none. To be called once.
[[nodiscard]] std::unique_ptr<Ranks> start_ranks();

}  // namespace workbench
