// Which kernel of a layout runs, where it is to be one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// What may be chosen from.
struct KernelWish {
    DeviceKind kind = DeviceKind::host;
    std::string only = {};                                      // the kernel of this name, in a hybrid for one share at least
    std::function<bool(const KernelEntry&)> may_run = nullptr;  // beyond that it runs on such a device; empty: all may
};

/// The kernel of a layout: the one that is asked for by name, one that the recipe brings along or chooses, or the usual one.
/// Null: there is none. `own`: those that the recipe brings along.
[[nodiscard]] const KernelEntry* choose_kernel(const RecipeLayout& layout, const std::vector<KernelEntry>& own,
                                               const KernelWish& wish);

/// One for each layout of the recipe; none where not every layout has one, or where none of them has the name asked for.
[[nodiscard]] std::vector<const KernelEntry*> choose_kernels(const Recipe& recipe, const KernelWish& wish);

/// That of the CUDA kernel which the recipe chooses, otherwise of the layout's usual one. Null: it has none.
[[nodiscard]] const ScheduleEntry* choose_schedule(const RecipeLayout& layout);

/// What kernels the layouts of the recipe have, where those that were asked for are not among them.
[[nodiscard]] std::string no_kernel_of(const Recipe& recipe);

}  // namespace workbench
