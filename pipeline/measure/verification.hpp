// Whether y = A x is right: exactly, on integers that leave no room for an error, and within rounding, on the real values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/permutation.hpp"

namespace workbench {

/// Integer values and vectors for a matrix, small enough that every partial sum of a row is exact in f32 as in f64, in whatever
/// order it is taken (below 2^24).
///
/// Values are hashed from the original row and column and never 0; those of a symmetric matrix are symmetric, so that a layout
/// which stores one of two equal values does so here, too. There are several vectors x: vector p holds one digit of a
/// scrambled column number in some base, plus 1. Two columns differ in at least one digit, so an entry that is read at a wrong
/// column changes y for at least one of them; a lost, doubled or misplaced entry changes y for all.
class ExactProblem {
public:
    /// Throws Unsuitable where a row has so many nonzeros (more than 2^23 - 128) that no such integers exist for f32.
    explicit ExactProblem(const CsrMatrix& input);

    /// The same for a matrix of which only so much is known: `symmetric` bit for bit, the nonzeros of its `longest` row, its
    /// columns.
    ExactProblem(bool symmetric, Offset longest, Index columns);

    /// How many vectors there are: at least two.
    [[nodiscard]] int vector_count() const { return vector_count_; }
    [[nodiscard]] double value(Index row, Index column) const;  // of the input's order
    [[nodiscard]] double x(int vector, Index column) const;
    /// What y may hold before a run that accumulates: an integer below 256.
    [[nodiscard]] static double start(Index row);

    /// The values in the order of a matrix whose rows and columns stand in the given orders (StagedMatrix::matrix).
    [[nodiscard]] HostArray<double> values_of(const CsrMatrix& matrix, const Permutation& row_order,
                                              const Permutation& column_order) const;

    /// A x in the input's order, from the input itself. [rows]
    [[nodiscard]] std::vector<double> product(const CsrMatrix& input, int vector) const;

private:
    bool symmetric_ = false;         // the input, bit for bit
    std::uint32_t value_count_ = 1;  // values are 1 .. value_count
    std::uint32_t base_ = 2;         // x is 1 .. base
    int column_bits_ = 1;
    int vector_count_ = 2;
};

/// Has each entry (i, j) an entry (j, i) with the same bits?
[[nodiscard]] bool is_symmetric(const CsrMatrix& matrix);

/// The nonzeros of the longest row; 0 where there are no rows.
[[nodiscard]] Offset longest_row(const CsrMatrix& matrix);

/// The payload that fills y before a run, so that a row that was never written shows.
template <ValueType Value>
[[nodiscard]] Value unwritten();

/// What a comparison found. `first_wrong` is a sentence about the first wrong row; empty where all are right.
struct Comparison {
    bool right = true;
    double error_over_bound = 0;  // largest |y - r| / bound over rows with a finite bound; may be infinite
    std::string first_wrong;
};

/// Demands y == expected in every bit. Both are [rows], in the input's order.
template <ValueType Value>
[[nodiscard]] Comparison compare_exactly(const std::vector<Value>& y, const std::vector<double>& expected);

/// r = A x and the bound on |y - r| for each row, in f64.
struct BoundedReference {
    std::vector<double> r;
    std::vector<double> bound;
};

/// Bound: 8 (nnz_i + 1) eps sum_j |a_ij x_j| + nnz_i * smallest normal of Value. It is infinite where the sum of magnitudes
/// exceeds the range of Value, since the order of the sum then decides whether it overflows.
template <ValueType Value>
[[nodiscard]] BoundedReference bounded_reference(const CsrMatrix& input, const std::vector<double>& x);

/// Demands |y_i - r_i| <= bound_i; a row whose r is not finite must agree in class (NaN, +infinity, -infinity).
template <ValueType Value>
[[nodiscard]] Comparison compare_within(const std::vector<Value>& y, const BoundedReference& reference);

/// A hashed multiple of 2^-20 in [-1, 1), the same in f32 and f64.
[[nodiscard]] double real_element(Index column, std::uint32_t seed);

/// One for each column. [columns]
[[nodiscard]] std::vector<double> real_vector(Index columns, std::uint32_t seed);

}  // namespace workbench
