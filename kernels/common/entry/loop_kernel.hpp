// Kernels with loops of their own.
#pragma once

#include "kernels/common/entry/kernels.hpp"

namespace workbench {

/// Makes the kernel by its static function `prepare`, or by its constructor: from the layout, the rows and the device, from the
/// layout and the device, or from the layout alone.
template <typename Made, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_loop(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    if constexpr (requires { Made::prepare(own, rows, device); }) {
        return Made::prepare(own, rows, device);
    } else if constexpr (std::is_constructible_v<Made, const OwnLayout&, std::span<const Index>, Device&>) {
        return std::make_unique<Made>(own, rows, device);
    } else if constexpr (std::is_constructible_v<Made, const OwnLayout&, Device&>) {
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
    constexpr bool takes_rows = std::is_constructible_v<Made, const LayoutOf<double>&, std::span<const Index>, Device&> ||
                                requires(const LayoutOf<double>& layout, Device& device) {
        Made::prepare(layout, std::span<const Index>(), device);
    };
    if (!takes_rows) entry.prepare_rows = {};
    return entry;
}

}  // namespace workbench
