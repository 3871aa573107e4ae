// Kernels with loops of their own.
#pragma once

#include <concepts>

#include "kernels/common/schedule/kernels.hpp"

namespace workbench {

/// Has a static function `prepare`, which makes the kernel from the layout, perhaps the rows, and the device.
template <typename Made, typename OwnLayout, typename... Rows>
concept Prepares = requires(const OwnLayout& layout, Rows... rows, Device& device) {
    Made::prepare(layout, rows..., device);
};

/// Takes the rows of a share.
template <typename Made, typename OwnLayout>
concept TakesRows = Prepares<Made, OwnLayout, std::span<const Index>> ||
    std::constructible_from<Made, const OwnLayout&, std::span<const Index>, Device&>;

/// Has a static function `prepare_vectors`, which makes the kernel for several vectors, and divides_rows of its entry.
template <typename Made, typename OwnLayout>
concept PreparesVectors = requires(const OwnLayout& layout, int vectors, Device& device) {
    Made::prepare_vectors(layout, vectors, device);
};

template <typename Made, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_loop_of_vectors(const Layout<Value>& layout, std::span<const Index>, int vectors,
                                                       Device& device) {
    return Made::prepare_vectors(dynamic_cast<const OwnLayout&>(layout), vectors, device);
}

/// Makes the kernel by its static function `prepare`, or by its constructor: from the layout, the rows and the device, from the
/// layout and the device, or from the layout alone.
template <typename Made, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_loop(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    if constexpr (Prepares<Made, OwnLayout, std::span<const Index>>) {
        return Made::prepare(own, rows, device);
    } else if constexpr (Prepares<Made, OwnLayout>) {
        return Made::prepare(own, device);
    } else if constexpr (TakesRows<Made, OwnLayout>) {
        return std::make_unique<Made>(own, rows, device);
    } else if constexpr (std::constructible_from<Made, const OwnLayout&, Device&>) {
        return std::make_unique<Made>(own, device);
    } else {
        return std::make_unique<Made>(own);
    }
}

/// The entry of kernel KernelOf<Value>.
template <template <typename> typename LayoutOf, template <typename> typename KernelOf>
[[nodiscard]] KernelEntry loop_kernel(Backend backend, std::string name, std::string summary) {
    using Made = KernelOf<double>;
    KernelEntry entry =
        kernel_for_rows(backend, std::move(name), std::move(summary),
                        {prepare_loop<KernelOf<float>, float, LayoutOf<float>>, prepare_loop<Made, double, LayoutOf<double>>});
    if (!TakesRows<Made, LayoutOf<double>>) entry.prepare_rows = {};
    if constexpr (PreparesVectors<Made, LayoutOf<double>>) {
        static_assert(!TakesRows<Made, LayoutOf<double>>);
        entry.prepare_vectors = {prepare_loop_of_vectors<KernelOf<float>, float, LayoutOf<float>>,
                                 prepare_loop_of_vectors<Made, double, LayoutOf<double>>};
        entry.divides_rows = Made::divides_rows;
    }
    return entry;
}

}  // namespace workbench
