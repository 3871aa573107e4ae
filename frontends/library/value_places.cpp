#include "frontends/library/value_places.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/distinct_values.hpp"
#include "core/text/words.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// An entry of a row and the slot that stores it.
struct Stored {
    Index column = 0;  // the caller's
    std::int32_t array = 0;
    Offset slot = 0;
    bool is_mirror = false;  // the slot also holds an entry that was walked before
};

template <ValueType Value>
bool same(Value a, Value b) {
    using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// Calls visit(row of the caller, Stored) for all entries in the slots of all layouts.
template <ValueType Value, typename Visit>
void for_each_stored(const Candidate<Value>& candidate, const Visit& visit) {
    std::int32_t first_array = 0;
    for (const auto& share : candidate.shares) {
        std::vector<std::int32_t> number;  // [fields] among the value arrays
        std::int32_t next = first_array;
        for (const LayoutField& field : share.layout.real->fields())
            number.push_back(field.role == ArrayRole::value ? next++ : -1);
        const std::vector<Index>& rows = share.layout.rows;
        Slot before{.array = -1};
        share.layout.real->for_each_slot([&](const Slot& slot) {
            const bool is_mirror = slot.array == before.array && slot.index == before.index;
            before = slot;
            if (slot.nonzero < 0) return;
            const Index row = rows.empty() ? slot.row : rows[slot.row];
            visit(candidate.space->row_order.old_of_new(row),
                  Stored{candidate.space->column_order.old_of_new(slot.column), number[slot.array], slot.index, is_mirror});
        });
        first_array = next;
    }
}

/// The layout's array, which LayoutField shows as constant.
template <typename Element>
Element* elements_of(const LayoutField& field) {
    return static_cast<Element*>(const_cast<void*>(field.data));
}

/// Calls visit(slot, value) for the slots that hold one, by all threads.
template <ValueType Value, typename Visit>
void for_each_value(const HostArray<Offset>& entry_of_slot, std::span<const Value> values, const Visit& visit) {
    for_pieces(entry_of_slot.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot) {
            if (entry_of_slot[slot] >= 0) visit(slot, values[entry_of_slot[slot]]);
        }
    });
}

/// New codes are found for single values alone: not for blocks, for values of rows and columns, or for numbers of bf16.
void require_codes_of_slots(const LayoutField& field) {
    if (!field.dictionary) return;
    if (!field.constant && field.dictionary->values_of_code == 1 && field.type != ElementType::u16) return;
    throw Unsuitable(
        fmt::format("new values: the codes of array '{}' stand for blocks, rows, columns or rounded values; expected a new "
                    "operator",
                    field.name));
}

bool has_padding(const HostArray<Offset>& entry_of_slot) {
    return std::find(entry_of_slot.begin(), entry_of_slot.end(), -1) != entry_of_slot.end();
}

/// The codes of the array's new values; throws Unsuitable if the dictionary has no room for them.
template <ValueType Value>
ValueCodes<Value> new_codes(const LayoutField& field, const HostArray<Offset>& entry_of_slot, std::span<const Value> values) {
    if (field.dictionary->type != element_type<Value>()) throw std::logic_error("a dictionary of another precision");
    std::vector<Value> held;
    for (const Offset entry : entry_of_slot) {
        if (entry >= 0) held.push_back(values[entry]);
    }
    const bool padding = has_padding(entry_of_slot);
    const auto room = static_cast<Offset>(field.dictionary->count);
    const auto distinct = distinct_values<Value>(std::span<const Value>(held), room);
    if (distinct) {
        ValueCodes<Value> codes(*distinct, padding);
        if (codes.dictionary().size() <= field.dictionary->count) return codes;
    }
    throw Unsuitable(
        fmt::format("new values: the dictionary of array '{}' has room for {}{}, and there are more; expected "
                    "a new operator",
                    field.name, counted(room, "distinct value"), padding ? ", one of them the 0 of padding" : ""));
}

