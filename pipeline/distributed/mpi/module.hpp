// The seam between the program and libworkbench_mpi.so. Only the module is linked with MPI, and it is opened when ranks are
// asked for, so that the program starts where there is no MPI.
#pragma once

#include "pipeline/contract/ranks.hpp"

namespace workbench {

/// Starts MPI, which ends with what is returned; that belongs to the caller. Throws MachineError. To be called once, by the
/// thread that uses it ever after.
using StartMpi = Ranks* (*)();
inline constexpr const char* mpi_module_function = "workbench_start_mpi";
inline constexpr const char* mpi_module_file = "libworkbench_mpi.so";

}  // namespace workbench
