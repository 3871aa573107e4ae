// Triplets, a storage that several layouts share: a row, a column and a value for each nonzero.
#pragma once

#include "core/matrix/shares.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// The rows and columns of triplets.
template <template <typename> typename Array>
struct TripletPlaces {
    Array<Index> row_indices;  // of the matrix in its current order
    Array<Index> column_indices;

    static constexpr auto fields() {
        return field_list(structure_array<&TripletPlaces::row_indices>("nonzeros"),
                          column_array<&TripletPlaces::column_indices>("nonzeros"));
    }
};

/// The nonzeros of a share in the order of its rows: those of a row are neighbours.
template <typename StoredValue, template <typename> typename Array>
struct Triplets : TripletPlaces<Array> {
    ValueArray<StoredValue, Array> values;

    static constexpr auto fields() {
        return field_list(TripletPlaces<Array>::fields(), coded_value_array<&Triplets::values>("nonzeros"));
    }
};

/// A thread a triplet, which adds to y atomically.
struct EachTriplet final : ScheduleBase<Hooks{.entries_in_flight = 1, .atomic = true, .own_row_of = true}> {
    static constexpr Offset threads(const auto& triplets) { return static_cast<Offset>(triplets.values.size()); }
    static constexpr Run<Known<1>, Known<1>> run(const auto& triplets, Offset thread, const auto&) {
        return {thread < threads(triplets) ? 0 : -1, thread};
    }
    static constexpr Index row_of(const auto& triplets, const auto& run, const auto& load) {
        return load(triplets.row_indices.data() + run.first);
    }
};

/// A thread for each row with triplets, whose first triplet has the thread's number.
struct TripletRows final : ScheduleBase<> {
    static constexpr Offset threads(const auto& triplets) { return static_cast<Offset>(triplets.values.size()); }
    static constexpr Run<Known<1>> run(const auto& triplets, Offset thread, const auto&) {
        const auto& rows = triplets.row_indices;
        if (thread > 0 && rows[thread - 1] == rows[thread]) return {};
        Offset end = thread + 1;
        while (end < threads(triplets) && rows[end] == rows[thread]) ++end;
        return {rows[thread], thread, end - thread};
    }
};

/// Throws std::logic_error if the arrays differ in size, so that corrupted triplets are safe to walk.
void require_as_many_rows(const auto& triplets) {
    const auto count = static_cast<std::size_t>(triplets.values.size());
    if (triplets.row_indices.size() != count) throw std::logic_error("there are not as many rows as values");
}

template <ValueType Value>
[[nodiscard]] Triplets<Value, HostArray> build_triplets(const CsrMatrix& matrix, const ShareView& share);

/// The positions in CsrMatrix::values of a share's entries, in the order of the triplets.
[[nodiscard]] HostArray<Offset> entries_of(const ShareView& share);

}  // namespace workbench
