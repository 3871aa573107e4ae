// The arrays of a layout are one struct, whose storage is a parameter: vectors on the host, memory of a device, or plain views,
// which kernels take by value. The struct lists its members once, in `fields`. The footprint, the copy to a device, the view,
// the names in messages and the header for kernels beside a recipe follow from that list.
//
//   template <typename Value, template <typename> typename Array>
//   struct Format {
//       Index row_count = 0;
//       Array<Value> values;
//
//       static constexpr auto fields() {
//           return field_list(number_field<&Format::row_count>(), value_array<&Format::values>("nonzeros"));
//       }
//   };
//
// The text is the length of an array in words, for readers of that header.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/layout.hpp"
#include "core/matrix/host_array.hpp"
#include "kernels/common/storage/array_view.hpp"
#include "kernels/common/storage/coded_values.hpp"
#include "kernels/common/storage/round_values.hpp"

namespace workbench {

template <typename Member>
concept NumberMember = std::is_arithmetic_v<Member> || std::is_enum_v<Member>;

/// An array without memory, which is copied like a number.
template <typename Member>
concept ConstantMember = requires(const Member& member) {
    member.value;
    member.count;
};

/// An array in memory of a device.
template <typename Element>
class DeviceArray {
public:
    DeviceArray() = default;
    DeviceArray(Device& device, std::span<const Element> array, const std::string& purpose)
        : memory_(to_device(device, array, purpose)), size_(static_cast<Offset>(array.size())) {}
    /// Takes memory of `size` elements that was written on the device.
    DeviceArray(DeviceMemory memory, Offset size) : memory_(std::move(memory)), size_(size) {}

