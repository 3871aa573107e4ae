// How layouts of Rows are filled, walked and forecast: what their entries share.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {

/// The shape that parameters name.
using ShapeOf = RowShape (*)(const Parameters& parameters);
template <RowShape shape>
[[nodiscard]] RowShape only_shape(const Parameters&) {
    return shape;
}

/// Throws Unsuitable, with the figure and advice, if a row reaches over more than `most` columns.
void require_narrow_rows(const CsrMatrix& matrix, Index most);

[[nodiscard]] bool has_row_major(const Parameters& parameters);

[[nodiscard]] LayoutCost predict_shape(RowShape shape, const PatternForecast& pattern, const Parameters& parameters,
                                       Precision precision);
[[nodiscard]] std::optional<DeviceStorage> shape_on_device(RowShape shape, const Parameters& parameters);
[[nodiscard]] ParameterDeclaration coding_parameter(RowShape shape);
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

/// Fills all arrays but the values, and returns these in full.
template <ValueType Value, typename Arrays>
HostArray<Value> fill_arrays(Arrays& rows, const CsrMatrix& matrix, const Parameters& parameters) {
    using enum RowsTogether;
    constexpr RowShape shape = Arrays::shape;
    HostArray<Index> columns;
    HostArray<Value> values;
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
        Slices<Value, Index, HostArray> built =
            build_slices<Value, Index>(matrix, ShareView(matrix),
                                       {.slice_height = static_cast<Index>(parameters.integer("slice_height")),
                                        .group_places = {0, matrix.rows},
                                        .column_bounds = {0, matrix.columns}});
        rows.slice_height = built.slice_height;
        rows.slice_offsets = std::move(built.slice_offsets);
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
    if constexpr (shape.lengths) {
        rows.row_lengths.resize(matrix.rows);
        for (Index row = 0; row < matrix.rows; ++row) rows.row_lengths[row] = static_cast<Index>(matrix.row_length(row));
    }
    if constexpr (shape.short_columns()) {
        require_narrow_rows(matrix, (Index{1} << 16) - (shape.has_padding() ? 1 : 0));
        rows.first_columns.resize(matrix.rows);
        store_columns(rows, rows.columns_from_first, matrix, values.size());
    } else if constexpr (shape.together == slices) {
        store_columns(rows, rows.column_indices, matrix, values.size());
    } else {
        rows.column_indices = std::move(columns);
    }
    return values;
}

/// The coding of values that arrays have, as number_of_coding.
template <ValueType Value, typename Values>
inline constexpr std::size_t coding_of = ConstantMember<Values>                     ? coding::one
                                         : HasDictionary<Values>                    ? coding::codes
                                         : std::is_same_v<Values, HostArray<Value>> ? coding::full
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
        const RowShape shape = shape_of(parameters);
        if (shape.together != RowsTogether::one) layout.origin = Origin(ShareView(matrix));
        fill_alternative<Value>(layout,
                                alternative_of<Value>(layout.stored, shape, number_of_coding(parameters, precision_of<Value>)),
                                matrix, parameters, [&](auto& rows) {
                                    if constexpr (requires { rows.threads_per_row; }) {
                                        if (parameters.has("threads_per_row"))
                                            rows.threads_per_row = parameters.number_unless_auto("threads_per_row");
                                    }
                                    return fill_arrays<Value>(rows, matrix, parameters);
                                });
    }
};

/// An entry of a layout whose parameters name a shape.
template <template <typename> typename LayoutOf, ShapeOf shape_of>
[[nodiscard]] Format<LayoutOf> format_of_rows(LayoutEntry entry) {
    entry.predict = [](const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
        return predict_shape(shape_of(parameters), pattern, parameters, precision);
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
        return notes_on_values(rows.values);
    });
}

template <ValueType Value, typename Variant>
void RowsLayout<Value, Variant>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    using enum RowsTogether;
    with_stored(*this, [&]<typename Arrays>(const Arrays& rows) {
        constexpr RowShape shape = Arrays::shape;
        if constexpr (shape.together == one) {
            return for_each_stored_slot<RowLanes<shape, 1>>(rows, nonzeros_of(rows.row_offsets, rows.values.size()), visit);
        } else if constexpr (shape.together == jagged) {
            require_sound_diagonals(rows.diagonal_offsets, {0, rows.diagonal_count()}, {0, rows.row_count}, rows.values.size());
            return for_each_stored_slot<RowLanes<shape, 1>>(rows, nonzeros_of_jagged(origin), visit);
        } else if constexpr (shape.together == slices) {
            require_sound_offsets(rows.slice_offsets, rows.slice_height, rows.values.size(), rows.values.size());
        }
        if constexpr (shape.lengths) {
            for (Index row = 0; row < rows.row_count; ++row) {
                if (rows.row_lengths[row] == origin.length(row)) continue;
                throw std::logic_error("rows: the length of a row is not the number of its nonzeros");
            }
            constexpr RowShape with_padding{shape.together, shape.columns};
            for_each_stored_slot<RowLanes<with_padding, 1>>(rows, nonzeros_of(origin), visit);
        } else if constexpr (shape.has_padding()) {
            with_schedule<RowsOfOneLane>(rows,
                                         [&]<typename S>(S) { for_each_stored_slot<S>(rows, nonzeros_of(origin), visit); });
        }
    });
}

}  // namespace workbench
