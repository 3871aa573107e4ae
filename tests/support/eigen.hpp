// Eigen as an oracle.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

[[nodiscard]] EigenMatrix to_eigen(const CsrMatrix& matrix);

/// True if the matrix has a Cholesky factorization L L^T; reads only the lower triangle.
[[nodiscard]] bool positive_definite(const CsrMatrix& matrix);

/// A^-1 B, by a sparse LU decomposition. right_sides: [rows][k].
[[nodiscard]] Eigen::MatrixXd solution(const CsrMatrix& matrix, const Eigen::MatrixXd& right_sides);

}  // namespace workbench