    [[nodiscard]] const Element* data() const { return memory_.template as<Element>(); }
    [[nodiscard]] Offset size() const { return size_; }

private:
    DeviceMemory memory_;
    Offset size_ = 0;
};

/// The name of a member.
template <auto member>
[[nodiscard]] constexpr auto member_name() {
    const std::string_view text = __PRETTY_FUNCTION__;  // "... [with auto member = &Csr<double, HostArray>::values]"
    const std::size_t begin = text.rfind(':') + 1;
    return text.substr(begin, text.rfind(']') - begin);
}

/// An entry of a list of fields.
struct FieldInfo {
    ArrayRole role = ArrayRole::number;
    const char* length = "";  // of an array, in words: "rows + 1"
    std::string (*name)() = nullptr;
};

/// A member of a struct, or a member of a member, whose name joins both: first.values is "first_values".
template <auto... path>
struct Field {
    static std::string name() {
        std::string joined;
        ((joined += joined.empty() ? "" : "_", joined += member_name<path>()), ...);
        return joined;
    }
    [[nodiscard]] static constexpr auto& in(auto& stored) { return (stored.*....*path); }
};

/// Fields and what is known of each. A std::tuple takes three times as long to compile, because its types repeat the names of
/// all fields for each of them.
template <typename... Fields>
struct FieldList {
    std::array<FieldInfo, sizeof...(Fields)> infos;
};

template <auto... path>
[[nodiscard]] constexpr FieldList<Field<path...>> one_field(ArrayRole role, const char* length) {
    return {{{{role, length, Field<path...>::name}}}};
}
template <auto member>
[[nodiscard]] constexpr auto number_field() {
    return one_field<member>(ArrayRole::number, "");
}
template <auto member>
[[nodiscard]] constexpr auto value_array(const char* length) {
    return one_field<member>(ArrayRole::value, length);
}
template <auto member>
[[nodiscard]] constexpr auto column_array(const char* length) {
    return one_field<member>(ArrayRole::column, length);
}
template <auto member>
[[nodiscard]] constexpr auto structure_array(const char* length) {
    return one_field<member>(ArrayRole::structure, length);
}

template <typename... First, typename... Second>
[[nodiscard]] constexpr auto operator+(const FieldList<First...>& first, const FieldList<Second...>& second) {
    FieldList<First..., Second...> both{};
    for (std::size_t i = 0; i < first.infos.size(); ++i) both.infos[i] = first.infos[i];
    for (std::size_t i = 0; i < second.infos.size(); ++i) both.infos[first.infos.size() + i] = second.infos[i];
    return both;
}

/// The fields of several lists, such as that of a base.
[[nodiscard]] constexpr auto field_list(const auto&... lists) { return (FieldList<>{} + ... + lists); }

template <auto member, auto... path>
[[nodiscard]] constexpr Field<member, path...> field_inside(Field<path...>) {
    return {};
}

/// The fields of a member that lists its own.
template <auto member>
[[nodiscard]] constexpr auto nested_fields() {
    const auto list = []<typename Member, typename Struct>(Member Struct::*) { return Member::fields(); }(member);
    return []<typename... Fields>(const FieldList<Fields...>& of_member) {
        FieldList<decltype(field_inside<member>(Fields{}))...> nested{of_member.infos};
        std::size_t i = 0;
        ((nested.infos[i++].name = decltype(field_inside<member>(Fields{}))::name), ...);
        return nested;
    }(list);
}

/// An array of values in any of the ways of coded_values.hpp. Codes are followed by their dictionary, and by the bits below
/// them or the values of a code.
template <auto member>
[[nodiscard]] constexpr auto coded_value_array(const char* length) {
    return []<typename Member, typename Struct>(Member Struct::*, const char* of_values) {
        if constexpr (requires { &Member::values_of_code; }) {
            return one_field<member, &Member::codes>(ArrayRole::value, of_values) +
                   one_field<member, &Member::dictionary>(ArrayRole::structure, "values of the distinct blocks") +
                   one_field<member, &Member::values_of_code>(ArrayRole::number, "");
        } else if constexpr (HasDictionary<Member>) {
            return one_field<member, &Member::codes>(ArrayRole::value, of_values) +
                   one_field<member, &Member::dictionary>(ArrayRole::structure, "distinct values") +
                   one_field<member, &Member::column_bits>(ArrayRole::number, "");
        } else {
            return value_array<member>(of_values);
        }
    }(member, length);
}

/// An array of columns, unless they are in the words of the values.
template <auto member>
[[nodiscard]] constexpr auto coded_column_array(const char* length) {
    return []<typename Member, typename Struct>(Member Struct::*, const char* of_columns) {
        if constexpr (std::is_same_v<Member, InWords>) {
            return FieldList<>{};
        } else {
            return column_array<member>(of_columns);
        }
    }(member, length);
}

constexpr auto MatrixSize::fields() {
    return field_list(number_field<&MatrixSize::row_count>(), number_field<&MatrixSize::column_count>());
}

template <typename Stored>
inline constexpr auto fields_in = Stored::fields();

template <typename... Fields>
constexpr void visit_fields(const FieldList<Fields...>& list, const auto& visit, auto& stored) {
    std::size_t i = 0;
    (visit(list.infos[i++], Fields::in(stored)), ...);
}
template <typename... Fields, typename... OtherFields>
constexpr void visit_fields(const FieldList<Fields...>& list, const FieldList<OtherFields...>&, const auto& visit, auto& stored,
                            auto& other) {
    std::size_t i = 0;
    (visit(list.infos[i++], Fields::in(stored), OtherFields::in(other)), ...);
}

/// Calls visit(FieldInfo, member...) field by field, of one struct or of the same in two storages.
template <typename Stored, typename... Other>
constexpr void for_each_field(const auto& visit, Stored& stored, Other&... other) {
    visit_fields(fields_in<std::remove_const_t<Stored>>, fields_in<std::remove_const_t<Other>>..., visit, stored, other...);
}

template <typename Stored, template <typename> typename Other>
struct InStorageOf;
template <template <template <typename> typename> typename Format, template <typename> typename Array,
          template <typename> typename Other>
struct InStorageOf<Format<Array>, Other> {
    using Type = Format<Other>;
};
template <template <typename, template <typename> typename> typename Format, typename Value, template <typename> typename Array,
          template <typename> typename Other>
struct InStorageOf<Format<Value, Array>, Other> {
    using Type = Format<Value, Other>;
};
template <template <typename, typename, template <typename> typename> typename Format, typename Value, typename ColumnIndex,
          template <typename> typename Array, template <typename> typename Other>
struct InStorageOf<Format<Value, ColumnIndex, Array>, Other> {
    using Type = Format<Value, ColumnIndex, Other>;
};

/// The same struct in another storage: InStorage<Csr<double, HostArray>, DeviceArray> is Csr<double, DeviceArray>.
template <typename Stored, template <typename> typename Other>
using InStorage = typename InStorageOf<Stored, Other>::Type;

/// The fields of a struct on the host, for Layout::fields.
template <typename Stored>
[[nodiscard]] std::vector<LayoutField> fields_of(const Stored& stored) {
    std::vector<LayoutField> fields;
    for_each_field(
        [&]<typename Member>(const FieldInfo& info, const Member& member) {
            if constexpr (NumberMember<Member>) {
                fields.push_back({info.name(), info.role, element_type<Member>(), "", &member, 1});
            } else if constexpr (ConstantMember<Member>) {
                fields.push_back({.name = info.name(),
                                  .role = info.role,
                                  .type = element_type<decltype(member.value)>(),
                                  .length = info.length,
                                  .data = &member.value,
                                  .count = static_cast<std::size_t>(member.count),
                                  .constant = true});
            } else {
                fields.push_back(array_field(info.name(), info.role, member, info.length));
                if constexpr (std::is_same_v<typename Member::value_type, Bf16>) {
                    fields.back().dictionary = {numbers_of_bf16(), ElementType::f32, std::size_t{1} << 16};
                }
            }
        },
        stored);
    for (std::size_t i = 0; i + 2 < fields.size(); ++i) {
        const bool is_real = fields[i].type == ElementType::f32 || fields[i].type == ElementType::f64;
        if (fields[i].role != ArrayRole::value || is_real || fields[i].dictionary) continue;
        const LayoutField& dictionary = fields[i + 1];
        const Index number = *static_cast<const Index*>(fields[i + 2].data);
        fields[i].dictionary = {dictionary.data, dictionary.type, dictionary.count};
        if (fields[i + 2].name.ends_with("values_of_code")) {
            fields[i].dictionary->values_of_code = static_cast<std::size_t>(number);
        } else {
            fields[i].dictionary->shift = number;
        }
    }
    return fields;
}

/// Passes every field of a struct on the host, for Layout::transfer.
template <typename Stored>
void transfer_fields(Transfer& transfer, Stored& stored) {
    for_each_field([&](const FieldInfo&, auto& member) { transfer(member); }, stored);
}

/// The number of an array among fields_of(stored). Throws std::logic_error if it is none of them.
template <typename Stored>
[[nodiscard]] int array_number(const Stored& stored, const auto& array) {
    int number = 0;
    int found = -1;
    for_each_field(
        [&](const FieldInfo&, const auto& member) {
            if (static_cast<const void*>(&member) == static_cast<const void*>(&array)) found = number;
            ++number;
        },
        stored);
    if (found < 0) throw std::logic_error("a layout asks for the number of an array that it does not list");
    return found;
}

/// A copy on a device. `of` names the layout in the error for lack of memory: "csr16".
template <typename Stored>
[[nodiscard]] auto copy_to(Device& device, const Stored& stored, const std::string& of) {
    InStorage<Stored, DeviceArray> copy;
    for_each_field(
        [&]<typename Member>(const FieldInfo& info, const Member& from, auto& to) {
            if constexpr (NumberMember<Member> || ConstantMember<Member>) {
                to = from;
            } else {
                to = {device, from, of + " " + info.name()};
            }
        },
        stored, copy);
    return copy;
}

/// Views of the arrays, in whatever storage: what a kernel takes.
template <typename Stored>
[[nodiscard]] auto view_of(const Stored& stored) {
    InStorage<Stored, ArrayView> view;
    for_each_field(
        []<typename Member>(const FieldInfo&, const Member& from, auto& to) {
            if constexpr (NumberMember<Member> || ConstantMember<Member>) {
                to = from;
            } else {
                to = {from.data(), static_cast<Offset>(from.size())};
            }
        },
        stored, view);
    return view;
}

}  // namespace workbench
