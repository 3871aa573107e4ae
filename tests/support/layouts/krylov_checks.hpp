// Checks of a solve on any device, with Eigen's solvers as oracles.
#pragma once

#include <string>

#include "core/contract/device.hpp"
#include "core/contract/krylov.hpp"

namespace workbench {

/// The checks use doctest and throw nothing. Products are those of the baseline CSR kernel of the device.
void check_solves_like_eigen(Device& device, KrylovMethod method, Precision precision);
void check_limits_and_restarts(Device& device, KrylovMethod method);
void check_reordering(Device& device, KrylovMethod method);
void check_ends_without_convergence(Device& device);
/// Several right-hand sides give what each of them gives alone: bit for bit if `same_bits`, otherwise up to rounding. Those
/// that have converged, that were stopped, and that are not restarted stay as they are.
void check_several_right_sides(Device& device, Precision precision, bool same_bits);
/// Checks that several right-hand sides begin and restart, by the steps that iterations take, but without a loop.
void check_beginnings_of_several(Device& device);
/// Checks iterations with products of the caller.
void check_iterations_apart(Device& device, Precision precision);

}  // namespace workbench
