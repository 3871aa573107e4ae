// Codes the values of a matrix, and says how (coded_values.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/device_plan.hpp"
#include "core/contract/parameters.hpp"
#include "core/contract/value_facts.hpp"
#include "core/matrix/host_array.hpp"
#include "kernels/common/storage/coded_values.hpp"

namespace workbench {

/// The most distinct values, padding not counted, for codes of 8 bits, and for codes in one word with a column. Each thread
/// block of a GPU copies their dictionary to shared memory.
inline constexpr Offset most_values_of_bytes = 255;
inline constexpr Offset most_values_of_words = most_coded_values;

/// Numbers the values of a dictionary.
template <ValueType Value>
class ValueCodes {
public:
    /// With padding, code 0 is the value 0; then follow the others of these distinct values.
    ValueCodes(const std::vector<Value>& distinct, bool padding);

    [[nodiscard]] const HostArray<Value>& dictionary() const { return dictionary_; }
    /// The code of one of the values, or 0.
    [[nodiscard]] std::uint32_t code_of(Value value) const;

private:
    HostArray<Value> dictionary_;
    std::vector<std::uint32_t> table_;  // open addressing: a code + 1, or 0
};

/// The parameter `values` of a format that stores values in these ways.
[[nodiscard]] ParameterDeclaration values_parameter(std::vector<std::string> words);

/// The codings that fit a format's other parameters.
struct Codings {
    Offset most_distinct = 0;  // of a dictionary; 0: no dictionary
    bool f32 = false;
    bool lines = false;  // one value a row, or a column
};

/// values = "auto" replaced: by "one" if all values are equal, by "by_column" or "by_row", by "dictionary", by "f32", or else
/// by "full".
[[nodiscard]] Parameters settle_values(const Parameters& parameters, const ValueFacts& facts, const Codings& codings);

/// settle_values for a format without other codings than "one".
[[nodiscard]] Parameters settle_equal_values(const Parameters& parameters, const ValueFacts& facts);

/// How a device stores values, as the parameter `values` says; in full if it is "auto", which is still to be settled.
[[nodiscard]] DeviceValues values_on_device(const Parameters& parameters);

/// The common value of all nonzeros; 0 if there are no nonzeros. Throws Unsuitable, with two values that differ, if they are
/// not all equal.
template <ValueType Value>
[[nodiscard]] Value only_value(const CsrMatrix& matrix);

/// The value of each row, or of each column; 0 if it has no nonzeros. Throws Unsuitable, with two that differ, if a row or a
/// column has several.
template <ValueType Value>
[[nodiscard]] HostArray<Value> values_of_rows(const CsrMatrix& matrix);
template <ValueType Value>
[[nodiscard]] HostArray<Value> values_of_columns(const CsrMatrix& matrix);

/// Throws Unsuitable, with the first value that f32 changes.
[[nodiscard]] HostArray<float> values_in_f32(const HostArray<double>& values);

/// The codes for at most `most` distinct values, and for padding. Throws Unsuitable if there are more.
template <ValueType Value>
[[nodiscard]] ValueCodes<Value> codes_for(const CsrMatrix& matrix, Offset most, bool padding);

/// True if the parameter `values` requests codes. A forecast has the pattern alone, and not the length of the dictionary.
[[nodiscard]] bool has_dictionary(const Parameters& parameters);

/// The bytes of a slot's value, as the parameter `values` says.
[[nodiscard]] std::int64_t bytes_of_values(const Parameters& parameters, Precision precision);

/// column_bits: the number of lower bits of a word that contain a column; none if codes have 8 bits and no columns.
[[nodiscard]] std::string note_on_codes(std::size_t values, std::optional<Index> column_bits);
[[nodiscard]] std::string note_on_coded_blocks(std::size_t blocks);
[[nodiscard]] std::string note_on_constant(double value);

/// For Layout::notes: "values", "17 in the dictionary, in codes of 8 bits"; empty for values in full.
template <typename Values>
[[nodiscard]] std::vector<std::pair<std::string, std::string>> notes_on_values(const Values& values) {
    if constexpr (requires { values.values_of_code; }) {
        return {{"values", note_on_coded_blocks(values.dictionary.size() / static_cast<std::size_t>(values.values_of_code))}};
    } else if constexpr (HasDictionary<Values>) {
        const std::optional<Index> column_bits = HasColumns<Values> ? std::optional(values.column_bits) : std::nullopt;
        return {{"values", note_on_codes(values.dictionary.size(), column_bits)}};
    } else if constexpr (requires { values.value; }) {
        return {{"values", note_on_constant(static_cast<double>(values.value))}};
    } else {
        return {};
    }
}

}  // namespace workbench
