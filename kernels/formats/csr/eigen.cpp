// Eigen's product on the arrays of csr, as a reference for the same cores.
#include <Eigen/SparseCore>
#include <limits>

#include "core/contract/errors.hpp"
#include "kernels/common/schedule/host_vectors.hpp"
#include "kernels/formats/csr/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class CsrEigen final : public Kernel<Value> {
public:
    CsrEigen(const FullCsr<Value>& layout, int vectors, std::int64_t bytes)
        : vectors_(vectors),
          bytes_(bytes),
          offsets_(layout.row_offsets.begin(), layout.row_offsets.end()),
          matrix_(layout.row_count, layout.column_count, static_cast<Index>(layout.values.size()), offsets_.data(),
                  layout.column_indices.data(), layout.values.data()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (vectors_ == 1) {
            multiply(Eigen::Map<const Eigen::VectorX<Value>>(x, matrix_.cols()),
                     Eigen::Map<Eigen::VectorX<Value>>(y, matrix_.rows()), accumulate);
        } else {
            multiply(Eigen::Map<const Rows>(x, matrix_.cols(), vectors_), Eigen::Map<Rows>(y, matrix_.rows(), vectors_),
                     accumulate);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    using Rows = Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    template <typename X, typename Y>
    void multiply(const X& x, Y y, bool accumulate) const {
        if (accumulate) {
            y.noalias() += matrix_ * x;
        } else {
            y.noalias() = matrix_ * x;
        }
    }

    int vectors_;
    std::int64_t bytes_;
    HostArray<Index> offsets_;  // Eigen has one integer type for offsets and columns
    Eigen::Map<const Eigen::SparseMatrix<Value, Eigen::RowMajor, Index>> matrix_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_vectors(const Layout<Value>& layout, std::span<const Index>, int vectors, Device&) {
    constexpr Offset most = std::numeric_limits<Index>::max();
    if (layout.nonzeros() > most) {
        throw Unsuitable(std::to_string(layout.nonzeros()) + " nonzeros, but Eigen's offsets of 32 bits reach " +
                         std::to_string(most));
    }
    return std::make_unique<CsrEigen<Value>>(full_csr<Value>(dynamic_cast<const CsrLayout<Value>&>(layout), "eigen"), vectors,
                                             bytes_with_vectors(layout, {}, vectors));
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return prepare_vectors<Value>(layout, {}, 1, device);
}

}  // namespace

std::vector<KernelEntry> csr_eigen_kernels() {
    return {{.name = "eigen",
             .backend = Backend::eigen,
             .summary = "Eigen's product of a row-major sparse matrix, on its OpenMP threads",
             .prepare = {prepare<float>, prepare<double>},
             .prepare_vectors = {prepare_vectors<float>, prepare_vectors<double>}}};
}

}  // namespace workbench
