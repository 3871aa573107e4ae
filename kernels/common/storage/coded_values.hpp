// Values in fewer bytes, without a loss: a value array stores f64 values that f32 represents exactly as f32, codes that number
// the distinct values of a dictionary, or nothing at all if all values are equal. A code may share a word of 32 bits with the
// column of its slot. Kernels read all of these through data(), like a plain array; the loader decodes.
// Source for codes on CPUs: Kourtis, Goumas, Koziris, "Improving the performance of multithreaded sparse matrix-vector
// multiplication using index and value compression" (2008), CSR-VI.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/common/storage/array_view.hpp"

namespace workbench {

/// A column of 16 bits that marks padding, where the value cannot: equal values have no 0.
inline constexpr std::uint16_t padding_column = 0xFFFF;

/// Marks the element type of an array of values: all are equal.
template <typename Value>
struct Constant {};

/// Marks the element type of an array of values: codes of this type. Code 0 is the value 0 of padding.
template <typename Value, typename Code>
struct Coded {};

/// Marks the element type of an array of blocks of values: one code of 16 bits for all values of a block. Code 0 is the block
/// of zeros of padding.
template <typename Value>
struct CodedBlock {};

/// Marks the element type of an array of columns, and replaces a pointer to them: they are in the words of the values.
struct InWords {
    constexpr InWords& operator+=(Offset) { return *this; }
};

/// Points to equal values.
template <typename Value>
struct ConstantPointer {
    static constexpr bool decodes = true;
    Value value = 0;

    constexpr ConstantPointer operator+(Offset) const { return *this; }
    constexpr ConstantPointer& operator+=(Offset) { return *this; }
    [[nodiscard]] constexpr Value decode(const auto& /*load*/) const { return value; }
};

/// Points to a code and its dictionary.
template <typename Value, typename Code>
struct CodePointer {
    static constexpr bool decodes = true;
    const Code* code = nullptr;
    const Value* dictionary = nullptr;
    int shift = 0;

    constexpr CodePointer operator+(Offset slots) const { return {code + slots, dictionary, shift}; }
    constexpr CodePointer& operator+=(Offset slots) {
        code += slots;
        return *this;
    }
    [[nodiscard]] constexpr Value decode(const auto& load) const { return dictionary[load(code) >> shift]; }
    /// The column in the lower bits of a word.
    [[nodiscard]] constexpr Index column(Code word) const { return static_cast<Index>(word & ((Code{1} << shift) - 1)); }
};

/// Points to an element of blocks, each of which is stored as one code.
template <typename Value>
struct CodedBlockPointer {
    static constexpr bool decodes = true;
    const std::uint16_t* codes = nullptr;
    const Value* dictionary = nullptr;
    Index values_of_code = 1;
    Offset slot = 0;

    constexpr CodedBlockPointer operator+(Offset slots) const { return {codes, dictionary, values_of_code, slot + slots}; }
    [[nodiscard]] constexpr Value decode(const auto& load) const {
        const Offset code = load(codes + slot / values_of_code);
        return load.kept(dictionary + (code * values_of_code + slot % values_of_code));
    }
};

template <typename Value>
struct ConstantValues {
    Value value{};
    Offset count = 0;

    [[nodiscard]] constexpr Offset size() const { return count; }
    [[nodiscard]] constexpr ConstantPointer<Value> data() const { return {value}; }
    [[nodiscard]] constexpr Value operator[](Offset) const { return value; }
};

/// Arrays of a format without values of slots: all are equal, or those of each row (row_values), or of each column
/// (column_values). At most one of these arrays has elements; `values` are 1 if one has.
template <typename Arrays>
concept HasLineValues = requires(const Arrays& arrays) {
    arrays.row_values;
    arrays.column_values;
};

/// Stands for a pointer to the values of HasLineValues, without those of rows.
template <typename Value>
struct LineValuePointer : ConstantPointer<Value> {
    const Value* of_columns = nullptr;  // null: all are equal

    explicit constexpr LineValuePointer(const HasLineValues auto& arrays)
        : ConstantPointer<Value>{arrays.values.value},
          of_columns(arrays.column_values.size() > 0 ? arrays.column_values.data() : nullptr) {}
    /// The value of a slot whose column is known.
    [[nodiscard]] constexpr Value in_column(Index column, const auto& load) const {
        return of_columns == nullptr ? this->value : load.kept(of_columns + column);
    }
};

template <typename Value, typename CodeType, template <typename> typename Array>
struct CodedValues {
    using Code = CodeType;
    Array<Code> codes;
    Array<Value> dictionary;
    Index column_bits = 0;  // the lower bits of a code, which are the column of its slot

