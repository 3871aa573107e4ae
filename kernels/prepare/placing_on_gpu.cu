#include <span>
#include <utility>
#include <vector>

#include "kernels/prepare/placing.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {

using tiling::Fragment;

WorkspaceArray<std::uint32_t> placed(Workspace& workspace, const tiling::TilesOnGpu& tiles, const RowPlacing& how, Index size,
                                     Index rows, std::uint32_t largest) {
    const bool hashed = how.sample > 0;
    const auto count = static_cast<std::size_t>(tiles.count);
    const unsigned blocks = blocks_of(count, block_threads);
    const cudaStream_t stream = workspace.stream();
    auto keys = workspace.make<std::uint64_t>(count);
    auto numbers = workspace.make<std::uint32_t>(count);
    const int length_bits =
        on_gpu::bits_of(hashed ? static_cast<std::uint32_t>(length_class(static_cast<Index>(largest))) : largest);
    const tiling::TileKeys of_keys{size, how.window.value_or(rows), hashed, how.descending, largest, length_bits};
    tiling::key_by_tile<<<blocks, block_threads, 0, stream>>>(tiles, of_keys, keys.data(), numbers.data());
    check_launch("key_by_tile");
    sort_pairs(workspace, keys, numbers, 0, length_bits + on_gpu::bits_of(static_cast<std::uint32_t>(count)));
    if (!hashed) return numbers;
    const auto homes = workspace.make<Index>(count);
    auto slots = workspace.make<std::uint32_t>(count);
    tiling::fit_hashes<<<blocks_of(static_cast<std::size_t>(tiles.tiles), 1), block_threads, 0, stream>>>(
        tiles, keys.data(), numbers.data(), how.sample, homes.data());
    check_launch("fit_hashes");
    tiling::place_hashed<<<blocks, block_threads, 0, stream>>>(tiles, keys.data(), numbers.data(), homes.data(), how.sample,
                                                               slots.data());
    check_launch("place_hashed");
    return slots;
}

WorkspaceArray<Fragment> keyed(Workspace& workspace, const tiling::FragmentsOnGpu& given, RowKey key) {
    const auto count = static_cast<std::size_t>(given.count);
    const unsigned blocks = blocks_of(count, block_threads);
    const cudaStream_t stream = workspace.stream();
    auto made = workspace.make<Fragment>(count);
    if (!depends_on_columns(key)) {
        check_cuda(cudaMemcpyAsync(made.data(), given.fragments, count * sizeof(Fragment), cudaMemcpyDeviceToDevice, stream),
                   "cudaMemcpyAsync");
        return made;
    }
    if (key != RowKey::similarity) {
        tiling::key_by_columns<<<blocks, block_threads, 0, stream>>>(given, key, made.data());
        check_launch("key_by_columns");
        return made;
    }
    const auto signatures = workspace.make<std::uint64_t>(count * tiling::signature_words);
    tiling::sign_fragments<<<blocks_of(count * on_gpu::lanes, block_threads), block_threads, 0, stream>>>(given,
                                                                                                          signatures.data());
    check_launch("sign_fragments");
    auto keys = workspace.make<std::uint64_t>(count);
    auto numbers = workspace.make<std::uint32_t>(count);
    on_gpu::number_items<<<blocks, block_threads, 0, stream>>>(count, numbers.data());
    check_launch("number_items");
    for (std::size_t word = tiling::signature_words; word-- > 0;) {
        tiling::take_words<<<blocks, block_threads, 0, stream>>>(signatures.data() + word * count, numbers.data(), count,
                                                                 keys.data());
        check_launch("take_words");
        sort_pairs(workspace, keys, numbers, 0, 64);
    }
    auto ranks = workspace.make<Offset>(count);
    tiling::mark_signatures<<<blocks, block_threads, 0, stream>>>(signatures.data(), numbers.data(), count, ranks.data());
    check_launch("mark_signatures");
    sum_up(workspace, ranks);
    tiling::key_by_rank<<<blocks, block_threads, 0, stream>>>(given.fragments, numbers.data(), ranks.data(), count,
                                                              made.data());
    check_launch("key_by_rank");
    return made;
}

