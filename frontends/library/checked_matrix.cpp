#include "frontends/library/checked_matrix.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/sort_row.hpp"
#include "core/system/host_memory.hpp"
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
        refuse(fmt::format("{} row offsets for {} rows; expected {}", offsets.size(), rows, expected));
    }
    if (offsets[0] != 0) refuse(fmt::format("row_offsets[0] is {}; expected 0", offsets[0]));
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        if (offsets[row + 1] >= offsets[row]) continue;
        refuse(fmt::format("row_offsets[{}] is {}, less than its predecessor {}", row + 1, offsets[row + 1], offsets[row]));
    }
    return {offsets.begin(), offsets.end()};
}

}  // namespace

template <ValueType Value>
CsrMatrix checked_matrix(const spmv_workbench::CsrView<Value>& view) {
    if (view.rows < 0 || view.columns < 0) {
        refuse(fmt::format("{} rows and {} columns; expected non-negative numbers", view.rows, view.columns));
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
        refuse(fmt::format("{} column indices and {} values; expected {} of each, the last row offset", entries,
                           view.values.size(), matrix.nonzeros()));
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

template HostArray<Offset> entry_order(const spmv_workbench::CsrView<float>&, const CsrMatrix&);
template HostArray<Offset> entry_order(const spmv_workbench::CsrView<double>&, const CsrMatrix&);
template CsrMatrix checked_matrix(const spmv_workbench::CsrView<float>&);
template CsrMatrix checked_matrix(const spmv_workbench::CsrView<double>&);

}  // namespace workbench
