// Places the rows of a matrix that is on the GPU, or of its tiles, by a key: sorted, or hashed.
//
// Races. A thread writes items of its own number, and the threads that take a row together have the first of them write. Flags
// are set by writes of one same value; the rows of a sample are counted by atomics.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/matrix/length_hash.hpp"
#include "core/matrix/random.hpp"
#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/primitives/rows.cuh"
#include "kernels/primitives/search.hpp"

namespace workbench::tiling {

using on_gpu::for_each_item;

/// The entries of a row in one tile, which are neighbours; or a row or node, with the key by which it is placed for its length.
struct Fragment {
    std::uint32_t first;
    Index length;
    Index row;
};

/// Fragments of entries with columns. None is empty, unless they are rows.
struct FragmentsOnGpu {
    const Fragment* fragments;  // [count]
    const Index* columns;       // of the entries
    Index count;
    Index column_count;
};

/// The rows and columns of a tile.
struct TileRange {
    Index first_row;
    Index end_row;
    Index first_column;
    Index end_column;
};

/// Fragments tile by tile.
struct TilesOnGpu {
    const Fragment* fragments;    // [count]
    const Offset* tiles_until;    // [count + 1] the tiles that begin before each fragment
    const Index* first_of_tiles;  // [tiles + 1]
    Index count;
    Index tiles;

