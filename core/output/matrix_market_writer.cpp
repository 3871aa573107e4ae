#include "core/output/matrix_market_writer.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace workbench {

void write_matrix_market(WholeFile& file, const CsrMatrix& matrix, Compression compression) {
    const std::string start = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", matrix.rows,
                                          matrix.columns, matrix.nonzeros());
    constexpr std::size_t longest_line = 2 * 11 + longest_number + 1;
    // Blocks may begin and end within a row, because a single row may contain the whole matrix.
    write_items(file, compression, start, matrix.nonzeros(), longest_line, [&](Offset first, Offset last, char* place) {
        const auto& offsets = matrix.row_offsets;
        Offset row = std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1;
        for (Offset i = first; i < last; ++i) {
            while (offsets[row + 1] <= i) ++row;
            place = append_number(place, row + 1);
            *place++ = ' ';
            place = append_number(place, Offset{matrix.column_indices[i]} + 1);
            *place++ = ' ';
            place = append_number(place, matrix.values[i]);
            *place++ = '\n';
        }
        return place;
    });
}

}  // namespace workbench
