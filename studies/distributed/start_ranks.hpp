// Starts MPI for --distributed.
#pragma once

#include <memory>

#include "core/contract/ranks.hpp"

namespace workbench {

/// The ranks of this process; a single one without mpirun. Call once. Throws MachineError if the program was built without MPI
/// or the machine has no MPI library.
[[nodiscard]] std::unique_ptr<Ranks> start_ranks();

}  // namespace workbench
