// A kernel that writes its rows to given places of y.
#pragma once

#include <memory>
#include <span>

#include "core/contract/layout.hpp"

namespace workbench {

/// Prepares a kernel that writes row i of the layout to row rows[i] of y, or adds it there, and leaves all other rows alone:
/// the kernel itself if it can (KernelEntry::prepare_rows), otherwise through a buffer that the device scatters. rows: [rows of
/// the layout], without repetition; empty: row i is row i. With several vectors it is the kernel's own for these, or the one
/// for a vector, which then multiplies one after another.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> prepare_rows_kernel(const KernelEntry& entry, const Layout<Value>& layout,
                                                                 std::span<const Index> rows, Device& device, int vectors = 1);

}  // namespace workbench
