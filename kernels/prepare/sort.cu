// Each thread writes only the items of its own number, so threads cannot race; the largest key is found by an atomic.
#include <bit>

#include "kernels/prepare/primitives.cuh"
#include "kernels/prepare/staging.hpp"
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

__global__ void find_largest(const Index* __restrict__ keys, std::size_t count, Index* largest) {
    Index own = 0;
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        own = max(own, keys[i]);
    }
    own = static_cast<Index>(__reduce_max_sync(0xFFFFFFFFu, static_cast<unsigned>(own)));
    if (threadIdx.x % 32 == 0) atomicMax(largest, own);
}

/// Combines an item's group (high bits) and its key, which is `largest` - key in descending order.
__global__ void join_keys(const Index* __restrict__ keys, const Index* __restrict__ groups, std::size_t count, int key_bits,
                          bool descending, Index largest, std::uint64_t* __restrict__ joined,
                          std::uint32_t* __restrict__ things) {
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        const std::uint64_t group = groups == nullptr ? 0 : static_cast<std::uint64_t>(groups[i]);
        joined[i] = group << key_bits | static_cast<std::uint64_t>(descending ? largest - keys[i] : keys[i]);
        things[i] = static_cast<std::uint32_t>(i);
    }
}

Index largest_of(Workspace& workspace, const WorkspaceArray<Index>& keys) {
    if (keys.size() == 0) return 0;
    const auto largest = workspace.make<Index>(1);
    check_cuda(cudaMemsetAsync(largest.data(), 0, sizeof(Index), workspace.stream()), "cudaMemsetAsync");
    find_largest<<<blocks_of(keys.size(), 8 * block_threads), block_threads, 0, workspace.stream()>>>(keys.data(), keys.size(),
                                                                                                      largest.data());
    check_launch("find_largest");
    return workspace.download_item(largest, 0);
}

int bits_of(Index largest) { return std::bit_width(static_cast<std::uint32_t>(largest)); }

}  // namespace

std::vector<Index> sort_on_gpu(Workspace& workspace, const SortTask& task) {
    std::vector<Index> order(task.keys.size());
    const auto keys = workspace.upload<Index>(task.keys);
    const auto groups = workspace.upload<Index>(task.groups);
    const Index largest = largest_of(workspace, keys);
    const int key_bits = bits_of(largest);
    const int bits = key_bits + bits_of(largest_of(workspace, groups));
    auto joined = workspace.make<std::uint64_t>(keys.size());
    auto things = workspace.make<std::uint32_t>(keys.size());
    join_keys<<<blocks_of(keys.size(), block_threads), block_threads, 0, workspace.stream()>>>(
        keys.data(), groups.data(), keys.size(), key_bits, task.descending, largest, joined.data(), things.data());
    check_launch("join_keys");
    sort_pairs(workspace, joined, things, 0, bits);
    workspace.download(things, std::span(order));
    return order;
}

}  // namespace workbench
