#include "stages/split_marks.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include "pipeline/matrix/guarded_loop.hpp"
#include "stages/order.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// visit(row of the matrix, entry) for the entries of one stored row.
template <typename Visit>
void for_each_entry(const ShareView& view, Index stored, const Visit& visit) {
    for (Offset k = 0; k < view.length(stored); ++k) visit(view.row(stored), view.entry(stored, k));
}

/// Counts the entries by some number in [0, numbers), and marks those whose number is dense.
template <typename NumberOf, typename IsDense>
Marks mark_by_number(const CsrMatrix& matrix, const ShareView& view, Offset numbers, const NumberOf& number_of,
                     const IsDense& is_dense) {
    std::vector<Offset> counts(numbers, 0);
    Kokkos::parallel_for("count_entries", Range(0, view.row_count()), [&](Index stored) {
        for_each_entry(view, stored, [&](Index row, Offset entry) {
            std::atomic_ref<Offset>(counts[number_of(row, entry)]).fetch_add(1, std::memory_order_relaxed);
        });
    });
    Marks marks{std::vector<unsigned char>(matrix.values.size(), 0)};
    std::vector<unsigned char> dense(numbers, 0);
    for (Offset number = 0; number < numbers; ++number) {
        if (counts[number] == 0) continue;
        dense[number] = is_dense(number, counts[number]) ? 1 : 0;
        marks.dense += dense[number];
        ++marks.present;
    }
    Kokkos::parallel_for("mark_entries", Range(0, view.row_count()), [&](Index stored) {
        for_each_entry(view, stored, [&](Index row, Offset entry) { marks.marked[entry] = dense[number_of(row, entry)]; });
    });
    return marks;
}

/// The stored rows of a view in the order of their rows in the matrix.
std::vector<Index> stored_by_row(const ShareView& view) {
    std::vector<Index> stored = all_of(view.row_count());
    std::sort(stored.begin(), stored.end(), [&](Index a, Index b) { return view.row(a) < view.row(b); });
    return stored;
}

/// Marks the entries of stored rows that lie in one row of blocks. Returns how many blocks are dense, and how many there are.
std::pair<Offset, Offset> mark_block_row(const CsrMatrix& matrix, const ShareView& view, std::span<const Index> stored_rows,
                                         Index size, double fill, std::vector<unsigned char>& marked) {
    std::vector<Index> blocks;  // of every entry
    for (const Index stored : stored_rows) {
        for_each_entry(view, stored, [&](Index, Offset entry) { blocks.push_back(matrix.column_indices[entry] / size); });
    }
    std::sort(blocks.begin(), blocks.end());
    const Offset first_row = Offset{view.row(stored_rows.front()) / size} * size;
    const Offset height = std::min<Offset>(size, matrix.rows - first_row);
    std::vector<Index> dense;
    Offset present = 0;
    for (auto begin = blocks.begin(); begin != blocks.end(); ++present) {
        const auto end = std::upper_bound(begin, blocks.end(), *begin);
        const Offset width = std::min<Offset>(size, matrix.columns - Offset{*begin} * size);
        if (static_cast<double>(end - begin) >= fill * static_cast<double>(height * width)) dense.push_back(*begin);
        begin = end;
    }
    for (const Index stored : stored_rows) {
        for_each_entry(view, stored, [&](Index, Offset entry) {
            marked[entry] = std::binary_search(dense.begin(), dense.end(), matrix.column_indices[entry] / size) ? 1 : 0;
        });
    }
    return {static_cast<Offset>(dense.size()), present};
}

}  // namespace

Marks mark_dense_diagonals(const CsrMatrix& matrix, const ShareView& view, double fill) {
    const Offset below_main = std::max<Offset>(matrix.rows, 1) - 1;
    const auto number_of = [&](Index row, Offset entry) { return below_main + matrix.column_indices[entry] - row; };
    const auto is_dense = [&](Offset number, Offset count) {
        const Offset diagonal = number - below_main;  // column - row
        const Offset first_row = std::max<Offset>(0, -diagonal);
        const Offset end_row = std::min<Offset>(matrix.rows, matrix.columns - diagonal);
        return static_cast<double>(count) >= fill * static_cast<double>(end_row - first_row);
    };
    return mark_by_number(matrix, view, below_main + matrix.columns, number_of, is_dense);
}

Marks mark_dense_blocks(const CsrMatrix& matrix, const ShareView& view, Index size, double fill) {
    const std::vector<Index> stored = stored_by_row(view);
    std::vector<std::size_t> begins;  // of the rows of blocks
    for (std::size_t i = 0; i < stored.size(); ++i) {
        if (i == 0 || view.row(stored[i]) / size != view.row(stored[i - 1]) / size) begins.push_back(i);
    }
    begins.push_back(stored.size());
    Marks marks{std::vector<unsigned char>(matrix.values.size(), 0)};
    std::atomic<Offset> dense = 0;
    std::atomic<Offset> present = 0;
    guarded_for("mark_blocks", Range(0, static_cast<Index>(begins.size()) - 1), [&](Index i) {
        const std::span<const Index> rows(stored.data() + begins[i], begins[i + 1] - begins[i]);
        const auto [of_row, present_of_row] = mark_block_row(matrix, view, rows, size, fill, marks.marked);
        dense += of_row;
        present += present_of_row;
    });
    marks.dense = dense;
    marks.present = present;
    return marks;
}

Marks mark_dense_columns(const CsrMatrix& matrix, const ShareView& view, double density) {
    const auto number_of = [&](Index, Offset entry) { return Offset{matrix.column_indices[entry]}; };
    const auto is_dense = [&](Offset, Offset count) { return static_cast<double>(count) > density * matrix.rows; };
    return mark_by_number(matrix, view, matrix.columns, number_of, is_dense);
}

}  // namespace workbench
