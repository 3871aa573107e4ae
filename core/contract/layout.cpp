#include "core/contract/layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

std::string_view name_of(ArrayRole role) {
    switch (role) {
        case ArrayRole::value: return "value";
        case ArrayRole::column: return "column";
        case ArrayRole::structure: return "structure";
        case ArrayRole::number: return "number";
    }
    throw std::logic_error("an array of unknown role");
}

std::string_view name_of(ElementType type) {
    constexpr std::array<std::string_view, 10> names{"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"};
    return names.at(static_cast<std::size_t>(type));
}

std::size_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::i8:
        case ElementType::u8: return 1;
        case ElementType::i16:
        case ElementType::u16: return 2;
        case ElementType::i32:
        case ElementType::u32:
        case ElementType::f32: return 4;
        case ElementType::i64:
        case ElementType::u64:
        case ElementType::f64: return 8;
    }
    throw std::logic_error("an element of unknown type");
}

namespace {

bool is_real(ElementType type) { return type == ElementType::f32 || type == ElementType::f64; }

double real_at(ElementType type, const void* data, std::size_t index) {
    return type == ElementType::f32 ? static_cast<double>(static_cast<const float*>(data)[index])
                                    : static_cast<const double*>(data)[index];
}

}  // namespace

double value_at(const LayoutField& field, Offset index) {
    const auto fail = [&](const std::string& problem) -> double {
        throw std::logic_error("layout: element " + std::to_string(index) + " of '" + field.name + "' " + problem);
    };
    if (index < 0 || index >= static_cast<Offset>(field.slots())) return fail("does not exist");
    if (is_real(field.type)) return real_at(field.type, field.data, field.constant ? 0 : index);
    const std::optional<std::uint64_t> place = code_at(field, index);
    if (!place) return fail("is not a value");
    if (*place >= field.dictionary->count) return fail("has a code that is not in the dictionary");
    return real_at(field.dictionary->type, field.dictionary->data, *place);
}

std::optional<std::uint64_t> code_at(const LayoutField& field, Offset index) {
    if (!field.dictionary) return std::nullopt;
    const LayoutDictionary& dictionary = *field.dictionary;
    const auto slot = static_cast<std::uint64_t>(index);
    const auto place_of = [&](std::uint64_t stored) {
        return (stored >> dictionary.shift) * dictionary.values_of_code + slot % dictionary.values_of_code;
    };
    const std::uint64_t element = slot / dictionary.values_of_code;
    switch (field.type) {
        case ElementType::u8: return place_of(static_cast<const std::uint8_t*>(field.data)[element]);
        case ElementType::u16: return place_of(static_cast<const std::uint16_t*>(field.data)[element]);
        case ElementType::u32: return place_of(static_cast<const std::uint32_t*>(field.data)[element]);
        default: break;
    }
    if (!field.constant) return std::nullopt;
    if (field.type == ElementType::i32) return static_cast<std::uint64_t>(static_cast<const Index*>(field.data)[index]);
    if (field.type != ElementType::i64) return std::nullopt;
    const auto* const ends = static_cast<const Offset*>(field.data) + 1;
    return static_cast<std::uint64_t>(std::upper_bound(ends, ends + dictionary.count, index) - ends);
}

bool codes_values(const Parameters& parameters) { return parameters.has("values") && !parameters.is_word("values", "full"); }

Parameters LayoutEntry::settled(const Parameters& given, const CsrMatrix& matrix, Precision precision, Index node_size) const {
    if (settle == nullptr || !codes_values(given)) return given;
    return settle(given, value_facts(matrix, precision, given.has("block_size") ? node_size : 1));
}

namespace {

template <ValueType Value>
using Bits = std::conditional_t<std::same_as<Value, float>, std::uint32_t, std::uint64_t>;

[[noreturn]] void fail(const std::string& complaint) { throw std::logic_error("layout: " + complaint); }

/// Checks the slots one after another, and what only all of them together show.
template <ValueType Value>
class SlotChecker {
public:
    SlotChecker(const std::vector<LayoutField>& fields, const CsrMatrix& matrix)
        : fields_(fields),
          matrix_(matrix),
          visited_(fields.size(), 0),
          stored_(static_cast<std::size_t>(matrix.nonzeros()), false) {}

