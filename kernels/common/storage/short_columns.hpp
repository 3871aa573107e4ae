// Columns of 16 bits for sliced storage, counted from one column a slice, which an order of small bandwidth makes fit. A slice
// that reaches over more columns keeps 32 bits: the upper halves stand apart, so that all others pay nothing for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// What columns of the matrix's own width need beside them: nothing.
template <typename ColumnIndex, template <typename> typename Array>
struct SliceColumns {
    static constexpr void fields(const auto&, auto&...) {}
};

/// Columns of 16 bits count from one column a slice. A slice that reaches over more columns than that is wide: its columns
/// count from 0, and the upper halves of them stand in an array of their own.
template <template <typename> typename Array>
struct SliceColumns<std::uint16_t, Array> {
    Array<Index> first_columns;         // [slices] of wide slice i: -1 - i
    Array<Offset> wide_offsets;         // [wide slices] where the upper halves of its columns begin
    Array<std::uint16_t> high_columns;  // [slots of wide slices] the upper halves, in the order of the slots

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "first_columns [slices]", of.first_columns...);
        visit(ArrayRole::structure, "wide_offsets [wide slices]", of.wide_offsets...);
        visit(ArrayRole::column, "high_columns [slots of wide slices]", of.high_columns...);
    }
};

template <typename Arrays>
concept HasShortColumns = requires(const Arrays& arrays) {
    arrays.first_columns;
};

/// What shorten_columns makes.
struct ShortColumns {
    HostArray<std::uint16_t> column_indices;  // [slots]
    SliceColumns<std::uint16_t, HostArray> of_slices;
};

/// The columns of slices in 16 bits. `columns` are the matrix's, slot by slot as Slices has them; length_of_lane(lane) tells
/// how many of its slots hold a nonzero: the others get the first column of their slice. In parallel.
[[nodiscard]] ShortColumns shorten_columns(const HostArray<Index>& columns, const HostArray<Offset>& slice_offsets,
                                           Index slice_height, const std::function<Offset(Offset)>& length_of_lane);

/// Throws std::logic_error where a slice has no first column, or is wide and has no upper halves, so that slices which were
/// tampered with are safe to walk.
void require_sound_columns(const SliceColumns<std::uint16_t, HostArray>& columns, const HostArray<Offset>& slice_offsets);

/// "slices with columns of 32 bits", "3 of 17".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> notes_on_columns(
    const SliceColumns<std::uint16_t, HostArray>& columns);

/// Of a lane of a slice that may be wide.
template <typename OwnRun>
struct RunOfWideSlice : OwnRun {
    bool wide = false;
    Offset to_high = 0;  // from a slot to the upper half of its column
};

/// What kinds of columns the slices have, for schedules to be compiled for it.
enum class ColumnKind { as_stored, of_slices, of_wide_slices };

/// The run with what the columns of its slice are counted from.
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

/// The columns of slices, for schedules over them.
template <ColumnKind kind>
struct ColumnsOfSlices : ScheduleDefaults {};
template <>
struct ColumnsOfSlices<ColumnKind::of_wide_slices> : ScheduleDefaults {
    static constexpr bool has_plain_columns(const auto& run) { return !run.wide; }
    static constexpr Index column(const auto& arrays, const auto& run, const RunSlot& place, const auto& load) {
        Index column = load(arrays.column_indices.data() + place.slot);
        if (run.wide) column |= Index{load(arrays.high_columns.data() + (place.slot + run.to_high))} << 16;
        return column;
    }
};

/// Calls use(Known kind of columns).
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
