// The search for the start of a component and its numbering level by level, in one cooperative launch.
//
// Races. In a search, an atomic exchange decides which tile appends a vertex to the queue. In the numbering, an atomic minimum
// gives each vertex its first numbered neighbour as parent, and only the tile of the parent writes the vertex's place. Between
// the phases all blocks wait for each other. Reads of a mark that another tile changes at the same time are repeated
// atomically, or compare with values that the change cannot lead to.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>
#include <limits>

#include "core/matrix/types.hpp"

namespace workbench::level_orders {

namespace cg = cooperative_groups;

constexpr int order_threads = 1024;
constexpr int tile_size = 16;
constexpr int tiles_of_block = order_threads / tile_size;
constexpr int most_turns = 16;               // of the search for a pseudo-peripheral vertex, as on the host
constexpr Index most_levels = 1 << 14;       // the host processes levels of few vertices faster
constexpr Index most_components = 64;        // with edges; each costs several launches
constexpr std::uint32_t longest_row = 1024;  // the children of a vertex are sorted by comparing each with each
constexpr Index unreached = std::numeric_limits<Index>::max();
constexpr Index placed = -1;

using Tile = cg::thread_block_tile<tile_size>;

/// The state that the launches of all components share, in global memory.
struct SearchProgress {
    unsigned long long farthest[most_turns];  // of each search: degree << 32 | vertex
    Index counts[3];                          // vertices found in a level: of this, the next, and the previous level
    Index size;                               // vertices of the component
    int gave_up;
};

struct Arrays {
    unsigned* seen;       // [vertices] the number of the last search that reached it; 0: none
    Index* queue;         // [vertices] of a search; in the numbering, children that a tile sorts
    Index* parent;        // [vertices] the place of the first neighbour that has one; or placed, or unreached
    Index* order;         // [vertices] the vertex in each place
    Index* first_child;   // [vertices] of the place of a parent: the number of its children, then the place of the first
    Index* block_totals;  // [2][blocks] children in the places of each block
};

struct SearchedPattern {
    const std::uint32_t* offsets;
    const Index* columns;
    const Index* degrees;  // [vertices] without the vertex itself
};

inline __device__ Tile own_tile() { return cg::tiled_partition<tile_size>(cg::this_thread_block()); }

/// Consecutive items go to tiles of different blocks, so that a small level occupies all multiprocessors.
inline __device__ Index number_of_tile(const Tile& tile) {
    return static_cast<Index>(tile.meta_group_rank() * gridDim.x + blockIdx.x);
}

/// A place at the end of a list for each calling thread.
inline __device__ Index append(Index* count) {
    const auto active = cg::coalesced_threads();
    Index first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, static_cast<Index>(active.size()));
    return active.shfl(first, 0) + static_cast<Index>(active.thread_rank());
}

/// A breadth-first search. Returns the number of levels, and the places of the last level in the queue.
inline __device__ Index search(const cg::grid_group& grid, const SearchedPattern& graph, const Arrays& arrays,
                               SearchProgress* progress, Index start, unsigned number, Index& last_begin, Index& last_end) {
    const Tile tile = own_tile();
    if (grid.thread_rank() == 0) {
        arrays.seen[start] = number;
        arrays.queue[0] = start;
        for (Index& count : progress->counts) count = 0;
    }
    grid.sync();
    Index begin = 0;
    Index end = 1;
    Index levels = 0;
    while (begin < end && levels <= most_levels) {
        ++levels;
        last_begin = begin;
        last_end = end;
        // Three counts in turn: this one is read after the next barrier, and zeroed for a later level only after another one.
        Index* const count = progress->counts + levels % 3;
        if (grid.thread_rank() == 0) progress->counts[(levels + 1) % 3] = 0;
        for (Index place = begin + number_of_tile(tile); place < end; place += static_cast<Index>(gridDim.x) * tiles_of_block) {
            const Index vertex = arrays.queue[place];
            const std::uint32_t stop = graph.offsets[vertex + 1];
            for (std::uint32_t i = graph.offsets[vertex] + tile.thread_rank(); i < stop; i += tile_size) {
                const Index neighbour = graph.columns[i];
                if (arrays.seen[neighbour] == number || atomicExch(arrays.seen + neighbour, number) == number) continue;
                arrays.queue[end + append(count)] = neighbour;
            }
        }
        grid.sync();
        begin = end;
        end += *static_cast<volatile Index*>(count);
    }
    return levels;
}

