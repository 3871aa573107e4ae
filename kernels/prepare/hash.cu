// Each block works on one table in shared memory; hash_rows.cuh explains why the result does not depend on the order of
// threads.
#include <algorithm>
#include <array>

#include "kernels/prepare/hash_rows.cuh"
#include "kernels/prepare/staging.hpp"
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

constexpr Index most_blocks = 1 << 12;  // with more tables, blocks loop over tables, which saves their start-up

/// Places the rows of every table that has between `least` and `most` rows.
template <int threads>
__global__ void place_rows(const Index* __restrict__ lengths, const Offset* __restrict__ first, Index tables, Index sample,
                           Index least, Index most, Index* __restrict__ places) {
    extern __shared__ Index memory[];
    __shared__ typename HashTable<threads>::Shared shared;
    HashTable<threads>::begin(shared);
    for (Index table = static_cast<Index>(blockIdx.x); table < tables; table += static_cast<Index>(gridDim.x)) {
        const auto rows = static_cast<Index>(first[table + 1] - first[table]);
        if (rows < least || rows > most) continue;
        HashTable<threads>::place(lengths + first[table], rows, sample, shared, memory, places + first[table]);
    }
}

struct Tables {
    const Index* lengths;
    const Offset* first;
    Index count;
    Index sample;
    Index* places;
};

template <int threads>
void launch(Workspace& workspace, const Tables& tables, Index least, Index most) {
    const std::size_t bytes = hash_table_bytes(most);
    check_cuda(cudaFuncSetAttribute(place_rows<threads>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "cudaFuncSetAttribute");
    place_rows<threads><<<static_cast<unsigned>(std::min(tables.count, most_blocks)), threads, bytes, workspace.stream()>>>(
        tables.lengths, tables.first, tables.count, tables.sample, least, most, tables.places);
    check_launch("place_rows");
}

}  // namespace

std::vector<Index> place_by_hash_on_gpu(Workspace& workspace, const HashTask& task, Index most_rows) {
    std::vector<Index> result(task.lengths.size());
    const auto lengths = workspace.upload<Index>(task.lengths);
    const auto first = workspace.upload<Offset>(task.first);
    const auto places = workspace.make<Index>(lengths.size());
    const Tables tables{lengths.data(), first.data(), static_cast<Index>(task.first.size()) - 1, task.sample, places.data()};
    // Small tables are numerous, so each gets few threads.
    launch<32>(workspace, tables, 1, 64);
    if (most_rows > 64) launch<128>(workspace, tables, 65, 1024);
    if (most_rows > 1024) launch<512>(workspace, tables, 1025, most_rows);
    workspace.download(places, std::span(result));
    return result;
}

}  // namespace workbench
