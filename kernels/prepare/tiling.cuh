// The kernels that divide a matrix into tiles on the GPU, and store their rows as HBP.
//
// Races. A thread writes items of its own number, or those of its own row, tile, chunk or stored row. The results of a row are
// counted by atomics.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/formats/hbp/placement.hpp"
#include "kernels/prepare/placing.cuh"
#include "kernels/prepare/planned_on_gpu.cuh"
#include "kernels/primitives/rows.cuh"
#include "kernels/primitives/search.hpp"

namespace workbench::tiling {

using on_gpu::for_each_item;

struct CutsOnGpu {
    const Index* row_blocks;  // [row_block_count + 1]
    Index row_block_count;
    const Index* segments;  // [segment_count + 1]
    Index segment_count;
    int segment_bits;
};

/// Calls visit(segment, first entry, end) for the entries of a row in each segment that has any.
template <typename Visit>
inline __device__ void for_each_fragment(const ReorderedOnGpu& matrix, const CutsOnGpu& cuts, std::size_t row,
                                         const Visit& visit) {
    const Offset end = matrix.offsets[row + 1];
    for (Offset first = matrix.offsets[row]; first < end;) {
        const Index segment = piece_at(cuts.segments, cuts.segment_count, matrix.columns[first]);
        const Offset next =
            first + count_below(matrix.columns + first, static_cast<Index>(end - first), cuts.segments[segment + 1]);
        visit(segment, first, next);
        first = next;
    }
}

/// counts: at the place after that of the row.
static __global__ void count_fragments(ReorderedOnGpu matrix, CutsOnGpu cuts, Offset* __restrict__ counts) {
    for_each_item(static_cast<std::size_t>(matrix.rows), [&](std::size_t row) {
        Offset count = 0;
        for_each_fragment(matrix, cuts, row, [&](Index, Offset, Offset) { ++count; });
        counts[row + 1] = count;
    });
}

/// The fragments row by row, with keys that number their tiles.
static __global__ void list_fragments(ReorderedOnGpu matrix, CutsOnGpu cuts, const Offset* __restrict__ sums,
                                      Fragment* __restrict__ fragments, std::uint64_t* __restrict__ keys,
                                      std::uint32_t* __restrict__ numbers) {
    for_each_item(static_cast<std::size_t>(matrix.rows), [&](std::size_t row) {
        const auto own = static_cast<Index>(row);
        const auto block = static_cast<std::uint64_t>(piece_at(cuts.row_blocks, cuts.row_block_count, own));
        Offset at = sums[row];
        for_each_fragment(matrix, cuts, row, [&](Index segment, Offset first, Offset end) {
            fragments[at] = {static_cast<std::uint32_t>(first), static_cast<Index>(end - first), own};
            keys[at] = block << cuts.segment_bits | static_cast<std::uint64_t>(segment);
            numbers[at] = static_cast<std::uint32_t>(at);
            ++at;
        });
    });
}

static __global__ void take_fragments(const Fragment* __restrict__ from, const std::uint32_t* __restrict__ numbers,
                                      std::size_t count, Fragment* __restrict__ to) {
    for_each_item(count, [&](std::size_t i) { to[i] = from[numbers[i]]; });
}

/// Counts the first fragments of tiles, at the place after theirs.
static __global__ void mark_tiles(const std::uint64_t* __restrict__ keys, std::size_t count, Offset* __restrict__ counts) {
    for_each_item(count, [&](std::size_t i) { counts[i + 1] = i == 0 || keys[i - 1] != keys[i] ? 1 : 0; });
}

static __global__ void find_tiles(const Offset* __restrict__ tiles_until, std::size_t count,
                                  Index* __restrict__ first_of_tiles) {
    for_each_item(count, [&](std::size_t i) {
        if (tiles_until[i] != tiles_until[i + 1]) first_of_tiles[tiles_until[i]] = static_cast<Index>(i);
        if (i + 1 == count) first_of_tiles[tiles_until[count]] = static_cast<Index>(count);
    });
}

/// Every stride-th entry of a fragment.
struct StoredRow {
    std::uint32_t first;
    Index stride;
    Index length;
    Index row;
};

/// Counts of each tile at the place after it, afterwards the prefix sums.
struct TileCounts {
    Offset* stored_rows;
    Offset* batches;
    Offset* chunks;
    Offset* entries;
};

/// Arrays of Hbp, and the stored rows.
struct PlacedOnGpu {
    StoredRow* stored_rows;
    Index* chunk_batches;
    Offset* begin_ptr;
    Index* batch_rows;
    Index stored_row_count;
    Index batches;
    Index chunks;

