#include "stages/blocks.hpp"

#include <algorithm>
#include <string>

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

void require_one_of(const Parameters& parameters, const std::vector<std::string_view>& names) {
    std::string all;
    std::string_view found;
    for (const std::string_view name : names) {
        all += (all.empty() ? "" : name == names.back() ? " or " : ", ") + std::string(name);
    }
    for (const std::string_view name : names) {
        if (!parameters.has(name)) continue;
        if (!found.empty()) {
            throw ParameterError(std::string(name), std::string(name) + " was found beside " + std::string(found) +
                                                        ", expected only one of " + all);
        }
        found = name;
    }
    if (found.empty()) throw ParameterError(std::string(names.front()), "none was given, expected one of " + all);
}

}  // namespace workbench
