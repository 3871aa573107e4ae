#include "pipeline/matrix/sort_row.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace workbench {

// Rows are short as a rule: insertion sort on the two arrays in place; a long row goes through a list of its entries.
void sort_row(Index* columns, double* values, Offset length) {
    constexpr Offset short_row = 48;
    if (length <= short_row) {
        for (Offset i = 1; i < length; ++i) {
            const Index column = columns[i];
            const double value = values[i];
            Offset k = i;
            for (; k > 0 && columns[k - 1] > column; --k) {
                columns[k] = columns[k - 1];
                values[k] = values[k - 1];
            }
            columns[k] = column;
            values[k] = value;
        }
        return;
    }
    if (std::is_sorted(columns, columns + length)) return;
    std::vector<std::pair<Index, double>> entries(length);
    for (Offset i = 0; i < length; ++i) entries[i] = {columns[i], values[i]};
    // Stable, so that duplicates are summed in the order in which they came.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Offset i = 0; i < length; ++i) std::tie(columns[i], values[i]) = entries[i];
}

}  // namespace workbench
