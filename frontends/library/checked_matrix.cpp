#include "frontends/library/checked_matrix.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/sort_row.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

using spmv_workbench::ArrayView;

[[noreturn]] void refuse(const std::string& what) { throw InputError("the matrix: " + what); }

/// The first row for which `is_right` is false, or -1. `is_right` is called for every row, by several threads.
template <typename IsRight>
Index first_wrong_row(Index rows, const IsRight& is_right) {
    constexpr Index none = std::numeric_limits<Index>::max();
    Index first = none;
    Kokkos::parallel_reduce(
        Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<Index>>(0, rows),
        [&](Index row, Index& least) {
            if (!is_right(row)) least = std::min(least, row);
        },
        Kokkos::Min<Index>(first));
    return first == none ? -1 : first;
}

template <typename Given>
HostArray<Offset> checked_offsets(ArrayView<const Given> offsets, Index rows) {
    const std::size_t expected = static_cast<std::size_t>(rows) + 1;
    if (offsets.size() != expected) {
        refuse(fmt::format("{} for {}; expected {}", counted(offsets.size(), "row offset"), counted(rows, "row"), expected));
    }
    if (offsets[0] != 0) refuse(fmt::format("row_offsets[0] is {}; expected 0", offsets[0]));
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        if (offsets[row + 1] >= offsets[row]) continue;
        refuse(fmt::format("row_offsets[{}] is {}, less than its predecessor {}", row + 1, offsets[row + 1], offsets[row]));
    }
    return {offsets.begin(), offsets.end()};
}

template <ValueType Value>
CsrMatrix sorted_copy(const spmv_workbench::CsrView<Value>& view) {
    if (view.rows < 0 || view.columns < 0) {
        refuse(fmt::format("{} and {}; expected non-negative numbers", counted(view.rows, "row"),
                           counted(view.columns, "column")));
    }
    const std::size_t entries = view.column_indices.size();
    require_host_memory((static_cast<std::size_t>(view.rows) + 1) * sizeof(Offset) + entries * (sizeof(Index) + sizeof(double)),
                        "a copy of the matrix");
    CsrMatrix matrix;
    matrix.rows = view.rows;
    matrix.columns = view.columns;
    matrix.row_offsets = view.short_row_offsets.size() > 0 ? checked_offsets(view.short_row_offsets, view.rows)
                                                           : checked_offsets(view.row_offsets, view.rows);
    if (static_cast<std::size_t>(matrix.nonzeros()) != entries || view.values.size() != entries) {
        refuse(fmt::format("{} and {}; expected {} of each, the last row offset", counted(entries, "column index"),
                           counted(view.values.size(), "value"), matrix.nonzeros()));
    }

    make_room(matrix.column_indices, entries);
    make_room(matrix.values, entries);
    const Index out_of_range = first_wrong_row(view.rows, [&](Index row) {
        bool right = true;
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            matrix.column_indices[k] = view.column_indices[k];
            matrix.values[k] = static_cast<double>(view.values[k]);
            right = right && view.column_indices[k] >= 0 && view.column_indices[k] < view.columns;
        }
        return right;
    });
    if (out_of_range >= 0) {
        const auto columns = matrix.row_columns(out_of_range);
        const auto wrong =
            std::find_if(columns.begin(), columns.end(), [&](Index column) { return column < 0 || column >= view.columns; });
        refuse(fmt::format("row {} has an entry in column {}; expected 0 to {}", out_of_range, *wrong, view.columns - 1));
    }

    for_each_in_parallel(view.rows, 256, [&](std::int64_t row) {
        const Offset begin = matrix.row_offsets[row];
        sort_row(matrix.column_indices.data() + begin, matrix.values.data() + begin,
                 matrix.row_length(static_cast<Index>(row)));
    });
    const Index doubled = first_wrong_row(view.rows, [&](Index row) {
        const auto columns = matrix.row_columns(row);
        return std::adjacent_find(columns.begin(), columns.end()) == columns.end();
    });
    if (doubled >= 0) {
        const auto columns = matrix.row_columns(doubled);
        refuse(fmt::format("row {} has column {} twice; expected each column at most once (add the values)", doubled,
                           *std::adjacent_find(columns.begin(), columns.end())));
    }
    return matrix;
}

/// See GivenMatrix.
template <ValueType Value>
HostArray<Offset> entry_order(const spmv_workbench::CsrView<Value>& view, const CsrMatrix& checked) {
    HostArray<Offset> order;
    const auto columns_of = [&](Index row) { return view.column_indices.data() + checked.row_offsets[row]; };
    const bool is_sorted = first_wrong_row(view.rows, [&](Index row) {
                               return std::is_sorted(columns_of(row), columns_of(row) + checked.row_length(row));
                           }) < 0;
    if (is_sorted) return order;
    make_room(order, checked.values.size());
    for_each_in_parallel(view.rows, 256, [&](std::int64_t number) {
        const auto row = static_cast<Index>(number);
        const auto begin = order.begin() + checked.row_offsets[row];
        const auto end = begin + checked.row_length(row);
        std::iota(begin, end, checked.row_offsets[row]);
        std::sort(begin, end, [&](Offset a, Offset b) { return view.column_indices[a] < view.column_indices[b]; });
    });
    return order;
}

