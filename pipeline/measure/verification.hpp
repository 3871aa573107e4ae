// Verifies y = A x: exactly, on integers whose sums are exact, and within a rounding bound, on the real values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/precision.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/permutation.hpp"

namespace workbench {

/// The integers of an ExactProblem: hashes of the original row and column or, for layouts that store equal values once
/// (codes_values), hashes of the value in f32, so that equal values have equal integers. The latter are at most 256, which bf16
/// represents exactly.
enum class ExactValues { by_place, by_value };

/// Integer values and vectors for a matrix, so small that every partial sum of a row, in any order, is below 2^24 and thus
/// exact in f32 and f64.
///
/// Values are nonzero hashes (ExactValues); they are symmetric if the matrix is, so that layouts which exploit symmetry also do
/// so here. There are several vectors x: vector p contains digit p of a scrambled column number in some base,
/// plus 1. Two columns differ in at least one digit, so reading a wrong column changes y for at least one vector; losing,
/// doubling or misplacing an entry changes y for all.
class ExactProblem {
public:
    /// Throws Unsuitable if a row has more than 2^23 - 128 nonzeros, for which no such integers exist in f32.
    explicit ExactProblem(const CsrMatrix& input, ExactValues kind = ExactValues::by_place);

    /// For a matrix of which only these properties are known: bitwise symmetry, the nonzeros of its `longest` row, its columns.
    ExactProblem(bool symmetric, Offset longest, Index columns, ExactValues kind = ExactValues::by_place);

    /// The number of vectors x, at least two.
    [[nodiscard]] int vector_count() const { return vector_count_; }
    /// The integer of an entry, at its place in the input.
    [[nodiscard]] double value(Index row, Index column, double real) const;
    [[nodiscard]] double x(int vector, Index column) const;
    /// The value of y before an accumulating run: an integer below 256.
    [[nodiscard]] static double start(Index row, int vector = 0);

    /// The values in the order of the nonzeros of a reordered matrix (StagedMatrix::matrix).
    [[nodiscard]] HostArray<double> values_of(const CsrMatrix& matrix, const Permutation& row_order,
                                              const Permutation& column_order) const;

    /// A x for each vector x, computed from the input, in the input's order. [vector][row]
    [[nodiscard]] std::vector<std::vector<double>> products(const CsrMatrix& input) const;

private:
    ExactValues kind_;
    bool symmetric_ = false;         // the input, bit for bit
    std::uint32_t value_count_ = 1;  // values are 1 .. value_count
    std::uint32_t base_ = 2;         // x is 1 .. base
    int column_bits_ = 1;
    int vector_count_ = 2;
};

/// Returns the exact problem of a kind, which outlives what is built with it.
using ExactProblems = std::function<const ExactProblem&(ExactValues)>;

/// True if each entry (i, j) has an entry (j, i) with the same bits.
[[nodiscard]] bool is_symmetric(const CsrMatrix& matrix);

/// The nonzeros of the longest row; 0 if there are no rows.
[[nodiscard]] Offset longest_row(const CsrMatrix& matrix);

/// Each byte of `unwritten`.
inline constexpr std::byte unwritten_byte{0xFF};

/// The NaN that fills y before a run and reveals rows that were never written.
template <ValueType Value>
[[nodiscard]] Value unwritten();

/// The result of a comparison. `first_wrong` describes the first wrong row; empty if all rows are right.
struct Comparison {
    bool right = true;
    double error_over_bound = 0;  // largest |y - r| / bound over rows with a finite bound; may be infinite
    std::string first_wrong;
};

/// True if y equals `expected` bit for bit.
template <ValueType Value>
[[nodiscard]] bool is_exactly(Value y, double expected) {
    return y == static_cast<Value>(expected) && !std::signbit(y);
}

/// Checks that y equals `expected` bit for bit. Both are [rows], in the input's order.
template <ValueType Value>
[[nodiscard]] Comparison compare_exactly(const std::vector<Value>& y, const std::vector<double>& expected);

/// r = A x and the bound on |y - r| for each row, in f64.
struct BoundedReference {
    std::vector<double> r;
    std::vector<double> bound;
};

/// The seeds of the vectors x (real_vector) of the verification within bounds.
inline constexpr std::array<std::uint32_t, 2> seeds_of_real_vectors{1, 2};

/// Bound: 8 (nnz_i + 1) eps sum_j |a_ij x_j| + nnz_i * smallest normal of Value. It is infinite if the sum of magnitudes
/// exceeds the range of Value, because overflow then depends on the order of the sum.
template <ValueType Value>
[[nodiscard]] BoundedReference bounded_reference(const CsrMatrix& input, const std::vector<double>& x);

/// Checks |y_i - r_i| <= bound_i; rows with a non-finite r must agree in class (NaN, +infinity, -infinity).
template <ValueType Value>
[[nodiscard]] Comparison compare_within(const std::vector<Value>& y, const BoundedReference& reference);

/// Several x and y of a product in memory of the host.
template <ValueType Value>
struct SeveralProducts {
    int vectors = 1;
    const Value* x = nullptr;                     // [columns x vectors], row by row
    const Value* y = nullptr;                     // [rows x vectors]
    std::span<const Index> place_of_column = {};  // in x; empty: each at its own number
    std::span<const Index> row_of_place = {};     // the row of the matrix at each place of y; empty: likewise
    int times = 1;                                // products that were added to y: 2 after y = A x and y += A x
};

/// Compares all y with the products of the matrix and all x, like compare_within with bounded_reference, and reads the matrix
/// once for all of them. Returns the largest error over its bound, or none unless every row is finite and right in each y.
template <ValueType Value>
[[nodiscard]] std::optional<double> error_of_several(const CsrMatrix& matrix, const SeveralProducts<Value>& products);

/// A hashed multiple of 2^-20 in [-1, 1), the same in f32 and f64.
[[nodiscard]] double real_element(Index column, std::uint32_t seed);

/// The vector of these numbers. [columns]
[[nodiscard]] std::vector<double> real_vector(Index columns, std::uint32_t seed);

}  // namespace workbench
