#include "kernels/csr/storage_size.hpp"

namespace workbench {

std::int64_t csr_size(Index rows, Offset nonzeros, const ElementSizes& sizes) {
    return bounded_sum(bounded_product(nonzeros, sizes.index + sizes.value), bounded_product(Offset{rows} + 1, sizes.offset));
}

std::vector<StorageSize> csr_storage_sizes(const StorageQuestion& question) {
    const Offset nonzeros = question.matrix.nonzeros();
    return {{"CSR", "eq. 4.2", 0, {}, nonzeros, csr_size(question.matrix.rows, nonzeros, question.sizes)}};
}

}  // namespace workbench
