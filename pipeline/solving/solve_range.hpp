// The range of numbers in which a Krylov method can compute. Its scalars are sums of squares and of products, which leave f64
// if vectors are below about 1e-154 or above 1e154: a residual that underflows looks like convergence. The host decides before
// the iterations whether that can happen, so that no device has to scale sums.
#pragma once

#include <span>
#include <string>

#include "core/contract/krylov.hpp"
#include "core/contract/precision.hpp"

namespace workbench {

struct SolveRange {
    KrylovMethod method = KrylovMethod::cg;
    bool jacobi = false;
    double tolerance = 0;                  // of |b - A x| / |b|
    Precision precision = Precision::f64;  // of the matrix and the vectors
    double norm_of_b = 0;                  // norm_of(b)
    double largest_of_b = 0;               // magnitude
    double largest_of_matrix = 0;          // magnitude; 0 or infinity: unknown
};

/// The number of the solve that would leave its range of numbers, with the figures, as a sentence for the user. Empty if none
/// does, and if b is 0. Estimates magnitudes by the largest values, as for a well-conditioned matrix.
[[nodiscard]] std::string reason_against(const SolveRange& range);

/// The largest |v_i| that is a number; 0 if there is none.
[[nodiscard]] double largest_magnitude(std::span<const double> vector);

/// A power of two. The squares of numbers of magnitude `largest`, multiplied by it, are in the range of f64. 1 for 0 and
/// infinity.
[[nodiscard]] double scale_for_squares(double largest);

/// |v|_2, also if squares of its elements leave the range of f64.
[[nodiscard]] double norm_of(std::span<const double> vector);

}  // namespace workbench
