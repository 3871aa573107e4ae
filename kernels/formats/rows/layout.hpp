// Rows of slots: one layout whose parameters combine. Rows are stored one by one, all padded to the longest, in slices, or in
// jagged diagonals; columns have 32 bits, 16 bits from the first column of their row or slice, or the lower bits of a word with
// a value; padding is marked or a zero, or the lengths of rows are stored. csr, csr16, ell, ellr, jds and sell are presets of
// it. Sources: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989),
// for ELL; Vazquez, Ortega, Fernandez, Garzon, "Improving the performance of the sparse matrix vector product with GPUs"
// (2010), for stored lengths (ELLPACK-R); with all rows sorted by length, it is PELLR (Wang, Gu, 2020, section 3), whose array
// perm is the row order. Saad, "Krylov subspace methods on supercomputers" (1989), for jagged diagonals; their kernels are
// after Nagasaka, "Exploiting GPU caches in sparse matrix vector multiplication" (slides), and Li and Saad, "GPU-accelerated
// preconditioned iterative linear solvers" (2012).
#pragma once

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schemes/ell.hpp"
#include "kernels/common/schemes/jagged.hpp"
#include "kernels/common/schemes/short_columns.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The rows that are stored together.
enum class RowsTogether {
    one,     // row after row, without padding
    all,     // every row has as many slots as the longest, in either order (EllOrder)
    slices,  // slices of equal height, each padded to its longest row, column by column
    jagged,  // the k-th slots of all rows are neighbours, without padding; rows descend in length
};

/// The columns of slots.
enum class ColumnsFrom {
    matrix,  // 32 bits
    row,     // 16 bits from the first column of their row
    slice,   // 16 bits from the first column of their slice (SliceColumns)
    words,   // likewise, in the words of the values
};

/// What the arrays of a layout are.
struct RowShape {
    RowsTogether together = RowsTogether::one;
    ColumnsFrom columns = ColumnsFrom::matrix;
    bool lengths = false;  // of all rows, column by column: padding is not read, otherwise its column marks it
    bool lines = false;    // equal values may be those of each row or column (HasLineValues); kernels choose their threads

    [[nodiscard]] constexpr bool short_columns() const { return columns == ColumnsFrom::row; }
    [[nodiscard]] constexpr bool has_padding() const {
        return together == RowsTogether::all || together == RowsTogether::slices;
    }
    [[nodiscard]] constexpr bool reads_padding() const { return has_padding() && !lengths; }
    /// True if the slots may be in either order.
    [[nodiscard]] constexpr bool has_order() const { return together == RowsTogether::all && !lengths; }
    /// True if a GPU makes such arrays (kernels/prepare).
    [[nodiscard]] constexpr bool is_made_on_gpu() const {
        return together != RowsTogether::jagged && (together == RowsTogether::one || !short_columns());
    }
    /// True if the slots of a row are neighbours, so that several threads of a GPU can share it.
    [[nodiscard]] constexpr bool has_neighbours(EllOrder order) const {
        return together == RowsTogether::one || order == EllOrder::row_major;
    }

    friend constexpr bool operator==(const RowShape&, const RowShape&) = default;
};

inline constexpr RowShape one_shape{RowsTogether::one};
inline constexpr RowShape csr_shape{.together = RowsTogether::one, .lines = true};
inline constexpr RowShape csr16_shape{RowsTogether::one, ColumnsFrom::row};
inline constexpr RowShape ell_shape{RowsTogether::all};
inline constexpr RowShape ellr_shape{.together = RowsTogether::all, .lengths = true};
inline constexpr RowShape jds_shape{RowsTogether::jagged};

/// The places of the slots.
template <RowsTogether together, bool with_lengths, template <typename> typename Array>
struct RowPlaces : EllSize {
    static constexpr const char* slots = "row_count * width";
};
template <template <typename> typename Array>
struct RowPlaces<RowsTogether::one, false, Array> : MatrixSize {
    Array<Offset> row_offsets;
    static constexpr const char* slots = "nonzeros";

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&RowPlaces::row_offsets>("rows + 1"));
    }
};
/// Row i is at place i of one group (schemes/jagged.hpp). The permutation array of the literature is the row order here, which
/// stage row_sort makes.
template <template <typename> typename Array>
struct RowPlaces<RowsTogether::jagged, false, Array> : MatrixSize {
    Array<Offset> diagonal_offsets;  // first slot of each diagonal
    static constexpr const char* slots = "entries";

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&RowPlaces::diagonal_offsets>("diagonals + 1"));
    }
    [[nodiscard]] constexpr Offset diagonal_count() const { return static_cast<Offset>(diagonal_offsets.size()) - 1; }
};

