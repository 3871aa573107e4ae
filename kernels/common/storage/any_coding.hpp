// Formats whose values may have any coding that does not depend on their columns (coded_values.hpp). The format takes the type
// of stored values as a parameter, lists them as coded_value_array, and has one set of arrays at a time:
//
//   struct FormatLayout final : CompressedLayout<Value, InAnyCoding<Format, Value>, Rows> { ... };
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/contract/rounding.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/round_values.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The arrays of a format whose values are stored in full, not at all if they are equal, as codes of 8 bits or, in f64, as f32.
template <template <typename, template <typename> typename> typename Format, ValueType Value>
struct InAnyCodingOf {
    using Type = std::variant<Format<Value, HostArray>, Format<Constant<Value>, HostArray>,
                              Format<Coded<Value, std::uint8_t>, HostArray>>;
};
template <template <typename, template <typename> typename> typename Format>
struct InAnyCodingOf<Format, double> {
    using Type = std::variant<Format<double, HostArray>, Format<Constant<double>, HostArray>,
                              Format<Coded<double, std::uint8_t>, HostArray>, Format<float, HostArray>>;
};
template <template <typename, template <typename> typename> typename Format, ValueType Value>
using InAnyCoding = typename InAnyCodingOf<Format, Value>::Type;

/// The alternatives of InAnyCoding, for std::get and emplace.
namespace coding {
inline constexpr std::size_t full = 0;
inline constexpr std::size_t one = 1;
inline constexpr std::size_t codes = 2;
inline constexpr std::size_t f32 = 3;
inline constexpr std::size_t bf16 = 4;  // of formats with more codings
}  // namespace coding

/// The parameter `values` of such a format, and its settle_values.
[[nodiscard]] ParameterDeclaration any_coding_parameter();
[[nodiscard]] Parameters settle_any_coding(const Parameters& parameters, const ValueFacts& facts);

/// Throws Unsuitable, with the figures, if a word has no room for as many bits of a column and the code of a value.
void require_room_in_words(Index column_bits, std::size_t values);

/// Stores the values of all slots in codes, which in words stand above the bits of columns that are there.
template <ValueType Value>
void store_codes(auto& stored, const HostArray<Value>& values, const ValueCodes<Value>& numbers) {
    constexpr bool in_words = HasColumns<decltype(stored)>;
    using Code = typename std::remove_cvref_t<decltype(stored)>::Code;
    stored.dictionary = numbers.dictionary();
    if constexpr (in_words) {
        require_room_in_words(stored.column_bits, stored.dictionary.size());
    } else {
        make_room(stored.codes, values.size());
    }
    for_pieces(values.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot) {
            const auto code = static_cast<Code>(std::uint64_t{numbers.code_of(values[slot])} << stored.column_bits);
            stored.codes[slot] = static_cast<Code>(in_words ? stored.codes[slot] | code : code);
        }
    });
}

/// Stores the values of all slots, those of padding included, in the coding of the array. Columns are in words before.
/// Throws Unsuitable if the values of the matrix do not fit the coding.
template <ValueType Value>
void store_values(auto& stored, HostArray<Value>&& values, const CsrMatrix& matrix, Rounding rounding) {
    using Stored = std::remove_cvref_t<decltype(stored)>;
    if constexpr (ConstantMember<Stored>) {
        stored = {only_value<Value>(matrix), static_cast<Offset>(values.size())};
    } else if constexpr (HasDictionary<Stored>) {
        const bool has_padding = static_cast<Offset>(values.size()) > matrix.nonzeros();
        const Offset most = HasColumns<Stored> ? most_values_of_words : most_values_of_bytes;
        store_codes(stored, values, codes_for<Value>(matrix, most, has_padding));
    } else if constexpr (std::is_same_v<Stored, HostArray<Value>>) {
        stored = std::move(values);
    } else if constexpr (std::is_same_v<Stored, HostArray<Bf16>>) {
        stored = round_to_bf16(values);
    } else {
        stored = rounding == Rounding::f32 ? round_to_f32(values) : values_in_f32(values);
    }
}

/// The alternative that the parameter `values` names; values in full if there is no such parameter. Throws Unsuitable for
/// "rounded_bf16" in f32.
[[nodiscard]] std::size_t number_of_coding(const Parameters& parameters, Precision precision);

/// Stores one value for all slots, or for each row or column, as the parameter `values` says. Throws Unsuitable if they differ.
template <ValueType Value>
void store_line_values(HasLineValues auto& arrays, const CsrMatrix& matrix, const Parameters& parameters) {
    arrays.values = {1, matrix.nonzeros()};
    if (parameters.is_word("values", "by_row")) {
        arrays.row_values = values_of_rows<Value>(matrix);
    } else if (parameters.is_word("values", "by_column")) {
        arrays.column_values = values_of_columns<Value>(matrix);
    } else {
        arrays.values.value = only_value<Value>(matrix);
    }
}

/// Fills alternative `number` of a layout: fill(arrays) fills all arrays but the values, and returns these in full, unless
/// lines have them.
template <ValueType Value>
void fill_alternative(auto& layout, std::size_t number, const CsrMatrix& matrix, const Parameters& parameters,
                      const auto& fill) {
    layout.make_empty(number);
    with_alternative(layout.stored, [&](auto& arrays) {
        if constexpr (requires { arrays.row_count; }) {
            arrays.row_count = matrix.rows;
            arrays.column_count = matrix.columns;
        }
        HostArray<Value> values = fill(arrays);
        if constexpr (HasLineValues<decltype(arrays)>) {
            store_line_values<Value>(arrays, matrix, parameters);
        } else {
            store_values(arrays.values, std::move(values), matrix, rounding_of(parameters));
        }
    });
}

/// Fills the alternative of InAnyCoding that the parameter `values` names.
template <ValueType Value>
void fill_in_coding(auto& layout, const CsrMatrix& matrix, const Parameters& parameters, const auto& fill) {
    fill_alternative<Value>(layout, number_of_coding(parameters, precision_of<Value>), matrix, parameters, fill);
}

/// The bytes of a slot's value and column.
[[nodiscard]] constexpr std::int64_t bytes_of_slot(const auto& arrays) {
    using Arrays = std::remove_cvref_t<decltype(arrays)>;
    if constexpr (HasColumns<decltype(arrays.values)>) {
        return sizeof(arrays.values.codes[0]);
    } else {
        std::size_t bytes = 0;
        if constexpr (requires { arrays.column_indices; }) {
            bytes = sizeof(arrays.column_indices[0]);
        } else {
            bytes = sizeof(arrays.columns_from_first[0]);
        }
        if constexpr (HasDictionary<decltype(arrays.values)>) {
            bytes += sizeof(arrays.values.codes[0]);
        } else if constexpr (!ConstantMember<decltype(Arrays::values)>) {
            bytes += sizeof(arrays.values[0]);
        }
        return static_cast<std::int64_t>(bytes);
    }
}

}  // namespace workbench
