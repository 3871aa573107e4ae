#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {
namespace {

using enum RowsTogether;

/// Throws Unsuitable, with the figure and advice, if a row is too wide.
void require_narrow_rows(const CsrMatrix& matrix, Index most) {
    for (Index row = 0; row < matrix.rows; ++row) {
        const auto columns = matrix.row_columns(row);
        if (columns.empty() || columns.back() - columns.front() < most) continue;
        throw Unsuitable(
            fmt::format("row {} reaches over {} columns, but columns of 16 bits reach {}: an order of less bandwidth "
                        "(cuthill_mckee) may bring them together",
                        row, Offset{columns.back()} - columns.front() + 1, most));
    }
}

/// Stores the columns of all rows at their slots, whose places are known, and marks padding.
template <typename Column>
void store_columns(auto& rows, HostArray<Column>& columns, const CsrMatrix& matrix, std::size_t slots) {
    constexpr RowShape shape = shape_of_rows<decltype(rows)>;
    if constexpr (shape.has_padding()) {
        make_filled(columns, slots, shape.short_columns ? static_cast<Column>(padding_column) : static_cast<Column>(no_column));
    } else {
        make_room(columns, slots);
    }
    with_schedule<RowsOfOneLane>(rows, [&]<typename S>(S) {
        for_each_in_parallel(matrix.rows, 64, [&](std::int64_t row) {
            const auto of_row = matrix.row_columns(static_cast<Index>(row));
            if (of_row.empty()) return;
            if constexpr (shape.short_columns) rows.first_columns[row] = of_row.front();
            const auto run = S::run(rows, row, PlainLoad{});
            for (std::size_t k = 0; k < of_row.size(); ++k) {
                columns[run.slot(static_cast<Offset>(k))] = static_cast<Column>(of_row[k] - run.first_column);
            }
        });
    });
}

bool has_row_major(const Parameters& parameters) { return parameters.has("order") && parameters.text("order") == "row_major"; }

/// Fills all arrays but the values, and returns these in full.
template <ValueType Value, typename Arrays>
HostArray<Value> fill_arrays(Arrays& rows, const CsrMatrix& matrix, const Parameters& parameters) {
    constexpr RowShape shape = Arrays::shape;
    HostArray<Index> columns;
    HostArray<Value> values;
    if constexpr (shape.together == one) {
        rows.row_offsets = matrix.row_offsets;
        make_copy(values, matrix.values);
        if constexpr (!shape.short_columns) columns = matrix.column_indices;
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
    if constexpr (shape.short_columns) {
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

/// 0: chosen by the mean length.
Index threads_of(const Parameters& parameters) {
    return parameters.is_word("threads_per_row", "auto") ? 0 : static_cast<Index>(parameters.integer("threads_per_row"));
}

/// The shape that the parameters of `rows` name.
RowShape named_shape(const Parameters& parameters) {
    const std::string& together = parameters.text("rows");
    RowsTogether chosen = jagged;
    if (together == "one") chosen = one;
    if (together == "all") chosen = all;
    if (together == "slices") chosen = slices;
    return {chosen, parameters.text("column_index") == "u16", parameters.boolean("row_lengths")};
}

constexpr auto fill = []<ValueType Value, bool is_coded, RowShape... shapes>(
    RowsLayout<Value, is_coded, shapes...> & layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const auto& all_shapes = layout.shapes_of_arrays;
    const RowShape shape = sizeof...(shapes) == 1 ? all_shapes.front() : named_shape(parameters);
    const auto number = std::find(all_shapes.begin(), all_shapes.end(), shape) - all_shapes.begin();
    if (shape.together != one) layout.origin = Origin(ShareView(matrix));
    fill_in_coding<Value>(
        layout, matrix, parameters,
        [&](auto& rows) {
            rows.threads_per_row = parameters.has("threads_per_row") ? threads_of(parameters) : 0;
            return fill_arrays<Value>(rows, matrix, parameters);
        },
        static_cast<std::size_t>(number) * (std::variant_size_v<decltype(layout.stored)> / sizeof...(shapes)));
};

LayoutCost predict_shape(RowShape shape, const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr Offset cost_of_diagonal = 3;  // each step also loads the offset of a diagonal
    const Offset longest = pattern.longest_row();
    const std::int64_t slot_bytes = (shape.short_columns ? short_bytes : index_bytes) + bytes_of_values(parameters, precision);
    SlicesForecast arrays;
    if (shape.together == slices) {
        arrays = forecast_slices(pattern, static_cast<Index>(parameters.integer("slice_height")), slot_bytes);
    } else {
        arrays.slots = shape.together == all ? longest * pattern.rows() : pattern.nonzeros();
        arrays.bytes = arrays.slots * slot_bytes;
        if (shape.together != all)
            arrays.bytes += ((shape.together == one ? Offset{pattern.rows()} : longest) + 1) * offset_bytes;
    }
    const Offset slots = arrays.slots;
    arrays.bytes += pattern.rows() * index_bytes * ((shape.short_columns ? 1 : 0) + (shape.lengths ? 1 : 0));
    const double bandwidth = shape.together == one      ? 0.92
                             : shape.together == all    ? 1.05
                             : shape.together == slices ? 1.18
                                                        : 0.95;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, arrays.bytes, bandwidth);
    cost.exact = (cost.exact || shape.together != slices) && !has_dictionary(parameters);  // others in any order
    if (shape.lengths) {
        cost.unread_bytes = (slots - pattern.nonzeros()) * slot_bytes;
        cost.sectors += sectors_of_idle_lanes(pattern);
        cost.chain = longest;
    }
    if (shape.together == jagged) cost.chain = cost_of_diagonal * longest;
    if (shape.together == all) refuse_slots(cost, parameters, pattern.nonzeros());
    if (shape.short_columns && pattern.wide_groups(1) > 0) {
        cost.unsuitable = "rows reach over more columns than 16 bits count";
    }
    return cost;
}
LayoutCost predict_rows(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    return predict_shape(named_shape(parameters), pattern, parameters, precision);
}

template <RowShape shape>
std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    const DeviceValues values = values_on_device(parameters);
    if constexpr (shape.together == one) {
        return WholeRows{.short_columns = shape.short_columns, .values = values};
    } else {
        return PaddedRows{.row_major = has_row_major(parameters),
                          .with_lengths = shape.lengths,
                          .slots_per_nonzero = parameters.real("slots_per_nonzero"),
                          .values = values};
    }
}

/// A preset, `rows` with one shape: its entry, and what follows from the shape. coded: with parameter `values`, after the
/// others.
template <template <typename> typename LayoutOf, RowShape shape, bool coded = true>
Format<LayoutOf> preset(LayoutEntry entry) {
    entry.predict = [](const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
        return predict_shape(shape, pattern, parameters, precision);
    };
    if (coded) {
        entry.parameters.push_back(any_coding_parameter());
        entry.settle = settle_any_coding;
        entry.on_device = on_device<shape>;
    }
    return format<LayoutOf>(std::move(entry), fill);
}

Needs needs(const Parameters& parameters) {
    const RowShape shape = named_shape(parameters);
    if (shape.lengths && !shape.has_padding()) {
        throw ParameterError("row_lengths",
                             "rows = \"" + parameters.text("rows") +
                                 "\" has no padding, and its offsets state the lengths; expected rows = \"all\" or \"slices\"");
    }
    if (has_row_major(parameters) && !shape.has_order()) {
        throw ParameterError("order",
                             "row_major is for padded rows; expected rows = \"all\" and row_lengths = false, or rows = "
                             "\"one\" without order");
    }
    const Index threads = threads_of(parameters);
    if ((threads & (threads - 1)) != 0) {
        throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
    }
    if (threads > 1 && !shape.has_neighbours(has_row_major(parameters) ? EllOrder::row_major : EllOrder::column_major)) {
        throw ParameterError(
            "threads_per_row",
            fmt::format("found {}, but threads share a row whose slots are neighbours; expected rows = \"one\" "
                        "or order = \"row_major\", or layout sell",
                        threads));
    }
    return {.unsplit = true};
}

ParameterDeclaration order_parameter() {
    return {.name = "order",
            .type = ParameterType::choice,
            .default_value = "column_major",
            .words = {"column_major", "row_major"},
            .help = "which slots are neighbours: the k-th of all rows, or those of one row"};
}

}  // namespace

template <ValueType Value, bool is_coded, RowShape... shapes>
void RowsLayout<Value, is_coded, shapes...>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
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
            constexpr RowShape with_padding{shape.together, shape.short_columns};
            for_each_stored_slot<RowLanes<with_padding, 1>>(rows, nonzeros_of(origin), visit);
        } else if constexpr (shape.has_padding()) {
            with_schedule<RowsOfOneLane>(rows,
                                         [&]<typename S>(S) { for_each_stored_slot<S>(rows, nonzeros_of(origin), visit); });
        }
    });
}