/// Row i is lane i % slice_height of slice i / slice_height. The storage does not depend on the first two numbers.
template <template <typename> typename Array>
struct RowPlaces<RowsTogether::slices, false, Array> : MatrixSize {
    Index threads_per_row = 0;                      // of a GPU; 0: sell_threads(), or by_lengths()
    Index split_length = tuned::sell_split_length;  // by_lengths(): a row of more entries has one or several blocks of threads
    Index slice_height = 32;
    Array<Offset> slice_offsets;  // first slot of each slice; multiples of slice_height
    static constexpr const char* slots = "slots";

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&RowPlaces::threads_per_row>(),
                          number_field<&RowPlaces::split_length>(), number_field<&RowPlaces::slice_height>(),
                          structure_array<&RowPlaces::slice_offsets>("slices + 1"));
    }
    [[nodiscard]] constexpr Offset lane_count() const { return (static_cast<Offset>(slice_offsets.size()) - 1) * slice_height; }
};
template <RowsTogether together, template <typename> typename Array>
struct RowPlaces<together, true, Array> : RowPlaces<together, false, Array> {
    Array<Index> row_lengths;

    static constexpr auto fields() {
        return field_list(structure_array<&RowPlaces::row_lengths>("rows"), RowPlaces<together, false, Array>::fields());
    }
};

template <ColumnsFrom from, template <typename> typename Array>
struct RowColumns {
    Array<std::conditional_t<from == ColumnsFrom::matrix, Index, std::uint16_t>> column_indices;

    static constexpr auto fields(const char* slots) { return column_array<&RowColumns::column_indices>(slots); }
};
template <template <typename> typename Array>
struct RowColumns<ColumnsFrom::row, Array> {
    Array<Index> first_columns;               // 0 for a row without nonzeros
    Array<std::uint16_t> columns_from_first;  // the column minus the first one of its row

    static constexpr auto fields(const char* slots) {
        return field_list(structure_array<&RowColumns::first_columns>("rows"),
                          column_array<&RowColumns::columns_from_first>(slots));
    }
};

template <template <typename> typename Array>
struct RowColumns<ColumnsFrom::words, Array> {
    static constexpr auto fields(const char*) { return field_list(); }
};

/// Equal values may be those of lines.
template <typename StoredValue, template <typename> typename Array>
struct ValuesOfLines {
    static constexpr auto fields() { return field_list(); }
};
template <typename Value, template <typename> typename Array>
struct ValuesOfLines<Constant<Value>, Array> {
    Array<Value> row_values;
    Array<Value> column_values;

    static constexpr auto fields() {
        return field_list(structure_array<&ValuesOfLines::row_values>("rows, or none"),
                          structure_array<&ValuesOfLines::column_values>("columns, or none"));
    }
};

/// What follows the values in the list of fields. Of slices: how their columns count.
template <bool with_lines, bool in_slices, ColumnsFrom from, typename StoredValue, template <typename> typename Array>
struct RowsBehindValues : SliceColumns<std::conditional_t<from == ColumnsFrom::slice, std::uint16_t,
                                                          std::conditional_t<from == ColumnsFrom::words, InWords, Index>>,
                                       Array> {};
template <ColumnsFrom from, typename StoredValue, template <typename> typename Array>
struct RowsBehindValues<true, false, from, StoredValue, Array> : ValuesOfLines<StoredValue, Array> {};
template <ColumnsFrom from, typename StoredValue, template <typename> typename Array>
struct RowsBehindValues<false, false, from, StoredValue, Array> {
    Index threads_per_row = 0;  // of a GPU; the storage does not depend on it; 0: chosen by the mean length

    static constexpr auto fields() { return field_list(number_field<&RowsBehindValues::threads_per_row>()); }
};

