// Selects the one kernel of a layout that runs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// Restricts the choice of kernels.
struct KernelFilter {
    DeviceKind kind = DeviceKind::host;
    std::string only = {};                                      // a kernel of this name; in a hybrid, for at least one share
    std::function<bool(const KernelEntry&)> may_run = nullptr;  // a further condition besides the device; empty: none
    int vectors = 1;  // of a product; several: kernels that read the matrix once for all of them come before others
    /// With several vectors, kernels that divide rows come before others of these, or behind them.
    bool long_rows = false;
};

/// True if the longest row is so long that threads which have it alone would end long after all others.
[[nodiscard]] bool has_long_rows(std::span<const Offset> row_offsets);

/// Returns the kernel of a layout: the one requested by name, else, for several vectors, one that reads the matrix once, else
/// one beside the recipe or chosen by it, else, for several vectors, one that suits the length of the rows, else the default.
/// Null if there is none.
[[nodiscard]] const KernelEntry* choose_kernel(const RecipeLayout& layout, const KernelFilter& filter);

/// Returns one kernel per layout of the recipe; none if a layout has no kernel or no kernel has the requested name.
[[nodiscard]] std::vector<const KernelEntry*> choose_kernels(const Recipe& recipe, const KernelFilter& filter);

/// "rows + lanes"
[[nodiscard]] std::string names_of(std::span<const KernelEntry* const> kernels);

/// The schedule of the CUDA kernel that the recipe chooses, else of the layout's default one. Null if there is none.
[[nodiscard]] const ScheduleEntry* choose_schedule(const RecipeLayout& layout);

/// Lists the kernels of the recipe's layouts, for an error about a kernel that does not exist.
[[nodiscard]] std::string no_kernel_of(const Recipe& recipe);

}  // namespace workbench
