// The arrays of a layout are one struct, whose storage is a parameter: vectors on the host, memory of a device, or plain views,
// which kernels take by value. The struct lists its members once, in `fields`. The footprint, the copy to a device, the view,
// the names in messages and the header for kernels beside a recipe follow from that list. What is done once for a layout sees
// its members without their types (StoredMember), so that it is compiled once for all layouts.
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
#include <initializer_list>
#include <span>
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
[[nodiscard]] constexpr auto member_name() {            // auto, because the text would end with another return type
    const std::string_view text = __PRETTY_FUNCTION__;  // "... [with auto member = &Csr<double, HostArray>::values]"
    const std::size_t begin = text.rfind(':') + 1;
    return text.substr(begin, text.rfind(']') - begin);
}

template <std::size_t length>
[[nodiscard]] constexpr std::array<char, length> joined(std::initializer_list<std::string_view> names) {
    std::array<char, length> letters{};
    std::size_t at = 0;
    for (const std::string_view name : names) {
        if (at > 0) letters[at++] = '_';
        for (const char letter : name) letters[at++] = letter;
    }
    return letters;
}

/// What a field is of coded values. column_bits and values_of_code are numbers; see LayoutDictionary.
enum class CodingPart { none, codes, dictionary, column_bits, values_of_code };

/// An entry of a list of fields.
struct FieldInfo {
    std::string_view name;
    ArrayRole role = ArrayRole::number;
    const char* length = "";  // of an array, in words: "rows + 1"
    CodingPart part = CodingPart::none;
};

/// A member of a struct, or a member of a member, whose name joins both: first.values is "first_values".
template <auto... path>
struct Field {
    static constexpr auto letters =
        joined<(member_name<path>().size() + ... + (sizeof...(path) - 1))>({member_name<path>()...});
    static constexpr std::string_view name{letters.data(), letters.size()};

    [[nodiscard]] static constexpr auto& in(auto& stored) { return (stored.*....*path); }
};

/// Fields and what is known of each. A std::tuple takes three times as long to compile, because its types repeat the names of
/// all fields for each of them.
template <typename... Fields>
struct FieldList {
    std::array<FieldInfo, sizeof...(Fields)> infos;
};

