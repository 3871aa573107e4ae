// A product for timing, whose results are compared with the matrix.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "core/contract/krylov.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "pipeline/measure/product_vectors.hpp"
#include "pipeline/measure/timing.hpp"

namespace workbench {

/// y = A x with vectors of its own. From sample to sample, x changes in a few random elements, so that an earlier y, or one
/// kept for the values of some elements of x, is wrong. With a cold cache two x take turns. y is compared with the product of
/// the matrix and the x of the sample within the bounds of the verification (bounded_reference).
template <ValueType Value>
class CheckedProduct {
public:
    /// matrix: the one that the kernel multiplies with, in the order of the input. The vectors have an x. The device must
    /// outlive this.
    CheckedProduct(VectorsOfProduct<Value> vectors, std::shared_ptr<Kernel<Value>> kernel,
                   std::shared_ptr<const CsrMatrix> matrix, Device& device);

    /// bytes_to_move: of a product, with all of x. The contender refers to this object.
    [[nodiscard]] Contender contender(std::string name, std::int64_t bytes_to_move);

    /// From here on, products are those of conjugate gradients: x is p and y is q of the solve. Throws MachineError if the
    /// device cannot iterate.
    void begin_cg();
    void end_cg() { cg_.reset(); }

private:
    [[nodiscard]] const Value* x() const { return cg_ == nullptr ? vectors_.x() : cg_->operands().x; }
    [[nodiscard]] Value* y() const { return cg_ == nullptr ? vectors_.y() : cg_->operands().y; }
    void change_operands();
    [[nodiscard]] std::string fault() const;

    VectorsOfProduct<Value> vectors_;
    std::shared_ptr<Kernel<Value>> kernel_;
    std::shared_ptr<const CsrMatrix> matrix_;
    Device& device_;
    DeviceMemory changes_;
    DeviceMemory other_x_;                         // x of every second sample
    std::mt19937 random_{std::random_device{}()};  // a kernel cannot foresee what changes
    std::unique_ptr<KrylovByProducts<Value>> cg_;  // null: outside of CG
};

}  // namespace workbench
