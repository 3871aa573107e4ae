// Ranks as fibers of one thread, for tests that run without MPI.
#pragma once

#include <functional>

#include "core/contract/ranks.hpp"

namespace workbench {

/// Runs the work on `size` ranks, of which one runs at a time until it waits for the others; all run on the calling thread, as
/// Kokkos requires. clock: a number of which each rank sees a value of its own; null: none. Throws the first exception that
/// leaves a rank; the others are then ended by an exception from their next collective call.
void on_rank_fibers(int size, const std::function<void(Ranks&)>& work, double* clock = nullptr);

}  // namespace workbench
