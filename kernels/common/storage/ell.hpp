// ELL, the storage that several layouts share: every row has as many slots as the longest one.
// Source: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989); on a GPU: Bell, Garland (2008), and the dissertation by
// Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

enum class EllOrder {
    row_major,     // the slots of a row are neighbours
    column_major,  // the k-th slots of all rows are neighbours
};

/// The column that is stored in padding: no kernel reads x for it.
inline constexpr Index no_column = -1;

/// The rows of a share, packed to the left: slot k of the row stored at place r holds its k-th nonzero, or padding of value 0
/// and column -1.
template <typename Value, template <typename> typename Array>
struct Ell {
    template <template <typename> typename Other>
    using In = Ell<Value, Other>;

    EllOrder order = EllOrder::column_major;
    Index row_count = 0;          // rows stored
    Index column_count = 0;       // of the matrix
    Index width = 0;              // slots of each row
    Array<Index> column_indices;  // [row_count * width]
    Array<Value> values;          // [row_count * width]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "order", of.order...);
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::number, "width", of.width...);
        visit(ArrayRole::column, "columns [row_count * width]", of.column_indices...);
        visit(ArrayRole::value, "values [row_count * width]", of.values...);
    }

    /// Below 2^62, as both factors are below 2^31.
    [[nodiscard]] constexpr Offset slot_count() const { return static_cast<Offset>(row_count) * width; }
    [[nodiscard]] constexpr Offset slot(Index stored, Index k) const {
        return order == EllOrder::row_major ? static_cast<Offset>(stored) * width + k
                                            : static_cast<Offset>(k) * row_count + stored;
    }
};

/// The slots of a stored row that one of its lanes reads: every lanes-th, from slot `lane` on.
template <EllOrder order, int lanes>
[[nodiscard]] constexpr auto run_in_ell(const auto& ell, Index row, Offset stored, int lane) {
    const Offset count = (ell.width - lane + lanes - 1) / lanes;
    if constexpr (order == EllOrder::row_major) {
        return Run<Known<lanes>>{row, stored * ell.width + lane, count};
    } else {
        return Run<Offset>{row, stored + Offset{lane} * ell.row_count, count, Offset{lanes} * ell.row_count};
    }
}

/// A schedule with one lane a row, for the order in which the slots lie.
template <template <EllOrder, int> typename Rows>
struct EllRowsOfOneLane {
    static auto choose(const auto& ell, const auto& use) {
        return ell.order == EllOrder::row_major ? use(Rows<EllOrder::row_major, 1>{}) : use(Rows<EllOrder::column_major, 1>{});
    }
};

/// Throws Unsuitable, with the figures, where the slots are more than `slots_per_nonzero` times the nonzeros, or where they
/// would not fit into memory.
template <ValueType Value>
[[nodiscard]] Ell<Value, HostArray> build_ell(const CsrMatrix& matrix, const ShareView& share, EllOrder order,
                                              double slots_per_nonzero);

}  // namespace workbench
