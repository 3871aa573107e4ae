#include "kernels/csc/storage_size.hpp"

#include "kernels/csr/storage_size.hpp"

namespace workbench {

std::vector<StorageSize> csc_storage_sizes(const StorageQuestion& question) {
    const Offset nonzeros = question.matrix.nonzeros();
    return {{"CSC", "eq. 4.2, by columns", 0, {}, nonzeros, csr_size(question.matrix.columns, nonzeros, question.sizes)}};
}

}  // namespace workbench
