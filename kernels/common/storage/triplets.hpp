// Triplets, the storage that several layouts share: a row, a column and a value for each nonzero.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// The nonzeros of a share, row by row in the order in which the share stores its rows: the nonzeros of a row are neighbours.
template <typename Value, template <typename> typename Array>
struct Triplets {
    template <template <typename> typename Other>
    using In = Triplets<Value, Other>;

    Array<Index> row_indices;     // [nonzeros] of the matrix in its current order
    Array<Index> column_indices;  // [nonzeros]
    Array<Value> values;          // [nonzeros]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "rows [nonzeros]", of.row_indices...);
        visit(ArrayRole::column, "columns [nonzeros]", of.column_indices...);
        visit(ArrayRole::value, "values [nonzeros]", of.values...);
    }
};

/// A thread a triplet, which adds to y atomically.
struct EachTriplet : ScheduleDefaults {
    static constexpr int entries_in_flight = 1;
    static constexpr bool atomic = true;

    static constexpr Offset threads(const auto& triplets) { return static_cast<Offset>(triplets.values.size()); }
    static constexpr Run<Known<1>, Known<1>> run(const auto& triplets, Offset thread) {
        return {thread < threads(triplets) ? 0 : -1, thread};
    }
    static constexpr Index row_of(const auto& triplets, const auto& run, const auto& load) {
        return load(triplets.row_indices.data() + run.first);
    }
};

/// Throws std::logic_error where the arrays are not of one size, so that triplets which were tampered with are safe to walk.
void require_as_many_rows(const auto& triplets) {
    if (triplets.row_indices.size() != triplets.values.size()) throw std::logic_error("there are not as many rows as values");
}

template <ValueType Value>
[[nodiscard]] Triplets<Value, HostArray> build_triplets(const CsrMatrix& matrix, const ShareView& share);

/// The positions in CsrMatrix::values of a share's entries, as triplets have them.
[[nodiscard]] HostArray<Offset> entries_of(const ShareView& share);

}  // namespace workbench
