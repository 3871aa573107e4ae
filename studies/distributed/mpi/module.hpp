// The interface between the program and libworkbench_mpi.so. Only that module links with MPI, and it is loaded for
// --distributed only, so that the program starts on machines without MPI.
#pragma once

#include "core/contract/ranks.hpp"

namespace workbench {

/// Initialises MPI. The caller owns the result, whose destructor finalises MPI. Call once, and use the result in the same
/// thread. Throws MachineError.
using StartMpi = Ranks* (*)();
inline constexpr const char* mpi_module_function = "workbench_start_mpi";
inline constexpr const char* mpi_module_file = "libworkbench_mpi.so";

}  // namespace workbench