std::uint32_t largest_key(RowKey key, const tiling::FragmentsOnGpu& of, std::uint32_t longest) {
    return key == RowKey::similarity ? static_cast<std::uint32_t>(of.count)
           : depends_on_columns(key) ? static_cast<std::uint32_t>(of.column_count)
                                     : longest;
}

WorkspaceArray<std::uint32_t> placed_nodes(Workspace& workspace, const NodesOnGpu& nodes, const SortRows& sort,
                                           const std::vector<Index>& partition, std::uint32_t longest) {
    const auto count = static_cast<std::size_t>(nodes.count);
    const cudaStream_t stream = workspace.stream();
    const unsigned blocks = blocks_of(count * on_gpu::lanes, block_threads);
    WorkspaceArray<Index> part_of;
    if (sort.key == RowKey::inside_partition) {
        const auto parts = workspace.upload<Index>(std::span(partition));
        part_of = workspace.make<Index>(count);
        tiling::find_parts<<<blocks, block_threads, 0, stream>>>(parts.data(), static_cast<Index>(partition.size()) - 1, nodes,
                                                                 part_of.data());
        check_launch("find_parts");
    }
    std::vector<Index> bounds = sort.within_partition ? partition : std::vector<Index>{0, nodes.count * nodes.size};
    for (Index& bound : bounds) bound /= nodes.size;
    const auto groups = workspace.upload<Index>(std::span(bounds));
    const auto group_count = static_cast<Index>(bounds.size()) - 1;
    const auto fragments = workspace.make<Fragment>(count);
    const auto tiles_until = workspace.make<Offset>(count + 1);
    tiling::list_nodes<<<blocks, block_threads, 0, stream>>>(nodes, sort.key, part_of.data(), groups.data(), group_count,
                                                             fragments.data(), tiles_until.data());
    check_launch("list_nodes");
    const tiling::FragmentsOnGpu given{fragments.data(), nodes.rows.columns, nodes.count, nodes.columns};
    const auto by_key = keyed(workspace, given, sort.key);
    auto old_nodes = placed(workspace, {by_key.data(), tiles_until.data(), groups.data(), nodes.count, group_count}, sort,
                            nodes.size, nodes.rows.vertices, largest_key(sort.key, given, longest));
    tiling::take_rows<<<blocks, block_threads, 0, stream>>>(fragments.data(), count, old_nodes.data());
    check_launch("take_rows");
    return old_nodes;
}

WorkspaceArray<std::uint32_t> placed_rows(Workspace& workspace, const RowsToPlace& rows, const RowPlacing& how) {
    const auto count = static_cast<std::size_t>(rows.count);
    const cudaStream_t stream = workspace.stream();
    const unsigned blocks = blocks_of(count, block_threads);
    const auto fragments = workspace.make<Fragment>(count);
    const auto tiles_until = workspace.make<Offset>(count + 1);
    tiling::list_rows<<<blocks, block_threads, 0, stream>>>(rows, fragments.data(), tiles_until.data());
    check_launch("list_rows");
    if (how.key == RowKey::inside_partition) {
        tiling::key_inside<<<blocks, block_threads, 0, stream>>>(rows, fragments.data());
        check_launch("key_inside");
    }
    const tiling::FragmentsOnGpu given{fragments.data(), rows.columns, rows.count, rows.column_count};
    const auto by_key = keyed(workspace, given, how.key);
    return placed(workspace, {by_key.data(), tiles_until.data(), rows.groups, rows.count, rows.group_count}, how, 1, rows.count,
                  largest_key(how.key, given, rows.longest));
}

}  // namespace workbench