template <typename Shape, typename StoredValue, template <typename> typename Array>
using BehindValuesOf = RowsBehindValues<Shape::value.lines, Shape::value.together == RowsTogether::slices, Shape::value.columns,
                                        StoredValue, Array>;

/// Shape: std::integral_constant of a RowShape.
template <typename StoredValue, typename Shape, template <typename> typename Array>
struct Rows : RowPlaces<Shape::value.together, Shape::value.lengths, Array>,
              RowColumns<Shape::value.columns, Array>,
              BehindValuesOf<Shape, StoredValue, Array> {
    static constexpr RowShape shape = Shape::value;
    ValueArray<StoredValue, Array> values;

    static constexpr auto fields() {
        return field_list(before_values(), coded_value_array<&Rows::values>(Rows::slots),
                          BehindValuesOf<Shape, StoredValue, Array>::fields());
    }
    /// The fields without those of values.
    static constexpr auto places() {
        if constexpr (shape.lines) {
            return before_values();
        } else {
            return field_list(before_values(), BehindValuesOf<Shape, StoredValue, Array>::fields());
        }
    }

private:
    static constexpr auto before_values() {
        return field_list(RowPlaces<shape.together, shape.lengths, Array>::fields(),
                          RowColumns<shape.columns, Array>::fields(Rows::slots));
    }
};
template <RowShape shape, typename StoredValue, template <typename> typename Array>
using RowsOfShape = Rows<StoredValue, std::integral_constant<RowShape, shape>, Array>;

template <typename Arrays>
inline constexpr RowShape shape_of_rows = std::remove_cvref_t<Arrays>::shape;

/// The hooks of RowLanes. GPUs have compiled kernels for the presets; NVRTC compiles others when they are prepared.
[[nodiscard]] constexpr Hooks hooks_of_rows(RowShape shape, int lanes, EllOrder order) {
    Hooks hooks{.lanes = lanes, .own_first_columns = shape.short_columns(), .own_columns = shape.short_columns()};
    if (shape.together == RowsTogether::one) hooks.counts_alike = lanes > 1;
    if (shape.lengths) hooks.resident_blocks = tuned::ellr_resident_blocks;
    if (shape.reads_padding()) hooks.no_column = NoColumn::slot_read;
    if (lanes == 1 && order == EllOrder::column_major && shape.together != RowsTogether::one) {
        hooks.side_by_side = shape.lengths ? AdjacentRuns::any : AdjacentRuns::descending;
    }
    hooks.compiled_in =
        shape == ell_shape || shape == ellr_shape || (shape == csr16_shape && (lanes == 1 || lanes == 4 || lanes == 8));
    return hooks;
}

/// A row of jagged diagonals; row -1 if there are not as many.
[[nodiscard]] constexpr JaggedRow jagged_row(const auto& rows, Offset row) {
    if (row >= rows.row_count) return {};
    return {static_cast<Index>(row), row, 0, rows.diagonal_count()};
}

/// `row_lanes` neighbouring threads share a row that is not in a slice. Only rows whose slots are neighbours have several.
template <RowShape shape, int row_lanes, EllOrder order = EllOrder::column_major>
struct RowLanes final : ScheduleBase<hooks_of_rows(shape, row_lanes, order)> {
    static constexpr bool are_adjacent = hooks_of_rows(shape, row_lanes, order).side_by_side != AdjacentRuns::none;
    template <int lanes>
    using OfLanes = RowLanes<shape, lanes, order>;

    static constexpr Offset threads(const auto& rows) { return Offset{rows.row_count} * row_lanes; }
    static constexpr Offset threads_side_by_side(const auto& rows) requires(are_adjacent) { return rows.row_count; }
    static constexpr const auto& columns(const auto& rows) requires(shape.short_columns()) { return rows.columns_from_first; }
    static constexpr auto run(const auto& rows, Offset thread, const auto& load) {
        auto run = run_of_slots(rows, thread, load);
        if constexpr (shape.short_columns()) {
            if (run.row >= 0) run.first_column = load.kept(rows.first_columns.data() + run.row);
        }
        return run;
    }

private:
    static constexpr auto run_of_slots(const auto& rows, Offset thread, const auto& load) {
        const Offset row = thread / row_lanes;
        const Index in_matrix = row < rows.row_count ? static_cast<Index>(row) : -1;
        if constexpr (shape.together == RowsTogether::one) {
            return CompressedRows<row_lanes>::run(rows, thread, load);
        } else if constexpr (shape.together == RowsTogether::jagged) {
            return run_on_diagonals(rows, jagged_row(rows, row));
        } else if constexpr (shape.lengths) {
            return row < rows.row_count ? Run<Offset>{static_cast<Index>(row), row, rows.row_lengths[row], rows.row_count}
                                        : Run<Offset>{};
        } else {
            return run_in_ell<order, row_lanes>(rows, in_matrix, row, static_cast<int>(thread % row_lanes));
        }
    }
};

