// Sliced ELL with columns of 8 bits, a format that the workbench does not have: the k-th entries of the 32 rows of a slice
// share a base, from which their columns are counted. Neighbouring rows of a stencil have neighbouring columns, so that 8 bits
// suffice. Source of the idea to store differences of columns: Kourtis, Goumas, Koziris, "Optimizing sparse matrix-vector
// multiplication using index and value compression" (2008); of the slices: Monakov, Lokhmotov, Avetisyan (2010).
#pragma once

#include "kernels/format.hpp"

namespace workbench {

inline constexpr Index sell8_height = 32;

/// The k-th entry of lane l of slice s is slot (slice_columns[s] + k) * 32 + l. Its column is bases[slot / 32] +
/// column_offsets[slot]. Padding has value 0 and the base as its column.
template <typename Value, template <typename> typename Array>
struct Sell8 : MatrixSize {
    Array<Offset> slice_columns;  // columns of 32 slots in the slices before
    Array<Index> bases;
    Array<std::uint8_t> column_offsets;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Sell8::slice_columns>("slices + 1"),
                          structure_array<&Sell8::bases>("slots / 32"), column_array<&Sell8::column_offsets>("slots"),
                          value_array<&Sell8::values>("slots"));
    }
};

/// One thread per row.
struct Sell8Rows final : ScheduleBase<Hooks{.entries_in_flight = tuned::sell_entries_in_flight,
                                            .resident_blocks = tuned::sell_resident_blocks,
                                            .own_columns = true,
                                            .own_column = true}> {
    static constexpr Offset threads(const auto& arrays) {
        return (static_cast<Offset>(arrays.slice_columns.size()) - 1) * sell8_height;
    }
    static constexpr Run<Known<sell8_height>> run(const auto& arrays, Offset thread, const auto&) {
        if (thread >= threads(arrays)) return {};
        const Index row = thread < arrays.row_count ? static_cast<Index>(thread) : -1;  // the last slice has lanes of padding
        const Offset* const columns = arrays.slice_columns.data() + thread / sell8_height;
        return {row, columns[0] * sell8_height + thread % sell8_height, columns[1] - columns[0]};
    }
    static constexpr const auto& columns(const auto& arrays) { return arrays.column_offsets; }
    static constexpr Index column(const auto& arrays, const auto&, const RunSlot& place, const auto& load) {
        return load.kept(arrays.bases.data() + place.slot / sell8_height) + load(arrays.column_offsets.data() + place.slot);
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct Sell8Layout final : OriginLayout<Value, Sell8<Value, HostArray>, Sell8Rows> {
    static constexpr const char* name = "sell8";
};

/// The base and the columns of the k-th entries of the rows of a slice. Throws Unsuitable with a span that 8 bits cannot count.
template <ValueType Value>
void shorten_columns(Sell8Layout<Value>& layout, const HostArray<Index>& columns, Offset slice, Offset k) {
    const Offset first = slice * sell8_height;
    const Offset step = layout.slice_columns[slice] + k;
    const auto has_entry = [&](Offset lane) {
        return first + lane < layout.row_count && k < layout.origin.length(static_cast<Index>(first + lane));
    };
    Index least = layout.column_count;
    Index most = 0;
    for (Offset lane = 0; lane < sell8_height; ++lane) {
        if (!has_entry(lane)) continue;
        least = std::min(least, columns[step * sell8_height + lane]);
        most = std::max(most, columns[step * sell8_height + lane]);
    }
    if (most - least > 255) {
        throw Unsuitable("entries " + std::to_string(k) + " of the rows from " + std::to_string(first) + " on span " +
                         std::to_string(most - least + 1) + " columns, but 8 bits count 256");
    }
    layout.bases[step] = least;
    for (Offset lane = 0; lane < sell8_height; ++lane) {
        const Offset slot = step * sell8_height + lane;
        layout.column_offsets[slot] = has_entry(lane) ? static_cast<std::uint8_t>(columns[slot] - least) : std::uint8_t{0};
    }
}

inline LayoutEntry sell8_entry() {
    constexpr auto fill = []<ValueType Value>(Sell8Layout<Value>& layout, const StagedMatrix& staged, const Parameters&) {
        const CsrMatrix& matrix = staged.matrix;
        const SlicePlan plan{
            .slice_height = sell8_height, .group_places = {0, matrix.rows}, .column_bounds = {0, matrix.columns}};
        auto slices = build_slices<Value, Index>(matrix, ShareView(matrix), plan, staged.preparer);
        for (const Offset offset : slices.slice_offsets) layout.slice_columns.push_back(offset / sell8_height);
        layout.values = std::move(slices.values);
        layout.origin = Origin(ShareView(matrix));
        make_room(layout.column_offsets, layout.values.size());
        make_room(layout.bases, layout.values.size() / sell8_height);
        for_each_in_parallel(static_cast<std::int64_t>(layout.slice_columns.size()) - 1, 8, [&](std::int64_t slice) {
            const Offset count = layout.slice_columns[slice + 1] - layout.slice_columns[slice];
            for (Offset k = 0; k < count; ++k) shorten_columns(layout, slices.column_indices, slice, k);
        });
    };
    return format<Sell8Layout>(
               {.summary = "sliced ELL with columns of 8 bits, for stencils", .source = "Kourtis, Goumas and Koziris (2008)"},
               fill)
        .host<Sell8Rows>("slices", "rows in parallel")
        .cuda<Sell8Rows>("slices", "one thread per row");
}

#endif

}  // namespace workbench
