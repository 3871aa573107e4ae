// The library's primitives that the tasks are made of, each compiled once.
#pragma once

#include "kernels/prepare/workspace.cuh"

namespace workbench {

/// Sorts by the bits [begin_bit, end_bit) of the keys, stable. The arrays may be exchanged for others of the same size.
void sort_pairs(Workspace& workspace, DeviceArray<std::uint64_t>& keys, DeviceArray<std::uint32_t>& values, int begin_bit,
                int end_bit);
void sort_pairs(Workspace& workspace, DeviceArray<std::uint64_t>& keys, DeviceArray<std::uint64_t>& values, int begin_bit,
                int end_bit);

/// Each count becomes the sum of all up to it.
void sum_up(Workspace& workspace, DeviceArray<Offset>& counts);

}  // namespace workbench
