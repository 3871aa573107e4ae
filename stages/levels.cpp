#include "stages/levels.hpp"

#include <algorithm>
#include <utility>

namespace workbench {

Index LevelSearch::from(Index start) {
    ++search_number_;
    queue_.assign(1, start);
    seen_in_[start] = search_number_;
    level_[start] = 0;
    last_level_ = 0;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const Index vertex = queue_[i];
        if (level_[vertex] != level_[queue_[last_level_]]) last_level_ = i;
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            if (seen_in_[neighbour] == search_number_) continue;
            seen_in_[neighbour] = search_number_;
            level_[neighbour] = level_[vertex] + 1;
            queue_.push_back(neighbour);
        }
    }
    return level_[queue_.back()] + 1;
}

Index LevelSearch::farthest() const {
    return *std::min_element(queue_.begin() + static_cast<std::ptrdiff_t>(last_level_), queue_.end(), [this](Index a, Index b) {
        return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b);
    });
}

Index LevelSearch::pseudo_peripheral(Index start) {
    Index levels = from(start);
    // The distance grows with every turn, as a rule two or three times; the bound keeps odd graphs linear too.
    for (int turn = 0; turn < 16; ++turn) {
        const Index candidate = farthest();
        const Index candidate_levels = from(candidate);
        if (candidate_levels <= levels) break;
        start = candidate;
        levels = candidate_levels;
    }
    from(start);
    return start;
}

}  // namespace workbench