    [[nodiscard]] constexpr auto size() const { return codes.size(); }
    [[nodiscard]] constexpr CodePointer<Value, Code> data() const { return {codes.data(), dictionary.data(), column_bits}; }
    [[nodiscard]] constexpr Value operator[](Offset slot) const { return dictionary[codes[slot] >> column_bits]; }
};

/// Value j of block b is dictionary[codes[b] * values_of_code + j].
template <typename Value, template <typename> typename Array>
struct CodedBlocks {
    using Code = std::uint16_t;
    Array<Code> codes;
    Array<Value> dictionary;
    Index values_of_code = 1;

    [[nodiscard]] constexpr auto size() const { return codes.size() * values_of_code; }
    [[nodiscard]] constexpr CodedBlockPointer<Value> data() const { return {codes.data(), dictionary.data(), values_of_code}; }
    [[nodiscard]] constexpr const Value* block(Offset number) const {
        return dictionary.data() + Offset{codes[number]} * values_of_code;
    }
    /// The value of a slot; each block has values_of_code of them.
    [[nodiscard]] constexpr Value operator[](Offset slot) const { return block(slot / values_of_code)[slot % values_of_code]; }
};

template <typename Stored, template <typename> typename Array>
struct ValueArrayOf {
    using Type = Array<Stored>;
};
template <typename Value, template <typename> typename Array>
struct ValueArrayOf<Constant<Value>, Array> {
    using Type = ConstantValues<Value>;
};
template <typename Value, typename Code, template <typename> typename Array>
struct ValueArrayOf<Coded<Value, Code>, Array> {
    using Type = CodedValues<Value, Code, Array>;
};

template <typename Value, template <typename> typename Array>
struct ValueArrayOf<CodedBlock<Value>, Array> {
    using Type = CodedBlocks<Value, Array>;
};

/// An array of values that are stored as a type of element says: of f32 or f64, or one of the marks above.
template <typename Stored, template <typename> typename Array>
using ValueArray = typename ValueArrayOf<Stored, Array>::Type;

template <typename Stored, template <typename> typename Array>
struct ColumnArrayOf {
    using Type = Array<Stored>;
};
template <template <typename> typename Array>
struct ColumnArrayOf<InWords, Array> {
    using Type = InWords;
};

/// An array of columns of integers, or InWords.
template <typename Stored, template <typename> typename Array>
using ColumnArray = typename ColumnArrayOf<Stored, Array>::Type;

/// Stands for a type of values where only their places matter.
struct AnyValue {};

template <typename Stored>
struct WithoutValueType {
    using Type = AnyValue;
};
template <typename Value>
struct WithoutValueType<Constant<Value>> {
    using Type = Constant<AnyValue>;
};
template <typename Value, typename Code>
struct WithoutValueType<Coded<Value, Code>> {
    using Type = Coded<AnyValue, Code>;
};
template <typename Value>
struct WithoutValueType<CodedBlock<Value>> {
    using Type = CodedBlock<AnyValue>;
};

/// The type of element that an array of values has without the type of its values.
template <typename Stored>
using WithoutValue = typename WithoutValueType<Stored>::Type;

/// An array of codes.
template <typename Values>
concept HasDictionary = requires(const Values& values) {
    values.dictionary;
};

/// Values whose words also contain columns.
template <typename Values>
concept HasColumns = HasDictionary<Values> && std::same_as<typename std::remove_cvref_t<Values>::Code, std::uint32_t>;

/// A dictionary of which each thread block has a copy in shared memory.
template <typename Values>
concept SharesDictionary = HasDictionary<Values> && requires(const Values& values) {
    values.column_bits;
};

/// The shared memory of a thread block that decodes these values.
[[nodiscard]] constexpr unsigned bytes_of_dictionary(const auto& values) {
    if constexpr (SharesDictionary<decltype(values)>) {
        return static_cast<unsigned>(values.dictionary.size() * sizeof(values.dictionary[0]));
    } else {
        return 0;
    }
}

/// A pointer to values that `load` decodes.
template <typename Pointer>
concept ValuePointer = Pointer::decodes;

}  // namespace workbench
