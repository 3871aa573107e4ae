// Hit rates of reads of x, from the schedule of a kernel and a model of the device's caches.
//
// The model. Warps are grouped into blocks by their number in the schedule. Blocks are first assigned to the processors
// round-robin until each is full; whenever a block ends, the next block takes its place. Time advances in rounds: in a round
// every resident warp performs its next step, block after block. In a step a warp requests each sector of x that its lanes read
// once. A miss in the nearest cache is requested from the next one, and finally from memory. Caches are set-associative with
// LRU replacement: sector s belongs to set s mod sets.
//
// The model ignores the matrix and y, which use the same caches (kernels mark the matrix as streaming), the latency of memory
// that makes warps drift apart, prefetching, hashed sets and other policies, and it sends x that a kernel keeps in shared
// memory (layout ehyb) through the caches. It shows how a layout's order of reads suits a cache size, not what a profiler would
// count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"

namespace workbench {

/// A set-associative cache of sectors with LRU replacement.
class SetAssociativeCache {
public:
    /// Has as many sets as fit into `bytes`, at least one.
    SetAssociativeCache(std::size_t bytes, int ways);

    /// Reads a sector; returns true if it hits.
    [[nodiscard]] bool read(std::uint64_t sector);

private:
    struct CachedSector {
        std::uint64_t sector = 0;
        std::uint64_t used = 0;  // time of the last use; 0: empty
    };
    std::size_t ways_;
    std::size_t sets_;
    std::uint64_t now_ = 0;
    std::vector<CachedSector> places_;  // [sets * ways]
};

/// The device that warps run on.
struct CacheModel {
    int processors = 1;
    int resident_warps = 64;              // limit per processor; at least one block runs
    int block_warps = 8;                  // warps of a block
    std::vector<CacheProperties> caches;  // nearest first
};

struct CacheLevelCount {
    std::string name;
    std::int64_t requests = 0;  // sectors requested from this cache
    std::int64_t hits = 0;
};

struct CacheCounts {
    std::int64_t reads = 0;     // reads of x, including those for padding if the kernel makes them
    std::int64_t requests = 0;  // sectors that the steps of warps request
    std::int64_t sectors = 0;   // distinct sectors among them
    std::vector<CacheLevelCount> levels;

    /// Misses of the last cache, in sectors.
    [[nodiscard]] std::int64_t from_memory() const {
        return levels.empty() ? requests : levels.back().requests - levels.back().hits;
    }
};

/// Counts for one product of the kernel whose reads `walk` visits. Throws MachineError with the bytes needed and available if
/// the reads do not fit into memory.
template <ValueType Value>
[[nodiscard]] CacheCounts count_cache_hits(const Layout<Value>& layout, WalkReads<Value> walk, const CacheModel& model);

}  // namespace workbench
