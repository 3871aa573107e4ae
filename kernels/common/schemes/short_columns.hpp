// Columns of 16 bits for sliced storage, counted from the first column of their slice. A slice that reaches over more than
// 65536 columns keeps 32 bits: the upper halves are in an array of their own, so that the other slices are not larger for it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/coded_values.hpp"
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

/// Columns that share words with values also count from the first column of their slice; no slice is wide.
template <template <typename> typename Array>
struct SliceColumns<InWords, Array> {
    Array<Index> first_columns;

    static constexpr auto fields() { return field_list(structure_array<&SliceColumns::first_columns>("slices")); }
};

template <typename Arrays>
concept HasShortColumns = requires(const Arrays& arrays) {
    arrays.wide_offsets;
};

/// The result of shorten_columns.
struct ShortColumns {
    HostArray<std::uint16_t> column_indices;  // [slots]
    SliceColumns<std::uint16_t, HostArray> of_slices;
};

/// The places of the slices, and the number of slots of a lane that hold a nonzero.
struct SliceShape {
    const HostArray<Offset>& slice_offsets;
    Index slice_height;
    std::function<Offset(Offset)> length_of_lane;
};

/// The columns of slices in 16 bits, in parallel. columns: those of the matrix, [slots]; padding has one of its row. Rows
/// without nonzeros get the first column of their slice; with marks_padding, all padding gets padding_column.
[[nodiscard]] ShortColumns shorten_columns(const HostArray<Index>& columns, const SliceShape& shape,
                                           bool marks_padding = false);

/// The number of slices that reach over more columns than 16 bits count.
[[nodiscard]] Offset wide_slices(const HostArray<Index>& columns, const SliceShape& shape);

/// The columns of slices, counted from the first column of their slice, in parallel: in as few bits as the widest slice needs.
struct CountedColumns {
    HostArray<Index> columns;        // [slots] 0 in rows without nonzeros
    HostArray<Index> first_columns;  // [slices]
    int bits = 0;
};
[[nodiscard]] CountedColumns count_columns(const HostArray<Index>& columns, const SliceShape& shape);

/// Throws std::logic_error if a slice lacks its first column, or a wide one its upper halves, so that corrupted arrays are safe
/// to walk. high_columns: their number.
void require_sound_columns(std::span<const Index> first_columns, std::span<const Offset> wide_offsets, std::size_t high_columns,
                           std::span<const Offset> slice_offsets);

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
enum class ColumnKind { as_stored, of_slices, of_wide_slices, of_words, of_rows };

/// Columns; whether padding is marked by its column, because its value cannot be 0; and whether it is not read at all, because
/// the lengths of rows are stored.
struct SliceKind {
    ColumnKind columns = ColumnKind::as_stored;
    bool marks_padding = false;
    bool has_lengths = false;
};

/// The run with the first column of its slice, or of its row.
template <SliceKind kind>
[[nodiscard]] constexpr auto with_columns_of_slice(const auto& arrays, auto run, Offset slice) {
    if constexpr (kind.columns == ColumnKind::as_stored) {
        return run;
    } else if constexpr (kind.columns == ColumnKind::of_rows) {
        if (run.row >= 0) run.first_column = arrays.first_columns[run.row];
        return run;
    } else {
        const Index first = arrays.first_columns[slice];
        if constexpr (kind.columns != ColumnKind::of_wide_slices) {
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
template <SliceKind kind>
struct ColumnsOfSlices {};
template <SliceKind kind>
requires(kind.columns == ColumnKind::of_wide_slices) struct ColumnsOfSlices<kind> {
    static constexpr bool has_plain_columns(const auto& run) { return !run.wide; }
    static constexpr Index column(const auto& arrays, const auto& run, const RunSlot& place, const auto& load) {
        auto column = static_cast<std::uint32_t>(load(arrays.column_indices.data() + place.slot));
        if (run.wide) {
            column |= std::uint32_t{load(arrays.high_columns.data() + (place.slot + run.to_high))} << 16;
        } else if (kind.marks_padding && column == padding_column) {
            return -1;
        }
        return static_cast<Index>(column);
    }
};
template <SliceKind kind>
requires(kind.columns == ColumnKind::of_words) struct ColumnsOfSlices<kind> {
    static constexpr Index column(const auto& arrays, const auto&, const RunSlot& place, const auto& load) {
        return arrays.values.data().column(load(arrays.values.codes.data() + place.slot));
    }
};

template <SliceKind kind>
requires(kind.columns == ColumnKind::of_rows) struct ColumnsOfSlices<kind> {
    static constexpr const auto& columns(const auto& arrays) { return arrays.columns_from_first; }
};

/// Columns of 16 bits that are counted from the first column of their row. They mark padding.
template <typename Arrays>
concept HasRowColumns = requires(const Arrays& arrays) {
    arrays.columns_from_first;
};

/// The lengths of rows are stored, and padding is marked, although kernels do not read it.
template <typename Arrays>
concept HasLengths = requires {
    requires Arrays::shape.lengths;
};

/// The kind that serves all slices with these arrays, padding included.
template <typename Arrays>
inline constexpr SliceKind widest_kind{HasColumns<decltype(Arrays::values)> ? ColumnKind::of_words
                                       : HasShortColumns<Arrays>            ? ColumnKind::of_wide_slices
                                       : HasRowColumns<Arrays>              ? ColumnKind::of_rows
                                                                            : ColumnKind::as_stored,
                                       ConstantMember<decltype(Arrays::values)> || HasRowColumns<Arrays> ||
                                           (HasLengths<Arrays> && !HasColumns<decltype(Arrays::values)>)};

/// The hooks of a schedule over slices with these columns.
[[nodiscard]] constexpr Hooks with_columns_of(SliceKind kind, Hooks hooks) {
    hooks.own_has_plain_columns = kind.columns == ColumnKind::of_wide_slices;
    hooks.own_column = hooks.own_has_plain_columns || kind.columns == ColumnKind::of_words;
    hooks.own_columns = kind.columns == ColumnKind::of_rows;
    hooks.own_first_columns = hooks.own_columns;
    if (kind.marks_padding) hooks.no_column = NoColumn::slot_read;
    return hooks;
}

/// Calls use(std::integral_constant) with the kind of the columns.
auto with_column_kind(const auto& arrays, const auto& use) {
    using Arrays = std::remove_cvref_t<decltype(arrays)>;
    constexpr SliceKind widest = widest_kind<Arrays>;
    if constexpr (widest.columns == ColumnKind::of_wide_slices) {
        if (arrays.wide_offsets.size() == 0) {
            return use(std::integral_constant<SliceKind, SliceKind{ColumnKind::of_slices, widest.marks_padding}>{});
        }
    }
    constexpr bool reads_padding = !HasLengths<Arrays>;
    return use(
        std::integral_constant<SliceKind, SliceKind{widest.columns, widest.marks_padding && reads_padding, !reads_padding}>{});
}

}  // namespace workbench
