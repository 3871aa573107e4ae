#include "support/drawings.hpp"

#include <vector>

namespace workbench {
namespace {

std::string without_extra_spaces(const std::string& text) {
    std::istringstream words(text);
    std::string result;
    for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
    return result;
}

std::string picture_of(const CsrMatrix& matrix) {
    std::ostringstream picture;
    picture << "0 1 2 3 4 5";
    for (Index row = 0; row < matrix.rows; ++row) {
        std::vector<std::string> cells(matrix.columns, ".");
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            cells[matrix.column_indices[k]] = std::to_string(static_cast<int>(matrix.values[k]));
        }
        picture << ' ' << row << list(" [", cells) << " ]";
    }
    return picture.str();
}

}  // namespace

CsrMatrix drawn() {
    const std::vector<Entry> entries{{0, 0, 1}, {0, 1, 2}, {0, 2, 3},  {1, 1, 4},  {1, 2, 5},  {1, 4, 6}, {2, 2, 7},
                                     {3, 3, 8}, {3, 5, 9}, {4, 0, 10}, {4, 4, 11}, {4, 5, 12}, {5, 5, 13}};
    return csr_from_entries(6, 6, entries);
}

bool draws_the_matrix(const LayoutEntry& entry) { return draws(entry, picture_of(drawn())); }

bool draws(const LayoutEntry& entry, const std::string& words) {
    return without_extra_spaces(entry.drawing).find(without_extra_spaces(words)) != std::string::npos;
}

}  // namespace workbench
