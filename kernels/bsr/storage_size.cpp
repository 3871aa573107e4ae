#include "kernels/bsr/storage_size.hpp"

namespace workbench {

std::int64_t bsr_size(Index rows, Offset blocks, Index block_size, const ElementSizes& sizes) {
    const std::int64_t block = bounded_product(Offset{block_size} * block_size, sizes.value) + sizes.index;
    const Offset block_rows = rounded_up(rows, block_size) / block_size;
    return bounded_sum(bounded_product(blocks, block), bounded_product(block_rows + 1, sizes.offset));
}

Offset count_blocks(const CsrMatrix& matrix, Index block_size) {
    HostArray<Index> last_seen(rounded_up(matrix.columns, block_size) / block_size, -1);  // block row that last had this one
    Offset blocks = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) {
            Index& seen = last_seen[column / block_size];
            blocks += seen != row / block_size ? 1 : 0;
            seen = row / block_size;
        }
    }
    return blocks;
}

std::vector<StorageSize> bsr_storage_sizes(const StorageQuestion& question) {
    std::vector<StorageSize> all;
    for (const Index size : {2, 3, 4}) {
        const Offset blocks = count_blocks(question.matrix, size);
        all.push_back(
            {"BSR", "eq. 4.3", size, {}, blocks * size * size, bsr_size(question.matrix.rows, blocks, size, question.sizes)});
    }
    return all;
}

}  // namespace workbench
