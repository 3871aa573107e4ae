#include "pipeline/matrix/sort_row.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

namespace workbench {
namespace {

constexpr Offset short_row = 128;

// The place of an entry is the number of those before it. Counting them all takes n^2 comparisons, but many at once and none to
// be guessed: up to this length it is twice as fast as insertion, and more.
void sort_short_row(Index* columns, double* values, Offset length) {
    // Only the first `length` of each are used.
    std::array<Index, short_row> old_columns;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<double, short_row> old_values;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::copy_n(columns, length, old_columns.begin());
    std::copy_n(values, length, old_values.begin());
    constexpr Index none = -1;
    std::fill_n(columns, length, none);
    for (Offset i = 0; i < length; ++i) {
        const Index column = old_columns[i];
        int place = 0;
        for (Offset k = 0; k < length; ++k) place += old_columns[k] < column ? 1 : 0;
        while (columns[place] == column) ++place;  // behind those that came before
        columns[place] = column;
        values[place] = old_values[i];
    }
}

void sort_long_row(Index* columns, double* values, Offset length) {
    std::vector<std::pair<Index, double>> entries(length);
    for (Offset i = 0; i < length; ++i) entries[i] = {columns[i], values[i]};
    // Stable, so that duplicates are summed in the order in which they came.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Offset i = 0; i < length; ++i) std::tie(columns[i], values[i]) = entries[i];
}

}  // namespace

void sort_row(Index* columns, double* values, Offset length) {
    if (std::is_sorted(columns, columns + length)) return;
    if (length <= short_row) {
        sort_short_row(columns, values, length);
    } else {
        sort_long_row(columns, values, length);
    }
}

}  // namespace workbench
