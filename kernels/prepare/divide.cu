// A group of lanes traverses a stored row twice, once to count and once to write to positions that belong to this group alone,
// so threads cannot race. Ballots give each lane the number of matching lanes before it.
#include <cooperative_groups.h>

#include "kernels/prepare/primitives.cuh"
#include "kernels/prepare/staging.hpp"
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

namespace groups = cooperative_groups;

/// The view on the GPU. A null array is the identity.
struct Viewed {
    const std::uint32_t* offsets;  // [row_count + 1]
    const Index* rows;
    const std::uint32_t* entries;
    const Index* columns;  // of the matrix; null if the division does not use columns
    Index row_count;
};

struct Criterion {
    Division::By by;
    std::int64_t most;
    const Index* piece_of;
    const unsigned char* marked;
};

__device__ bool belongs(const Criterion& criterion, const Viewed& view, Index row, std::uint32_t entry, std::int64_t k,
                        std::int64_t length) {
    switch (criterion.by) {
        case Division::By::partition: return criterion.piece_of[row] == criterion.piece_of[view.columns[entry]];
        case Division::By::place: return k < criterion.most;
        case Division::By::length: return length > criterion.most;
        case Division::By::distance: return llabs(std::int64_t{view.columns[entry]} - row) <= criterion.most;
        default: return criterion.marked[entry] != 0;
    }
}

/// Calls visit(stored row, its first position, k of this lane, entry, belongs, exists) for every batch of `lanes` entries of
/// each row; all lanes of a group make the same number of calls.
template <int lanes, typename Row>
__device__ void for_each_row(const Viewed& view, const Row& visit) {
    const std::size_t first = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / lanes;
    const std::size_t stride = gridDim.x * std::size_t{block_threads} / lanes;
    for (std::size_t stored = first; stored < static_cast<std::size_t>(view.row_count); stored += stride) visit(stored);
}

template <int lanes>
__global__ void count_entries(Viewed view, Criterion criterion, Offset* __restrict__ counts, Index* __restrict__ lengths) {
    const auto group = groups::tiled_partition<lanes>(groups::this_thread_block());
    for_each_row<lanes>(view, [&](std::size_t stored) {
        const std::uint32_t begin = view.offsets[stored];
        const std::uint32_t length = view.offsets[stored + 1] - begin;
        const Index row = view.rows == nullptr ? static_cast<Index>(stored) : view.rows[stored];
        Index count = 0;
        for (std::uint32_t k0 = 0; k0 < length; k0 += lanes) {
            const std::uint32_t k = k0 + group.thread_rank();
            const std::uint32_t entry = k >= length ? 0 : view.entries == nullptr ? begin + k : view.entries[begin + k];
            count += __popc(group.ballot(k < length && belongs(criterion, view, row, entry, k, length)));
        }
        if (group.thread_rank() != 0) return;
        lengths[stored] = count;
        counts[stored + 1] = count;
        if (stored == 0) counts[0] = 0;
    });
}

/// begins: [row_count + 1], offsets of the rows in the first share; they determine the offsets in the second share.
template <int lanes>
__global__ void list_entries(Viewed view, Criterion criterion, const Offset* __restrict__ begins,
                             std::uint32_t* __restrict__ with, std::uint32_t* __restrict__ without) {
    const auto group = groups::tiled_partition<lanes>(groups::this_thread_block());
    for_each_row<lanes>(view, [&](std::size_t stored) {
        const std::uint32_t begin = view.offsets[stored];
        const std::uint32_t length = view.offsets[stored + 1] - begin;
        const Index row = view.rows == nullptr ? static_cast<Index>(stored) : view.rows[stored];
        auto next_with = static_cast<std::uint32_t>(begins[stored]);
        std::uint32_t next_without = begin - next_with;
        const unsigned before = (1u << group.thread_rank()) - 1;
        for (std::uint32_t k0 = 0; k0 < length; k0 += lanes) {
            const std::uint32_t k = k0 + group.thread_rank();
            const bool there = k < length;
            const std::uint32_t entry = !there ? 0 : view.entries == nullptr ? begin + k : view.entries[begin + k];
            const bool in_first = there && belongs(criterion, view, row, entry, k, length);
            const unsigned first = group.ballot(in_first);
            const unsigned second = group.ballot(there && !in_first);
            if (in_first) with[next_with + __popc(first & before)] = entry;
            if (there && !in_first) without[next_without + __popc(second & before)] = entry;
            next_with += __popc(first);
            next_without += __popc(second);
        }
    });
}

template <int lanes>
DividedEntries divide(Workspace& workspace, const Viewed& view, const Criterion& criterion, Offset entry_count) {
    const unsigned blocks = blocks_of(static_cast<std::size_t>(view.row_count) * lanes, block_threads);
    const auto rows = static_cast<std::size_t>(view.row_count);
    auto begins = workspace.make<Offset>(rows + 1);
    const auto lengths = workspace.make<Index>(rows);
    count_entries<lanes><<<blocks, block_threads, 0, workspace.stream()>>>(view, criterion, begins.data(), lengths.data());
    check_launch("count_entries");
    sum_up(workspace, begins);
    const Offset of_first = workspace.download_item(begins, rows);
    const auto first = workspace.make<std::uint32_t>(of_first);
    const auto second = workspace.make<std::uint32_t>(entry_count - of_first);
    list_entries<lanes>
        <<<blocks, block_threads, 0, workspace.stream()>>>(view, criterion, begins.data(), first.data(), second.data());
    check_launch("list_entries");

    DividedEntries divided;
    make_room(divided.entries[0], of_first);
    make_room(divided.entries[1], entry_count - of_first);
    make_room(divided.lengths, rows);
    workspace.download(lengths, std::span(divided.lengths));
    workspace.download_wide(first, divided.entries[0]);
    workspace.download_wide(second, divided.entries[1]);
    return divided;
}

}  // namespace

DividedEntries divide_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const ShareView& view, const Division& division) {
    const bool asks_columns = division.by == Division::By::partition || division.by == Division::By::distance;
    const auto offsets = workspace.upload_narrow(view.offsets());
    const auto rows = workspace.upload<Index>(view.rows());
    const auto entries = workspace.upload_narrow(view.entries());
    const auto columns =
        workspace.upload<Index>(std::span(matrix.column_indices).first(asks_columns ? matrix.column_indices.size() : 0));
    const auto piece_of = workspace.upload<Index>(division.piece_of);
    const auto marked = workspace.upload<unsigned char>(division.marked);
    const Viewed viewed{offsets.data(), rows.data(), entries.data(), columns.data(), view.row_count()};
    const Criterion criterion{division.by, division.most, piece_of.data(), marked.data()};
    return view.entry_count() < Offset{16} * view.row_count() ? divide<8>(workspace, viewed, criterion, view.entry_count())
                                                              : divide<32>(workspace, viewed, criterion, view.entry_count());
}

}  // namespace workbench
