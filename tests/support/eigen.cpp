#include "support/eigen.hpp"

#include <vector>

namespace workbench {

EigenMatrix to_eigen(const CsrMatrix& matrix) {
    std::vector<Eigen::Triplet<double>> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            entries.emplace_back(row, matrix.column_indices[i], matrix.values[i]);
        }
    }
    EigenMatrix result(matrix.rows, matrix.columns);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

}  // namespace workbench