LayoutEntry csr16_entry() {
    return preset<Csr16Layout, csr16_shape>(
               {.name = "csr16",
                .summary = "CSR with columns of 16 bits, counted from the first nonzero of their row",
                .source = "docs/new_format.md, which walks through it",
                .kernel_on_device = "lanes"})
        .host<RowsOfOneLane>("rows", "rows in parallel, in chunks to the next idle thread")
        .cuda<RowsOfThreads>("lanes", "one, four or eight threads per row, by the mean length")
        .vectors_on_gpu<RowsOfVectors>();
}

LayoutEntry ell_entry() {
    return preset<EllLayout, ell_shape>(
               {.name = "ell",
                .summary = "ELL: every row padded to the longest one, stored column by column or row by row",
                .source =
                    "Kincaid, Oppe and Young, 'ITPACKV 2D user's guide' (1989); kernels after Wikberg, 'Unstructured mesh FVM "
                    "with GPU' (2025), section 4.2.3",
                .examples = {"\n[layout]\nuse = \"ell\"\n", "\n[layout]\nuse = \"ell\"\norder = \"row_major\"\n"},
                .parameters = {order_parameter(), slots_per_nonzero_parameter(10)},
                .storage_sizes = ell_storage_sizes,
                .kernel_on_device = "rows"})
        .host<RowsOfOneLane>("rows", "blocks of rows in parallel, all slots of a row")
        .cuda<RowsOfOneLane>("rows", "one thread per row")
        .cuda<EllReduction, EllReduce>("reduce",
                                       "several threads per row, by the width, whose sums meet in shared memory or by shuffles")
        .cuda<EllEachSlot>("atomic", "one thread per slot, which adds to y atomically");
}