template <ValueType Value, typename Code>
void store_codes(const LayoutField& field, const HostArray<Offset>& entry_of_slot, const ValueCodes<Value>& codes,
                 std::span<const Value> values) {
    const Code column_bits = static_cast<Code>((std::uint64_t{1} << field.dictionary->shift) - 1);
    auto* const words = elements_of<Code>(field);
    for_each_value(entry_of_slot, values, [&](std::size_t slot, Value value) {
        words[slot] = static_cast<Code>((codes.code_of(value) << field.dictionary->shift) | (words[slot] & column_bits));
    });
    std::copy(codes.dictionary().begin(), codes.dictionary().end(),
              static_cast<Value*>(const_cast<void*>(field.dictionary->data)));
}

}  // namespace

template <ValueType Value>
ValuePlaces<Value>::ValuePlaces(const Candidate<Value>& candidate, std::span<const Offset> entry_order) {
    for (const auto& share : candidate.shares) {
        for (const LayoutField& field : share.layout.real->fields()) {
            if (field.role != ArrayRole::value) continue;
            make_filled(
                arrays_.emplace_back(PlacedArray{.field = field, .entry_of_slot = {}, .mirror_of_slot = {}}).entry_of_slot,
                field.slots(), -1);
        }
    }
    const Index rows = candidate.space->row_order.size();
    pattern_.rows = rows;
    pattern_.columns = candidate.space->column_order.size();
    HostArray<Offset>& row_begins = pattern_.row_offsets;
    make_zeros(row_begins, static_cast<std::size_t>(rows) + 1);
    std::vector<std::pair<Index, Stored>> walked;  // in the order of the slots, as a walk takes most of the time
    walked.reserve(static_cast<std::size_t>(candidate.nonzeros()));
    for_each_stored(candidate, [&](Index row, const Stored& stored) {
        ++row_begins[row + 1];
        PlacedArray& array = arrays_[stored.array];
        if (stored.is_mirror && array.mirror_of_slot.empty()) make_filled(array.mirror_of_slot, array.field.slots(), -1);
        walked.emplace_back(row, stored);
    });
    sum_up(row_begins);
    HostArray<Stored> entries = unwritten_array<Stored>(walked.size());
    HostArray<Offset> next = row_begins;
    for (const auto& [row, stored] : walked) entries[next[row]++] = stored;
    walked = {};
    make_room(pattern_.column_indices, entries.size());
    for_each_in_parallel(rows, 256, [&](std::int64_t row) {
        const auto begin = entries.begin() + row_begins[row];
        const auto end = entries.begin() + row_begins[row + 1];
        std::sort(begin, end, [](const Stored& a, const Stored& b) { return a.column < b.column; });
        for (auto entry = begin; entry != end; ++entry) {
            const Offset place = entry - entries.begin();
            pattern_.column_indices[place] = entry->column;
            PlacedArray& array = arrays_[entry->array];
            (entry->is_mirror ? array.mirror_of_slot : array.entry_of_slot)[entry->slot] =
                entry_order.empty() ? place : entry_order[place];
        }
    });
}

void require_pattern(const CsrMatrix& matrix, const CsrMatrix& known) {
    if (matrix.rows != known.rows || matrix.columns != known.columns) {
        throw Unsuitable(fmt::format("new values: the matrix has {} and {}; expected {} and {}", counted(matrix.rows, "row"),
                                     counted(matrix.columns, "column"), known.rows, known.columns));
    }
    const auto differs = [&](std::int64_t number) {
        const auto row = static_cast<Index>(number);
        return !std::ranges::equal(matrix.row_columns(row), known.row_columns(row));
    };
    if (count_in_parallel(matrix.rows, differs) == 0) return;
    Index row = 0;
    while (!differs(row)) ++row;
    const auto found = matrix.row_columns(row);
    const auto expected = known.row_columns(row);
    const auto [here, there] = std::ranges::mismatch(found, expected);
    const bool is_new = there == expected.end() || (here != found.end() && *here < *there);
    throw Unsuitable(fmt::format(
        "new values: row {} has {} entry in column {}; expected the pattern of the matrix that the operator was made of", row,
        is_new ? "an" : "no", is_new ? *here : *there));
}

