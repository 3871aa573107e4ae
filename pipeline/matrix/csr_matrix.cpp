#include "pipeline/matrix/csr_matrix.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "pipeline/matrix/permutation.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Rows = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;

/// Sorts the entries of one row by column. Rows are short as a rule: insertion sort on the two arrays in place; a long row
/// goes through an index list.
void sort_row(Index* columns, double* values, Offset length) {
    constexpr Offset short_row = 48;
    if (length <= short_row) {
        for (Offset i = 1; i < length; ++i) {
            const Index column = columns[i];
            const double value = values[i];
            Offset k = i;
            for (; k > 0 && columns[k - 1] > column; --k) {
                columns[k] = columns[k - 1];
                values[k] = values[k - 1];
            }
            columns[k] = column;
            values[k] = value;
        }
        return;
    }
    if (std::is_sorted(columns, columns + length)) return;
    std::vector<std::pair<Index, double>> entries(length);
    for (Offset i = 0; i < length; ++i) entries[i] = {columns[i], values[i]};
    // Stable, so that duplicates are summed in the order in which they came.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Offset i = 0; i < length; ++i) std::tie(columns[i], values[i]) = entries[i];
}

void sort_rows(CsrMatrix& matrix) {
    Kokkos::parallel_for("sort_rows", Rows(0, matrix.rows), [&matrix](Index row) {
        const Offset begin = matrix.row_offsets[row];
        sort_row(matrix.column_indices.data() + begin, matrix.values.data() + begin, matrix.row_length(row));
    });
}

/// Sums neighbours with the same column in rows that are sorted, and closes the gaps.
void sum_duplicates(CsrMatrix& matrix) {
    Offset kept = 0;
    Offset begin = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset end = matrix.row_offsets[row + 1];
        const Offset row_start = kept;
        for (Offset i = begin; i < end; ++i) {
            if (kept > row_start && matrix.column_indices[kept - 1] == matrix.column_indices[i]) {
                matrix.values[kept - 1] += matrix.values[i];
            } else {
                matrix.column_indices[kept] = matrix.column_indices[i];
                matrix.values[kept] = matrix.values[i];
                ++kept;
            }
        }
        begin = end;
        matrix.row_offsets[row + 1] = kept;
    }
    matrix.column_indices.resize(kept);
    matrix.values.resize(kept);
}

}  // namespace

CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const Entry> entries) {
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
    for (const Entry& entry : entries) {
        if (entry.row < 0 || entry.row >= rows || entry.column < 0 || entry.column >= columns) {
            throw std::out_of_range("entry (" + std::to_string(entry.row) + ", " + std::to_string(entry.column) +
                                    ") lies outside " + std::to_string(rows) + " x " + std::to_string(columns));
        }
        ++matrix.row_offsets[entry.row + 1];
    }
    std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());

    matrix.column_indices.resize(entries.size());
    matrix.values.resize(entries.size());
    std::vector<Offset> next(matrix.row_offsets.begin(), matrix.row_offsets.end() - 1);
    for (const Entry& entry : entries) {
        const Offset place = next[entry.row]++;
        matrix.column_indices[place] = entry.column;
        matrix.values[place] = entry.value;
    }
    sort_rows(matrix);
    sum_duplicates(matrix);
    return matrix;
}

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
    Kokkos::parallel_for("permute", Rows(0, matrix.rows), [&](Index row) {
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
