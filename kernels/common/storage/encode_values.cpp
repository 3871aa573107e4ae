#include "kernels/common/storage/encode_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "core/contract/errors.hpp"
#include "core/contract/layout.hpp"
#include "core/matrix/bf16.hpp"
#include "core/matrix/distinct_values.hpp"
#include "core/matrix/random.hpp"
#include "core/matrix/value_bits.hpp"
#include "kernels/common/storage/any_coding.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::optional<std::vector<Value>> distinct_in(const CsrMatrix& matrix, Offset most) {
    if constexpr (std::is_same_v<Value, float>) {
        return distinct_values_in_f32(matrix.values, most);
    } else {
        return distinct_values<double>(matrix.values, most);
    }
}

/// line: "row" or "column"; line_of(row, column): its number.
template <ValueType Value>
HostArray<Value> values_of_lines(const CsrMatrix& matrix, Index lines, const char* line, const auto& line_of) {
    HostArray<Value> values(lines, 0);
    HostArray<char> has_value(lines, 0);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const Index number = line_of(row, matrix.column_indices[k]);
            const auto value = static_cast<Value>(matrix.values[k]);
            if (has_value[number] == 0) values[number] = value;
            has_value[number] = 1;
            if (bits_of(values[number]) == bits_of(value)) continue;
            throw Unsuitable(
                fmt::format("values = \"by_{}\" requires that the values of each {} are equal, but {} {} has {} and {}", line,
                            line, line, number + 1, values[number], value));
        }
    }
    return values;
}

}  // namespace

template <ValueType Value>
ValueCodes<Value>::ValueCodes(const std::vector<Value>& distinct, bool padding)
    : table_(std::bit_ceil(2 * distinct.size() + 4), 0) {
    const auto add = [this](Value value) {
        dictionary_.push_back(value);
        std::size_t place = mixed(bits_of(value)) & (table_.size() - 1);
        while (table_[place] != 0) place = (place + 1) & (table_.size() - 1);
        table_[place] = static_cast<std::uint32_t>(dictionary_.size());
    };
    if (padding) add(Value{0});
    for (const Value value : distinct) {
        if (!padding || bits_of(value) != bits_of(Value{0})) add(value);
    }
}

template <ValueType Value>
std::uint32_t ValueCodes<Value>::code_of(Value value) const {
    std::size_t place = mixed(bits_of(value)) & (table_.size() - 1);
    while (table_[place] != 0 && bits_of(dictionary_[table_[place] - 1]) != bits_of(value)) {
        place = (place + 1) & (table_.size() - 1);
    }
    return table_[place] == 0 ? 0 : table_[place] - 1;
}

ParameterDeclaration values_parameter(std::vector<std::string> words) {
    const auto offers = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    std::string help = fmt::format("how values are stored{}: one: all are equal, and none is stored",
                                   offers("rounded_f32") ? "" : ", always exactly");
    if (offers("by_row")) help += "; by_row, by_column: all of a row, or of a column, are equal, and one is stored for it";
    if (offers("dictionary")) help += "; dictionary: codes of the distinct values";
    if (offers("f32")) help += "; f32: values of f64 that f32 represents exactly";
    help += "; auto: the first of these that fits, otherwise full";
    if (offers("rounded_f32")) {
        help += "; rounded_f32, rounded_bf16: rounded values of f64, so that the product is that of another matrix";
    }
    return choice_parameter("values", by_default("full"), std::move(words), std::move(help));
}

Parameters settle_values(const Parameters& parameters, const ValueFacts& facts, const Codings& codings) {
    if (!parameters.is_word("values", "auto")) return parameters;
    const auto with = [&](const char* word) { return parameters.with("values", std::string(word)); };
    if (facts.distinct && *facts.distinct <= 1) return with("one");
    if (codings.lines && facts.one_a_column) return with("by_column");
    if (codings.lines && facts.one_a_row) return with("by_row");
    if (facts.distinct && *facts.distinct <= codings.most_distinct) return with("dictionary");
    return with(codings.f32 && facts.exact_in_f32 ? "f32" : "full");
}

ParameterDeclaration any_coding_parameter() { return values_parameter({"full", "one", "dictionary", "f32", "auto"}); }

Parameters settle_any_coding(const Parameters& parameters, const ValueFacts& facts) {
    return settle_values(parameters, facts, {.most_distinct = most_values_of_bytes, .f32 = true});
}

std::size_t number_of_coding(const Parameters& parameters, Precision precision) {
    if (!codes_values(parameters)) return coding::full;
    for (const char* const word : {"one", "by_row", "by_column"}) {
        if (parameters.is_word("values", word)) return coding::one;
    }
    if (parameters.is_word("values", "dictionary")) return coding::codes;
    if (parameters.is_word("values", "rounded_bf16")) {
        if (precision == Precision::f64) return coding::bf16;
        throw Unsuitable("values = \"rounded_bf16\" is for values of f64");
    }
    const bool is_f32 = parameters.is_word("values", "f32") || parameters.is_word("values", "rounded_f32");
    return is_f32 && precision == Precision::f64 ? coding::f32 : coding::full;
}

