// The arrays of a layout stand in one struct, whose storage is a parameter: vectors on the host, memory of a device, or plain
// views, which kernels take by value. The struct lists its fields once, in `fields`; the footprint, the copy to a device and
// the view follow from that list.
//
//   template <typename Value, template <typename> typename Array>
//   struct Format {
//       template <template <typename> typename Other>
//       using In = Format<Value, Other>;  // the same in another storage
//
//       Index row_count = 0;
//       Array<Value> values;
//
//       static constexpr void fields(const auto& visit, auto&... of) {  // field by field, of one struct or of several alike
//           visit(ArrayRole::number, "row_count", of.row_count...);
//           visit(ArrayRole::value, "values [nonzeros]", of.values...);
//       }
//   };
//
// Behind the name of an array stands how long it is, in words, for whoever writes a kernel beside a recipe.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {

template <typename Field>
concept NumberField = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;

/// An array that somebody else owns, on the host or on a device.
template <typename Element>
class ArrayView {
public:
    ArrayView() = default;
    constexpr ArrayView(const Element* data, Offset size) : data_(data), size_(size) {}

    [[nodiscard]] constexpr const Element& operator[](Offset i) const { return data_[i]; }
    [[nodiscard]] constexpr const Element* data() const { return data_; }
    [[nodiscard]] constexpr Offset size() const { return size_; }

private:
    const Element* data_ = nullptr;
    Offset size_ = 0;
};

/// An array in memory of a device.
template <typename Element>
class DeviceArray {
public:
    DeviceArray() = default;
    DeviceArray(Device& device, std::span<const Element> array, const std::string& purpose)
        : memory_(to_device(device, array, purpose)), size_(static_cast<Offset>(array.size())) {}

    [[nodiscard]] const Element* data() const { return memory_.template as<Element>(); }
    [[nodiscard]] Offset size() const { return size_; }

private:
    DeviceMemory memory_;
    Offset size_ = 0;
};

/// For the fields of a struct within a struct: visits them with a prefix before their names.
[[nodiscard]] auto prefixed(std::string prefix, const auto& visit) {
    return [prefix = std::move(prefix), &visit](ArrayRole role, const std::string& name, auto&... of) {
        visit(role, prefix + name, of...);
    };
}

/// "values [nonzeros]" taken apart.
struct FieldName {
    std::string name;
    std::string length;
};

[[nodiscard]] inline FieldName field_name(const std::string& listed) {
    const std::size_t bracket = listed.find(" [");
    if (bracket == std::string::npos) return {listed, ""};
    return {listed.substr(0, bracket), listed.substr(bracket + 2, listed.size() - bracket - 3)};
}

template <typename Element>
[[nodiscard]] constexpr ElementType element_type() {
    if constexpr (std::is_enum_v<Element>) {
        return element_type<std::underlying_type_t<Element>>();
    } else if constexpr (std::is_floating_point_v<Element>) {
        return sizeof(Element) == 4 ? ElementType::f32 : ElementType::f64;
    } else {
        constexpr bool is_signed = std::is_signed_v<Element>;
        switch (sizeof(Element)) {
            case 1: return is_signed ? ElementType::i8 : ElementType::u8;
            case 2: return is_signed ? ElementType::i16 : ElementType::u16;
            case 4: return is_signed ? ElementType::i32 : ElementType::u32;
            default: return is_signed ? ElementType::i64 : ElementType::u64;
        }
    }
}

/// The fields of a struct on the host, for Layout::fields.
template <typename Stored>
[[nodiscard]] std::vector<LayoutField> fields_of(const Stored& stored) {
    std::vector<LayoutField> fields;
    Stored::fields(
        [&](ArrayRole role, const std::string& listed, const auto& field) {
            using Field = std::remove_cvref_t<decltype(field)>;
            FieldName name = field_name(listed);
            if constexpr (NumberField<Field>) {
                fields.push_back({std::move(name.name), role, false, element_type<Field>(), "", &field, 1});
            } else {
                fields.push_back({std::move(name.name), role, true, element_type<typename Field::value_type>(),
                                  std::move(name.length), field.data(), field.size()});
            }
        },
        stored);
    return fields;
}

/// Passes every field of a struct on the host, for Layout::transfer.
template <typename Stored>
void transfer_fields(Transfer& transfer, Stored& stored) {
    Stored::fields([&](ArrayRole, const std::string&, auto& field) { transfer(field); }, stored);
}

/// The arrays of a struct on the host, for Layout::arrays.
template <typename Stored>
[[nodiscard]] std::vector<LayoutArray> arrays_of(const Stored& stored) {
    std::vector<LayoutArray> arrays;
    Stored::fields(
        [&](ArrayRole role, const std::string& name, const auto& field) {
            if constexpr (!NumberField<std::remove_cvref_t<decltype(field)>>) {
                arrays.push_back(layout_array(field_name(name).name, role, field));
            }
        },
        stored);
    return arrays;
}

/// Which of arrays_of(stored) an array is. Throws std::logic_error where it is none of them.
template <typename Stored>
[[nodiscard]] int array_number(const Stored& stored, const auto& array) {
    int number = 0;
    int found = -1;
    Stored::fields(
        [&](ArrayRole, const std::string&, const auto& field) {
            if constexpr (!NumberField<std::remove_cvref_t<decltype(field)>>) {
                if (static_cast<const void*>(&field) == static_cast<const void*>(&array)) found = number;
                ++number;
            }
        },
        stored);
    if (found < 0) throw std::logic_error("a layout asks for the number of an array that it does not list");
    return found;
}

