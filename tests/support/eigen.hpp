// Eigen as an oracle.
#pragma once

#include <Eigen/SparseCore>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

[[nodiscard]] EigenMatrix to_eigen(const CsrMatrix& matrix);

}  // namespace workbench
