// Eigen's product on the arrays of csr, as a reference for the same cores.
#include <Eigen/SparseCore>
#include <limits>

#include "core/contract/errors.hpp"
#include "kernels/formats/csr/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class CsrEigen final : public Kernel<Value> {
public:
    explicit CsrEigen(const FullCsr<Value>& layout)
        : offsets_(layout.row_offsets.begin(), layout.row_offsets.end()),
          matrix_(layout.row_count, layout.column_count, static_cast<Index>(layout.values.size()), offsets_.data(),
                  layout.column_indices.data(), layout.values.data()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Eigen::Map<const Eigen::VectorX<Value>> x_vector(x, matrix_.cols());
        Eigen::Map<Eigen::VectorX<Value>> y_vector(y, matrix_.rows());
        if (accumulate) {
            y_vector.noalias() += matrix_ * x_vector;
        } else {
            y_vector.noalias() = matrix_ * x_vector;
        }
    }

private:
    HostArray<Index> offsets_;  // Eigen has one integer type for offsets and columns
    Eigen::Map<const Eigen::SparseMatrix<Value, Eigen::RowMajor, Index>> matrix_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device&) {
    constexpr Offset most = std::numeric_limits<Index>::max();
    if (layout.nonzeros() > most) {
        throw Unsuitable(std::to_string(layout.nonzeros()) + " nonzeros, but Eigen's offsets of 32 bits reach " +
                         std::to_string(most));
    }
    return std::make_unique<CsrEigen<Value>>(dynamic_cast<const CsrLayout<Value>&>(layout).full("eigen"));
}

}  // namespace

std::vector<KernelEntry> csr_eigen_kernels() {
    return {{.name = "eigen",
             .backend = Backend::eigen,
             .summary = "Eigen's product of a row-major sparse matrix, on its OpenMP threads",
             .prepare = {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