    [[nodiscard]] constexpr Index batch_of(Index stored) const { return piece_at(batch_rows, batches, stored); }
};

struct CountTile {
    constexpr void row(const HbpStoredRow&, const HbpCounts&) {}
    constexpr void batch(const HbpCounts&) {}
    constexpr void chunk(const HbpCounts&) {}
};

struct StoreTile {
    const Fragment* fragments;  // of the tile
    PlacedOnGpu to;
    Offset stored_rows, batches, chunks, entries;  // of earlier tiles

    constexpr void row(const HbpStoredRow& row, const HbpCounts& counts) const {
        const Fragment& from = fragments[row.row];
        to.stored_rows[stored_rows + counts.stored_rows] = {from.first + static_cast<std::uint32_t>(row.first), row.stride,
                                                            row.length, from.row};
    }
    constexpr void batch(const HbpCounts& counts) const {
        to.batch_rows[batches + counts.batches] = static_cast<Index>(stored_rows + counts.stored_rows);
        to.begin_ptr[batches + counts.batches] = entries + counts.entries;
    }
    constexpr void chunk(const HbpCounts& counts) const {
        to.chunk_batches[chunks + counts.chunks] = static_cast<Index>(batches + counts.batches);
    }
};

/// Places the fragments of a tile one after another.
template <typename Use>
inline __device__ HbpCounts place_tile(const TilesOnGpu& tiles, std::size_t tile, const HbpLimits& limits, Use use) {
    HbpTilePlacing<Use> placing(limits, use);
    const Index first = tiles.first_of_tiles[tile];
    const Index rows = tiles.first_of_tiles[tile + 1] - first;
    for (Index row = 0; row < rows; ++row) placing.place_row(row, tiles.fragments[first + row].length);
    placing.end();
    return placing.counts();
}

static __global__ void count_placed(TilesOnGpu tiles, HbpLimits limits, TileCounts counts) {
    for_each_item(static_cast<std::size_t>(tiles.tiles), [&](std::size_t tile) {
        const HbpCounts found = place_tile(tiles, tile, limits, CountTile{});
        counts.stored_rows[tile + 1] = found.stored_rows;
        counts.batches[tile + 1] = found.batches;
        counts.chunks[tile + 1] = found.chunks;
        counts.entries[tile + 1] = found.entries;
    });
}

static __global__ void place_tiles(TilesOnGpu tiles, HbpLimits limits, TileCounts before, PlacedOnGpu placed) {
    for_each_item(static_cast<std::size_t>(tiles.tiles), [&](std::size_t tile) {
        if (tile == 0) placed.chunk_batches[0] = placed.batch_rows[0] = 0;
        if (tile == 0) placed.begin_ptr[0] = 0;
        place_tile(tiles, tile, limits,
                   StoreTile{tiles.fragments + tiles.first_of_tiles[tile], placed, before.stored_rows[tile],
                             before.batches[tile], before.chunks[tile], before.entries[tile]});
    });
}

/// The least column and the first entry of each chunk. Sets *wide if 16 bits do not suffice for the columns of one.
static __global__ void measure_chunks(PlacedOnGpu placed, const Index* __restrict__ columns, Index* __restrict__ chunk_columns,
                                      Offset* __restrict__ first_entries, int* wide) {
    for_each_item(static_cast<std::size_t>(placed.chunks), [&](std::size_t chunk) {
        const Index end = placed.chunk_batches[chunk + 1];
        Index least = std::numeric_limits<Index>::max();
        Index most = 0;
        for (Index stored = placed.batch_rows[placed.chunk_batches[chunk]]; stored < placed.batch_rows[end]; ++stored) {
            const StoredRow row = placed.stored_rows[stored];
            least = min(least, columns[row.first]);
            most = max(most, columns[row.first + Offset{row.length - 1} * row.stride]);
        }
        chunk_columns[chunk] = least;
        if (most - least > Index{std::numeric_limits<std::uint16_t>::max()}) *wide = 1;
        if (chunk == 0) first_entries[0] = 0;
        first_entries[chunk + 1] = placed.begin_ptr[end];
    });
}

/// All stored rows have entries.
template <typename ColumnIndex>
__global__ void fill_batches(PlacedOnGpu placed, ReorderedOnGpu matrix, const Index* __restrict__ chunk_columns,
                             std::uint32_t* __restrict__ zero_row, ColumnIndex* __restrict__ columns,
                             std::uint32_t* __restrict__ nonzeros, std::uint8_t* __restrict__ add_sign) {
    for_each_item(static_cast<std::size_t>(placed.stored_row_count), [&](std::size_t stored) {
        const Index batch = placed.batch_of(static_cast<Index>(stored));
        const Index first = placed.batch_rows[batch];
        const Index lanes = placed.batch_rows[batch + 1] - first;
        const Index lane = static_cast<Index>(stored) - first;
        const Index least = chunk_columns[piece_at(placed.chunk_batches, placed.chunks, batch)];
        if (lane == 0) zero_row[batch] = lanes == hbp_lanes ? 0 : ~std::uint32_t{0} << lanes;
        const StoredRow own = placed.stored_rows[stored];
        Offset entry = placed.begin_ptr[batch] + lane;
        for (Index k = 0; k < own.length; ++k) {
            int distance = 0;  // the lanes from this one on with entry k, and those before it with entry k + 1
            for (Index i = 0; i < lanes; ++i) {
                distance += placed.stored_rows[first + i].length > (i < lane ? k + 1 : k) ? 1 : 0;
            }
            const Offset from = own.first + Offset{k} * own.stride;
            columns[entry] = static_cast<ColumnIndex>(matrix.columns[from] - least);
            nonzeros[entry] = matrix.entries[from];
            add_sign[entry] = static_cast<std::uint8_t>(k + 1 < own.length ? distance : 0);
            entry += distance;
        }
    });
}

/// A key for each stored row: its row if it leads those of its batch that give one result, otherwise the number of rows.
/// counts: zeros beforehand; the results of a row at the place after it.
static __global__ void mark_results(PlacedOnGpu placed, Index rows, std::uint64_t* __restrict__ keys,
                                    std::uint32_t* __restrict__ numbers, Offset* counts) {
    for_each_item(static_cast<std::size_t>(placed.stored_row_count), [&](std::size_t i) {
        const auto stored = static_cast<Index>(i);
        const Index row = placed.stored_rows[i].row;
        const bool leads = placed.batch_rows[placed.batch_of(stored)] == stored || placed.stored_rows[i - 1].row != row;
        keys[i] = static_cast<std::uint64_t>(leads ? row : rows);
        numbers[i] = static_cast<std::uint32_t>(i);
        if (leads) atomicAdd(reinterpret_cast<unsigned long long*>(counts + row + 1), 1ULL);
    });
}

/// Counts at the place after the row, afterwards the prefix sums. Rows with 2 to 32 results are merged in groups of 32, those
/// with more, which are last, in groups of their own.
struct ResultsOnGpu {
    Offset* results;
    Offset* absent;
    Offset* grouped;
    Offset* lone;
    Index grouped_rows;