/// A copy on a device. `of` names the layout in the error where memory lacks: "csr16".
template <typename Stored>
[[nodiscard]] auto copy_to(Device& device, const Stored& stored, const std::string& of) {
    typename Stored::template In<DeviceArray> copy;
    Stored::fields(
        [&](ArrayRole, const std::string& name, const auto& from, auto& to) {
            if constexpr (NumberField<std::remove_cvref_t<decltype(from)>>) {
                to = from;
            } else {
                to = {device, from, of + " " + field_name(name).name};
            }
        },
        stored, copy);
    return copy;
}

/// Views of arrays wherever they lie: what a kernel takes.
template <typename Stored>
[[nodiscard]] auto view_of(const Stored& stored) {
    typename Stored::template In<ArrayView> view;
    Stored::fields(
        [](ArrayRole, const std::string&, const auto& from, auto& to) {
            if constexpr (NumberField<std::remove_cvref_t<decltype(from)>>) {
                to = from;
            } else {
                to = {from.data(), static_cast<Offset>(from.size())};
            }
        },
        stored, view);
    return view;
}

/// A layout whose arrays stand in such a struct, which has row_count and column_count.
template <ValueType Value, typename StoredArrays>
struct StoredLayout : Layout<Value>, StoredArrays {
    using Stored = StoredArrays;
    Offset nonzero_count = 0;

    [[nodiscard]] const Stored& stored() const { return *this; }
    [[nodiscard]] Index rows() const override { return this->row_count; }
    [[nodiscard]] Index columns() const override { return this->column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override { return arrays_of(stored()); }
    [[nodiscard]] std::vector<LayoutField> fields() const override { return fields_of(stored()); }
    void transfer(Transfer& transfer) override { transfer_with(transfer); }

protected:
    /// For a layout that holds more than its fields: those, and this.
    void transfer_with(Transfer& transfer, auto&... more) {
        transfer_fields(transfer, static_cast<Stored&>(*this));
        transfer(nonzero_count, more...);
    }
};

/// The same where the arrays are those of one of several structs: columns of 16 bits or of 32, say.
template <ValueType Value, typename... StoredArrays>
struct VariantLayout : Layout<Value> {
    std::variant<StoredArrays...> stored;
    Offset nonzero_count = 0;

    [[nodiscard]] Index rows() const override {
        return std::visit([](const auto& one) { return one.row_count; }, stored);
    }
    [[nodiscard]] Index columns() const override {
        return std::visit([](const auto& one) { return one.column_count; }, stored);
    }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override {
        return std::visit([](const auto& one) { return arrays_of(one); }, stored);
    }
    [[nodiscard]] std::vector<LayoutField> fields() const override {
        return std::visit([](const auto& one) { return fields_of(one); }, stored);
    }
    void transfer(Transfer& transfer) override { transfer_with(transfer); }

protected:
    /// As in StoredLayout.
    void transfer_with(Transfer& transfer, auto&... more) {
        std::size_t kind = stored.index();
        transfer(kind);
        if (transfer.reads()) make_empty(kind, std::index_sequence_for<StoredArrays...>());
        std::visit([&transfer](auto& one) { transfer_fields(transfer, one); }, stored);
        transfer(nonzero_count, more...);
    }

private:
    template <std::size_t... kinds>
    void make_empty(std::size_t kind, std::index_sequence<kinds...>) {
        if (kind >= sizeof...(kinds)) throw BrokenTransfer("a kind of arrays that is not known");
        (void)((kind == kinds ? (stored.template emplace<kinds>(), true) : false) || ...);
    }
};

template <typename OwnLayout>
[[nodiscard]] FieldLists field_lists() {
    const auto without_data = [](const auto& stored) {
        std::vector<LayoutField> fields = fields_of(stored);
        for (LayoutField& field : fields) field.data = nullptr;
        return fields;
    };
    if constexpr (requires { typename OwnLayout::Stored; }) {
        return {without_data(typename OwnLayout::Stored{})};
    } else {
        return []<typename... Stored>(const auto& of_each, const std::variant<Stored...>*) {
            return FieldLists{of_each(Stored{})...};
        }(without_data, static_cast<const decltype(OwnLayout::stored)*>(nullptr));
    }
}

/// For LayoutEntry::fields.
template <template <typename> typename LayoutOf>
[[nodiscard]] ForEachPrecision<ListFields> field_lists_of() {
    return {field_lists<LayoutOf<float>>, field_lists<LayoutOf<double>>};
}

template <typename OwnLayout, ValueType Value>
[[nodiscard]] std::unique_ptr<Layout<Value>> empty_layout(const Parameters&) {
    return std::make_unique<OwnLayout>();
}

/// For LayoutEntry::empty.
template <template <typename> typename LayoutOf>
[[nodiscard]] ForEachPrecision<EmptyLayout> empty_layouts_of() {
    return {empty_layout<LayoutOf<float>, float>, empty_layout<LayoutOf<double>, double>};
}

/// What a kernel of the layout says of its own bytes: nothing, unless the layout has slots that no kernel reads.
[[nodiscard]] std::optional<std::int64_t> own_bytes_of(const auto& layout) {
    if constexpr (requires { layout.bytes_of_product(); }) {
        return layout.bytes_of_product();
    } else {
        return {};
    }
}

}  // namespace workbench
