// A product to measure: the layouts that store the nonzeros, and the kernels that multiply with them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"
#include "core/matrix/permutation.hpp"
#include "pipeline/measure/verification.hpp"

namespace workbench {

/// The numbers of the elements of these rows in an array with `vectors` elements in each row.
[[nodiscard]] std::vector<Index> elements_of(std::span<const Index> rows, int vectors);

/// The orders of x and y, and how many of them there are. y must be usable as the next x. If rows and columns have the same
/// order, nothing is to be done. Otherwise the rows of y are written in the order of the columns, or for a rectangular matrix
/// in the input's order of rows, by the kernel or by a launch after it. Both are timed.
struct ProductSpace {
    /// Throws InputError if several x or y have 2^31 elements or more.
    ProductSpace(Permutation rows, Permutation columns, int vectors = 1);

    Permutation row_order;
    Permutation column_order;
    int vectors;                // with several, x is [columns x vectors] and y is [rows x vectors], row by row
    std::vector<Index> target;  // [rows] the place of the current row i in y; empty: i

    /// The places of these rows of the current order in y.
    [[nodiscard]] std::vector<Index> targets_of(std::span<const Index> rows) const;
    /// True if the matrix still has the order of the input.
    [[nodiscard]] bool unchanged() const { return row_order.is_identity() && column_order.is_identity(); }
    /// The row of the input at each place of y. [rows]
    [[nodiscard]] std::vector<Index> rows_of_result() const;
};

/// Layouts of one share of the nonzeros, or of all of them.
template <ValueType Value>
struct BuiltLayout {
    std::shared_ptr<const Layout<Value>> real;
    std::shared_ptr<const Layout<Value>> exact = {};  // with the values of the exact problem; null: not verified exactly
    std::vector<Index> rows = {};                     // [rows of the layout] their numbers in the matrix; empty: the same
    Index rows_present = 0;                           // rows with nonzeros
};

enum class Values { real, exact };

/// y = A x, as the sum over shares of the nonzeros, each with its layout and kernel; a plain recipe has one share. The kernel
/// entries must outlive the candidate.
template <ValueType Value>
struct Candidate {
    struct LayoutKernel {
        const KernelEntry* kernel = nullptr;
        BuiltLayout<Value> layout;
    };

    std::vector<LayoutKernel> shares;
    std::shared_ptr<const ProductSpace> space;
    bool side_by_side = false;                         // see HybridKernel
    ExactValues exact_values = ExactValues::by_place;  // the integers of the exact layouts
    /// With layouts that round values: the matrix with rounded values, in the order of the input. Null: no layout rounds.
    std::shared_ptr<const CsrMatrix> rounded = nullptr;

    /// Makes the kernels of a matrix that their device prepared, instead of those of the layouts, which are the same. Empty:
    /// the host prepared it.
    std::function<std::shared_ptr<Kernel<Value>>(Values, Device&)> prepare_there = {};

    [[nodiscard]] std::string kernel() const;  // "rows + lanes"
    [[nodiscard]] Backend backend() const { return shares.front().kernel->backend; }
    [[nodiscard]] Offset nonzeros() const;
    /// True if there are several vectors, and a kernel reads the matrix once for each.
    [[nodiscard]] bool multiplies_one_by_one() const;

    /// Runs kernels that came with a recipe in a process of their own first. Throws BrokenKernel.
    void try_out(Device& device) const;

    /// A kernel that writes y in the order of the space. It reads the layouts, so the candidate must outlive it.
    [[nodiscard]] std::shared_ptr<Kernel<Value>> prepare(Values values, Device& device) const;

    /// Bytes that a run of a kernel from `prepare` must move at least.
    [[nodiscard]] std::int64_t bytes_to_move(const Kernel<Value>& kernel) const;

private:
    [[nodiscard]] bool has_all_rows(const BuiltLayout<Value>& layout) const;
    /// True if one layout holds all rows, so that no sum over shares is needed.
    [[nodiscard]] bool is_plain() const { return shares.size() == 1 && has_all_rows(shares.front().layout); }
};

}  // namespace workbench
