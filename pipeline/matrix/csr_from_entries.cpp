#include <sys/mman.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>

#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/sort_row.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Pieces = std::span<const std::span<const Entry>>;

/// Rows from first to last - 1.
struct RowRange {
    Index first = 0;
    Index last = 0;

    [[nodiscard]] bool has(Index row) const {
        return static_cast<std::uint32_t>(row) - static_cast<std::uint32_t>(first) < static_cast<std::uint32_t>(last - first);
    }
};

/// Calls visit(row, column, value) for the entries of these rows, mirror images among them, in the order of the list.
template <typename Visit>
void for_each_entry(Pieces pieces, Mirror mirror, RowRange rows, const Visit& visit) {
    const double sign = mirror == Mirror::negated ? -1 : 1;
    for (const std::span<const Entry> piece : pieces) {
        for (const Entry& entry : piece) {
            if (rows.has(entry.row)) visit(entry.row, entry.column, entry.value);
            if (mirror != Mirror::nothing && entry.row != entry.column && rows.has(entry.column)) {
                visit(entry.column, entry.row, sign * entry.value);
            }
        }
    }
}

// Each thread goes through the whole list and takes what lies in its rows: the entries of a row keep their order without any
// further memory, and none waits for another. Reading the list is a small part of the work as long as threads are few.
template <typename Work>
void for_each_range(const std::vector<Index>& bounds, const Work& work) {
    Kokkos::parallel_for("csr_from_entries", Kokkos::RangePolicy<Host, Kokkos::IndexType<int>>(0, bounds.size() - 1),
                         [&](int i) {
                             work(RowRange{bounds[i], bounds[i + 1]});
                         });
}

int range_count() {
    constexpr int most_threads = 16;
    return std::min(Host().concurrency(), most_threads);  // NOLINT(readability-static-accessed-through-instance)
}

std::vector<Index> ranges_of_equal_rows(Index rows, int count) {
    std::vector<Index> bounds(count + 1);
    for (int i = 0; i <= count; ++i) bounds[i] = static_cast<Index>(std::int64_t{rows} * i / count);
    return bounds;
}

std::vector<Index> ranges_of_equal_work(const std::vector<Offset>& row_offsets, int count) {
    std::vector<Index> bounds(count + 1);
    for (int i = 1; i < count; ++i) {
        const auto bound = std::lower_bound(row_offsets.begin(), row_offsets.end() - 1, row_offsets.back() / count * i);
        bounds[i] = static_cast<Index>(bound - row_offsets.begin());
    }
    bounds[count] = static_cast<Index>(row_offsets.size() - 1);
    return bounds;
}

/// Room for so many items, of zeros. Large arrays are asked for in huge pages, where the system has them: entries come from all
/// over the list, and with small pages looking up the addresses takes longer than the rest.
template <typename Item>
void make_room(std::vector<Item>& items, Offset count) {
    items.reserve(count);
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const auto begin = (reinterpret_cast<std::uintptr_t>(items.data()) + huge_page - 1) / huge_page * huge_page;
    const auto end = reinterpret_cast<std::uintptr_t>(items.data() + count) / huge_page * huge_page;
    if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice, no more
    items.resize(count);
}

void check_entries(Index rows, Index columns, Pieces pieces, Mirror mirror) {
    if (mirror != Mirror::nothing && rows != columns) {
        throw std::invalid_argument("mirror images in a matrix that is not square");
    }
    const RowRange all_rows{0, rows};
    const RowRange all_columns{0, columns};
    std::atomic<const Entry*> outside = nullptr;
    Kokkos::parallel_for("check_entries", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::size_t>>(0, pieces.size()),
                         [&](std::size_t i) {
                             for (const Entry& entry : pieces[i]) {
                                 if (!all_rows.has(entry.row) || !all_columns.has(entry.column)) outside = &entry;
                             }
                         });
    if (const Entry* entry = outside) {
        throw std::out_of_range("entry (" + std::to_string(entry->row) + ", " + std::to_string(entry->column) +
                                ") lies outside " + std::to_string(rows) + " x " + std::to_string(columns));
    }
}

/// Sorts all rows; says whether any has a column twice.
bool sort_rows(CsrMatrix& matrix) {
    std::atomic<bool> duplicates = false;
    Kokkos::parallel_for("sort_rows",
                         Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>(0, matrix.rows),
                         [&](Index row) {
                             Index* columns = matrix.column_indices.data() + matrix.row_offsets[row];
                             const Offset length = matrix.row_length(row);
                             sort_row(columns, matrix.values.data() + matrix.row_offsets[row], length);
                             if (std::adjacent_find(columns, columns + length) != columns + length) duplicates = true;
                         });
    return duplicates;
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

CsrMatrix csr_from_entries(Index rows, Index columns, Pieces pieces, Mirror mirror) {
    check_entries(rows, columns, pieces, mirror);
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    std::vector<Offset>& offsets = matrix.row_offsets;
    offsets.clear();
    make_room(offsets, Offset{rows} + 1);
    for_each_range(ranges_of_equal_rows(rows, range_count()), [&](RowRange range) {
        for_each_entry(pieces, mirror, range, [&offsets](Index row, Index, double) { ++offsets[row + 1]; });
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

    make_room(matrix.column_indices, offsets.back());
    make_room(matrix.values, offsets.back());
    // offsets[row] is where the row's next entry goes, and in the end the beginning of the next row.
    for_each_range(ranges_of_equal_work(offsets, range_count()), [&](RowRange range) {
        for_each_entry(pieces, mirror, range, [&](Index row, Index column, double value) {
            const Offset place = offsets[row]++;
            matrix.column_indices[place] = column;
            matrix.values[place] = value;
        });
    });
    std::copy_backward(offsets.begin(), offsets.end() - 1, offsets.end());
    offsets.front() = 0;
    if (sort_rows(matrix)) sum_duplicates(matrix);
    return matrix;
}

CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const Entry> entries) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    std::vector<std::span<const Entry>> pieces;
    for (std::size_t i = 0; i < entries.size(); i += piece) {
        pieces.push_back(entries.subspan(i, std::min(piece, entries.size() - i)));
    }
    return csr_from_entries(rows, columns, pieces, Mirror::nothing);
}

}  // namespace workbench