// ---- Slices.

/// Words, and columns alone, need fewer registers for the entries in flight than values and columns.
[[nodiscard]] constexpr int sell_resident_blocks(SliceKind kind) {
    const bool loads_one = kind.columns == ColumnKind::of_words || kind.marks_padding;
    return loads_one ? tuned::sell_resident_blocks_of_one_load : tuned::sell_resident_blocks;
}

/// NVRTC compiles the kernels of other slices when they are prepared.
[[nodiscard]] constexpr bool is_compiled_for_slices(SliceKind kind, int row_threads) {
    return row_threads < 8 && kind.columns != ColumnKind::of_rows && !kind.has_lengths;
}

/// With four vectors, four threads a row take 0.44 of the time of one in rows of 74 entries, and 1.24 in rows of 32
/// (docs/results/several-vectors.md).
inline constexpr ThreadsForVectors sell_threads_for_vectors{.most = 4, .entries_of_lane = 18};

/// Row i is lane i % height of slice i / height; a warp has 32 / row_threads rows. Thread t of a row takes its entries t,
/// t + row_threads, ..., at a distance of t times the rows of a warp from the first: if a slice has as many rows as a warp, a
/// warp reads neighbouring slots. known_height 0: known at run time.
template <int row_threads, int known_height, SliceKind kind = SliceKind{}>
struct SellRows final : ScheduleBase<with_columns_of(kind, {.lanes = row_threads,
                                                            .lane_distance = 32 / row_threads,
                                                            .entries_in_flight = tuned::sell_entries_in_flight,
                                                            .resident_blocks = sell_resident_blocks(kind),
                                                            .threads_for_vectors = sell_threads_for_vectors,
                                                            .counts_alike = true,
                                                            .compiled_in = is_compiled_for_slices(kind, row_threads),
                                                            .side_by_side = row_threads > 1    ? AdjacentRuns::none
                                                                            : kind.has_lengths ? AdjacentRuns::any
                                                                                               : AdjacentRuns::descending})>,
                        ColumnsOfSlices<kind> {
    static constexpr int rows_of_warp = 32 / row_threads;
    template <int lanes>
    using OfLanes = SellRows<lanes, known_height, kind>;

    static constexpr Offset threads(const auto& sell) { return (sell.lane_count() + rows_of_warp - 1) / rows_of_warp * 32; }
    static constexpr Offset threads_side_by_side(const auto& sell) requires(row_threads == 1) { return sell.slice_height; }
    static constexpr auto run(const auto& sell, Offset thread, const auto&) {
        const Offset place = thread / 32 * rows_of_warp + thread % rows_of_warp;
        const Index row = place < sell.row_count ? static_cast<Index>(place) : -1;
        const auto lane = static_cast<unsigned>(place);  // slices have fewer than 2^32 lanes
        const unsigned height = known_height == 0 ? static_cast<unsigned>(sell.slice_height) : known_height;
        const auto run_of_lane = [&] {
            auto run = run_in_slice<known_height, row_threads>(sell, row, lane / height, static_cast<int>(lane % height),
                                                               lane_of<SellRows>(thread));
            if constexpr (kind.has_lengths) {
                const Index length = row < 0 ? 0 : sell.row_lengths[row];
                run.count = (length - lane_of<SellRows>(thread) + row_threads - 1) / row_threads;
            }
            return with_columns_of_slice<kind>(sell, run, lane / height);
        };
        return place < sell.lane_count() ? run_of_lane() : decltype(run_of_lane()){};
    }
};

/// Two loads of a column take longer than one of 32 bits. The share is that of wide slices.
[[nodiscard]] constexpr bool is_mostly_wide(double share) { return share > 0.25; }

