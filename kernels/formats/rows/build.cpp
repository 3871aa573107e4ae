#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/contract/errors.hpp"
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

/// True if the values are stored with columns of any kind.
bool suits_any_columns(const std::string& values) { return values == "full" || values == "one" || values == "auto"; }

bool counts_from_slices(const Parameters& parameters) {
    return !parameters.has("columns_from") || parameters.is_word("columns_from", "slice");
}

/// Throws ParameterError unless threads_per_row is a power of two.
void require_power_of_two(const Parameters& parameters) {
    const Index threads = parameters.number_unless_auto("threads_per_row");
    if ((threads & (threads - 1)) == 0) return;
    throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
}

/// The slots of all rows, and the bytes of the arrays without those of rows.
SlicesForecast forecast_rows(RowShape shape, const PatternForecast& pattern, const Parameters& parameters,
                             std::int64_t slot_bytes) {
    SlicesForecast arrays;
    if (shape.together != slices) {
        arrays.slots = shape.together == all ? Offset{pattern.longest_row()} * pattern.rows() : pattern.nonzeros();
        arrays.bytes = arrays.slots * slot_bytes;
        if (shape.together == one) arrays.bytes += (Offset{pattern.rows()} + 1) * offset_bytes;
        if (shape.together == jagged) arrays.bytes += (Offset{pattern.longest_row()} + 1) * offset_bytes;
        return arrays;
    }
    const Index height = slice_height(pattern.rows(), pattern.nonzeros(), parameters);
    const Offset count = pieces_of(pattern.rows(), height);
    arrays = forecast_slices(pattern, height, slot_bytes);
    if (shape.columns == ColumnsFrom::words || shape.columns == ColumnsFrom::slice) arrays.bytes += count * index_bytes;
    if (shape.columns == ColumnsFrom::slice) {
        const double wide = pattern.wide_groups(height);
        arrays.bytes += static_cast<std::int64_t>(wide * static_cast<double>(count * offset_bytes)) +
                        static_cast<std::int64_t>(wide * static_cast<double>(arrays.slots * short_bytes));
    }
    return arrays;
}

/// The cost of reading the rows of slices, by their lengths (RowsLayout::by_lengths) or with several threads.
void set_cost_of_slices(LayoutCost& cost, bool by_lengths, const PatternForecast& pattern, const Parameters& parameters) {
    const Offset longest = pattern.longest_row();
    cost.chain = by_lengths ? std::min<Offset>(longest, parameters.integer("split_length")) : longest;
    const double mean = pattern.mean_length();
    const Index threads = parameters.number_unless_auto("threads_per_row");
    // Several threads of a row add their sums, which takes as long as 1.2 slots of each (docs/results/search-h100.md).
    constexpr double slots_of_sum = 1.2;
    if (threads > 1 && mean > 0) cost.bandwidth /= 1 + slots_of_sum * threads / mean;
}

}  // namespace

LayoutCost predict_shape(RowShape shape, const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr Offset cost_of_diagonal = 3;  // each step also loads the offset of a diagonal
    const Offset longest = pattern.longest_row();
    const Offset nonzeros = pattern.nonzeros();
    const bool in_words = shape.columns == ColumnsFrom::words;
    const std::int64_t slot_bytes = (in_words || shape.columns == ColumnsFrom::matrix ? index_bytes : short_bytes) +
                                    (in_words ? 0 : bytes_of_values(parameters, precision));
    auto [slots, bytes] = forecast_rows(shape, pattern, parameters, slot_bytes);
    bytes += pattern.rows() * index_bytes * ((shape.short_columns() ? 1 : 0) + (shape.lengths ? 1 : 0));
    if (shape.lines && parameters.is_word("values", "by_row")) bytes += pattern.rows() * value_bytes(precision);
    if (shape.lines && parameters.is_word("values", "by_column")) bytes += pattern.columns() * value_bytes(precision);
    const double bandwidth = shape.together == one      ? 0.92
                             : shape.together == all    ? 1.05
                             : shape.together == slices ? 1.18
                                                        : 0.95;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, bandwidth);
    cost.exact = (cost.exact || shape.together != slices) && !has_dictionary(parameters) &&  // others in any order
                 (shape.columns != ColumnsFrom::slice || pattern.is_exact());
    const bool by_lengths = shape.together == slices && parameters.is_word("threads_per_row", "auto") &&
                            (slots > 2 * nonzeros || longest > parameters.integer("split_length"));
    if (shape.lengths || by_lengths) {
        cost.unread_bytes = (slots - nonzeros) * slot_bytes - (shape.lengths ? 0 : pattern.rows() * index_bytes);
        cost.sectors += sectors_of_idle_lanes(pattern);
        cost.chain = longest;
    }
    if (shape.together == slices) set_cost_of_slices(cost, by_lengths, pattern, parameters);
    if (shape.together == jagged) cost.chain = cost_of_diagonal * longest;
    if (shape.together == all) refuse_slots(cost, parameters, nonzeros);
    if (shape.short_columns() && pattern.wide_groups(1) > 0) {
        cost.unsuitable = "rows reach over more columns than 16 bits count";
    }
    return cost;
}

