// Memory for the entries of a text, which threads read block by block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/host_array.hpp"

namespace workbench {

/// Entries in a few large arrays, so that a block of the text needs no memory of its own: page faults of many small arrays
/// would take about as long as the parsing. Several threads may call the functions at a time.
class EntryStore {
public:
    /// most: an upper bound of the entries of the text.
    explicit EntryStore(std::uintmax_t most) : entries_of_array_(std::min<std::uintmax_t>(most, usual_entries)) {}

    /// Room for at least `count` entries, unwritten. It stays valid as long as the store.
    [[nodiscard]] std::span<Entry> take(std::size_t count) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find_if(rooms_, [=](const auto& room) { return room.size() >= count; });
        if (found == rooms_.end()) return arrays_.emplace_back(unwritten_array<Entry>(std::max(count, entries_of_array_)));
        const std::span<Entry> room = *found;
        rooms_.erase(found);
        return room;
    }

    /// Returns the end of a room, which was not needed.
    void give_back(std::span<Entry> rest) {
        const std::scoped_lock lock(mutex_);
        rooms_.push_back(rest);
    }

private:
    static constexpr std::size_t usual_entries = std::size_t{1} << 21;  // 32 MiB

    std::mutex mutex_;
    std::size_t entries_of_array_;
    std::deque<HostArray<Entry>> arrays_;
    std::vector<std::span<Entry>> rooms_;  // one a thread at most
};

}  // namespace workbench
