// How layouts of Rows are filled, walked and forecast: what their entries share.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/rows/long_rows.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {

/// The shape that parameters name. is_wide() returns true if many slices reach over more columns than 16 bits count.
using ShapeOf = RowShape (*)(const Parameters& parameters, const std::function<bool()>& is_wide);
template <RowShape shape>
[[nodiscard]] RowShape only_shape(const Parameters&, const std::function<bool()>&) {
    return shape;
}

/// auto: the rows of a warp with this number of threads per row.
[[nodiscard]] Index slice_height(Index rows, Offset nonzeros, const Parameters& parameters);

/// Throws Unsuitable, with the figure and advice, if a row reaches over more than `most` columns.
void require_narrow_rows(const CsrMatrix& matrix, Index most);

[[nodiscard]] bool has_row_major(const Parameters& parameters);

// For the layouts `rows` and `sell`. In `sell`, rows are stored in slices, and a column of 16 bits is the distance from the
// first column of its slice. In `rows` it is the distance from the first column of its row, unless columns_from = "slice".
[[nodiscard]] RowShape named_shape(const Parameters& parameters, const std::function<bool()>& is_wide);
[[nodiscard]] Needs needs_of_rows(const Parameters& parameters);
/// values without "auto". column_index = "auto" becomes word if 32 bits suffice whatever the columns of a slice, and u16 for
/// values that require it; otherwise it remains "auto", and the widths of the slices decide. Words have no place for a code if
/// all values are equal: their columns have 16 bits.
[[nodiscard]] Parameters settle_rows(const Parameters& parameters, const ValueFacts& facts);
/// The default of sell's column_index.
[[nodiscard]] ParameterValue columns_beside(const std::map<std::string, ParameterValue>& given);
[[nodiscard]] std::optional<DeviceStorage> rows_on_device(const Parameters& parameters);

[[nodiscard]] LayoutCost predict_shape(RowShape shape, const PatternForecast& pattern, const Parameters& parameters,
                                       Precision precision);
[[nodiscard]] std::optional<DeviceStorage> shape_on_device(RowShape shape, const Parameters& parameters);
[[nodiscard]] ParameterDeclaration coding_parameter(RowShape shape);
[[nodiscard]] ParameterDeclaration order_parameter();
[[nodiscard]] Parameters settle_lines(const Parameters& parameters, const ValueFacts& facts);

/// Stores the columns of all rows at their slots, whose places are known, and marks padding.
template <typename Column>
void store_columns(auto& rows, HostArray<Column>& columns, const CsrMatrix& matrix, std::size_t slots) {
    constexpr RowShape shape = shape_of_rows<decltype(rows)>;
    if constexpr (shape.has_padding()) {
        make_filled(columns, slots,
                    shape.short_columns() ? static_cast<Column>(padding_column) : static_cast<Column>(no_column));
    } else {
        make_room(columns, slots);
    }
    with_schedule<RowsOfOneLane>(rows, [&]<typename S>(S) {
        for_each_in_parallel(matrix.rows, 64, [&](std::int64_t row) {
            const auto of_row = matrix.row_columns(static_cast<Index>(row));
            if (of_row.empty()) return;
            if constexpr (shape.short_columns()) rows.first_columns[row] = of_row.front();
            const auto run = S::run(rows, row, PlainLoad{});
            for (std::size_t k = 0; k < of_row.size(); ++k) {
                columns[run.slot(static_cast<Offset>(k))] = static_cast<Column>(of_row[k] - run.first_column);
            }
        });
    });
}

/// The places of slices.
template <ValueType Value>
[[nodiscard]] SliceShape places_of(const Slices<Value, Index, HostArray>& slices, const CsrMatrix& matrix) {
    return {slices.slice_offsets, slices.slice_height,
            [&matrix](Offset lane) { return lane < matrix.rows ? matrix.row_length(static_cast<Index>(lane)) : 0; }};
}