    void visit(const Slot& slot) {
        if (before_ && slot.array == before_->array && slot.index == before_->index) {
            check_mirror(slot);
        } else {
            check_place(slot);
        }
        before_ = slot;
        if (slot.nonzero == -1) {
            check_padding(slot);
        } else {
            check_nonzero(slot);
        }
    }

    void finish() const {
        for (std::size_t array = 0; array < fields_.size(); ++array) {
            if (fields_[array].role == ArrayRole::value && visited_[array] != fields_[array].slots()) {
                fail("array '" + fields_[array].name + "' has " + std::to_string(fields_[array].slots()) +
                     " elements, but only " + std::to_string(visited_[array]) + " slots");
            }
        }
        for (std::size_t nonzero = 0; nonzero < stored_.size(); ++nonzero) {
            if (!stored_[nonzero]) fail("nonzero " + std::to_string(nonzero) + " is not stored");
        }
    }

private:
    [[nodiscard]] std::string describe(const Slot& slot) const {
        return "slot " + std::to_string(slot.index) + " of '" + fields_[slot.array].name + "' ";
    }

    [[nodiscard]] bool is_array(int number, ArrayRole role) const {
        return number >= 0 && static_cast<std::size_t>(number) < fields_.size() && fields_[number].role == role;
    }

    /// Values of f32 may represent equal values of f64.
    [[nodiscard]] static bool holds_values(const LayoutField& field) {
        const ElementType type = field.dictionary ? field.dictionary->type : field.type;
        return is_real(type) && bytes_of(type) <= sizeof(Value);
    }

    /// The slot is the next of its value array, and the column that it names is there.
    void check_place(const Slot& slot) {
        is_mirror_ = false;
        if (!is_array(slot.array, ArrayRole::value) || !holds_values(fields_[slot.array])) {
            fail("a slot names array " + std::to_string(slot.array) + ", which holds no values of this precision");
        }
        const LayoutField& values = fields_[slot.array];
        const std::size_t expected = visited_[slot.array]++;
        if (slot.index != static_cast<Offset>(expected) || expected >= values.slots()) {
            fail(describe(slot) + "was walked where " + std::to_string(expected) + " comes next");
        }
        if (slot.column_array != -1) check_column_place(slot);
    }

    /// Checks a slot that is walked a second time. It may also store the nonzero on the other side of the diagonal, but no
    /// third.
    void check_mirror(const Slot& slot) {
        if (std::exchange(is_mirror_, true)) fail(describe(slot) + "was walked three times");
        if (slot.nonzero < 0 || slot.row != before_->column || slot.column != before_->row || slot.row == slot.column) {
            fail(describe(slot) + "was walked twice, but not for a nonzero and its mirror");
        }
    }

    void check_column_place(const Slot& slot) const {
        if (!is_array(slot.column_array, ArrayRole::column)) {
            fail(describe(slot) + "names array " + std::to_string(slot.column_array) + ", which holds no columns");
        }
        if (slot.column_index < 0 || slot.column_index >= static_cast<Offset>(fields_[slot.column_array].count)) {
            fail(describe(slot) + "names column " + std::to_string(slot.column_index) + " of an array of " +
                 std::to_string(fields_[slot.column_array].count) + " columns");
        }
    }

    void check_padding(const Slot& slot) const {
        const bool reads_x = !fields_[slot.array].constant || slot.column != -1;
        if (reads_x && stored_value(slot) != Value{0}) fail(describe(slot) + "is padding, but its value is not zero");
        if (slot.column < -1 || slot.column >= matrix_.columns) {
            fail(describe(slot) + "is padding that reads column " + std::to_string(slot.column) + ", which does not exist");
        }
        if (slot.row < -1 || slot.row >= matrix_.rows) {
            fail(describe(slot) + "is padding that adds to row " + std::to_string(slot.row) + ", which does not exist");
        }
    }

