// How often reads of x hit a cache, from the schedule of a kernel and a model of the device's caches.
//
// The model. Warps, by the numbers that the schedule names, are dealt in blocks: at first block after block to the processors
// in turn, until each holds as many warps as it can; whenever a block is done, the next block takes its place. Time goes in
// rounds: in a round every resident warp makes its next step, block after block. In a step a warp asks for each sector of x
// that its lanes read, once. A sector that the nearest cache lacks is asked for at the next one, and in the end comes from
// memory. Caches are set-associative: sector s lies in set s mod sets, and the place used longest ago is given up.
//
// What it leaves out: the matrix and y, which go through the same caches (kernels mark the matrix as streaming); that warps
// wait for memory and do not keep step; prefetching, hashed sets and other policies; x that a kernel keeps in shared memory
// (layout ehyb) is taken to go through the caches. It tells how a layout's order of reads suits a size of cache, not what a
// profiler would count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// Sectors in sets of equally many ways; of a set, the sector used longest ago is replaced.
class SetAssociativeCache {
public:
    /// As many sets as fit into `bytes`, and at least one.
    SetAssociativeCache(std::size_t bytes, int ways);

    /// Reads a sector; true where it hits.
    [[nodiscard]] bool read(std::uint64_t sector);

private:
    struct Place {
        std::uint64_t sector = 0;
        std::uint64_t used = 0;  // when; 0: empty
    };
    std::size_t ways_;
    std::size_t sets_;
    std::uint64_t now_ = 0;
    std::vector<Place> places_;  // [sets * ways]
};

/// The device that warps run on.
struct CacheModel {
    int processors = 1;
    int resident_warps = 64;              // that a processor holds at most; at least one block
    int block_warps = 8;                  // warps that are dealt together
    std::vector<CacheProperties> caches;  // the nearest first
};

struct CacheLevelCount {
    std::string name;
    std::int64_t requests = 0;  // sectors asked for at this cache
    std::int64_t hits = 0;
};

struct CacheCounts {
    std::int64_t reads = 0;     // of x, for padding too where the kernel does so
    std::int64_t requests = 0;  // sectors that the warps' steps ask for
    std::int64_t sectors = 0;   // different ones among them
    std::vector<CacheLevelCount> levels;

    /// Sectors that the last cache lacked.
    [[nodiscard]] std::int64_t from_memory() const {
        return levels.empty() ? requests : levels.back().requests - levels.back().hits;
    }
};

/// Counts for one product by the kernel whose reads `walk` tells. Throws MachineError with the bytes wanted and had where the
/// reads do not fit in memory.
template <ValueType Value>
[[nodiscard]] CacheCounts count_cache_hits(const Layout<Value>& layout, WalkReads<Value> walk, const CacheModel& model);

}  // namespace workbench