    [[nodiscard]] constexpr Index tile_of(std::size_t fragment) const {
        return static_cast<Index>(tiles_until[fragment + 1]) - 1;
    }
};

/// The part of each old node.
static __global__ void find_parts(const Index* __restrict__ boundaries, Index parts, NodesOnGpu nodes,
                                  Index* __restrict__ part_of) {
    for_each_item(static_cast<std::size_t>(nodes.count), [&](std::size_t place) {
        part_of[nodes.old_of_new == nullptr ? static_cast<Index>(place) : nodes.old_of_new[place]] =
            piece_at(boundaries, parts, static_cast<Index>(place) * nodes.size);
    });
}

/// The key of a node, in all its lanes: the nonzeros of its longest row, or those inside its part. part_of: of each node, for
/// the latter.
inline __device__ Index key_of(const NodesOnGpu& nodes, Index node, RowKey key, const Index* part_of, unsigned lane) {
    const std::uint32_t* const offsets = nodes.rows.offsets;
    unsigned longest = 0;
    for (Index row = node * nodes.size; row < (node + 1) * nodes.size; ++row) {
        unsigned length = offsets[row + 1] - offsets[row];
        if (key == RowKey::inside_partition) {
            unsigned inside = 0;
            for (std::uint32_t i = offsets[row] + lane; i < offsets[row + 1]; i += on_gpu::lanes) {
                inside += part_of[nodes.rows.columns[i] / nodes.size] == part_of[node] ? 1 : 0;
            }
            length = __reduce_add_sync(on_gpu::lanes_of_row(), inside);
        }
        longest = max(longest, length);
    }
    return static_cast<Index>(longest);
}

/// The nodes as fragments of tiles, which are groups of them.
static __global__ void list_nodes(NodesOnGpu nodes, RowKey key, const Index* __restrict__ part_of,
                                  const Index* __restrict__ groups, Index group_count, Fragment* __restrict__ fragments,
                                  Offset* __restrict__ tiles_until) {
    on_gpu::for_each_row(nodes.count, [&](Index place, unsigned lane) {
        const Index old = nodes.old_of_new == nullptr ? place : nodes.old_of_new[place];
        const Index found = key_of(nodes, old, key, part_of, lane);
        if (lane != 0) return;
        fragments[place] = {nodes.rows.offsets[old * nodes.size], found, old};
        tiles_until[place + 1] = piece_at(groups, group_count, place) + 1;
        if (place == 0) tiles_until[0] = 0;
    });
}

/// Rows as fragments of tiles, which are groups of them.
static __global__ void list_rows(RowsToPlace rows, Fragment* __restrict__ fragments, Offset* __restrict__ tiles_until) {
    for_each_item(static_cast<std::size_t>(rows.count), [&](std::size_t i) {
        fragments[i] = {static_cast<std::uint32_t>(rows.offsets[i]), static_cast<Index>(rows.offsets[i + 1] - rows.offsets[i]),
                        static_cast<Index>(i)};
        tiles_until[i + 1] = piece_at(rows.groups, rows.group_count, static_cast<Index>(i)) + 1;
        if (i == 0) tiles_until[0] = 0;
    });
}

/// The entries of each row in its own part, for its length.
static __global__ void key_inside(RowsToPlace rows, Fragment* __restrict__ fragments) {
    for_each_item(static_cast<std::size_t>(rows.count), [&](std::size_t i) {
        const Index part = piece_at(rows.partition, rows.parts, rows.numbers[i]);
        Index inside = 0;
        for (Offset k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
            inside += rows.columns[k] >= rows.partition[part] && rows.columns[k] < rows.partition[part + 1] ? 1 : 0;
        }
        fragments[i].length = inside;
    });
}

/// The first column of each fragment, or the columns from there to its last, for its length.
static __global__ void key_by_columns(FragmentsOnGpu given, RowKey key, Fragment* __restrict__ keyed) {
    for_each_item(static_cast<std::size_t>(given.count), [&](std::size_t i) {
        Fragment fragment = given.fragments[i];
        const Index* const columns = given.columns + fragment.first;
        const bool is_empty = fragment.length == 0;
        const Index first = is_empty ? given.column_count : columns[0];
        const Index span = is_empty ? 0 : columns[fragment.length - 1] - first + 1;
        fragment.length = key == RowKey::first_column ? first : span;
        keyed[i] = fragment;
    });
}

constexpr int signature_words = 4;

/// The signature of each fragment (stages/column_keys.cpp), word by word: the least of each of four hashes of its columns.
static __global__ void sign_fragments(FragmentsOnGpu given, std::uint64_t* __restrict__ signatures) {
    on_gpu::for_each_row(given.count, [&](Index i, unsigned lane) {
        const Fragment fragment = given.fragments[i];
        std::uint64_t least[signature_words];
        for (std::uint64_t& word : least) word = std::numeric_limits<std::uint64_t>::max();
        for (Index k = static_cast<Index>(lane); k < fragment.length; k += on_gpu::lanes) {
            const auto column = static_cast<std::uint64_t>(given.columns[fragment.first + static_cast<std::uint32_t>(k)]);
            std::uint64_t state = random_stream(1, column).state;
            for (std::uint64_t& word : least) {
                const std::uint64_t hash = mixed(state);
                word = hash < word ? hash : word;
                state += random_step;
            }
        }
        for (int distance = on_gpu::lanes / 2; distance > 0; distance /= 2) {
            for (std::uint64_t& word : least) {
                const std::uint64_t other = __shfl_xor_sync(on_gpu::lanes_of_row(), word, distance, on_gpu::lanes);
                word = other < word ? other : word;
            }
        }
        if (lane != 0) return;
        for (int word = 0; word < signature_words; ++word) {
            signatures[static_cast<std::size_t>(word) * static_cast<std::size_t>(given.count) + i] = least[word];
        }
    });
}

static __global__ void take_words(const std::uint64_t* __restrict__ words, const std::uint32_t* __restrict__ numbers,
                                  std::size_t count, std::uint64_t* __restrict__ keys) {
    for_each_item(count, [&](std::size_t i) { keys[i] = words[numbers[i]]; });
}

/// differs: at the place of each fragment in the order of signatures, unless its signature is that before it.
static __global__ void mark_signatures(const std::uint64_t* __restrict__ signatures, const std::uint32_t* __restrict__ numbers,
                                       std::size_t count, Offset* __restrict__ differs) {
    for_each_item(count, [&](std::size_t i) {
        bool is_other = false;
        for (std::size_t word = 0; i > 0 && word < signature_words; ++word) {
            is_other = is_other || signatures[word * count + numbers[i - 1]] != signatures[word * count + numbers[i]];
        }
        differs[i] = is_other ? 1 : 0;
    });
}

/// The rank of the signature of each fragment for its length.
static __global__ void key_by_rank(const Fragment* __restrict__ fragments, const std::uint32_t* __restrict__ numbers,
                                   const Offset* __restrict__ ranks, std::size_t count, Fragment* __restrict__ keyed) {
    for_each_item(count, [&](std::size_t i) {
        Fragment fragment = fragments[numbers[i]];
        fragment.length = static_cast<Index>(ranks[i]);
        keyed[numbers[i]] = fragment;
    });
}

/// The fragments of other tiles than that of these entries keep their order: their key is 0. *found is set if there are any of
/// the tile.
static __global__ void keep_other_tiles(const Index* __restrict__ columns, const Fragment* __restrict__ fragments,
                                        std::size_t count, TileRange tile, Fragment* __restrict__ keyed, int* found) {
    for_each_item(count, [&](std::size_t i) {
        const Index row = fragments[i].row;
        const Index column = columns[fragments[i].first];
        if (row >= tile.first_row && row < tile.end_row && column >= tile.first_column && column < tile.end_column) {
            *found = 1;
        } else {
            keyed[i].length = 0;
        }
    });
}

static __global__ void take_rows(const Fragment* __restrict__ fragments, std::size_t count, std::uint32_t* __restrict__ rows) {
    for_each_item(count, [&](std::size_t i) { rows[i] = static_cast<std::uint32_t>(fragments[rows[i]].row); });
}

/// The keys by which stable sorts place the fragments of each tile: the window, then the length or its class.
struct TileKeys {
    Index size;  // rows of a fragment
    Index window;
    bool hashed;
    bool descending;
    std::uint32_t longest;
    int length_bits;
};

static __global__ void key_by_tile(TilesOnGpu tiles, TileKeys how, std::uint64_t* __restrict__ keys,
                                   std::uint32_t* __restrict__ numbers) {
    for_each_item(static_cast<std::size_t>(tiles.count), [&](std::size_t i) {
        const Index first = tiles.first_of_tiles[tiles.tile_of(i)];
        // A window has a row at least, and a fragment belongs to that of its first row.
        const auto begin =
            static_cast<std::uint64_t>(first + (Offset{static_cast<Index>(i) - first} * how.size) / max(how.window, how.size));
        const auto length = static_cast<std::uint32_t>(tiles.fragments[i].length);
        const auto length_key = how.hashed       ? static_cast<std::uint32_t>(length_class(tiles.fragments[i].length))
                                : how.descending ? how.longest - length
                                                 : length;
        keys[i] = begin << how.length_bits | length_key;
        numbers[i] = static_cast<std::uint32_t>(i);
    });
}

/// The slot in its tile to which the hash of each class of lengths leads (stages/length_hash.hpp), at the place of the first
/// fragment of the class. A block takes a tile. keys, numbers: sorted by tile and class.
static __global__ void fit_hashes(TilesOnGpu tiles, const std::uint64_t* __restrict__ keys,
                                  const std::uint32_t* __restrict__ numbers, Index most_sampled, Index* __restrict__ homes) {
    __shared__ Index starts[length_classes];  // first, the rows of the sample in each class
    for (auto tile = static_cast<Index>(blockIdx.x); tile < tiles.tiles; tile += static_cast<Index>(gridDim.x)) {
        const Index first = tiles.first_of_tiles[tile];
        const Index rows = tiles.first_of_tiles[tile + 1] - first;
        if (rows == 0) continue;
        const Index sample = min(most_sampled, rows);
        for (auto i = static_cast<int>(threadIdx.x); i < length_classes; i += block_threads) starts[i] = 0;
        __syncthreads();
        const SampledRows sampled(sample, rows);
        for (auto i = static_cast<Index>(threadIdx.x); i < sample; i += block_threads) {
            atomicAdd(starts + length_class(tiles.fragments[first + sampled.row(i)].length), 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            Index shorter = 0;
            Index start = 0;
            for (Index& entry : starts) {
                const Index count = entry;
                start = max(start, class_start(shorter, sample, rows, [](double value) { return sqrt(value); }));
                entry = shorter == sample ? rows - 1 : start;  // classes above those of the sample
                shorter += count;
            }
        }
        __syncthreads();
        for (auto i = first + static_cast<Index>(threadIdx.x); i < first + rows; i += block_threads) {
            if (i > first && keys[i - 1] == keys[i]) continue;
            homes[i] = starts[length_class(tiles.fragments[numbers[i]].length)];
        }
        __syncthreads();
    }
}

/// Finds the slot of a fragment among those that earlier ones of its tile occupy: the first free slot from its home on or, if
/// there is none, the last free one. The earlier ones of each class occupy slots from their home on, which push the next class
/// on where they reach its home. As many of the last free slots are occupied as there are fragments behind the last slot.
struct SlotSearch {
    Index rows;             // and slots, of the tile
    Index remaining;        // free slots
    Index end = 0;          // of the slots that classes so far occupy
    Index free_before = 0;  // that are not occupied, before `end`
    Index found = -1;       // the first from the own home on
    Index found_before = 0;
    Index last = 0;

    /// A class has its home here, or the tile ends. is_after: after the own class.
    constexpr void go_to(Index home, bool is_after) {
        if (home <= end) return;
        if (is_after && found < 0) {
            found = end;
            found_before = free_before;
        }
        if (free_before < remaining && remaining <= free_before + home - end) last = end + remaining - 1 - free_before;
        free_before += home - end;
        end = home;
    }
    [[nodiscard]] constexpr Index slot() const { return found >= 0 && found_before < remaining ? found : last; }
};

/// Places the fragments of each tile in slots, as place_by_hash does one after another. keys, numbers: sorted by tile and
/// class.
static __global__ void place_hashed(TilesOnGpu tiles, const std::uint64_t* __restrict__ keys,
                                    const std::uint32_t* __restrict__ numbers, const Index* __restrict__ homes,
                                    Index most_sampled, std::uint32_t* __restrict__ slots) {
    for_each_item(static_cast<std::size_t>(tiles.count), [&](std::size_t i) {
        const std::uint32_t own = numbers[i];
        const Index first = tiles.first_of_tiles[tiles.tile_of(own)];
        const Index rows = tiles.first_of_tiles[tiles.tile_of(own) + 1] - first;
        if (rows <= most_sampled) {  // each class has as many slots as fragments
            slots[i] = own;
            return;
        }
        SlotSearch search{rows, rows - (static_cast<Index>(own) - first)};
        bool is_after = false;
        for (Index begin = first; begin < first + rows;) {
            const Index count = count_below(keys + begin, first + rows - begin, keys[begin] + 1);
            search.go_to(homes[begin], is_after);
            search.end += count_below(numbers + begin, count, own);
            is_after = is_after || keys[begin] == keys[i];
            begin += count;
        }
        search.go_to(rows, is_after);
        slots[first + search.slot()] = own;
    });
}

}  // namespace workbench::tiling

namespace workbench {

/// The fragments in their order, with keys for lengths that suit a placing.
[[nodiscard]] WorkspaceArray<tiling::Fragment> keyed(Workspace& workspace, const tiling::FragmentsOnGpu& given, RowKey key);

/// No key is larger. longest: row of the matrix.
[[nodiscard]] std::uint32_t largest_key(RowKey key, const tiling::FragmentsOnGpu& of, std::uint32_t longest);

/// The number of the fragment in each place. size: rows of a fragment. rows: of the matrix. largest: key.
[[nodiscard]] WorkspaceArray<std::uint32_t> placed(Workspace& workspace, const tiling::TilesOnGpu& tiles, const RowPlacing& how,
                                                   Index size, Index rows, std::uint32_t largest);

}  // namespace workbench