template <auto... path>
[[nodiscard]] constexpr FieldList<Field<path...>> one_field(ArrayRole role, const char* length,
                                                            CodingPart part = CodingPart::none) {
    return {{{{Field<path...>::name, role, length, part}}}};
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

/// An array of values in any of the ways of coded_values.hpp.
template <auto member>
[[nodiscard]] constexpr auto coded_value_array(const char* length) {
    return []<typename Member, typename Struct>(Member Struct::*, const char* of_values) {
        if constexpr (requires { &Member::values_of_code; }) {
            return one_field<member, &Member::codes>(ArrayRole::value, of_values, CodingPart::codes) +
                   one_field<member, &Member::dictionary>(ArrayRole::structure, "values of the distinct blocks",
                                                          CodingPart::dictionary) +
                   one_field<member, &Member::values_of_code>(ArrayRole::number, "", CodingPart::values_of_code);
        } else if constexpr (HasDictionary<Member>) {
            return one_field<member, &Member::codes>(ArrayRole::value, of_values, CodingPart::codes) +
                   one_field<member, &Member::dictionary>(ArrayRole::structure, "distinct values", CodingPart::dictionary) +
                   one_field<member, &Member::column_bits>(ArrayRole::number, "", CodingPart::column_bits);
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

template <typename Stored, template <typename> typename Other, template <typename> typename Values = std::type_identity_t>
struct InStorageOf;
template <template <template <typename> typename> typename Format, template <typename> typename Array,
          template <typename> typename Other, template <typename> typename Values>
struct InStorageOf<Format<Array>, Other, Values> {
    using Type = Format<Other>;
};
template <template <typename, template <typename> typename> typename Format, typename Value, template <typename> typename Array,
          template <typename> typename Other, template <typename> typename Values>
struct InStorageOf<Format<Value, Array>, Other, Values> {
    using Type = Format<Values<Value>, Other>;
};
template <template <typename, typename, template <typename> typename> typename Format, typename Value, typename ColumnIndex,
          template <typename> typename Array, template <typename> typename Other, template <typename> typename Values>
struct InStorageOf<Format<Value, ColumnIndex, Array>, Other, Values> {
    using Type = Format<Values<Value>, ColumnIndex, Other>;
};

/// The same struct in another storage: InStorage<Csr<double, HostArray>, DeviceArray> is Csr<double, DeviceArray>.
template <typename Stored, template <typename> typename Other>
using InStorage = typename InStorageOf<Stored, Other>::Type;

template <typename Element>
using HostSpan = std::span<const Element>;

/// Views of arrays on the host without the type of their values: what a walk takes, so that it is compiled once for all types
/// of values.
template <typename Stored>
using Structure = typename InStorageOf<Stored, HostSpan, WithoutValue>::Type;

/// What fields and transfers need to know of the type of a member on the host.
struct MemberType {
    void (*describe)(const void* member, LayoutField& field);  // sets all but the name, the role and the length
    void (*transfer)(void* member, Transfer& transfer);
};

template <typename Member>
void describe_member(const void* address, LayoutField& field) {
    const Member& member = *static_cast<const Member*>(address);
    if constexpr (NumberMember<Member>) {
        field.type = element_type<Member>();
        field.data = &member;
    } else if constexpr (ConstantMember<Member>) {
        field.type = element_type<decltype(member.value)>();
        field.data = &member.value;
        field.count = static_cast<std::size_t>(member.count);
        field.constant = true;
    } else {
        field.type = element_type<typename Member::value_type>();
        field.data = member.data();
        field.count = member.size();
        if constexpr (std::is_same_v<typename Member::value_type, Bf16>) {
            field.dictionary = {numbers_of_bf16(), ElementType::f32, std::size_t{1} << 16};
        }
    }
}

template <typename Member>
void transfer_member(void* member, Transfer& transfer) {
    transfer(*static_cast<Member*>(member));
}

// Compiled once, in fields.cpp.
extern template void transfer_member<HostArray<std::uint8_t>>(void*, Transfer&);
extern template void transfer_member<HostArray<std::uint16_t>>(void*, Transfer&);
extern template void transfer_member<HostArray<std::uint32_t>>(void*, Transfer&);
extern template void transfer_member<HostArray<Index>>(void*, Transfer&);
extern template void transfer_member<HostArray<Offset>>(void*, Transfer&);
extern template void transfer_member<HostArray<float>>(void*, Transfer&);
extern template void transfer_member<HostArray<double>>(void*, Transfer&);

template <typename Member>
inline constexpr MemberType member_type{describe_member<Member>, transfer_member<Member>};

/// A member of a struct on the host, without its type.
struct StoredMember {
    const FieldInfo* info;
    const void* address;
    const MemberType* type;
};

/// The members of a struct on the host, in the order of its fields. Not inlined, because each copy takes long to compile.
template <typename Stored>
[[nodiscard]] [[gnu::noinline]] auto members_of(const Stored& stored) {
    return [&]<typename... Fields>(const FieldList<Fields...>& list) {
        const FieldInfo* info = list.infos.data();
        return std::array<StoredMember, sizeof...(Fields)>{
            {{info++, &Fields::in(stored), &member_type<std::remove_cvref_t<decltype(Fields::in(stored))>>}...}};
    }(fields_in<Stored>);
}

/// The fields of a struct on the host, for Layout::fields.
[[nodiscard]] std::vector<LayoutField> describe(std::span<const StoredMember> members);
template <typename Stored>
[[nodiscard]] std::vector<LayoutField> fields_of(const Stored& stored) {
    return describe(members_of(stored));
}

/// Appends the fields of an empty struct on the host, for LayoutEntry::fields.
void list_fields(std::span<const StoredMember> members, FieldLists& lists);

/// Passes every field of a struct on the host that may change, for Layout::transfer.
void transfer_members(Transfer& transfer, std::span<const StoredMember> members);

/// The number of an array among the fields of its struct, in any storage. Throws std::logic_error if it is none of them.
[[nodiscard]] int number_of_address(std::span<const void* const> members, const void* array);
template <typename Stored>
[[nodiscard]] int array_number(const Stored& stored, const auto& array) {
    return [&]<typename... Fields>(const FieldList<Fields...>&) {
        return number_of_address(std::array<const void*, sizeof...(Fields)>{&Fields::in(stored)...}, &array);
    }(fields_in<Stored>);
}

/// The purpose of an array on a device: "csr16 values".
[[nodiscard]] std::string purpose_of(const std::string& layout, const FieldInfo& info);

/// A copy on a device. `of` names the layout in the error for lack of memory: "csr16".
template <typename Stored>
[[nodiscard]] auto copy_to(Device& device, const Stored& stored, const std::string& of) {
    InStorage<Stored, DeviceArray> copy;
    for_each_field(
        [&]<typename Member>(const FieldInfo& info, const Member& from, auto& to) {
            if constexpr (NumberMember<Member> || ConstantMember<Member>) {
                to = from;
            } else {
                to = {device, from, purpose_of(of, info)};
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

/// Copies the arrays among the members to the device, where `owners` keeps them, and has their views point to the copies.
/// of: as for copy_to. views: of the members, in the same order.
void copy_members(Device& device, std::span<const StoredMember> members, std::span<void* const> views, const std::string& of,
                  std::vector<DeviceMemory>& owners);

/// Views of copies on a device: like view_of(copy_to(...)), but faster to compile.
template <typename Stored>
[[nodiscard]] auto view_on(Device& device, const Stored& stored, const std::string& of, std::vector<DeviceMemory>& owners) {
    InStorage<Stored, ArrayView> view = view_of(stored);
    [&]<typename... Fields>(const FieldList<Fields...>&) {
        copy_members(device, members_of(stored), std::array<void*, sizeof...(Fields)>{&Fields::in(view)...}, of, owners);
    }(fields_in<InStorage<Stored, ArrayView>>);
    return view;
}

template <typename Stored>
[[nodiscard]] auto structure_of(const Stored& stored) {
    Structure<Stored> structure;
    for_each_field(
        []<typename Member>(const FieldInfo&, const Member& from, auto& to) {
            if constexpr (ConstantMember<Member>) {
                to.count = from.count;
            } else if constexpr (std::is_same_v<decltype(to), HostSpan<AnyValue>&>) {
                to = {static_cast<const AnyValue*>(nullptr), from.size()};
            } else {
                to = from;
            }
        },
        stored, structure);
    return structure;
}

}  // namespace workbench
