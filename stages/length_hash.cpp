#include "stages/length_hash.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace workbench {
namespace {

/// The first free slot from `slot` on; next_free.size() - 1 if there is none.
Index find_free(std::vector<Index>& next_free, Index slot, Offset& probes) {
    for (++probes; next_free[slot] != slot; ++probes) {
        next_free[slot] = next_free[next_free[slot]];
        slot = next_free[slot];
    }
    return slot;
}

}  // namespace

LengthHash fit_length_hash(std::span<const Index> lengths, Index sample) {
    LengthHash hash{static_cast<Index>(lengths.size()), {}};
    sample = std::min(sample, hash.slots);
    if (sample == 0) return hash;
    const SampledRows rows(sample, hash.slots);
    std::vector<Index> counts;
    for (Index i = 0; i < sample; ++i) {
        const auto row_class = static_cast<std::size_t>(length_class(lengths[rows.row(i)]));
        if (row_class >= counts.size()) counts.resize(row_class + 1, 0);
        ++counts[row_class];
    }
    const auto root = [](double value) { return std::sqrt(value); };
    std::int64_t shorter = 0;
    for (const Index count : counts) {
        const auto before = hash.starts.empty() ? Index{0} : hash.starts.back();
        hash.starts.push_back(std::max(before, class_start(shorter, sample, hash.slots, root)));
        shorter += count;
    }
    return hash;
}

HashedRows place_by_hash(std::span<const Index> lengths, const LengthHash& hash) {
    const auto rows = static_cast<Index>(lengths.size());
    std::vector<Index> next_free(lengths.size() + 1);  // a free slot links to itself; the last one means none
    for (Index slot = 0; slot <= rows; ++slot) next_free[slot] = slot;
    HashedRows placed{std::vector<Index>(lengths.size()), 0};
    std::vector<Index> resume = hash.starts;  // [classes] all slots from the start to here are occupied
    resume.push_back(rows - 1);               // for lengths above those of the sample
    Index last_free = rows - 1;               // all slots behind it are occupied
    for (Index row = 0; row < rows; ++row) {
        const auto row_class = static_cast<std::size_t>(length_class(lengths[row]));
        Index& from = resume[std::min(row_class, hash.starts.size())];
        Index slot = find_free(next_free, from, placed.probes);
        from = std::min(slot + 1, rows);
        if (slot == rows) {
            for (++placed.probes; next_free[last_free] != last_free; ++placed.probes) --last_free;
            slot = last_free;
        }
        next_free[slot] = slot + 1;
        placed.old_of_new[slot] = row;
    }
    return placed;
}

}  // namespace workbench
