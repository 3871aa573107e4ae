// Layouts whose arrays are a struct that lists its fields (fields.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/common/storage/fields.hpp"
#include "kernels/common/storage/origin.hpp"
#include "kernels/common/storage/pattern.hpp"

namespace workbench {

/// A layout whose arrays are one such struct, with row_count and column_count.
template <ValueType Value, typename StoredArrays>
struct StoredLayout : Layout<Value>, StoredArrays {
    using Stored = StoredArrays;
    Offset nonzero_count = 0;

    [[nodiscard]] const Stored& stored() const { return *this; }
    [[nodiscard]] Index rows() const override { return this->row_count; }
    [[nodiscard]] Index columns() const override { return this->column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutField> fields() const override { return fields_of(stored()); }
    void transfer(Transfer& transfer) override { transfer_with(transfer); }

protected:
    /// For a layout that holds more than its fields: passes those, and `more`.
    void transfer_with(Transfer& transfer, auto&... more) {
        transfer_members(transfer, members_of(stored()));
        transfer(nonzero_count, more...);
    }
};

/// A StoredLayout with one thread of a schedule a row, whose slots ascend by column; the pattern of the matrix distinguishes
/// nonzeros from padding.
template <ValueType Value, typename Stored, typename Rows>
struct PatternLayout : StoredLayout<Value, Stored> {
    Pattern pattern;

    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;  // schedule/walk.hpp
};

/// Calls use(alternative) with that of a variant. It compiles faster than std::visit, which makes tables of functions, and than
/// one function for each alternative.
template <std::size_t first = 0>
decltype(auto) with_alternative(auto& variant, const auto& use) {
    constexpr std::size_t at_once = 4;
    constexpr std::size_t last = std::variant_size_v<std::remove_cvref_t<decltype(variant)>> - 1;
    const std::size_t number = variant.index();
    if constexpr (first + at_once <= last) {
        if (number >= first + at_once) return with_alternative<first + at_once>(variant, use);
    }
    if (last <= first || number == first) return use(*std::get_if<first>(&variant));
    if (last <= first + 1 || number == first + 1) return use(*std::get_if<std::min(last, first + 1)>(&variant));
    if (last <= first + 2 || number == first + 2) return use(*std::get_if<std::min(last, first + 2)>(&variant));
    return use(*std::get_if<std::min(last, first + 3)>(&variant));
}

/// A layout whose arrays are one of several such structs, such as with columns of 16 or of 32 bits.
template <ValueType Value, typename... StoredArrays>
struct VariantLayout : Layout<Value> {
    std::variant<StoredArrays...> stored;
    Offset nonzero_count = 0;

    [[nodiscard]] Index rows() const override {
        return with_alternative(stored, [](const auto& one) { return one.row_count; });
    }
    [[nodiscard]] Index columns() const override {
        return with_alternative(stored, [](const auto& one) { return one.column_count; });
    }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutField> fields() const override {
        return with_alternative(stored, [](const auto& one) { return fields_of(one); });
    }
    void transfer(Transfer& transfer) override { transfer_with(transfer); }
    /// Makes one of the alternatives, with empty arrays.
    void make_empty(std::size_t number) { make_empty(number, std::index_sequence_for<StoredArrays...>()); }
    /// How columns and values are coded.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;  // schedule/walk.hpp

protected:
    /// As in StoredLayout.
    void transfer_with(Transfer& transfer, auto&... more) {
        transfer_arrays(transfer);
        transfer(nonzero_count, more...);
    }

private:
    void transfer_arrays(Transfer& transfer) {
        std::size_t kind = stored.index();
        transfer(kind);
        if (transfer.reads()) make_empty(kind);
        with_alternative(stored, [&transfer](const auto& one) { transfer_members(transfer, members_of(one)); });
    }
    template <std::size_t... kinds>
    void make_empty(std::size_t kind, std::index_sequence<kinds...>) {
        if (kind >= sizeof...(kinds)) throw BrokenTransfer("a kind of arrays that is not known");
        (void)((kind == kinds ? (stored.template emplace<kinds>(), true) : false) || ...);
    }
};

template <typename Stored>
struct StoredOnDeviceType;
template <typename... StoredArrays>
struct StoredOnDeviceType<std::variant<StoredArrays...>> {
    using Type = std::variant<InStorage<StoredArrays, DeviceArray>...>;
};

/// The arrays of a VariantLayout on a device.
template <typename Stored>
using StoredOnDevice = typename StoredOnDeviceType<Stored>::Type;

template <ValueType Value, typename Stored>
struct LayoutOfArraysType {
    using Type = StoredLayout<Value, Stored>;
};
template <ValueType Value, typename... StoredArrays>
struct LayoutOfArraysType<Value, std::variant<StoredArrays...>> {
    using Type = VariantLayout<Value, StoredArrays...>;
};

/// A StoredLayout, or for a std::variant of structs a VariantLayout.
template <ValueType Value, typename Stored>
using LayoutOfArrays = typename LayoutOfArraysType<Value, Stored>::Type;

/// A layout of compressed rows, whose slots are the nonzeros in the order of the matrix. The slots of a row are those of one
/// thread, in a schedule with one lane.
template <ValueType Value, typename Stored, typename Rows>
struct CompressedLayout : LayoutOfArrays<Value, Stored> {
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;  // schedule/walk.hpp
};

/// A layout with one thread of a schedule a stored row, whose slots hold the nonzeros that the origin lists, then padding.
template <ValueType Value, typename Stored, typename Rows>
struct OriginLayout : LayoutOfArrays<Value, Stored> {
    Origin origin;

    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;  // schedule/walk.hpp
};

/// Calls use(stored) with the arrays of a layout.
template <typename OwnLayout>
decltype(auto) with_stored(const OwnLayout& layout, const auto& use) {
    if constexpr (requires { typename OwnLayout::Stored; }) {
        return use(layout.stored());
    } else {
        return with_alternative(layout.stored, use);
    }
}

/// A layout with slots(): a variant of views without values. Schedules that are chosen by these, and read them, are compiled
/// once for all codings of values.
template <typename OwnLayout>
concept HasSlots = requires(const OwnLayout& layout) {
    layout.slots();
};

template <typename OwnLayout>
[[nodiscard]] FieldLists field_lists() {
    FieldLists lists;
    if constexpr (requires { typename OwnLayout::Stored; }) {
        list_fields(members_of(typename OwnLayout::Stored{}), lists);
    } else {
        [&lists]<typename... Stored>(const std::variant<Stored...>*) {
            (list_fields(members_of(Stored{}), lists), ...);
        }(static_cast<const decltype(OwnLayout::stored)*>(nullptr));
    }
    return lists;
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

/// For Kernel::own_bytes_to_move: the bytes that the layout reports where its kernels leave slots unread.
[[nodiscard]] std::optional<std::int64_t> own_bytes_of(const auto& layout) {
    if constexpr (requires { layout.bytes_of_product(); }) {
        return layout.bytes_of_product();
    } else {
        return {};
    }
}

/// The bytes of a product with several vectors: those with one (Kernel::own_bytes_to_move, or else the layout's), and more of X
/// and Y.
template <ValueType Value>
[[nodiscard]] std::int64_t bytes_with_vectors(const Layout<Value>& layout, std::optional<std::int64_t> own_bytes, int vectors) {
    return own_bytes.value_or(layout.bytes_to_move()) +
           (vectors - 1) * static_cast<std::int64_t>(sizeof(Value)) * (std::int64_t{layout.rows()} + layout.columns());
}

}  // namespace workbench