/// Default number of threads of a GPU that share a row of this mean length: many, but with a batch of entries for each.
[[nodiscard]] constexpr int sell_threads_for(double mean_length) {
    return mean_length <= tuned::sell_short_rows ? 1 : mean_length <= tuned::sell_middling_rows ? 2 : 4;
}

/// The threads of a row: those of the recipe, or in slices of 8 or 16 rows as many as fill the warp, or in slices of 32 rows
/// one or two: two pay off from longer rows in f32 than in f64.
[[nodiscard]] constexpr int sell_threads(const auto& sell) {
    if (sell.threads_per_row > 0) return sell.threads_per_row;
    if (sell.slice_height == 16) return 2;
    if (sell.slice_height == 8) return 4;
    if (sell.slice_height != 32) return 1;
    const auto longest_of_one = Offset{sizeof(sell.values[0]) == 4 ? tuned::sell_middling_rows : tuned::sell_short_rows};
    return static_cast<Offset>(sell.values.size()) > longest_of_one * sell.lane_count() ? 2 : 1;
}

/// RowsLayout::by_lengths. longest: row.
[[nodiscard]] constexpr bool reads_lengths(const auto& sell, Offset nonzeros, Offset longest) {
    if (sell.threads_per_row > 0) return false;
    const bool fills_warp = sell.slice_height == 32 || sell.slice_height * sell_threads(sell) == 32;
    return !fills_warp || static_cast<Offset>(sell.values.size()) > 2 * nonzeros || longest > sell.split_length;
}

/// Calls use(std::integral_constant) with the order of the slots.
auto with_order(const auto& rows, const auto& use) {
    if constexpr (shape_of_rows<decltype(rows)>.has_order()) {
        if (rows.order == EllOrder::row_major) return use(std::integral_constant<EllOrder, EllOrder::row_major>{});
    }
    return use(std::integral_constant<EllOrder, EllOrder::column_major>{});
}

/// Calls use(schedule) with that of `lanes` threads per row, or of one if the slots of a row are not neighbours.
template <int lanes>
auto with_row_lanes(const auto& rows, const auto& use) {
    using Arrays = std::remove_cvref_t<decltype(rows)>;
    if constexpr (Arrays::shape.together == RowsTogether::slices) {
        return with_column_kind(rows, [&](auto kind) { return use(SellRows<lanes, 0, kind>{}); });
    } else {
        return with_order(rows, [&]<EllOrder order>(std::integral_constant<EllOrder, order>) {
            return use(RowLanes < Arrays::shape, Arrays::shape.has_neighbours(order) ? lanes : 1, order > {});
        });
    }
}

/// One thread per row. A height of slices known at compile time would gain nothing on the host, because rows of a slice are
/// multiplied side by side.
struct RowsOfOneLane {
    static auto choose(const auto& rows, const auto& use) { return with_row_lanes<1>(rows, use); }
};

/// For rows that are stored one by one: one, four or eight threads share a row, more where rows are longer. Every thread loads
/// the row's first column before its own entries, which costs most where it has few (docs/results/rows.md#threads-of-a-row).
[[nodiscard]] constexpr int threads_for_rows(Index rows, Offset entries) {
    const auto are_longer = [&](Offset length) { return entries > length * rows; };
    return are_longer(24) ? 8 : are_longer(9) ? 4 : 1;
}

/// The threads of a row in a slice, or whose slots are neighbours: those that the recipe sets, or as many as suit the mean
/// length.
[[nodiscard]] constexpr int threads_of_row(const auto& rows) {
    constexpr RowsTogether together = shape_of_rows<decltype(rows)>.together;
    if constexpr (together == RowsTogether::slices) return sell_threads(rows);
    if (rows.threads_per_row > 0) return rows.threads_per_row;
    const auto slots = static_cast<Offset>(rows.values.size());
    if constexpr (together == RowsTogether::one) return threads_for_rows(rows.row_count, slots);
    return lanes_for(rows.row_count, slots);
}

/// By the threads of a row, for slices of any height.
struct RowsOfThreads {
    static auto choose(const auto& rows, const auto& use) {
        return with_lanes<1>(threads_of_row(rows), [&](auto lanes) { return with_row_lanes<lanes>(rows, use); });
    }
};