/// Adds the other half of a symmetric matrix to its lower or upper triangle.
void add_other_half(GivenMatrix& checked, bool is_lower) {
    const std::size_t entries = checked.matrix.values.size();
    require_host_memory(entries * (3 * sizeof(Index) + 4 * sizeof(double) + 2 * sizeof(Offset)), "a symmetric matrix");
    const HostArray<double> values = checked.matrix.values;
    CsrMatrix lower = std::move(checked.matrix);
    std::iota(lower.values.begin(), lower.values.end(), 0.0);  // the numbers of the entries, to be transposed with them
    CsrMatrix upper = transpose(lower);
    if (!is_lower) std::swap(lower, upper);
    const auto has_diagonal = [&](Index row) { return lower.row_length(row) > 0 && lower.row_columns(row).back() == row; };

    CsrMatrix whole = {.rows = lower.rows, .columns = lower.columns, .column_indices = {}, .values = {}};
    make_zeros(whole.row_offsets, static_cast<std::size_t>(lower.rows) + 1);
    for (Index row = 0; row < lower.rows; ++row) {
        whole.row_offsets[row + 1] = lower.row_length(row) + upper.row_length(row) - (has_diagonal(row) ? 1 : 0);
    }
    sum_up(whole.row_offsets);
    make_room(whole.column_indices, static_cast<std::size_t>(whole.nonzeros()));
    make_room(whole.values, whole.column_indices.size());
    HostArray<Offset> order = unwritten_array<Offset>(whole.column_indices.size());
    for_each_in_parallel(lower.rows, 256, [&](std::int64_t number) {
        const auto row = static_cast<Index>(number);
        Offset place = whole.row_offsets[row];
        const auto append = [&](const CsrMatrix& half, Offset begin) {
            for (Offset k = begin; k < half.row_offsets[row + 1]; ++k, ++place) {
                const auto entry = static_cast<std::size_t>(half.values[k]);
                whole.column_indices[place] = half.column_indices[k];
                whole.values[place] = values[entry];
                order[place] = checked.entry_order.empty() ? static_cast<Offset>(entry) : checked.entry_order[entry];
            }
        };
        append(lower, lower.row_offsets[row]);
        append(upper, upper.row_offsets[row] + (has_diagonal(row) ? 1 : 0));
    });
    checked = {.matrix = std::move(whole), .entry_order = std::move(order)};
}

void decide_triangle(GivenMatrix& checked, spmv_workbench::Triangle triangle) {
    using spmv_workbench::Triangle;
    const CsrMatrix& matrix = checked.matrix;
    const bool is_half = triangle == Triangle::symmetric;
    if (triangle == Triangle::as_given || (!matrix.square() && !is_half)) return;
    if (!matrix.square()) {
        refuse(fmt::format("{} and {}; expected half of a symmetric matrix", counted(matrix.rows, "row"),
                           counted(matrix.columns, "column")));
    }
    const auto first_row_with = [&](const auto& is_beside) {
        return first_wrong_row(matrix.rows, [&](Index row) { return matrix.row_length(row) == 0 || !is_beside(row); });
    };
    const Index below = first_row_with([&](Index row) { return matrix.row_columns(row).front() < row; });
    const Index above = first_row_with([&](Index row) { return matrix.row_columns(row).back() > row; });
    if (is_half && below >= 0 && above >= 0) {
        refuse(
            fmt::format("row {} has an entry before the diagonal and row {} one after it; expected half of a symmetric matrix",
                        below, above));
    }
    if ((below >= 0) == (above >= 0)) return;
    if (is_half) return add_other_half(checked, below >= 0);
    refuse(
        fmt::format("all entries are on the diagonal or {} it; expected the option triangle: symmetric (this is half of a "
                    "symmetric matrix) or as_given (it is triangular)",
                    below >= 0 ? "below" : "above"));
}

}  // namespace

template <ValueType Value>
GivenMatrix checked_matrix(const spmv_workbench::CsrView<Value>& view, spmv_workbench::Triangle triangle) {
    GivenMatrix checked{.matrix = sorted_copy(view), .entry_order = {}};
    checked.entry_order = entry_order(view, checked.matrix);
    decide_triangle(checked, triangle);
    return checked;
}

template GivenMatrix checked_matrix(const spmv_workbench::CsrView<float>&, spmv_workbench::Triangle);
template GivenMatrix checked_matrix(const spmv_workbench::CsrView<double>&, spmv_workbench::Triangle);

}  // namespace workbench
