// Linear systems for tests of solves, and their products.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/krylov.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/measure/rows_kernel.hpp"
#include "support/eigen.hpp"

namespace workbench {

inline CsrMatrix square_of(Index size, const std::vector<Entry>& entries) { return csr_from_entries(size, size, entries); }

/// The five-point stencil on side x side nodes. Each unknown is scaled, so that the diagonal ranges from 4 to about 200. A
/// `drift` other than 0 makes the matrix unsymmetric.
inline CsrMatrix scaled_laplacian(Index side, double drift) {
    std::vector<Entry> entries;
    const auto scale = [&](Index i) { return 1.0 + 6.0 * static_cast<double>(i % 17) / 16.0; };
    const auto add = [&](Index row, Index column, double value) {
        entries.push_back({row, column, value * scale(row) * scale(column)});
    };
    for (Index i = 0; i < side; ++i) {
        for (Index j = 0; j < side; ++j) {
            const Index row = i * side + j;
            add(row, row, 4);
            if (j > 0) add(row, row - 1, -1 - drift);
            if (j + 1 < side) add(row, row + 1, -1 + drift);
            if (i > 0) add(row, row - side, -1);
            if (i + 1 < side) add(row, row + side, -1);
        }
    }
    return square_of(side * side, entries);
}

/// Each entry becomes a dense block of `unknowns` rows and columns, whose eigenvalues are positive.
inline CsrMatrix in_dense_blocks(const CsrMatrix& matrix, Index unknowns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            for (Index i = 0; i < unknowns; ++i) {
                for (Index j = 0; j < unknowns; ++j) {
                    entries.push_back(
                        {row * unknowns + i, matrix.column_indices[k] * unknowns + j, matrix.values[k] * (i == j ? 1 : 0.25)});
                }
            }
        }
    }
    return square_of(matrix.rows * unknowns, entries);
}

inline std::vector<double> right_hand_side(Index size) {
    std::vector<double> b(size);
    for (Index i = 0; i < size; ++i) b[i] = 1.0 + static_cast<double>(i % 7) / 8.0;
    return b;
}

template <typename Value>
std::vector<Value> inverse_diagonal(const CsrMatrix& matrix) {
    const Eigen::VectorXd diagonal = to_eigen(matrix).diagonal();
    std::vector<Value> inverse(matrix.rows);
    for (Index i = 0; i < matrix.rows; ++i) inverse[i] = static_cast<Value>(1 / diagonal[i]);
    return inverse;
}

inline double norm_of(const std::vector<double>& b) {
    return Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b)).norm();
}

/// The product of the baseline kernel of a device.
template <typename Value>
class BaselineProduct {
public:
    BaselineProduct(const CsrMatrix& matrix, Device& device, int vectors = 1) : staged_(stage_input(matrix)) {
        const LayoutEntry& csr = *catalogue().find_layout("csr");
        layout_ = csr.build.template get<Value>()(staged_, Parameters(csr.parameters, {}));
        // On a GPU a kernel without shared memory: for `adaptive` in a graph with a loop, memcheck reports an illegal address
        // without naming a kernel, although plain runs are right.
        const bool gpu = device.properties().kind == DeviceKind::gpu;
        const auto entry = std::find_if(csr.kernels.begin(), csr.kernels.end(), [&](const KernelEntry& kernel) {
            return gpu ? kernel.backend == Backend::cuda && kernel.name == "vector" : kernel.backend == Backend::kokkos;
        });
        kernel_ = prepare_rows_kernel<Value>(*entry, *layout_, {}, device, vectors);
    }

    [[nodiscard]] KrylovProduct<Value> product() {
        return [this](const Value* x, Value* y) { kernel_->run(x, y, false); };
    }

private:
    StagedMatrix staged_;
    std::unique_ptr<Layout<Value>> layout_;
    std::unique_ptr<Kernel<Value>> kernel_;
};

}  // namespace workbench
