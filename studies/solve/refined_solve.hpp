// Iterative refinement: a solve whose iterations multiply with rounded values and whose residuals are computed with the values
// in full.
#pragma once

#include "studies/solve/solve.hpp"

namespace workbench {

/// Like `solve`, with a multiplier that rounds. The iterations solve A' d = r with rounded values A' until |r| is smaller by a
/// factor, for which the product with A' suffices; then x += d, and r = b - A x is computed anew with the values in full (a
/// restart), until the true residual is small enough. Everything is in the precision of the vectors but the values of A'.
/// Source: Moler, "Iterative refinement in floating point" (1967), with a Krylov method for the correction as in Carson,
/// Higham, "Accelerating the solution of linear systems by iterative refinement in three precisions" (2018).
template <ValueType Value>
[[nodiscard]] SolveOutcome solve_refined(PreparedSolver<Value>& solver, const SolveOptions& options);

}  // namespace workbench
