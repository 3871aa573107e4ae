// Sliced ELL with columns of 8 bits, a format that the workbench does not have: in each step the 32 rows of a slice share a
// base, from which their columns are counted. A row whose next column is too far from the base waits, with padding. In stencils
// and bands neighbouring rows have neighbouring columns, so that few rows wait. Source of the idea to store differences of
// columns: Kourtis, Goumas, Koziris, "Optimizing sparse matrix-vector multiplication using index and value compression" (2008);
// of the slices: Monakov, Lokhmotov, Avetisyan (2010).
#pragma once

#include "kernels/format.hpp"

namespace workbench {

inline constexpr Index sell8_height = 32;

/// Slice s has the steps [slice_steps[s], slice_steps[s + 1]). Lane l of a step is slot step * 32 + l, whose column is
/// bases[step] + column_offsets[slot]. Padding has value 0 and the base as its column.
template <typename Value, template <typename> typename Array>
struct Sell8 : MatrixSize {
    Array<Offset> slice_steps;
    Array<Index> bases;
    Array<std::uint8_t> column_offsets;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Sell8::slice_steps>("slices + 1"),
                          structure_array<&Sell8::bases>("steps"), column_array<&Sell8::column_offsets>("slots"),
                          value_array<&Sell8::values>("slots"));
    }
};

/// One thread per row.
struct Sell8Rows final : ScheduleBase<Hooks{.entries_in_flight = tuned::sell_entries_in_flight,
                                            .resident_blocks = tuned::sell_resident_blocks,
                                            .side_by_side = AdjacentRuns::descending,
                                            .own_columns = true,
                                            .own_column = true}> {
    static constexpr Offset threads(const auto& arrays) {
        return (static_cast<Offset>(arrays.slice_steps.size()) - 1) * sell8_height;
    }
    static constexpr Offset threads_side_by_side(const auto&) { return sell8_height; }
    static constexpr Run<Known<sell8_height>> run(const auto& arrays, Offset thread, const auto&) {
        if (thread >= threads(arrays)) return {};
        const Index row = thread < arrays.row_count ? static_cast<Index>(thread) : -1;  // the last slice has lanes of padding
        const Offset* const steps = arrays.slice_steps.data() + thread / sell8_height;
        return {row, steps[0] * sell8_height + thread % sell8_height, steps[1] - steps[0]};
    }
    static constexpr const auto& columns(const auto& arrays) { return arrays.column_offsets; }
    static constexpr Index column(const auto& arrays, const auto&, const RunSlot& place, const auto& load) {
        return load.kept(arrays.bases.data() + place.slot / sell8_height) + load(arrays.column_offsets.data() + place.slot);
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct Sell8Layout final : PatternLayout<Value, Sell8<Value, HostArray>, Sell8Rows> {
    static constexpr const char* name = "sell8";
};

/// Calls visit(step, base, lane, nonzero) for the slots of a slice, step by step; nonzero: -1 for padding. Returns the number
/// of steps.
Offset for_each_slot_of_slice(const CsrMatrix& matrix, Index slice, const auto& visit) {
    const Index first = slice * sell8_height;
    const Index rows = std::min(sell8_height, matrix.rows - first);
    std::array<Offset, sell8_height> next{};
    std::copy_n(matrix.row_offsets.begin() + first, rows, next.begin());
    for (Offset step = 0;; ++step) {
        Index base = matrix.columns;
        const auto waits = [&](Index lane) { return lane < rows && next[lane] < matrix.row_offsets[first + lane + 1]; };
        for (Index lane = 0; lane < rows; ++lane) {
            if (waits(lane)) base = std::min(base, matrix.column_indices[next[lane]]);
        }
        if (base == matrix.columns) return step;
        for (Index lane = 0; lane < sell8_height; ++lane) {
            const bool fits = waits(lane) && matrix.column_indices[next[lane]] - base < 256;
            visit(step, base, lane, fits ? next[lane]++ : Offset{-1});
        }
    }
}

inline LayoutEntry sell8_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
        const CsrMatrix& matrix = staged.matrix;
        const std::int64_t slices = (std::int64_t{matrix.rows} + sell8_height - 1) / sell8_height;
        make_zeros(layout.slice_steps, slices + 1);
        for_each_in_parallel(slices, 8, [&](std::int64_t slice) {
            layout.slice_steps[slice + 1] = for_each_slot_of_slice(matrix, static_cast<Index>(slice), [](auto...) {});
        });
        sum_up(layout.slice_steps);
        const Offset slots = layout.slice_steps.back() * sell8_height;
        if (static_cast<double>(slots) > parameters.real("slots_per_nonzero") * static_cast<double>(matrix.nonzeros()) + 1024) {
            throw Unsuitable(std::to_string(slots) + " slots for " + std::to_string(matrix.nonzeros()) +
                             " nonzeros, more than slots_per_nonzero; an order of less bandwidth (cuthill_mckee) may help");
        }
        make_room(layout.bases, layout.slice_steps.back());
        make_room(layout.column_offsets, slots);
        make_room(layout.values, slots);
        for_each_in_parallel(slices, 8, [&](std::int64_t slice) {
            const auto store = [&](Offset step, Index base, Index lane, Offset nonzero) {
                const Offset place = layout.slice_steps[slice] + step;
                const Offset slot = place * sell8_height + lane;
                layout.bases[place] = base;
                layout.column_offsets[slot] =
                    static_cast<std::uint8_t>(nonzero < 0 ? 0 : matrix.column_indices[nonzero] - base);
                using Value = std::remove_reference_t<decltype(layout.values[slot])>;
                layout.values[slot] = nonzero < 0 ? Value{0} : static_cast<Value>(matrix.values[nonzero]);
            };
            (void)for_each_slot_of_slice(matrix, static_cast<Index>(slice), store);
        });
        layout.pattern = Pattern(matrix);
    };
    return format<Sell8Layout>({.summary = "sliced ELL with columns of 8 bits, for stencils and bands",
                                .source = "Kourtis, Goumas and Koziris (2008)",
                                .parameters = {real_parameter("slots_per_nonzero", by_default(3.0), at_least(1),
                                                              "most slots for each nonzero")}},
                               fill)
        .host<Sell8Rows>("slices", "rows in parallel")
        .cuda<Sell8Rows>("slices", "one thread per row");
}

#endif

}  // namespace workbench
