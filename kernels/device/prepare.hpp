// Making a kernel from its layout and, on a GPU, the device, where it needs nothing else.
#pragma once

#include <memory>
#include <span>
#include <type_traits>

#include "pipeline/contract/layout.hpp"

namespace workbench {

template <typename MadeKernel, typename OwnLayout, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_one_for_rows(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    return std::make_unique<MadeKernel>(dynamic_cast<const OwnLayout&>(layout), rows, device);
}

template <typename MadeKernel, typename OwnLayout, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_one(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    if constexpr (std::is_constructible_v<MadeKernel, const OwnLayout&, std::span<const Index>, Device&>) {
        return prepare_one_for_rows<MadeKernel, OwnLayout>(layout, {}, device);
    } else if constexpr (std::is_constructible_v<MadeKernel, const OwnLayout&, Device&>) {
        return std::make_unique<MadeKernel>(own, device);
    } else {
        return std::make_unique<MadeKernel>(own);
    }
}

/// For KernelEntry::prepare: makes KernelOf<Value>(layout, device), or KernelOf<Value>(layout) where that is its constructor,
/// or KernelOf<Value>(layout, no rows, device).
template <template <typename> class KernelOf, template <typename> class LayoutOf>
[[nodiscard]] ForEachPrecision<PrepareKernel> prepare_as() {
    return {prepare_one<KernelOf<float>, LayoutOf<float>, float>, prepare_one<KernelOf<double>, LayoutOf<double>, double>};
}

/// For KernelEntry::prepare_rows: makes KernelOf<Value>(layout, rows, device).
template <template <typename> class KernelOf, template <typename> class LayoutOf>
[[nodiscard]] ForEachPrecision<PrepareRows> prepare_rows_as() {
    return {prepare_one_for_rows<KernelOf<float>, LayoutOf<float>, float>,
            prepare_one_for_rows<KernelOf<double>, LayoutOf<double>, double>};
}

}  // namespace workbench
