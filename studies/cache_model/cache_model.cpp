#include "studies/cache_model/cache_model.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"

namespace workbench {
namespace {

/// A sector that a warp requests in a step.
struct SectorRequest {
    std::uint32_t step = 0;    // rows are shorter than 2^31
    std::uint32_t sector = 0;  // 2^31 columns of 8 bytes are 2^29 sectors

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero of a comparison for a pointer
    friend auto operator<=>(const SectorRequest&, const SectorRequest&) = default;
};

/// The requests of every warp, in the order of its steps. Warp w has the requests [warp_starts[w], warp_ends[w]).
struct WarpRequests {
    std::vector<Offset> warp_starts;
    std::vector<Offset> warp_ends;
    std::vector<SectorRequest> requests;
    std::int64_t reads = 0;

    [[nodiscard]] std::int64_t warps() const { return static_cast<std::int64_t>(warp_ends.size()); }
};

void require_memory(std::size_t bytes, std::int64_t reads) {
    if (const std::size_t free = free_host_memory(); bytes > free) {
        throw MachineError(
            fmt::format("the cache model needs {} bytes for {} reads of x, but {} are free", bytes, reads, free));
    }
}

template <ValueType Value>
WarpRequests collect(const Layout<Value>& layout, WalkReads<Value> walk) {
    WarpRequests all;
    std::vector<Offset>& starts = all.warp_starts;
    starts.push_back(0);
    walk(layout, [&](const Read& read) {
        if (read.column < 0) return;
        const auto warp = static_cast<std::size_t>(read.warp);
        if (warp + 2 > starts.size()) starts.resize(warp + 2, 0);
        ++starts[warp + 1];
        ++all.reads;
    });
    require_memory(static_cast<std::size_t>(all.reads) * sizeof(SectorRequest) + starts.size() * sizeof(Offset), all.reads);
    std::partial_sum(starts.begin(), starts.end(), starts.begin());

    all.requests.resize(all.reads);
    all.warp_ends.assign(starts.begin(), starts.end() - 1);
    walk(layout, [&](const Read& read) {
        if (read.column < 0) return;
        const auto sector = static_cast<std::uint64_t>(read.column) * sizeof(Value) / cache_sector;
        all.requests[all.warp_ends[read.warp]++] = {static_cast<std::uint32_t>(read.step), static_cast<std::uint32_t>(sector)};
    });
    for (std::int64_t warp = 0; warp < all.warps(); ++warp) {
        const auto begin = all.requests.begin() + starts[warp];
        const auto end = all.requests.begin() + all.warp_ends[warp];
        std::sort(begin, end);
        all.warp_ends[warp] = std::unique(begin, end) - all.requests.begin();
    }
    return all;
}

/// One level of the hierarchy: one cache shared by all processors, or caches of each processor.
class CacheLevel {
public:
    CacheLevel(const CacheProperties& properties, int processors)
        : each_has_(properties.each_processor_has),
          caches_(each_has_ == 0 ? 1 : static_cast<std::size_t>(processors) * each_has_, {properties.bytes, properties.ways}),
          count_{properties.name} {}

    /// The warps of a processor use its caches round-robin.
    bool read(std::size_t processor, std::size_t warp, std::uint64_t sector) {
        const std::size_t cache = each_has_ == 0 ? 0 : processor * each_has_ + warp % each_has_;
        const bool hit = caches_[cache].read(sector);
        ++count_.requests;
        count_.hits += hit ? 1 : 0;
        return hit;
    }

    [[nodiscard]] const CacheLevelCount& count() const { return count_; }

private:
    std::size_t each_has_;
    std::vector<SetAssociativeCache> caches_;
    CacheLevelCount count_;
};

class Simulation {
public:
    Simulation(const WarpRequests& warps, const CacheModel& model)
        : warps_(warps), block_warps_(model.block_warps), next_(warps.warp_starts) {
        for (const CacheProperties& cache : model.caches) levels_.emplace_back(cache, model.processors);
        const int blocks = std::max(1, model.resident_warps / model.block_warps);
        for (int round = 0; round < blocks; ++round) {
            for (int processor = 0; processor < model.processors; ++processor) {
                ResidentBlock place{static_cast<std::size_t>(processor)};
                if (take_next_block(place)) places_.push_back(place);
            }
        }
    }