/// Stores the columns of slices, unless they are counted from those of rows.
template <ValueType Value>
void store_columns_of_slices(auto& rows, Slices<Value, Index, HostArray>& slices, const CsrMatrix& matrix) {
    using Arrays = std::remove_cvref_t<decltype(rows)>;
    constexpr ColumnsFrom from = Arrays::shape.columns;
    constexpr bool marks_padding = widest_kind<Arrays>.marks_padding;
    if constexpr (from == ColumnsFrom::words) {
        CountedColumns counted = count_columns(slices.column_indices, places_of(slices, matrix));
        rows.first_columns = std::move(counted.first_columns);
        rows.values.column_bits = counted.bits;
        make_copy(rows.values.codes, counted.columns);
    } else if constexpr (from == ColumnsFrom::slice) {
        ShortColumns narrow = shorten_columns(slices.column_indices, places_of(slices, matrix), marks_padding);
        rows.column_indices = std::move(narrow.column_indices);
        static_cast<SliceColumns<std::uint16_t, HostArray>&>(rows) = std::move(narrow.of_slices);
    } else if constexpr (from == ColumnsFrom::matrix && marks_padding) {
        store_columns(rows, rows.column_indices, matrix, slices.values.size());
    } else if constexpr (from == ColumnsFrom::matrix) {
        rows.column_indices = std::move(slices.column_indices);
    }
}

/// Fills all arrays but the values, and returns these in full. built: if rows are in slices.
template <ValueType Value, typename Arrays>
HostArray<Value> fill_arrays(Arrays& rows, const CsrMatrix& matrix, const Parameters& parameters,
                             Slices<Value, Index, HostArray>& built) {
    using enum RowsTogether;
    constexpr RowShape shape = Arrays::shape;
    HostArray<Index> columns;
    HostArray<Value> values;
    if constexpr (shape.lengths) {
        rows.row_lengths.resize(matrix.rows);
        for (Index row = 0; row < matrix.rows; ++row) rows.row_lengths[row] = static_cast<Index>(matrix.row_length(row));
    }
    if constexpr (shape.together == one) {
        rows.row_offsets = matrix.row_offsets;
        if constexpr (!HasLineValues<Arrays>) make_copy(values, matrix.values);
        if constexpr (!shape.short_columns()) make_copy(columns, matrix.column_indices);
    } else if constexpr (shape.together == all) {
        Ell<Value, HostArray> ell = build_ell<Value>(matrix, ShareView(matrix),
                                                     has_row_major(parameters) ? EllOrder::row_major : EllOrder::column_major,
                                                     parameters.real("slots_per_nonzero"));
        static_cast<EllSize&>(rows) = ell;
        columns = std::move(ell.column_indices);
        values = std::move(ell.values);
    } else if constexpr (shape.together == slices) {
        rows.split_length = static_cast<Index>(parameters.integer("split_length"));
        rows.slice_height = built.slice_height;
        rows.slice_offsets = built.slice_offsets;
        store_columns_of_slices(rows, built, matrix);
        values = std::move(built.values);
    } else {
        require_descending(ShareView(matrix), {.requirement = "jagged diagonals need rows in descending length",
                                               .stage = "row_sort with apply = \"rows\""});
        Jagged<Value, Index, HostArray> jagged =
            build_jagged<Value, Index>(matrix, ShareView(matrix), {{0, matrix.rows}, {0, matrix.columns}});
        rows.diagonal_offsets = std::move(jagged.diagonal_offsets);
        columns = std::move(jagged.column_indices);
        values = std::move(jagged.values);
    }
    if constexpr (shape.short_columns()) {
        require_narrow_rows(matrix, (Index{1} << 16) - (shape.has_padding() ? 1 : 0));
        rows.first_columns.resize(matrix.rows);
        store_columns(rows, rows.columns_from_first, matrix, values.size());
    } else if constexpr (shape.together != slices) {
        rows.column_indices = std::move(columns);
    }
    return values;
}

/// The coding of values that arrays have, as number_of_coding.
template <ValueType Value, typename Values>
inline constexpr std::size_t coding_of = ConstantMember<Values>                     ? coding::one
                                         : HasDictionary<Values>                    ? coding::codes
                                         : std::is_same_v<Values, HostArray<Value>> ? coding::full
                                         : std::is_same_v<Values, HostArray<Bf16>>  ? coding::bf16
                                                                                    : coding::f32;

/// The number of the alternative of this shape and coding.
template <ValueType Value, typename... Alternatives>
[[nodiscard]] std::size_t alternative_of(const std::variant<Alternatives...>&, RowShape shape, std::size_t coding) {
    constexpr std::array all{std::pair(Alternatives::shape, coding_of<Value, decltype(Alternatives::values)>)...};
    return std::find(all.begin(), all.end(), std::pair(shape, coding)) - all.begin();
}

