#include "kernels/primitives/sort_and_scan.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace workbench {
namespace {

/// Calls use(memory, bytes) twice, as CUB requires: first to query the size of its temporary storage, then to run.
template <typename Use>
void with_memory(Workspace& workspace, const Use& use) {
    std::size_t bytes = 0;
    check_cuda(use(nullptr, bytes), "cub");
    const auto memory = workspace.make<unsigned char>(bytes == 0 ? 1 : bytes);
    check_cuda(use(memory.data(), bytes), "cub");
}

}  // namespace

void sort_pairs(Workspace& workspace, WorkspaceArray<std::uint64_t>& keys, WorkspaceArray<std::uint32_t>& values, int begin_bit,
                int end_bit) {
    if (end_bit <= begin_bit) return;
    auto other_keys = workspace.make<std::uint64_t>(keys.size());
    auto other_values = workspace.make<std::uint32_t>(values.size());
    cub::DoubleBuffer<std::uint64_t> sorted_keys(keys.data(), other_keys.data());
    cub::DoubleBuffer<std::uint32_t> sorted_values(values.data(), other_values.data());
    with_memory(workspace, [&](void* memory, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, sorted_keys, sorted_values, static_cast<int>(keys.size()),
                                               begin_bit, end_bit, workspace.stream());
    });
    if (sorted_keys.Current() != keys.data()) std::swap(keys, other_keys);
    if (sorted_values.Current() != values.data()) std::swap(values, other_values);
}

void sum_up(Workspace& workspace, WorkspaceArray<Offset>& counts) {
    with_memory(workspace, [&](void* memory, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, counts.data(), static_cast<int>(counts.size()), workspace.stream());
    });
}

}  // namespace workbench