/// With several vectors: one thread per row, or as many as suit these (OfLanes).
struct RowsOfVectors {
    static auto choose(const auto& rows, const auto& use) {
        return threads_of_row(rows) > 1 ? with_row_lanes<2>(rows, use) : with_row_lanes<1>(rows, use);
    }
};

// ---- The kernels of ell. Source: Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3 and chapter 5. The listing
// there mixes the two orders: it begins at row * length and has stride n.

/// Kernel `reduce`, column by column: warp g of a block takes the slots g, g + groups, ... of the block's 32 rows, whose sums
/// meet in shared memory.
template <int warps>
struct EllGroups final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read}> {
    static constexpr int rows_of_block = 32;
    static constexpr int groups = warps;

    static constexpr Offset threads(const auto& ell) {
        return (Offset{ell.row_count} + rows_of_block - 1) / rows_of_block * rows_of_block * groups;
    }
    static constexpr Run<Offset> run(const auto& ell, Offset thread, const auto&) {
        constexpr int block_threads = rows_of_block * groups;
        return run_of(ell, thread / block_threads, static_cast<int>(thread % block_threads) / rows_of_block,
                      static_cast<int>(thread % rows_of_block));
    }
    /// The run by block, warp and lane.
    static constexpr Run<Offset> run_of(const auto& ell, Offset block, int group, int lane) {
        const Offset row = block * rows_of_block + lane;
        if (row >= ell.row_count) return {};
        return {static_cast<Index>(row), row + Offset{group} * ell.row_count, (ell.width - group + groups - 1) / groups,
                Offset{groups} * ell.row_count};
    }
};

/// As many warps as there are slots per row, at most 8.
struct EllWarps {
    static auto choose(const auto& ell, const auto& use) {
        if (ell.width > 8) return use(EllGroups<8>{});
        if (ell.width > 4) return use(EllGroups<4>{});
        return ell.width > 2 ? use(EllGroups<2>{}) : use(EllGroups<1>{});
    }
};

/// Kernel `reduce` in either order of the slots.
struct EllReduce {
    static auto choose(const auto& ell, const auto& use) {
        return ell.order == EllOrder::row_major ? RowsOfThreads::choose(ell, use) : EllWarps::choose(ell, use);
    }
};

/// Kernel `atomic`: one thread per slot. Unsigned: 32 bits if they suffice, because a division of 64 bits takes many times as
/// long.
template <typename Unsigned, EllOrder order>
struct EllSlots final
    : ScheduleBase<Hooks{.entries_in_flight = 1, .atomic = true, .no_column = NoColumn::column_read, .own_row_of = true}> {
    static constexpr Offset threads(const auto& ell) { return ell.slot_count(); }
    static constexpr Run<Known<1>, Known<1>> run(const auto& ell, Offset thread, const auto&) {
        return {thread < ell.slot_count() ? 0 : -1, thread};
    }
    static constexpr Index row_of(const auto& ell, const auto& run, const auto&) {
        const auto slot = static_cast<Unsigned>(run.first);
        return static_cast<Index>(order == EllOrder::row_major ? slot / static_cast<Unsigned>(ell.width)
                                                               : slot % static_cast<Unsigned>(ell.row_count));
    }
};
struct EllEachSlot {
    static auto choose(const auto& ell, const auto& use) {
        // The numbers of all threads must fit, including those past the last slot in the last block.
        const bool narrow = ell.slot_count() + 1024 <= Offset{UINT32_MAX};
        const auto with_width = [&]<EllOrder order>() {
            return narrow ? use(EllSlots<std::uint32_t, order>{}) : use(EllSlots<std::uint64_t, order>{});
        };
        return ell.order == EllOrder::row_major ? with_width.template operator()<EllOrder::row_major>()
                                                : with_width.template operator()<EllOrder::column_major>();
    }
};

[[nodiscard]] LayoutEntry csr16_entry();
[[nodiscard]] LayoutEntry ell_entry();
[[nodiscard]] LayoutEntry ellr_entry();
[[nodiscard]] LayoutEntry jds_entry();
[[nodiscard]] LayoutEntry sell_entry();
[[nodiscard]] LayoutEntry rows_entry();

}  // namespace workbench