void require_room_in_words(Index column_bits, std::size_t values) {
    const auto bits_of_code = values == 0 ? 0 : static_cast<int>(std::bit_width(values - 1));
    if (column_bits + bits_of_code <= 32) return;
    throw Unsuitable(
        fmt::format("column_index = \"word\" has 32 bits, but the widest slice needs {} for its columns and {} "
                    "values of the dictionary need {}: an order of less bandwidth (cuthill_mckee) or u16",
                    column_bits, values, bits_of_code));
}

Parameters settle_equal_values(const Parameters& parameters, const ValueFacts& facts) {
    return settle_values(parameters, facts, {});
}

DeviceValues values_on_device(const Parameters& parameters) {
    const std::string& word = parameters.text("values");
    if (word == "one") return DeviceValues::one;
    if (word == "by_row") return DeviceValues::by_row;
    if (word == "by_column") return DeviceValues::by_column;
    if (word == "dictionary") return DeviceValues::dictionary;
    if (word == "f32") return DeviceValues::f32;
    if (word == "rounded_f32") return DeviceValues::rounded_f32;
    return word == "rounded_bf16" ? DeviceValues::rounded_bf16 : DeviceValues::full;
}

template <ValueType Value>
Value only_value(const CsrMatrix& matrix) {
    if (const auto distinct = distinct_in<Value>(matrix, 1)) return distinct->empty() ? Value{0} : distinct->front();
    const auto first = static_cast<Value>(matrix.values.front());
    const auto other = std::find_if(matrix.values.begin(), matrix.values.end(),
                                    [&](double value) { return bits_of(static_cast<Value>(value)) != bits_of(first); });
    throw Unsuitable(fmt::format("values = \"one\" requires that all values are equal, but {} and {} differ", first, *other));
}

template <ValueType Value>
HostArray<Value> values_of_rows(const CsrMatrix& matrix) {
    return values_of_lines<Value>(matrix, matrix.rows, "row", [](Index row, Index) { return row; });
}

template <ValueType Value>
HostArray<Value> values_of_columns(const CsrMatrix& matrix) {
    return values_of_lines<Value>(matrix, matrix.columns, "column", [](Index, Index column) { return column; });
}

HostArray<float> values_in_f32(const HostArray<double>& values) {
    if (!are_exact_in_f32(values)) {
        const double changed = *std::find_if_not(values.begin(), values.end(), is_exact_in_f32);
        throw Unsuitable(fmt::format("values = \"f32\" requires values that f32 represents exactly, but {} would become {}",
                                     changed, static_cast<double>(static_cast<float>(changed))));
    }
    HostArray<float> narrow;
    make_copy(narrow, values);
    return narrow;
}

template <ValueType Value>
ValueCodes<Value> codes_for(const CsrMatrix& matrix, Offset most, bool padding) {
    const auto distinct = distinct_in<Value>(matrix, most);
    if (!distinct) {
        throw Unsuitable(
            fmt::format("values = \"dictionary\" requires at most {} distinct values here, and there are more", most));
    }
    return ValueCodes<Value>(*distinct, padding);
}

bool has_dictionary(const Parameters& parameters) {
    return codes_values(parameters) && parameters.is_word("values", "dictionary");
}

std::int64_t bytes_of_values(const Parameters& parameters, Precision precision) {
    if (!codes_values(parameters)) return value_bytes(precision);
    if (parameters.is_word("values", "one") || parameters.is_word("values", "by_row")) return 0;
    if (parameters.is_word("values", "by_column")) return 0;
    if (parameters.is_word("values", "dictionary")) return 1;
    if (parameters.is_word("values", "rounded_bf16")) return sizeof(Bf16);
    const bool is_f32 = parameters.is_word("values", "f32") || parameters.is_word("values", "rounded_f32");
    return is_f32 ? value_bytes(Precision::f32) : value_bytes(precision);
}

std::string note_on_codes(std::size_t values, std::optional<Index> column_bits) {
    if (!column_bits) return fmt::format("{} in the dictionary, in codes of 8 bits", values);
    return fmt::format("{} in the dictionary, in words with {} bits for the column", values, *column_bits);
}

std::string note_on_coded_blocks(std::size_t blocks) {
    return fmt::format("{} blocks in the dictionary, in codes of 16 bits", blocks);
}

std::string note_on_constant(double value) { return fmt::format("all are {}; none is stored", value); }

template class ValueCodes<float>;
template class ValueCodes<double>;
template float only_value<float>(const CsrMatrix&);
template double only_value<double>(const CsrMatrix&);
template HostArray<float> values_of_rows<float>(const CsrMatrix&);
template HostArray<double> values_of_rows<double>(const CsrMatrix&);
template HostArray<float> values_of_columns<float>(const CsrMatrix&);
template HostArray<double> values_of_columns<double>(const CsrMatrix&);
template ValueCodes<float> codes_for(const CsrMatrix&, Offset, bool);
template ValueCodes<double> codes_for(const CsrMatrix&, Offset, bool);

}  // namespace workbench
