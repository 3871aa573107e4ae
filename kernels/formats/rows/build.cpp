#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/formats/rows/build.hpp"

namespace workbench {

using enum RowsTogether;

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

bool has_row_major(const Parameters& parameters) { return parameters.has("order") && parameters.text("order") == "row_major"; }

namespace {

/// The shape that the parameters of `rows` name.
RowShape named_shape(const Parameters& parameters) {
    const std::string& together = parameters.text("rows");
    RowsTogether chosen = jagged;
    if (together == "one") chosen = one;
    if (together == "all") chosen = all;
    if (together == "slices") chosen = slices;
    return {chosen, parameters.is_word("column_index", "u16") ? ColumnsFrom::row : ColumnsFrom::matrix,
            parameters.boolean("row_lengths")};
}

}  // namespace

LayoutCost predict_shape(RowShape shape, const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr Offset cost_of_diagonal = 3;  // each step also loads the offset of a diagonal
    const Offset longest = pattern.longest_row();
    const std::int64_t slot_bytes =
        (shape.short_columns() ? short_bytes : index_bytes) + bytes_of_values(parameters, precision);
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
    arrays.bytes += pattern.rows() * index_bytes * ((shape.short_columns() ? 1 : 0) + (shape.lengths ? 1 : 0));
    if (shape.lines && parameters.is_word("values", "by_row")) arrays.bytes += pattern.rows() * value_bytes(precision);
    if (shape.lines && parameters.is_word("values", "by_column")) arrays.bytes += pattern.columns() * value_bytes(precision);
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
    if (shape.short_columns() && pattern.wide_groups(1) > 0) {
        cost.unsuitable = "rows reach over more columns than 16 bits count";
    }
    return cost;
}

std::optional<DeviceStorage> shape_on_device(RowShape shape, const Parameters& parameters) {
    const DeviceValues values = values_on_device(parameters);
    if (shape.together == one) return WholeRows{.short_columns = shape.short_columns(), .values = values};
    return PaddedRows{.row_major = has_row_major(parameters),
                      .with_lengths = shape.lengths,
                      .slots_per_nonzero = parameters.real("slots_per_nonzero"),
                      .values = values};
}

ParameterDeclaration coding_parameter(RowShape shape) {
    return shape.lines ? values_parameter({"full", "one", "by_row", "by_column", "dictionary", "f32", "auto"})
                       : any_coding_parameter();
}

Parameters settle_lines(const Parameters& parameters, const ValueFacts& facts) {
    return settle_values(parameters, facts, {.most_distinct = most_values_of_bytes, .f32 = true, .lines = true});
}

namespace {

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
    const Index threads = parameters.number_unless_auto("threads_per_row");
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
    return format_of_rows<AnyRowsLayout, named_shape>(
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
                .settle = settle_any_coding})
        .host<RowsOfOneLane>("rows", "blocks of rows in parallel")
        .cuda<RowsOfThreads>("rows", "threads_per_row threads per row, or as many as suit the mean length")
        .vectors_on_gpu<RowsOfVectors>();
}

}  // namespace workbench
