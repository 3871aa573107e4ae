// A kernel beside a recipe: compiled on demand, run first in a separate trial process, then treated like a built-in kernel.
#pragma once

#include "core/contract/kernel_source.hpp"

namespace workbench {

/// For Catalogue::kernel_from_source. The source is compiled once for each distinct header, however often the kernel is
/// prepared. try_out and prepare throw RecipeError if it cannot be compiled or loaded, and MachineError if the machine lacks
/// something.
[[nodiscard]] KernelEntry kernel_from_source(const KernelSource& source);

}  // namespace workbench
