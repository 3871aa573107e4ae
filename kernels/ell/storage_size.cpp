#include "kernels/ell/storage_size.hpp"

namespace workbench {

std::int64_t ell_size(Index rows, Offset longest_row, const ElementSizes& sizes) {
    return bounded_product(bounded_product(rows, longest_row), sizes.index + sizes.value);
}

std::vector<StorageSize> ell_storage_sizes(const StorageQuestion& question) {
    const Index rows = question.matrix.rows;
    const Offset longest = rows == 0 ? 0 : question.ascending_lengths.back();
    return {{"ELL", "eq. 4.4", 0, {}, rows * longest, ell_size(rows, longest, question.sizes)}};
}

}  // namespace workbench