template <ValueType Value>
void ValuePlaces<Value>::check(const PlacedArray& array, std::span<const Value> values) const {
    const HostArray<Offset>& entries = array.entry_of_slot;
    const HostArray<Offset>& mirrors = array.mirror_of_slot;
    const LayoutField& field = array.field;
    const auto count = static_cast<std::int64_t>(entries.size());
    const auto first = [&](const auto& is_wrong) {
        if (count_in_parallel(count, is_wrong) == 0) return count;
        std::int64_t slot = 0;
        while (!is_wrong(slot)) ++slot;
        return slot;
    };
    if (!mirrors.empty()) {
        const std::int64_t slot =
            first([&](std::int64_t i) { return mirrors[i] >= 0 && !same(values[entries[i]], values[mirrors[i]]); });
        if (slot < count) {
            throw Unsuitable(
                fmt::format("new values: the layout stores entries {} and {} of the matrix once, as they mirror each other, "
                            "but their values "
                            "{} and {} differ",
                            entries[slot], mirrors[slot], values[entries[slot]], values[mirrors[slot]]));
        }
    }
    if (field.constant) {
        const auto held = std::find_if(entries.begin(), entries.end(), [](Offset entry) { return entry >= 0; });
        if (held == entries.end()) return;
        const Value only = values[*held];
        const std::int64_t slot = first([&](std::int64_t i) { return entries[i] >= 0 && !same(values[entries[i]], only); });
        if (slot < count) {
            throw Unsuitable(fmt::format("new values: array '{}' stores one value for all of its entries, but {} and {} differ",
                                         field.name, only, values[entries[slot]]));
        }
    } else if (std::is_same_v<Value, double> && field.type == ElementType::f32) {
        const std::int64_t slot =
            first([&](std::int64_t i) { return entries[i] >= 0 && !is_exact_in_f32(static_cast<double>(values[entries[i]])); });
        if (slot < count) {
            throw Unsuitable(fmt::format("new values: array '{}' stores f32, which cannot represent {} exactly", field.name,
                                         values[entries[slot]]));
        }
    }
}

template <ValueType Value>
void ValuePlaces<Value>::store(std::span<const Value> values) {
    std::vector<std::optional<ValueCodes<Value>>> codes;
    for (const PlacedArray& array : arrays_) {
        require_codes_of_slots(array.field);
        check(array, values);
        codes.emplace_back();
        if (array.field.dictionary) codes.back() = new_codes<Value>(array.field, array.entry_of_slot, values);
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const LayoutField& field = arrays_[i].field;
        const HostArray<Offset>& entries = arrays_[i].entry_of_slot;
        const auto store_as = [&]<typename Element>(Element* elements) {
            for_each_value(entries, values,
                           [&](std::size_t slot, Value value) { elements[slot] = static_cast<Element>(value); });
        };
        if (field.constant) {
            const auto held = std::find_if(entries.begin(), entries.end(), [](Offset entry) { return entry >= 0; });
            if (held != entries.end()) *elements_of<Value>(field) = values[*held];
        } else if (codes[i]) {
            field.type == ElementType::u8 ? store_codes<Value, std::uint8_t>(field, entries, *codes[i], values)
                                          : store_codes<Value, std::uint32_t>(field, entries, *codes[i], values);
        } else if (field.type == ElementType::f32) {
            store_as(elements_of<float>(field));
        } else {
            store_as(elements_of<double>(field));
        }
    }
}

template class ValuePlaces<float>;
template class ValuePlaces<double>;

}  // namespace workbench