template <ShapeOf shape_of>
struct FillRows {
    template <ValueType Value, typename Variant>
    void operator()(RowsLayout<Value, Variant>& layout, const StagedMatrix& staged, const Parameters& parameters) const {
        const CsrMatrix& matrix = staged.matrix;
        Slices<Value, Index, HostArray> slices;
        const auto build_once = [&] {
            if (!slices.slice_offsets.empty()) return;
            slices = build_slices<Value, Index>(matrix, ShareView(matrix),
                                                {.slice_height = slice_height(matrix.rows, matrix.nonzeros(), parameters),
                                                 .group_places = {0, matrix.rows},
                                                 .column_bounds = {0, matrix.columns}});
        };
        const RowShape shape = shape_of(parameters, [&] {
            build_once();
            return is_mostly_wide(static_cast<double>(wide_slices(slices.column_indices, places_of(slices, matrix))) /
                                  static_cast<double>(slices.slice_offsets.size()));
        });
        if (shape.together == RowsTogether::slices) build_once();
        if (shape.together != RowsTogether::one) layout.origin = Origin(ShareView(matrix));
        const std::size_t coding =
            shape.columns == ColumnsFrom::words ? coding::codes : number_of_coding(parameters, precision_of<Value>);
        fill_alternative<Value>(layout, alternative_of<Value>(layout.stored, shape, coding), matrix, parameters,
                                [&](auto& rows) {
                                    if constexpr (requires { rows.threads_per_row; }) {
                                        if (parameters.has("threads_per_row"))
                                            rows.threads_per_row = parameters.number_unless_auto("threads_per_row");
                                    }
                                    return fill_arrays<Value>(rows, matrix, parameters, slices);
                                });
    }
};

/// An entry of a layout whose parameters name a shape.
template <template <typename> typename LayoutOf, ShapeOf shape_of>
[[nodiscard]] Format<LayoutOf> format_of_rows(LayoutEntry entry) {
    entry.predict = [](const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
        const auto is_wide = [&] {
            return is_mostly_wide(pattern.wide_groups(slice_height(pattern.rows(), pattern.nonzeros(), parameters)));
        };
        return predict_shape(shape_of(parameters, is_wide), pattern, parameters, precision);
    };
    return format<LayoutOf>(std::move(entry), FillRows<shape_of>{});
}

/// A preset, `rows` with one shape: its entry, and what follows from the shape. coded: with parameter `values`, after the
/// others.
template <template <typename> typename LayoutOf, RowShape shape, bool coded = true>
[[nodiscard]] Format<LayoutOf> preset(LayoutEntry entry) {
    if (coded) {
        entry.parameters.push_back(coding_parameter(shape));
        entry.settle = shape.lines ? settle_lines : settle_any_coding;
        entry.on_device = [](const Parameters& parameters) { return shape_on_device(shape, parameters); };
    }
    return format_of_rows<LayoutOf, only_shape<shape>>(std::move(entry));
}

template <ValueType Value, typename Variant>
std::vector<LayoutField> RowsLayout<Value, Variant>::fields() const {
    std::vector<LayoutField> fields = LayoutOfArrays<Value, Variant>::fields();
    with_stored(*this, [&](const auto& rows) {
        if constexpr (HasLineValues<decltype(rows)>) {
            if (rows.row_values.size() + rows.column_values.size() == 0) return;
            LayoutField& values = fields[array_number(rows, rows.values)];
            const bool by_row = rows.column_values.empty();
            const auto& of_lines = by_row ? rows.row_values : rows.column_values;
            values.type = by_row ? ElementType::i64 : ElementType::i32;
            values.data = by_row ? static_cast<const void*>(rows.row_offsets.data()) : rows.column_indices.data();
            values.dictionary = {of_lines.data(), element_type<Value>(), of_lines.size(), 0};
        }
    });
    return fields;
}

template <ValueType Value, typename Variant>
std::vector<std::pair<std::string, std::string>> RowsLayout<Value, Variant>::notes() const {
    return with_stored(*this, [](const auto& rows) {
        if constexpr (HasLineValues<decltype(rows)>) {
            if (!rows.row_values.empty()) return std::vector{std::pair<std::string, std::string>{"values", "one a row"}};
            if (!rows.column_values.empty()) return std::vector{std::pair<std::string, std::string>{"values", "one a column"}};
        }
        std::vector<std::pair<std::string, std::string>> notes = notes_on_values(rows.values);
        if constexpr (HasShortColumns<std::remove_cvref_t<decltype(rows)>>) {
            const auto on_columns = notes_on_columns(rows);
            notes.insert(notes.begin(), on_columns.begin(), on_columns.end());
        }
        return notes;
    });
}

