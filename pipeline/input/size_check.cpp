#include "pipeline/input/size_check.hpp"

#include <fmt/core.h>

#include <limits>

namespace workbench {

std::optional<std::string> reason_to_refuse_size(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    if (rows >= 0 && columns >= 0 && rows <= most && columns <= most) return std::nullopt;
    return fmt::format("found a matrix of {} x {}; expected at most {} rows and columns", rows, columns, most);
}

std::optional<std::string> reason_to_refuse_size(std::int64_t rows, std::int64_t columns, Offset entries) {
    constexpr std::int64_t free_of_charge = std::int64_t{1} << 24;
    constexpr std::int64_t lines_per_entry = 64;
    if (auto reason = reason_to_refuse_size(rows, columns)) return reason;
    if (entries > 0 && (rows == 0 || columns == 0)) {
        return fmt::format("found a matrix of {} x {} with entries ({}); expected none", rows, columns, entries);
    }
    if (rows + columns > free_of_charge && (rows + columns) / lines_per_entry > entries) {
        return fmt::format("found {} rows and {} columns, but entries: {}; expected one for every {} of them beyond {}", rows,
                           columns, entries, lines_per_entry, free_of_charge);
    }
    return std::nullopt;
}

}  // namespace workbench