/// The vertex of least degree in the last level of a search; of equal vertices the first.
inline __device__ Index farthest(const cg::grid_group& grid, const SearchedPattern& graph, const Arrays& arrays,
                                 unsigned long long* least, Index last_begin, Index last_end) {
    for (Index place = last_begin + static_cast<Index>(grid.thread_rank()); place < last_end;
         place += static_cast<Index>(grid.num_threads())) {
        const Index vertex = arrays.queue[place];
        const auto key = static_cast<unsigned long long>(graph.degrees[vertex]) << 32 | static_cast<unsigned>(vertex);
        if (key < *static_cast<volatile unsigned long long*>(least)) atomicMin(least, key);
    }
    grid.sync();
    return static_cast<Index>(*static_cast<volatile unsigned long long*>(least) & 0xFFFFFFFFU);
}

/// Sets the place of a vertex as the parent of those neighbours that have neither a place nor an earlier parent.
inline __device__ void become_parent(const Tile& tile, const SearchedPattern& graph, const Arrays& arrays, Index vertex,
                                     Index place) {
    const std::uint32_t stop = graph.offsets[vertex + 1];
    for (std::uint32_t i = graph.offsets[vertex] + tile.thread_rank(); i < stop; i += tile_size) {
        const Index neighbour = graph.columns[i];
        if (arrays.parent[neighbour] > place) atomicMin(arrays.parent + neighbour, place);
    }
}

inline __device__ unsigned long long sort_key(const SearchedPattern& graph, Index vertex) {
    return static_cast<unsigned long long>(graph.degrees[vertex]) << 32 | static_cast<unsigned>(vertex);
}

/// Numbers the children of the vertex in a place from `first` on, by degree, and marks them as parents. Rows up to the size of
/// a tile are sorted in registers.
inline __device__ void place_few_children(const Tile& tile, const SearchedPattern& graph, const Arrays& arrays, Index place,
                                          Index first, std::uint32_t begin, std::uint32_t stop) {
    const std::uint32_t i = begin + tile.thread_rank();
    const Index neighbour = i < stop ? graph.columns[i] : -1;
    const bool is_child = neighbour >= 0 && arrays.parent[neighbour] == place;
    const unsigned long long key = is_child ? sort_key(graph, neighbour) : 0;
    const unsigned children = tile.ballot(is_child);
    Index own_place = first;
    for (unsigned left = children; left != 0; left &= left - 1) {
        if (tile.shfl(key, __ffs(static_cast<int>(left)) - 1) < key) ++own_place;
    }
    if (is_child) {
        arrays.order[own_place] = neighbour;
        arrays.parent[neighbour] = placed;
    }
    for (unsigned left = children; left != 0; left &= left - 1) {
        const int child = __ffs(static_cast<int>(left)) - 1;
        become_parent(tile, graph, arrays, tile.shfl(neighbour, child), tile.shfl(own_place, child));
    }
}

/// Likewise for any row.
inline __device__ void place_children(const Tile& tile, const SearchedPattern& graph, const Arrays& arrays, Index place,
                                      Index first) {
    const Index vertex = arrays.order[place];
    const std::uint32_t begin = graph.offsets[vertex];
    const std::uint32_t stop = graph.offsets[vertex + 1];
    if (stop - begin <= tile_size) return place_few_children(tile, graph, arrays, place, first, begin, stop);
    Index* const listed = arrays.queue + first;
    Index count = 0;
    for (std::uint32_t from = begin; from < stop; from += tile_size) {
        const std::uint32_t i = from + tile.thread_rank();
        const Index neighbour = i < stop ? graph.columns[i] : -1;
        const bool is_child = neighbour >= 0 && arrays.parent[neighbour] == place;
        const unsigned children = tile.ballot(is_child);
        if (is_child) listed[count + __popc(children & ((1U << tile.thread_rank()) - 1))] = neighbour;
        count += __popc(children);
    }
    tile.sync();
    for (auto i = static_cast<Index>(tile.thread_rank()); i < count; i += tile_size) {
        const Index child = listed[i];
        const unsigned long long key = sort_key(graph, child);
        Index own_place = first;
        for (Index other = 0; other < count; ++other) own_place += sort_key(graph, listed[other]) < key ? 1 : 0;
        arrays.order[own_place] = child;
        arrays.parent[child] = placed;
    }
    tile.sync();
    for (Index i = first; i < first + count; ++i) become_parent(tile, graph, arrays, arrays.order[i], i);
}

