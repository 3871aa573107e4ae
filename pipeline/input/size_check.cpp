#include "pipeline/input/size_check.hpp"

#include <fmt/core.h>

#include <limits>

namespace workbench {

void check_size(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    if (rows >= 0 && columns >= 0 && rows <= most && columns <= most) return;
    throw LineError{fmt::format("found a matrix of {} x {}; expected at most {} rows and columns", rows, columns, most)};
}

void check_size(std::int64_t rows, std::int64_t columns, Offset entries) {
    constexpr std::int64_t always_accepted = std::int64_t{1} << 24;
    constexpr std::int64_t lines_per_entry = 64;
    check_size(rows, columns);
    if (entries > 0 && (rows == 0 || columns == 0)) {
        throw LineError{fmt::format("found a matrix of {} x {} with {} entries; expected none", rows, columns, entries)};
    }
    if (rows + columns > always_accepted && (rows + columns) / lines_per_entry > entries) {
        throw LineError{fmt::format("found {} rows and {} columns with {} entries; expected one entry per {} of them beyond {}",
                                    rows, columns, entries, lines_per_entry, always_accepted)};
    }
}

}  // namespace workbench
