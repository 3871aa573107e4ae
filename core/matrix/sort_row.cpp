#include "core/matrix/sort_row.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace workbench {
namespace {

constexpr Offset short_row = 128;

/// A run of consecutive columns in an unsorted row: typically the unknowns of a mesh node, which orders keep together.
struct ColumnRun {
    int begin = 0;
    int length = 0;  // 0: empty slot
};

/// Sorts a short row of few runs by moving whole runs. Returns false, without a change, if there are more than length / 2 runs,
/// or if runs overlap because of duplicate columns.
bool sort_runs(Index* columns, double* values, int length) {
    constexpr int most = static_cast<int>(short_row) / 2;
    // Only the first `count` of each are used.
    std::array<Index, most> firsts;    // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<ColumnRun, most> runs;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    int count = 0;
    for (int i = 0; i < length; ++i) {
        if (count > 0 && columns[i] - 1 == columns[i - 1]) {
            ++runs[count - 1].length;
            continue;
        }
        if (count == length / 2) return false;
        firsts[count] = columns[i];
        runs[count++] = {i, 1};
    }
    std::array<ColumnRun, most> sorted;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::fill_n(sorted.begin(), count, ColumnRun{});
    for (int i = 0; i < count; ++i) {
        const Index first = firsts[i];
        int place = 0;
        for (int k = 0; k < count; ++k) place += firsts[k] < first ? 1 : 0;
        sorted[place] = runs[i];
    }
    const auto last_of = [&](const ColumnRun& run) { return columns[run.begin + run.length - 1]; };
    for (int i = 0; i < count; ++i) {
        if (sorted[i].length == 0) return false;
        if (i > 0 && columns[sorted[i].begin] <= last_of(sorted[i - 1])) return false;
    }
    std::array<Index, short_row> old_columns;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<double, short_row> old_values;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::copy_n(columns, length, old_columns.begin());
    std::copy_n(values, length, old_values.begin());
    for (int i = 0; i < count; ++i) {
        columns = std::copy_n(old_columns.begin() + sorted[i].begin, sorted[i].length, columns);
        values = std::copy_n(old_values.begin() + sorted[i].begin, sorted[i].length, values);
    }
    return true;
}

/// A rank sort: the place of an entry is the number of smaller keys. It takes n^2 comparisons, but they are vectorized and
/// without branches, which is at least twice as fast as insertion sort for rows of this length. Narrow keys make the vectors
/// longer.
template <typename Key>
void sort_by_keys(Index* columns, double* values, const Key* keys, int length) {
    // Only the first `length` of each are used.
    std::array<Index, short_row> old_columns;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<double, short_row> old_values;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::copy_n(columns, length, old_columns.begin());
    std::copy_n(values, length, old_values.begin());
    constexpr Index none = -1;
    std::fill_n(columns, length, none);
    for (int i = 0; i < length; ++i) {
        const Key key = keys[i];
        Key before = 0;
        for (int k = 0; k < length; ++k) before = static_cast<Key>(before + (keys[k] < key ? 1 : 0));
        int place = before;
        while (columns[place] == old_columns[i]) ++place;  // stable: behind earlier entries of this column
        columns[place] = old_columns[i];
        values[place] = old_values[i];
    }
}

void sort_short_row(Index* columns, double* values, int length) {
    const auto [least, most] = std::minmax_element(columns, columns + length);
    constexpr Index reach = std::numeric_limits<std::uint16_t>::max();
    if (*most - *least > reach) {
        std::array<Index, short_row> keys;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        std::copy_n(columns, length, keys.begin());
        sort_by_keys(columns, values, keys.data(), length);
        return;
    }
    std::array<std::int16_t, short_row> keys;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::transform(columns, columns + length, keys.begin(), [first = *least](Index column) {
        return static_cast<std::int16_t>(column - first + std::numeric_limits<std::int16_t>::min());
    });
    sort_by_keys(columns, values, keys.data(), length);
}

void sort_long_row(Index* columns, double* values, Offset length) {
    std::vector<std::pair<Index, double>> entries(length);
    for (Offset i = 0; i < length; ++i) entries[i] = {columns[i], values[i]};
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Offset i = 0; i < length; ++i) std::tie(columns[i], values[i]) = entries[i];
}

}  // namespace

void sort_row(Index* columns, double* values, Offset length) {
    if (std::is_sorted(columns, columns + length)) return;
    if (length <= short_row) {
        const auto count = static_cast<int>(length);
        if (!sort_runs(columns, values, count)) sort_short_row(columns, values, count);
    } else {
        sort_long_row(columns, values, length);
    }
}

}  // namespace workbench
