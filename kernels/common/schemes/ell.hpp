// ELL, a storage that several layouts share: every row has as many slots as the longest one.
// Source: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989); on a GPU: Bell, Garland (2008), and the dissertation by
// Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3.
#pragma once

#include "core/matrix/shares.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

enum class EllOrder {
    row_major,     // the slots of a row are neighbours
    column_major,  // the k-th slots of all rows are neighbours
};

/// The column of padding, for which no kernel reads x.
inline constexpr Index no_column = -1;

/// All of ELL but the columns and the values.
struct EllSize {
    EllOrder order = EllOrder::column_major;
    Index row_count = 0;     // rows stored
    Index column_count = 0;  // of the matrix
    Index width = 0;         // slots of each row

    static constexpr auto fields() {
        return field_list(number_field<&EllSize::order>(), number_field<&EllSize::row_count>(),
                          number_field<&EllSize::column_count>(), number_field<&EllSize::width>());
    }

    /// Below 2^62, as both factors are below 2^31.
    [[nodiscard]] constexpr Offset slot_count() const { return static_cast<Offset>(row_count) * width; }
    [[nodiscard]] constexpr Offset slot(Index stored, Index k) const {
        return order == EllOrder::row_major ? static_cast<Offset>(stored) * width + k
                                            : static_cast<Offset>(k) * row_count + stored;
    }
};

/// The rows of a share, packed to the left: slot k of the row at place r holds its k-th nonzero, or padding of column -1, whose
/// value is 0.
template <typename Value, template <typename> typename Array>
struct Ell : EllSize {
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(EllSize::fields(), column_array<&Ell::column_indices>("row_count * width"),
                          value_array<&Ell::values>("row_count * width"));
    }
};

/// The slots of a stored row that one of its lanes reads: every lanes-th, beginning with slot `lane`.
template <EllOrder order, int lanes>
[[nodiscard]] constexpr auto run_in_ell(const auto& ell, Index row, Offset stored, int lane) {
    const Offset count = (ell.width - lane + lanes - 1) / lanes;
    if constexpr (order == EllOrder::row_major) {
        return Run<Known<lanes>>{row, stored * ell.width + lane, count};
    } else {
        return Run<Offset>{row, stored + Offset{lane} * ell.row_count, count, Offset{lanes} * ell.row_count};
    }
}

/// Throws Unsuitable, with the figures, if the slots exceed `slots_per_nonzero` times the nonzeros, or the free memory.
template <ValueType Value>
[[nodiscard]] Ell<Value, HostArray> build_ell(const CsrMatrix& matrix, const ShareView& share, EllOrder order,
                                              double slots_per_nonzero);

}  // namespace workbench
