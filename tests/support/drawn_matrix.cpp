#include "support/drawn_matrix.hpp"

#include <vector>

namespace workbench {

CsrMatrix drawn() {
    const std::vector<Entry> entries{{0, 0, 1}, {0, 1, 2}, {0, 2, 3},  {1, 1, 4},  {1, 2, 5},  {1, 4, 6}, {2, 2, 7},
                                     {3, 3, 8}, {3, 5, 9}, {4, 0, 10}, {4, 4, 11}, {4, 5, 12}, {5, 5, 13}};
    return csr_from_entries(6, 6, entries);
}

}  // namespace workbench
