// A kernel beside a recipe: compiled when it is asked for, tried in a process of its own, then run like any other.
#pragma once

#include "pipeline/contract/kernel_source.hpp"

namespace workbench {

/// For Catalogue::kernel_from_source. Each text of the header is compiled once, however often the kernel is prepared. To try
/// and to prepare it throw RecipeError where it cannot be compiled or loaded, and MachineError where the machine lacks
/// something.
[[nodiscard]] KernelEntry kernel_from_source(const KernelSource& source);

}  // namespace workbench
