// A kernel that writes its rows to given places of y.
#pragma once

#include <memory>
#include <span>

#include "core/contract/layout.hpp"
#include "core/system/hybrid_kernel.hpp"

namespace workbench {

/// Prepares a kernel that writes row i of the layout to row rows[i] of y, or adds it there, and leaves all other rows alone:
/// the kernel itself if it can (KernelEntry::prepare_rows), otherwise through a buffer that the device scatters. rows: [rows of
/// the layout], without repetition; empty: row i is row i. With several vectors it is the kernel's own for these, or the one
/// for a vector, which then multiplies one after another.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> prepare_rows_kernel(const KernelEntry& entry, const Layout<Value>& layout,
                                                                 std::span<const Index> rows, Device& device, int vectors = 1);

/// The share of a layout in a hybrid, for these rows of y. The layout and the rows must outlive the hybrid kernel.
template <ValueType Value>
[[nodiscard]] KernelOfShare<Value> kernel_of_share(const KernelEntry& entry, const Layout<Value>& layout,
                                                   std::span<const Index> rows, Index rows_present) {
    const auto make = [&entry, &layout, rows](Device& device, int vectors) {
        return MadeKernel<Value>{prepare_rows_kernel(entry, layout, rows, device, vectors), layout.bytes_to_move()};
    };
    return {make, layout.rows(), rows, rows_present};
}

}  // namespace workbench
