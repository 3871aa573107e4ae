#include "kernels/common/schedule/kernels.hpp"

#include <utility>

namespace workbench {

KernelEntry kernel_for_rows(Backend backend, std::string name, std::string summary,
                            const ForEachPrecision<PrepareRows>& prepare) {
    const auto without_rows = [](auto prepare_rows) {
        return [prepare_rows](const auto& layout, Device& device) { return prepare_rows(layout, {}, device); };
    };
    return {std::move(name), backend, std::move(summary), {without_rows(prepare.f32), without_rows(prepare.f64)}, prepare};
}

}  // namespace workbench
