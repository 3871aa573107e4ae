#include "support/eigen.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <stdexcept>
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

bool positive_definite(const CsrMatrix& matrix) {
    return Eigen::SimplicialLLT<Eigen::SparseMatrix<double>>(to_eigen(matrix)).info() == Eigen::Success;
}

Eigen::MatrixXd solution(const CsrMatrix& matrix, const Eigen::MatrixXd& right_sides) {
    const Eigen::SparseMatrix<double> columns = to_eigen(matrix);
    const Eigen::SparseLU<Eigen::SparseMatrix<double>> solver(columns);
    if (solver.info() != Eigen::Success) throw std::logic_error("the matrix is singular");
    return solver.solve(right_sides);
}

}  // namespace workbench
