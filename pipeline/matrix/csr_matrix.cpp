#include "pipeline/matrix/csr_matrix.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/permutation.hpp"
#include "pipeline/matrix/sort_row.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Rows = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;

}  // namespace

CsrMatrix transpose(const CsrMatrix& matrix) {
    CsrMatrix result;
    result.rows = matrix.columns;
    result.columns = matrix.rows;
    result.row_offsets.assign(static_cast<std::size_t>(matrix.columns) + 1, 0);
    for (const Index column : matrix.column_indices) ++result.row_offsets[column + 1];
    std::partial_sum(result.row_offsets.begin(), result.row_offsets.end(), result.row_offsets.begin());

    result.column_indices.resize(matrix.column_indices.size());
    result.values.resize(matrix.values.size());
    std::vector<Offset> next(result.row_offsets.begin(), result.row_offsets.end() - 1);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Offset place = next[matrix.column_indices[i]]++;
            result.column_indices[place] = row;
            result.values[place] = matrix.values[i];
        }
    }
    return result;
}

CsrMatrix permute(const CsrMatrix& matrix, const Permutation& row_order, const Permutation& column_order) {
    if (row_order.size() != matrix.rows || column_order.size() != matrix.columns) {
        throw std::invalid_argument("orders of " + std::to_string(row_order.size()) + " rows and " +
                                    std::to_string(column_order.size()) + " columns do not fit a matrix of " +
                                    std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns));
    }
    CsrMatrix result;
    result.rows = matrix.rows;
    result.columns = matrix.columns;
    result.row_offsets.resize(matrix.row_offsets.size());
    for (Index row = 0; row < matrix.rows; ++row) {
        result.row_offsets[row + 1] = result.row_offsets[row] + matrix.row_length(row_order.old_of_new(row));
    }
    result.column_indices.resize(matrix.column_indices.size());
    result.values.resize(matrix.values.size());
    const bool columns_move = !column_order.is_identity();
    guarded_for("permute", Rows(0, matrix.rows), [&](Index row) {
        const Offset from = matrix.row_offsets[row_order.old_of_new(row)];
        const Offset to = result.row_offsets[row];
        const Offset length = result.row_length(row);
        for (Offset i = 0; i < length; ++i) {
            result.column_indices[to + i] = column_order.new_of_old(matrix.column_indices[from + i]);
            result.values[to + i] = matrix.values[from + i];
        }
        if (columns_move) sort_row(result.column_indices.data() + to, result.values.data() + to, length);
    });
    return result;
}

void check_csr(const CsrMatrix& matrix) {
    const auto fail = [](const std::string& what) { throw std::logic_error("not a CSR matrix: " + what); };
    if (matrix.rows < 0 || matrix.columns < 0) fail("negative size");
    if (matrix.row_offsets.size() != static_cast<std::size_t>(matrix.rows) + 1) fail("row_offsets is not rows + 1 long");
    if (matrix.row_offsets.front() != 0) fail("row_offsets does not start at 0");
    for (Index row = 0; row < matrix.rows; ++row) {
        if (matrix.row_length(row) < 0) fail("row_offsets descends at row " + std::to_string(row));
    }
    if (matrix.column_indices.size() != static_cast<std::size_t>(matrix.nonzeros()) ||
        matrix.values.size() != matrix.column_indices.size()) {
        fail("column_indices and values are not as long as the last offset says");
    }
    for (Index row = 0; row < matrix.rows; ++row) {
        Index previous = -1;
        for (const Index column : matrix.row_columns(row)) {
            if (column <= previous || column >= matrix.columns) {
                fail("row " + std::to_string(row) + " has column " + std::to_string(column) + " after " +
                     std::to_string(previous));
            }
            previous = column;
        }
    }
}

}  // namespace workbench