    void check_nonzero(const Slot& slot) {
        const Offset nonzero = slot.nonzero;
        if (nonzero < 0 || nonzero >= matrix_.nonzeros()) fail(describe(slot) + "names a nonzero that does not exist");
        if (stored_[nonzero]) fail("nonzero " + std::to_string(nonzero) + " is stored twice");
        stored_[nonzero] = true;
        if (slot.row < 0 || slot.row >= matrix_.rows || nonzero < matrix_.row_offsets[slot.row] ||
            nonzero >= matrix_.row_offsets[slot.row + 1]) {
            fail(describe(slot) + "adds to row " + std::to_string(slot.row) + ", but its nonzero is in another row");
        }
        if (slot.column != matrix_.column_indices[nonzero]) {
            fail(describe(slot) + "reads column " + std::to_string(slot.column) + ", but its nonzero is in column " +
                 std::to_string(matrix_.column_indices[nonzero]));
        }
        // Bits, because a NaN is to be stored as faithfully as a number.
        const auto expected = static_cast<Value>(matrix_.values[nonzero]);
        if (std::bit_cast<Bits<Value>>(stored_value(slot)) != std::bit_cast<Bits<Value>>(expected)) {
            fail(describe(slot) + "does not hold its nonzero's value");
        }
    }

    [[nodiscard]] Value stored_value(const Slot& slot) const {
        return static_cast<Value>(value_at(fields_[slot.array], slot.index));
    }

    const std::vector<LayoutField>& fields_;
    const CsrMatrix& matrix_;
    std::vector<std::size_t> visited_;  // [fields] slots walked in each value array
    std::vector<bool> stored_;          // [nonzeros]
    std::optional<Slot> before_;        // the one walked last
    bool is_mirror_ = false;            // true if it was walked for its second nonzero
};

}  // namespace

template <ValueType Value>
void check_layout(const Layout<Value>& layout, const CsrMatrix& matrix) {
    if (layout.rows() != matrix.rows || layout.columns() != matrix.columns || layout.nonzeros() != matrix.nonzeros()) {
        fail("its rows, columns or nonzeros are not those of the matrix");
    }
    const std::vector<LayoutField> fields = layout.fields();
    SlotChecker<Value> checker(fields, matrix);
    layout.for_each_slot([&](const Slot& slot) { checker.visit(slot); });
    checker.finish();
}

template void check_layout(const Layout<float>&, const CsrMatrix&);
template void check_layout(const Layout<double>&, const CsrMatrix&);

template <ValueType Value>
void check_schedule(const Layout<Value>& layout, WalkReads<Value> walk) {
    std::map<std::pair<int, Offset>, Slot> unread;
    layout.for_each_slot([&](const Slot& slot) { unread.emplace(std::pair(slot.array, slot.index), slot); });
    std::set<std::tuple<std::int64_t, int, std::int64_t>> moments;
    const std::vector<LayoutField> fields = layout.fields();
    walk(layout, [&](const Read& read) {
        const auto fail = [&](const std::string& problem) {
            const bool exists = read.array >= 0 && static_cast<std::size_t>(read.array) < fields.size();
            throw std::logic_error("schedule: slot " + std::to_string(read.index) + " of " +
                                   (exists ? "'" + fields[read.array].name + "'" : "an array that does not exist") + " is " +
                                   problem);
        };
        const auto found = unread.find({read.array, read.index});
        if (found == unread.end()) fail("read twice, or does not exist");
        const Slot& slot = found->second;
        if (slot.nonzero >= 0 && (read.row != slot.row || read.column != slot.column)) {
            fail("read for row " + std::to_string(read.row) + " and column " + std::to_string(read.column) +
                 ", but its nonzero is in row " + std::to_string(slot.row) + " and column " + std::to_string(slot.column));
        }
        if (read.column >= layout.columns() || read.row >= layout.rows() || read.lane < 0 || read.lane >= 32) {
            fail("read by or for what does not exist");
        }
        if (!moments.insert({read.warp, read.lane, read.step}).second) {
            fail("read in a step in which its lane reads another");
        }
        unread.erase(found);
    });
    for (const auto& [place, slot] : unread) {
        if (slot.nonzero >= 0) throw std::logic_error("schedule: nonzero " + std::to_string(slot.nonzero) + " is not read");
    }
}

template void check_schedule(const Layout<float>&, WalkReads<float>);
template void check_schedule(const Layout<double>&, WalkReads<double>);

}  // namespace workbench
