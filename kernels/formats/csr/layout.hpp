// Compressed sparse rows, the baseline of every comparison.
#pragma once

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/coded_values.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The arrays of CsrMatrix, with values in full, as codes or in f32.
template <typename StoredValue, template <typename> typename Array>
struct Csr : MatrixSize {
    Array<Offset> row_offsets;
    Array<Index> column_indices;
    ValueArray<StoredValue, Array> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Csr::row_offsets>("rows + 1"),
                          column_array<&Csr::column_indices>("nonzeros"), coded_value_array<&Csr::values>("nonzeros"));
    }
};

/// The pattern of a matrix whose values are equal, or equal in each row or in each column (HasLineValues).
template <typename Value, template <typename> typename Array>
struct CsrPattern : MatrixSize {
    Array<Offset> row_offsets;
    Array<Index> column_indices;
    ConstantValues<Value> values;
    Array<Value> row_values;
    Array<Value> column_values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&CsrPattern::row_offsets>("rows + 1"),
                          column_array<&CsrPattern::column_indices>("nonzeros"), value_array<&CsrPattern::values>("nonzeros"),
                          structure_array<&CsrPattern::row_values>("rows, or none"),
                          structure_array<&CsrPattern::column_values>("columns, or none"));
    }
};

/// The CUDA kernel `vector`: 2 to 32 threads per row, by the mean row length.
struct CsrVector {
    static auto choose(const auto& arrays, const auto& use) {
        constexpr int least = 2;
        return with_lanes<least>(lanes_for(arrays.row_count, static_cast<Offset>(arrays.values.size()), least),
                                 [&](auto lanes) { return use(CompressedRows<lanes>{}); });
    }
};

template <ValueType Value>
using FullCsr = Csr<Value, HostArray>;

/// CSR that stores values in full, one for all or for each line, codes of 8 bits, or, in f64, values of f32.
template <ValueType Value, typename... More>
using CsrVariants =
    VariantLayout<Value, FullCsr<Value>, CsrPattern<Value, HostArray>, Csr<Coded<Value, std::uint8_t>, HostArray>, More...>;
template <ValueType Value>
using CsrStorage =
    std::conditional_t<std::is_same_v<Value, double>, CsrVariants<Value, Csr<float, HostArray>>, CsrVariants<Value>>;

template <ValueType Value>
struct CsrLayout final : CsrStorage<Value> {
    static constexpr const char* name = "csr";

    /// If rows or columns have values, the values of the slots are coded by the row offsets or by the columns.
    [[nodiscard]] std::vector<LayoutField> fields() const override;

    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
    /// For kernels that read values in full. Throws Unsuitable, with the name of the kernel, if they are coded.
    [[nodiscard]] const FullCsr<Value>& full(const char* kernel) const;
};

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
