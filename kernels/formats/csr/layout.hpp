// Compressed sparse rows, the baseline of every comparison: the rows of layout `rows`, one by one, with kernels of their own.
#pragma once

#include "kernels/formats/rows/variants.hpp"

namespace workbench {

/// The arrays of CsrMatrix, with values in full, as codes or in f32.
template <typename StoredValue, template <typename> typename Array>
using Csr = RowsOfShape<csr_shape, StoredValue, Array>;

/// The pattern of a matrix whose values are equal, or equal in each row or in each column (HasLineValues).
template <typename Value, template <typename> typename Array>
using CsrPattern = Csr<Constant<Value>, Array>;

template <typename Value>
using FullCsr = Csr<Value, HostArray>;

template <typename Value>
using CsrLayout = RowsLayout<Value, InAnyCoding<Csr, Value>>;

/// The CUDA kernel `vector`: 2 to 32 threads per row, by the mean row length.
struct CsrVector {
    static auto choose(const auto& arrays, const auto& use) {
        constexpr int least = 2;
        return with_lanes<least>(lanes_for(arrays.row_count, static_cast<Offset>(arrays.values.size()), least),
                                 [&](auto lanes) { return use(CompressedRows<lanes>{}); });
    }
};

/// For kernels that read values in full. Throws Unsuitable, with the name of the kernel, if they are coded.
template <ValueType Value>
[[nodiscard]] const FullCsr<Value>& full_csr(const CsrLayout<Value>& layout, const char* kernel);

/// The CUDA kernel `adaptive`.
template <ValueType Value>
struct CsrAdaptive;

/// The CUDA kernel `merge`.
template <ValueType Value>
struct CsrMerge;

[[nodiscard]] LayoutEntry csr_entry();

/// The CUDA kernel `adaptive` of arrays that were made on the GPU: Csr or CsrPattern. bytes: of the arrays, x and y.
template <ValueType Value, typename Arrays>
[[nodiscard]] std::unique_ptr<Kernel<Value>> csr_kernel_on_gpu(Arrays&& csr, std::int64_t bytes, Device& device);
[[nodiscard]] std::vector<KernelEntry> csr_eigen_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_cusparse_kernels();

}  // namespace workbench
