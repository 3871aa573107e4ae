#include "kernels/coo/storage_size.hpp"

namespace workbench {

std::int64_t coo_size(Offset nonzeros, const ElementSizes& sizes) {
    return bounded_product(nonzeros, 2 * sizes.index + sizes.value);
}

std::vector<StorageSize> coo_storage_sizes(const StorageQuestion& question) {
    const Offset nonzeros = question.matrix.nonzeros();
    return {{"COO", "eq. 4.1", 0, {}, nonzeros, coo_size(nonzeros, question.sizes)}};
}

}  // namespace workbench