    std::vector<CacheLevelCount> run() {
        while (!places_.empty()) {
            std::size_t kept = 0;
            for (ResidentBlock place : places_) {
                if (make_step(place) || take_next_block(place)) places_[kept++] = place;
            }
            places_.resize(kept);
        }
        std::vector<CacheLevelCount> counts;
        for (const CacheLevel& level : levels_) counts.push_back(level.count());
        return counts;
    }

private:
    /// A resident block of a processor.
    struct ResidentBlock {
        std::size_t processor = 0;
        std::int64_t first_warp = 0;
    };

    [[nodiscard]] bool has_work(std::int64_t warp) const { return next_[warp] < warps_.warp_ends[warp]; }

    [[nodiscard]] std::int64_t end_of_block(std::int64_t first_warp) const {
        return std::min(first_warp + block_warps_, warps_.warps());
    }

    /// Starts the next block that reads x. Returns false if there is none.
    bool take_next_block(ResidentBlock& place) {
        while (next_warp_ < warps_.warps()) {
            place.first_warp = next_warp_;
            next_warp_ = end_of_block(place.first_warp);
            for (std::int64_t warp = place.first_warp; warp < next_warp_; ++warp) {
                if (has_work(warp)) return true;
            }
        }
        return false;
    }

    /// Performs one step of each warp of the block. Returns false after the last step.
    bool make_step(const ResidentBlock& place) {
        bool more = false;
        for (std::int64_t warp = place.first_warp; warp < end_of_block(place.first_warp); ++warp) {
            if (!has_work(warp)) continue;
            const std::uint32_t step = warps_.requests[next_[warp]].step;
            for (; has_work(warp) && warps_.requests[next_[warp]].step == step; ++next_[warp]) {
                read(place.processor, static_cast<std::size_t>(warp - place.first_warp), warps_.requests[next_[warp]].sector);
            }
            more = more || has_work(warp);
        }
        return more;
    }

    void read(std::size_t processor, std::size_t warp, std::uint64_t sector) {
        for (CacheLevel& level : levels_) {
            if (level.read(processor, warp, sector)) return;
        }
    }

    const WarpRequests& warps_;
    std::int64_t block_warps_;
    std::vector<Offset> next_;  // [warps + 1] next request of each warp
    std::int64_t next_warp_ = 0;
    std::vector<ResidentBlock> places_;
    std::vector<CacheLevel> levels_;
};

std::int64_t different_sectors(const WarpRequests& warps) {
    std::vector<bool> seen;
    std::int64_t different = 0;
    for (std::int64_t warp = 0; warp < warps.warps(); ++warp) {
        for (Offset i = warps.warp_starts[warp]; i < warps.warp_ends[warp]; ++i) {
            const std::size_t sector = warps.requests[i].sector;
            if (sector >= seen.size()) seen.resize(sector + 1, false);
            different += seen[sector] ? 0 : 1;
            seen[sector] = true;
        }
    }
    return different;
}

}  // namespace

SetAssociativeCache::SetAssociativeCache(std::size_t bytes, int ways)
    : ways_(ways), sets_(std::max<std::size_t>(1, bytes / (cache_sector * ways_))), places_(sets_ * ways_) {}

bool SetAssociativeCache::read(std::uint64_t sector) {
    CachedSector* const set = places_.data() + sector % sets_ * ways_;
    CachedSector* oldest = set;
    ++now_;
    for (CachedSector* place = set; place != set + ways_; ++place) {
        if (place->used != 0 && place->sector == sector) {
            place->used = now_;
            return true;
        }
        if (place->used < oldest->used) oldest = place;
    }
    *oldest = {sector, now_};
    return false;
}

template <ValueType Value>
CacheCounts count_cache_hits(const Layout<Value>& layout, WalkReads<Value> walk, const CacheModel& model) {
    const WarpRequests warps = collect(layout, walk);
    CacheCounts counts;
    counts.reads = warps.reads;
    for (std::int64_t warp = 0; warp < warps.warps(); ++warp) {
        counts.requests += warps.warp_ends[warp] - warps.warp_starts[warp];
    }
    counts.sectors = different_sectors(warps);
    counts.levels = Simulation(warps, model).run();
    return counts;
}

template CacheCounts count_cache_hits(const Layout<float>&, WalkReads<float>, const CacheModel&);
template CacheCounts count_cache_hits(const Layout<double>&, WalkReads<double>, const CacheModel&);

}  // namespace workbench
