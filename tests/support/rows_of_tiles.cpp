#include "support/rows_of_tiles.hpp"

#include <algorithm>

namespace workbench {

CsrMatrix rows_of_tiles(Index tile) {
    const Index columns = 5 * tile;
    std::vector<Entry> entries;
    Index row = 0;
    const auto add_row = [&](Index length) {
        for (Index k = 0; k < length; ++k) entries.push_back({row, (k + row) % columns, 1.0 + (row * 7 + k * 3) % 11});
        ++row;
    };
    const auto add_short_rows_until = [&](Index before_end) {
        const auto left = [&] { return static_cast<Index>((2 * tile - before_end - entries.size() % tile) % tile); };
        while (left() > 0) add_row(std::min(1 + row % 3, left()));
    };
    for (const Index length : {1, 2, tile - 1, tile, tile + 1, 2 * tile, 5 * tile}) {
        for (const Index before_end : {0, 1, 2, tile / 2}) {
            add_short_rows_until(before_end);
            row += before_end % 3;  // empty
            add_row(length);
            row += length % 3;
            add_row(1);
        }
    }
    if (entries.size() % tile == 0) add_row(1);
    row += 7;
    return csr_from_entries(row, columns, entries);
}

}  // namespace workbench