/// Calls visit(slot) for the slots of rows (slots_of). origin: unless rows are stored one by one.
template <typename Slots>
void visit_slots(const Slots& slots, const Origin& origin, const std::function<void(const Slot&)>& visit) {
    using enum RowsTogether;
    constexpr RowShape shape = Slots::shape;
    if constexpr (shape.lengths) {
        for (Index row = 0; row < slots.row_count; ++row) {
            if (slots.row_lengths[row] == origin.length(row)) continue;
            throw std::logic_error("rows: the length of a row is not the number of its nonzeros");
        }
    }
    if constexpr (shape.together == one) {
        for_each_slot_in<RowLanes<shape, 1>>(slots, nonzeros_of(slots.row_offsets, slots.values.size()), visit);
    } else if constexpr (shape.together == jagged) {
        require_sound_diagonals(slots.diagonal_offsets, {0, slots.diagonal_count()}, {0, slots.row_count}, slots.values.size());
        for_each_slot_in<RowLanes<shape, 1>>(slots, nonzeros_of_jagged(origin), visit);
    } else if constexpr (shape.together == slices) {
        using Rows = SellRows<1, 0, widest_kind<Slots>>;
        WalkedArrays where{array_number(slots, slots.values), -1};
        auto columns = static_cast<std::size_t>(slots.values.size());
        if constexpr (shape.columns != ColumnsFrom::words) {
            where.columns = array_number(slots, slot_columns<Rows>(slots));
            columns = slot_columns<Rows>(slots).size();
        }
        require_sound_offsets(slots.slice_offsets, slots.slice_height, slots.values.size(), columns);
        if constexpr (HasShortColumns<Slots>) {
            require_sound_columns(slots.first_columns, slots.wide_offsets, slots.high_columns.size(), slots.slice_offsets);
        }
        for_each_stored_slot(walked<Rows>(slots), where, nonzeros_of(origin), [&](Slot slot) {
            // Words cannot mark padding by its column, which no kernel reads.
            if (shape.lengths && slot.nonzero < 0) slot.column = no_column;
            visit(slot);
        });
    } else if constexpr (shape.lengths) {
        constexpr RowShape with_padding{shape.together, shape.columns};
        for_each_slot_in<RowLanes<with_padding, 1>>(slots, nonzeros_of(origin), visit);
    } else {
        with_schedule<RowsOfOneLane>(slots, [&]<typename S>(S) { for_each_slot_in<S>(slots, nonzeros_of(origin), visit); });
    }
}

template <ValueType Value, typename Variant>
void RowsLayout<Value, Variant>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    const auto any = slots();
    with_alternative(any, [&](const auto& of_rows) { visit_slots(of_rows, origin, visit); });
}

template <ValueType Value, typename Variant>
HostArray<Index> RowsLayout<Value, Variant>::row_lengths() const {
    HostArray<Index> lengths(this->rows());
    for (Index row = 0; row < this->rows(); ++row) lengths[row] = static_cast<Index>(origin.length(row));
    return lengths;
}

template <ValueType Value, typename Variant>
bool RowsLayout<Value, Variant>::by_lengths() const {
    return with_slices<bool>(*this, [&](const auto& slices) {
        Offset longest = 0;
        for (Index row = 0; row < slices.row_count; ++row) longest = std::max(longest, Offset{origin.length(row)});
        return reads_lengths(slices, this->nonzero_count, longest);
    });
}

/// The reads of the CUDA kernel by the lengths of rows.
void walk_by_lengths(const auto& slices, const HostArray<Index>& lengths, const auto& visit) {
    const SellLongRows long_rows = find_long_rows(lengths, slices.split_length);
    const SellWithLengths<std::remove_cvref_t<decltype(slices)>> with_lengths{
        slices,
        {lengths.data(), static_cast<Offset>(lengths.size())},
        {long_rows.parts.data(), static_cast<Offset>(long_rows.parts.size())}};
    const WalkedSchedule schedule = with_sell_whole_rows(with_lengths, [&]<typename S>(S) { return walked<S>(with_lengths); });
    for_each_read(schedule, array_number(slices, slices.values), visit);
}

/// The reads of AnyRowsKernel.
inline constexpr auto walk_any_rows = [](const auto& layout, const auto& visit) {
    const bool by_lengths = layout.by_lengths();
    const auto any = layout.slots();
    with_alternative(any, [&]<typename Slots>(const Slots& slots) {
        if constexpr (Slots::shape.together == RowsTogether::slices) {
            if (by_lengths) return walk_by_lengths(slots, layout.row_lengths(), visit);
        }
        walk_in_turn<RowsOnGpu>(slots, slots, visit);
    });
};

}  // namespace workbench
