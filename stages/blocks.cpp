#include "stages/blocks.hpp"

#include <algorithm>

namespace workbench {

std::vector<Index> boundaries_by_size(Index length, std::int64_t size) {
    std::vector<Index> boundaries{0};
    boundaries.reserve((length + size - 1) / size + 1);
    for (std::int64_t end = size; end < length; end += size) boundaries.push_back(static_cast<Index>(end));
    if (length > 0) boundaries.push_back(length);
    return boundaries;
}

std::vector<Index> boundaries_by_count(Index length, std::int64_t count) {
    const std::int64_t pieces = std::min<std::int64_t>(count, length);
    std::vector<Index> boundaries{0};
    boundaries.reserve(pieces + 1);
    for (std::int64_t piece = 1; piece <= pieces; ++piece) boundaries.push_back(static_cast<Index>(piece * length / pieces));
    return boundaries;
}

}  // namespace workbench
