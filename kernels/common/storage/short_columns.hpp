// Columns of 16 bits for sliced storage, counted from the first column of their slice. A slice that reaches over more than
// 65536 columns keeps 32 bits: the upper halves are in an array of their own, so that the other slices are not larger for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// Columns of 32 bits have no further arrays.
template <typename ColumnIndex, template <typename> typename Array>
struct SliceColumns {
    static constexpr auto fields() { return field_list(); }
};

/// A slice that reaches over more columns than 16 bits count is wide: its columns count from 0, and their upper halves are in
/// an array of their own.
template <template <typename> typename Array>
struct SliceColumns<std::uint16_t, Array> {
    Array<Index> first_columns;         // of wide slice i: -1 - i
    Array<Offset> wide_offsets;         // where the upper halves of its columns begin
    Array<std::uint16_t> high_columns;  // the upper halves, in the order of the slots

    static constexpr auto fields() {
        return field_list(structure_array<&SliceColumns::first_columns>("slices"),
                          structure_array<&SliceColumns::wide_offsets>("wide slices"),
                          column_array<&SliceColumns::high_columns>("slots of wide slices"));
    }
};

template <typename Arrays>
concept HasShortColumns = requires(const Arrays& arrays) {
    arrays.first_columns;
};

/// The result of shorten_columns.
struct ShortColumns {
    HostArray<std::uint16_t> column_indices;  // [slots]
    SliceColumns<std::uint16_t, HostArray> of_slices;
};

/// The columns of slices in 16 bits, in parallel. columns: those of the matrix, [slots]. length_of_lane(lane) is the number of
/// its slots that hold a nonzero; the others get the first column of their slice.
[[nodiscard]] ShortColumns shorten_columns(const HostArray<Index>& columns, const HostArray<Offset>& slice_offsets,
                                           Index slice_height, const std::function<Offset(Offset)>& length_of_lane);

/// Throws std::logic_error if a slice lacks its first column, or a wide one its upper halves, so that corrupted arrays are safe
/// to walk.
void require_sound_columns(const SliceColumns<std::uint16_t, HostArray>& columns, const HostArray<Offset>& slice_offsets);

/// For Layout::notes: "slices with columns of 32 bits", "3 of 17".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> notes_on_columns(
    const SliceColumns<std::uint16_t, HostArray>& columns);

/// The run of a lane of a slice that may be wide.
template <typename OwnRun>
struct RunOfWideSlice : OwnRun {
    bool wide = false;
    Offset to_high = 0;  // from a slot to the upper half of its column
};

/// The kinds of columns that schedules over slices are compiled for.
enum class ColumnKind { as_stored, of_slices, of_wide_slices };

/// The run with the first column of its slice.
template <ColumnKind kind>
[[nodiscard]] constexpr auto with_columns_of_slice(const auto& arrays, auto run, Offset slice) {
    if constexpr (kind == ColumnKind::as_stored) {
        return run;
    } else {
        const Index first = arrays.first_columns[slice];
        if constexpr (kind == ColumnKind::of_slices) {
            run.first_column = first;
            return run;
        } else {
            RunOfWideSlice<decltype(run)> of_slice{run};
            of_slice.wide = first < 0;
            if (first < 0) {
                of_slice.to_high = arrays.wide_offsets[-1 - first] - arrays.slice_offsets[slice];
            } else {
                of_slice.first_column = first;
            }
            return of_slice;
        }
    }
}

/// The functions of a schedule over slices that compute columns.
template <ColumnKind kind>
struct ColumnsOfSlices {};
template <>
struct ColumnsOfSlices<ColumnKind::of_wide_slices> {
    static constexpr bool has_plain_columns(const auto& run) { return !run.wide; }
    static constexpr Index column(const auto& arrays, const auto& run, const RunSlot& place, const auto& load) {
        Index column = load(arrays.column_indices.data() + place.slot);
        if (run.wide) column |= Index{load(arrays.high_columns.data() + (place.slot + run.to_high))} << 16;
        return column;
    }
};

/// The hooks of a schedule over slices with these columns.
[[nodiscard]] constexpr Hooks with_columns_of(ColumnKind kind, Hooks hooks) {
    hooks.own_column = hooks.own_has_plain_columns = kind == ColumnKind::of_wide_slices;
    return hooks;
}

/// Calls use(std::integral_constant) with the kind of the columns.
auto with_column_kind(const auto& arrays, const auto& use) {
    using enum ColumnKind;
    if constexpr (HasShortColumns<std::remove_cvref_t<decltype(arrays)>>) {
        return arrays.wide_offsets.size() == 0 ? use(std::integral_constant<ColumnKind, of_slices>{})
                                               : use(std::integral_constant<ColumnKind, of_wide_slices>{});
    } else {
        return use(std::integral_constant<ColumnKind, as_stored>{});
    }
}

}  // namespace workbench