Index slice_height(Index rows, Offset nonzeros, const Parameters& parameters) {
    if (!parameters.is_word("slice_height", "auto")) return static_cast<Index>(parameters.integer("slice_height"));
    const double mean = rows == 0 ? 0 : static_cast<double>(nonzeros) / rows;
    const Index threads = parameters.number_unless_auto("threads_per_row");
    return 32 / (threads == 0 ? sell_threads_for(mean) : threads);
}

std::optional<DeviceStorage> shape_on_device(RowShape shape, const Parameters& parameters) {
    const DeviceValues values = values_on_device(parameters);
    const bool has_threads = parameters.has("threads_per_row");
    const Index threads = has_threads ? parameters.number_unless_auto("threads_per_row") : 0;
    if (shape.together == one) {
        return WholeRows{.short_columns = shape.short_columns(),
                         .values_of_lines = shape.lines,
                         .threads_per_row = threads,
                         .values = values};
    }
    return PaddedRows{.row_major = has_row_major(parameters),
                      .with_lengths = shape.lengths,
                      .threads_per_row = has_threads ? threads : 1,
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

RowShape named_shape(const Parameters& parameters, const std::function<bool()>& is_wide) {
    RowShape shape{slices};
    if (parameters.has("rows")) {
        const std::string& together = parameters.text("rows");
        shape.together = together == "one" ? one : together == "all" ? all : together == "slices" ? slices : jagged;
        shape.lengths = parameters.boolean("row_lengths");
    }
    const std::string& values = parameters.text("values");
    const std::string& columns = parameters.text("column_index");
    if (!counts_from_slices(parameters)) {
        if (columns == "u16") shape.columns = ColumnsFrom::row;
    } else if (columns == "word" && values != "one") {
        shape.columns = ColumnsFrom::words;
    } else if (columns != "u32" && (columns != "auto" || !suits_any_columns(values) || !is_wide())) {
        shape.columns = ColumnsFrom::slice;
    }
    return shape;
}

namespace {

void require_combination(const Parameters& parameters) {
    const std::string rows = "rows = \"" + parameters.text("rows") + "\"";
    const RowShape shape = named_shape(parameters, [] { return false; });
    if (shape.lengths && !shape.has_padding()) {
        throw ParameterError("row_lengths", rows +
                                                " has no padding, and its offsets state the lengths; expected rows = \"all\" "
                                                "or \"slices\"");
    }
    if (has_row_major(parameters) && !shape.has_order()) {
        throw ParameterError("order",
                             "row_major is for padded rows; expected rows = \"all\" and row_lengths = false, or rows = "
                             "\"one\" without order");
    }
    if (parameters.is_word("columns_from", "slice") && shape.together != slices) {
        throw ParameterError("columns_from", rows + " has no slices; expected rows = \"slices\"");
    }
    const std::string& columns = parameters.text("column_index");
    if ((columns == "word" || columns == "auto") && !counts_from_slices(parameters)) {
        throw ParameterError("column_index", fmt::format("\"{}\" counts columns from the first of their slice; expected "
                                                         "columns_from = \"slice\"",
                                                         columns));
    }
    const Index threads = parameters.number_unless_auto("threads_per_row");
    if (threads > 1 && shape.together != slices &&
        !shape.has_neighbours(has_row_major(parameters) ? EllOrder::row_major : EllOrder::column_major)) {
        throw ParameterError(
            "threads_per_row",
            fmt::format(
                "found {}, but threads share a row of a slice or whose slots are neighbours; expected rows = \"slices\", "
                "rows = \"one\" or order = \"row_major\"",
                threads));
    }
}

}  // namespace

Needs needs_of_rows(const Parameters& parameters) {
    require_power_of_two(parameters);
    const bool any_coding = parameters.has("rows");  // with columns of 32 bits
    if (any_coding) require_combination(parameters);
    const std::string& values = parameters.text("values");
    const std::string& columns = parameters.text("column_index");
    if (columns == "word" && values != "dictionary" && values != "auto") {
        throw ParameterError("column_index",
                             fmt::format("\"word\" holds a column and the code of a value, but values = \"{}\"; "
                                         "expected values = \"dictionary\" or \"auto\"",
                                         values));
    }
    if (columns == "u32" && !any_coding && !suits_any_columns(values)) {
        throw ParameterError("column_index", fmt::format("values = \"{}\" takes \"u16\"{} or \"auto\"", values,
                                                         values == "dictionary" ? ", \"word\"" : ""));
    }
    return {.unsplit = true};
}

ParameterValue columns_beside(const std::map<std::string, ParameterValue>& given) {
    const auto values = given.find("values");
    const bool any = values == given.end() || suits_any_columns(std::get<std::string>(values->second));
    return std::string(any ? "u32" : "auto");
}

Parameters settle_rows(const Parameters& parameters, const ValueFacts& facts) {
    if (!counts_from_slices(parameters)) return settle_any_coding(parameters, facts);
    if (parameters.is_word("column_index", "u32")) {
        return parameters.has("rows") ? settle_any_coding(parameters, facts) : settle_values(parameters, facts, {});
    }
    const auto distinct = static_cast<std::uint64_t>(facts.distinct.value_or(0));
    const auto bits = std::bit_width(static_cast<std::uint64_t>(facts.columns)) + std::bit_width(distinct);
    const bool in_words =
        parameters.is_word("column_index", "word") || (parameters.is_word("column_index", "auto") && bits <= 32);
    Parameters settled = settle_values(parameters, facts,
                                       {.most_distinct = in_words ? most_values_of_words : most_values_of_bytes, .f32 = true});
    const bool is_one = settled.is_word("values", "one");
    if (is_one && parameters.is_word("column_index", "word")) return settled.with("column_index", std::string("u16"));
    const bool any_columns = is_one || settled.is_word("values", "full");
    if (!parameters.is_word("column_index", "auto") || any_columns) return settled;
    const bool word = in_words && settled.is_word("values", "dictionary");
    return settled.with("column_index", std::string(word ? "word" : "u16"));
}

std::optional<DeviceStorage> rows_on_device(const Parameters& parameters) {
    const RowShape shape = named_shape(parameters, [] { return false; });
    if (!shape.is_made_on_gpu()) return std::nullopt;
    if (shape.together != slices) return shape_on_device(shape, parameters);
    const std::string& columns = parameters.text("column_index");
    return RowSlices{.slice_height = parameters.number_unless_auto("slice_height"),
                     .threads_per_row = parameters.number_unless_auto("threads_per_row"),
                     .split_length = static_cast<Index>(parameters.integer("split_length")),
                     .columns = columns == "u32"    ? DeviceColumns::of_32_bits
                                : columns == "u16"  ? DeviceColumns::of_16_bits
                                : columns == "word" ? DeviceColumns::in_words
                                                    : DeviceColumns::automatic,
                     .with_lengths = shape.lengths,
                     .values = values_on_device(parameters)};
}

}  // namespace workbench
