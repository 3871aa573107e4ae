// A kernel that writes its rows where they are wanted.
#pragma once

#include <memory>
#include <span>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// Prepares a kernel that writes row i of the layout to, or adds it to, row rows[i] of y, and leaves all other rows alone: the
/// kernel itself where it can (KernelEntry::prepare_rows), otherwise from a buffer that the device scatters. rows: [rows of the
/// layout], no row twice; none: every row is itself.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> prepare_rows_kernel(const KernelEntry& entry, const Layout<Value>& layout,
                                                                 std::span<const Index> rows, Device& device);

}  // namespace workbench
