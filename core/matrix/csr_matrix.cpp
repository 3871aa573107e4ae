#include "core/matrix/csr_matrix.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/permutation.hpp"
#include "core/matrix/sort_row.hpp"

namespace workbench {

CsrMatrix leading_part(const CsrMatrix& matrix, Index rows, Index columns) {
    CsrMatrix part;
    part.rows = rows;
    part.columns = columns;
    part.row_offsets.assign(1, 0);
    for (Index row = 0; row < rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if (matrix.column_indices[k] >= columns) break;
            part.column_indices.push_back(matrix.column_indices[k]);
            part.values.push_back(matrix.values[k]);
        }
        part.row_offsets.push_back(static_cast<Offset>(part.values.size()));
    }
    return part;
}

CsrMatrix transpose(const CsrMatrix& matrix) {
    // Each thread counts the entries per column of its rows, from which the places of its entries in the result follow.
    const Offset nonzeros = matrix.nonzeros();
    const auto pieces = static_cast<int>(std::clamp<Offset>(nonzeros / std::max(matrix.columns, 1), 1, host_threads()));
    std::vector<Index> first_row{0};
    for (int piece = 1; piece < pieces; ++piece) {
        const auto begin =
            std::lower_bound(matrix.row_offsets.begin(), matrix.row_offsets.end() - 1, nonzeros / pieces * piece);
        first_row.push_back(static_cast<Index>(begin - matrix.row_offsets.begin()));
    }
    first_row.push_back(matrix.rows);
    const auto for_each_entry = [&](int piece, const auto& visit) {
        for (Index row = first_row[piece]; row < first_row[piece + 1]; ++row) {
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) visit(row, i);
        }
    };
    std::vector<std::vector<Index>> before(pieces);  // [columns] entries of a column in earlier pieces
    guarded_for("count_columns", HostRange<int>(0, pieces), [&](int piece) {
        before[piece].assign(matrix.columns, 0);
        for_each_entry(piece, [&](Index, Offset i) { ++before[piece][matrix.column_indices[i]]; });
    });

    CsrMatrix result{.rows = matrix.columns,
                     .columns = matrix.rows,
                     .column_indices = unwritten_array<Index>(nonzeros),
                     .values = unwritten_array<double>(nonzeros)};
    make_zeros(result.row_offsets, static_cast<std::size_t>(matrix.columns) + 1);
    guarded_for("add_columns", UnevenHostRange<>(0, matrix.columns), [&](Index column) {
        Index all = 0;
        for (std::vector<Index>& of_piece : before) all += std::exchange(of_piece[column], all);
        result.row_offsets[column + 1] = all;
    });
    sum_up(result.row_offsets);
    guarded_for("place_entries", HostRange<int>(0, pieces), [&](int piece) {
        for_each_entry(piece, [&](Index row, Offset i) {
            const Index column = matrix.column_indices[i];
            const Offset place = result.row_offsets[column] + before[piece][column]++;
            result.column_indices[place] = row;
            result.values[place] = matrix.values[i];
        });
    });
    return result;
}

HostArray<Offset> permuted_offsets(std::span<const Offset> row_offsets, const Permutation& row_order) {
    HostArray<Offset> offsets = unwritten_array<Offset>(row_offsets.size());
    offsets[0] = 0;
    for_pieces(row_order.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const Index old = row_order.old_of_new(static_cast<Index>(row));
            offsets[row + 1] = row_offsets[old + 1] - row_offsets[old];
        }
    });
    sum_up(offsets);
    return offsets;
}

CsrMatrix permute(const CsrMatrix& matrix, const Permutation& row_order, const Permutation& column_order) {
    if (row_order.size() != matrix.rows || column_order.size() != matrix.columns) {
        throw std::invalid_argument("orders of " + std::to_string(row_order.size()) + " rows and " +
                                    std::to_string(column_order.size()) + " columns do not match a matrix of " +
                                    std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns));
    }
    CsrMatrix result{.rows = matrix.rows,
                     .columns = matrix.columns,
                     .row_offsets = permuted_offsets(matrix.row_offsets, row_order),
                     .column_indices = unwritten_array<Index>(matrix.column_indices.size()),
                     .values = unwritten_array<double>(matrix.values.size())};
    const bool columns_move = !column_order.is_identity();
    guarded_for("permute", UnevenHostRange<>(0, matrix.rows), [&](Index row) {
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
    if (matrix.rows < 0 || matrix.columns < 0) fail("a size is negative");
    if (matrix.row_offsets.size() != static_cast<std::size_t>(matrix.rows) + 1)
        fail("row_offsets does not have rows + 1 elements");
    if (matrix.row_offsets.front() != 0) fail("row_offsets does not start at 0");
    for (Index row = 0; row < matrix.rows; ++row) {
        if (matrix.row_length(row) < 0) fail("row_offsets descends at row " + std::to_string(row));
    }
    if (matrix.column_indices.size() != static_cast<std::size_t>(matrix.nonzeros()) ||
        matrix.values.size() != matrix.column_indices.size()) {
        fail("column_indices or values does not have as many elements as the last offset says");
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
