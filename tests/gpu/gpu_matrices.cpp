#include "gpu/gpu_matrices.hpp"

#include <algorithm>
#include <cstdint>

#include "core/matrix/random.hpp"

namespace workbench {
namespace {

/// In [-1, 1), never 0.
double value_at(Index row, Index column) {
    const auto bits = mixed((static_cast<std::uint64_t>(row) << 32) | static_cast<std::uint32_t>(column)) % (1U << 20);
    return (static_cast<double>(bits) + 0.5) / (1 << 19) - 1;
}

}  // namespace

CsrMatrix uneven_matrix(Index rows, Index columns, Index most_per_row) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        if (row % 97 == 96) continue;
        const auto seed = static_cast<std::uint64_t>(row) << 24;
        const auto near_count = static_cast<Index>(mixed(seed) % static_cast<std::uint64_t>(most_per_row)) + 1;
        const Index far_count = row % 701 == 700 ? 3000 : static_cast<Index>(mixed(seed + 1) % 3);
        const auto diagonal = static_cast<Index>(std::int64_t{row} * columns / rows);
        for (Index i = 0; i < near_count + far_count; ++i) {
            const std::uint64_t random = mixed(seed + 2 + static_cast<std::uint64_t>(i));
            const Index window = 4 * most_per_row;
            const Index column = i < near_count
                                     ? diagonal - window / 2 + static_cast<Index>(random % static_cast<unsigned>(window))
                                     : static_cast<Index>(random % static_cast<unsigned>(columns));
            if (column >= 0 && column < columns) entries.push_back({row, column, value_at(row, i)});
        }
    }
    return csr_from_entries(rows, columns, entries);
}

CsrMatrix matrix_of_rows(const std::vector<Index>& lengths, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index k = 0; k < lengths[row]; ++k) {
            const auto column = static_cast<Index>((std::int64_t{k} * 7 + row) % columns);
            entries.push_back({row, column, value_at(row, column)});
        }
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

CsrMatrix long_rows_matrix() {
    std::vector<Index> lengths;
    for (const Index length : {1,   31,  32,   33,   127,  128,  129,  255,  256,  257,  300,  511,
                               512, 513, 1023, 1024, 1025, 1800, 3445, 8191, 8192, 8193, 20000}) {
        for (Index k = 0; k < 40; ++k) lengths.push_back(k % 5);
        lengths.resize(lengths.size() + length, 0);
        lengths.resize(lengths.size() + 2, length);
    }
    lengths.resize(lengths.size() + 1000, 0);
    return matrix_of_rows(lengths, 20011);
}

CsrMatrix block_diagonal_matrix(const std::vector<Index>& boundaries) {
    std::vector<Entry> entries;
    for (std::size_t piece = 0; piece + 1 < boundaries.size(); ++piece) {
        for (Index row = boundaries[piece]; row < boundaries[piece + 1]; ++row) {
            for (Index column = std::max(row - 3, boundaries[piece]); column < std::min(row + 5, boundaries[piece + 1]);
                 ++column) {
                entries.push_back({row, column, value_at(row, column)});
            }
        }
    }
    return csr_from_entries(boundaries.back(), boundaries.back(), entries);
}

std::vector<Index> uneven_boundaries(Index rows, Index count) {
    std::vector<Index> boundaries{0, 0, std::min<Index>(1, rows)};
    for (Index i = 1; i <= count; ++i) {
        const auto boundary = static_cast<Index>(std::int64_t{rows} * i / count);
        boundaries.push_back(std::max(boundary, boundaries.back()));
    }
    return boundaries;
}

CsrMatrix sum_with_transpose(const CsrMatrix& matrix) {
    std::vector<Entry> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            entries.push_back({row, matrix.column_indices[i], matrix.values[i]});
            entries.push_back({matrix.column_indices[i], row, matrix.values[i]});
        }
    }
    return csr_from_entries(matrix.rows, matrix.columns, entries);
}

CsrMatrix with_values(CsrMatrix matrix, const std::function<double(std::size_t)>& value_of) {
    for (std::size_t k = 0; k < matrix.values.size(); ++k) matrix.values[k] = value_of(k);
    return matrix;
}

}  // namespace workbench