    [[nodiscard]] constexpr Offset count(std::size_t row) const { return results[row + 1] - results[row]; }
    /// The place of a row among the merged ones.
    [[nodiscard]] constexpr Offset place(std::size_t row) const {
        return count(row) > hbp_lanes ? grouped_rows + lone[row] : grouped[row];
    }
    [[nodiscard]] constexpr Index groups_of_several() const { return (grouped_rows + hbp_lanes - 1) / hbp_lanes; }
    [[nodiscard]] constexpr Offset group(Offset place) const {
        return place < grouped_rows ? place / hbp_lanes : groups_of_several() + place - grouped_rows;
    }
    /// The place of the first row of a group.
    [[nodiscard]] constexpr Offset first_place(Offset group) const {
        return group < groups_of_several() ? group * hbp_lanes : grouped_rows + group - groups_of_several();
    }
};

static __global__ void count_merged(ResultsOnGpu of, Index rows) {
    for_each_item(static_cast<std::size_t>(rows), [&](std::size_t row) {
        const Offset count = of.count(row);
        of.absent[row + 1] = count == 0 ? 1 : 0;
        of.grouped[row + 1] = count > 1 && count <= hbp_lanes ? 1 : 0;
        of.lone[row + 1] = count > hbp_lanes ? 1 : 0;
    });
}

/// sums: the number of results at the place after that of the merged row.
static __global__ void list_merged(ResultsOnGpu of, Index rows, Index* __restrict__ absent_rows,
                                   Index* __restrict__ merged_rows, Index* __restrict__ merged_counts,
                                   Offset* __restrict__ sums) {
    for_each_item(static_cast<std::size_t>(rows), [&](std::size_t row) {
        const Offset count = of.count(row);
        if (count == 0) absent_rows[of.absent[row]] = static_cast<Index>(row);
        if (count < 2) return;
        const Offset place = of.place(row);
        merged_rows[place] = static_cast<Index>(row);
        merged_counts[place] = static_cast<Index>(count);
        sums[place + 1] = count;
    });
}

static __global__ void list_groups(ResultsOnGpu of, std::size_t groups, const Offset* __restrict__ sums,
                                   Index* __restrict__ merge_rows, Index* __restrict__ merge_results) {
    for_each_item(groups + 1, [&](std::size_t group) {
        const Offset first = of.first_place(static_cast<Offset>(group));
        merge_rows[group] = static_cast<Index>(first);
        merge_results[group] = static_cast<Index>(sums[first]);
    });
}

/// The output of each stored row, from the leading ones, sorted by their rows.
static __global__ void order_outputs(PlacedOnGpu placed, ResultsOnGpu of, const std::uint32_t* __restrict__ leaders,
                                     std::size_t count, const Index* __restrict__ merge_rows,
                                     const Index* __restrict__ merge_results, const Index* __restrict__ merged_counts,
                                     Index* __restrict__ output_order) {
    for_each_item(count, [&](std::size_t i) {
        const auto leader = static_cast<Index>(leaders[i]);
        const Index row = placed.stored_rows[leader].row;
        Index output = row;
        if (of.count(static_cast<std::size_t>(row)) > 1) {
            const auto k = static_cast<Index>(static_cast<Offset>(i) - of.results[row]);
            const Offset place = of.place(static_cast<std::size_t>(row));
            const Offset group = of.group(place);
            Index result = merge_results[group];
            for (Index other = merge_rows[group]; other < merge_rows[group + 1]; ++other) {
                result += min(merged_counts[other], k) + (other < place && merged_counts[other] > k ? 1 : 0);
            }
            output = ~result;
        }
        const Index end = placed.batch_rows[placed.batch_of(leader) + 1];
        for (Index stored = leader; stored < end && placed.stored_rows[stored].row == row; ++stored) {
            output_order[stored] = output;
        }
    });
}

}  // namespace workbench::tiling