LayoutEntry ellr_entry() {
    return preset<EllrLayout, ellr_shape>(
               {.name = "ellr",
                .summary = "ELLPACK-R: ELL column by column with the length of each row, so that padding is never read",
                .source = "Vazquez, Ortega, Fernandez and Garzon, 'Improving the performance of the sparse matrix vector "
                          "product with "
                          "GPUs' (2010)",
                .parameters = {slots_per_nonzero_parameter(10)},
                .kernel_on_device = "rows"})
        .host<RowsOfOneLane>("rows", "rows in parallel, as many slots of each as it has nonzeros")
        .cuda<RowsOfOneLane>("rows", "one thread per row, which stops at the end of the row");
}

LayoutEntry jds_entry() {
    using Row = RowLanes<jds_shape, 1>;
    return preset<JdsLayout, jds_shape, false>(
               {.name = "jds",
                .summary =
                    "jagged diagonals: of rows in descending length the first entries, then the second ones, without padding",
                .source = "Saad, 'Krylov subspace methods on supercomputers' (1989)",
                .examples = {"\n[[stage]]\nuse = \"row_sort\"\napply = \"rows\"\n\n[layout]\nuse = \"jds\"\n"}})
        .host<RowsOfOneLane>("rows", "blocks of rows in parallel, diagonal by diagonal")
        .cuda<JdsStreaming, Row>("streaming",
                                 "one thread per row; streaming loads of the matrix, offsets of the diagonals through L1")
        .vectors_on_gpu<Row>()
        .cuda<JdsConstant, Row>(
            "constant",
            "one thread per row; streaming loads of the matrix, offsets of the diagonals in constant memory if they fit")
        .cuda<JdsUncached, Row>(
            "uncached",
            "as in the slides: ld.global.cv for the matrix, st.global.cs for y, offsets in constant memory if they fit");
}

LayoutEntry rows_entry() {
    return format<AnyRowsLayout>(
               {.summary = "rows of slots, by parameters that combine: csr16, ell, ellr and jds are combinations of it",
                .source = "the sources of csr16, ell, ellr and jds",
                .examples = {"\n[[stage]]\nuse = \"row_sort\"\napply = \"rows\"\n\n[layout]\nuse = \"rows\"\nrows = "
                             "\"jagged\"\ncolumn_index = \"u16\"\n",
                             "\n[layout]\nuse = \"rows\"\nrows = \"slices\"\nslice_height = 2\nrow_lengths = true\n"},
                .parameters = {{.name = "rows",
                                .type = ParameterType::choice,
                                .default_value = "all",
                                .words = {"one", "all", "slices", "jagged"},
                                .help = "the rows that are stored together: one: row after row; all: every row has as many "
                                        "slots as the longest; slices: those of a slice have as many as its longest; "
                                        "jagged: diagonals of rows in descending length"},
                               integer_parameter("slice_height", by_default(std::int64_t{32}), between(1, 65536, "rows"),
                                                 "with rows = \"slices\": rows stored together"),
                               {.name = "column_index",
                                .type = ParameterType::choice,
                                .default_value = "u16",
                                .words = {"u32", "u16"},
                                .help = "u16: columns of 16 bits, counted from the first column of their row"},
                               {.name = "row_lengths",
                                .type = ParameterType::boolean,
                                .default_value = false,
                                .help = "the length of each row is stored, so that padding is never read"},
                               order_parameter(),
                               integer_parameter("threads_per_row", by_default(std::string("auto")),
                                                 between(1, 32, "threads", {"auto"}),
                                                 "with rows = \"one\" or order = \"row_major\": threads of a GPU that share a "
                                                 "row, a power of two; auto: as many as suit the mean length"),
                               slots_per_nonzero_parameter(10),
                               any_coding_parameter()},
                .needs = needs,
                .settle = settle_any_coding,
                .predict = predict_rows},
               fill)
        .host<RowsOfOneLane>("rows", "blocks of rows in parallel")
        .cuda<RowsOfThreads>("rows", "threads_per_row threads per row, or as many as suit the mean length")
        .vectors_on_gpu<RowsOfVectors>();
}

}  // namespace workbench