/// Numbers a component level by level, from the place `base` on.
inline __device__ void number_from(const cg::grid_group& grid, const SearchedPattern& graph, const Arrays& arrays,
                                   SearchProgress* progress, Index start, Index base) {
    __shared__ Index of_block;  // children in the places of this block, and of all blocks
    __shared__ Index of_all;
    const Tile tile = own_tile();
    const auto tile_of_block = static_cast<Index>(tile.meta_group_rank());
    const auto blocks = static_cast<Index>(gridDim.x);
    if (number_of_tile(tile) == 0) {
        if (tile.thread_rank() == 0) {
            arrays.order[base] = start;
            arrays.parent[start] = placed;
        }
        tile.sync();
        become_parent(tile, graph, arrays, start, base);
    }
    grid.sync();
    Index begin = base;
    Index end = base + 1;
    for (Index* totals = arrays.block_totals;; totals = totals == arrays.block_totals ? totals + blocks : arrays.block_totals) {
        const Index share = (end - begin + blocks - 1) / blocks;
        const Index from = min(begin + static_cast<Index>(blockIdx.x) * share, end);
        const Index to = min(from + share, end);
        if (threadIdx.x == 0) of_block = 0;
        __syncthreads();
        for (Index place = from + tile_of_block; place < to; place += tiles_of_block) {
            const Index vertex = arrays.order[place];
            const std::uint32_t stop = graph.offsets[vertex + 1];
            Index count = 0;
            for (std::uint32_t i = graph.offsets[vertex] + tile.thread_rank(); i < stop; i += tile_size) {
                if (arrays.parent[graph.columns[i]] == place) ++count;
            }
            count = cg::reduce(tile, count, cg::plus<Index>());
            if (tile.thread_rank() == 0) {
                arrays.first_child[place] = count;
                atomicAdd(&of_block, count);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) totals[blockIdx.x] = of_block;
        grid.sync();

        if (threadIdx.x < 32) {
            const auto lane = static_cast<Index>(threadIdx.x);
            Index before = 0;
            Index all = 0;
            for (Index block = lane; block < blocks; block += 32) {
                const Index total = totals[block];
                all += total;
                if (block < static_cast<Index>(blockIdx.x)) before += total;
            }
            before = static_cast<Index>(__reduce_add_sync(~0U, static_cast<unsigned>(before)));
            all = static_cast<Index>(__reduce_add_sync(~0U, static_cast<unsigned>(all)));
            Index next = end + before;
            for (Index first = from; first < to; first += 32) {
                const Index own = first + lane < to ? arrays.first_child[first + lane] : 0;
                Index sum = own;
                for (int distance = 1; distance < 32; distance *= 2) {
                    const Index left = __shfl_up_sync(~0U, sum, distance);
                    if (lane >= distance) sum += left;
                }
                if (first + lane < to) arrays.first_child[first + lane] = next + sum - own;
                next += __shfl_sync(~0U, sum, 31);
            }
            if (lane == 0) of_all = all;
        }
        __syncthreads();
        const Index all = of_all;
        for (Index place = from + tile_of_block; place < to; place += tiles_of_block) {
            place_children(tile, graph, arrays, place, arrays.first_child[place]);
        }
        begin = end;
        end += all;
        if (begin == end) break;
        grid.sync();
    }
    if (grid.thread_rank() == 0) progress->size = end - base;
}

/// Searches the start of the component of a vertex, and numbers the component from the place `base` on. number: the number
/// of the first search; at most most_turns + 1 searches are made.
static __global__ void __launch_bounds__(order_threads)
    order_component(SearchedPattern graph, Arrays arrays, SearchProgress* progress, Index vertex, Index base, unsigned number) {
    const cg::grid_group grid = cg::this_grid();
    Index last_begin = 0;
    Index last_end = 0;
    Index start = vertex;
    Index levels = search(grid, graph, arrays, progress, start, number, last_begin, last_end);
    for (int turn = 0; turn < most_turns && levels <= most_levels; ++turn) {
        const Index candidate = farthest(grid, graph, arrays, progress->farthest + turn, last_begin, last_end);
        const Index of_candidate = search(grid, graph, arrays, progress, candidate, number + 1 + turn, last_begin, last_end);
        if (of_candidate <= levels) break;
        start = candidate;
        levels = of_candidate;
    }
    if (levels > most_levels) {
        if (grid.thread_rank() == 0) progress->gave_up = 1;
        return;
    }
    number_from(grid, graph, arrays, progress, start, base);
}

}  // namespace workbench::level_orders
