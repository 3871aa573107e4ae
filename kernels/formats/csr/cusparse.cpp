// cuSPARSE's formats, each made from CSR when a kernel is prepared.
#include <algorithm>
#include <string>
#include <utility>

#include "core/contract/errors.hpp"
#include "kernels/common/schemes/blocks.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/vendor/cusparse_slices.hpp"

namespace workbench {
namespace {

constexpr Index slice_height = 32;

template <ValueType Value>
CusparseMatrix upload(CusparseFormat format, const FullCsr<Value>& matrix, Index size, Device& device,
                      const HostArray<std::int32_t>& offsets, const HostArray<Index>& columns, const HostArray<Value>& values) {
    return {.format = format,
            .rows = matrix.row_count,
            .columns = matrix.column_count,
            .nonzeros = static_cast<Offset>(matrix.values.size()),
            .size = size,
            .offsets = to_device(device, std::span(offsets), "offsets for cuSPARSE"),
            .column_indices = to_device(device, std::span(columns), "column indices for cuSPARSE"),
            .values = to_device(device, std::span(values), "values for cuSPARSE")};
}

template <ValueType Value>
CusparseMatrix make_csr(CusparseFormat format, const FullCsr<Value>& matrix, Device& device) {
    const HostArray<std::int32_t> offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    return upload(format, matrix, 1, device, offsets, matrix.column_indices, matrix.values);
}

template <ValueType Value>
CusparseMatrix make_coo(const FullCsr<Value>& matrix, Device& device) {
    HostArray<std::int32_t> rows(static_cast<std::size_t>(static_cast<Offset>(matrix.values.size())));
    for (Index row = 0; row < matrix.row_count; ++row) {
        std::fill(rows.begin() + matrix.row_offsets[row], rows.begin() + matrix.row_offsets[row + 1], row);
    }
    return upload(CusparseFormat::coo, matrix, 1, device, rows, matrix.column_indices, matrix.values);
}

template <ValueType Value>
CusparseMatrix make_sell(const FullCsr<Value>& matrix, Device& device) {
    HostArray<Offset> lengths(matrix.row_count);
    for (Index row = 0; row < matrix.row_count; ++row) lengths[row] = matrix.row_offsets[row + 1] - matrix.row_offsets[row];
    CusparseSlices<Value> slices(std::move(lengths), slice_height);
    slices.fill([&](Index row, Offset k) {
        const Offset entry = matrix.row_offsets[row] + k;
        return std::pair(matrix.column_indices[entry], matrix.values[entry]);
    });
    return slices.to(device, matrix.column_count, static_cast<Offset>(matrix.values.size()));
}

/// Blocks of 2, 3 or 4 rows, whichever takes the least memory. cuSPARSE requires a size that divides both sides of the matrix.
template <ValueType Value>
CusparseMatrix make_bsr(const FullCsr<Value>& matrix, Device& device) {
    HostArray<Index> sizes;
    for (const Index size : {2, 3, 4}) {
        if (matrix.row_count % size == 0 && matrix.column_count % size == 0) sizes.push_back(size);
    }
    if (sizes.empty()) {
        throw Unsuitable("BSR: no block size of 2, 3 and 4 divides " + std::to_string(matrix.row_count) + " x " +
                         std::to_string(matrix.column_count));
    }
    const CsrOnHost<Value> view{matrix.row_count, matrix.column_count, matrix.row_offsets, matrix.column_indices,
                                matrix.values};
    const SlotBound bound{.slots_per_nonzero = 4,
                          .advice = "layout bsr takes a bound (slots_per_nonzero) and other block sizes"};
    const Blocks<Value, HostArray> blocks = build_blocks<Value>(view, choose_block_size<Value>(view, sizes), bound);
    return upload(CusparseFormat::bsr, matrix, blocks.block_size, device, blocks.block_offsets, blocks.block_columns,
                  blocks.values);
}

template <ValueType Value>
CusparseMatrix make_matrix(CusparseFormat format, const FullCsr<Value>& matrix, Device& device) {
    require_32_bits(static_cast<Offset>(matrix.values.size()), "nonzeros");
    switch (format) {
        case CusparseFormat::coo: return make_coo(matrix, device);
        case CusparseFormat::sell: return make_sell(matrix, device);
        case CusparseFormat::bsr: return make_bsr(matrix, device);
        default: return make_csr(format, matrix, device);
    }
}

template <CusparseFormat format, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_vectors(const Layout<Value>& layout, std::span<const Index>, int vectors,
                                               Device& device) {
    require_cusparse(layout.nonzeros());
    return prepare_cusparse<Value>(
        make_matrix(format, full_csr<Value>(dynamic_cast<const CsrLayout<Value>&>(layout), "cuSPARSE"), device), device,
        vectors);
}

template <CusparseFormat format, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return prepare_vectors<format, Value>(layout, {}, 1, device);
}

template <CusparseFormat format>
KernelEntry entry(std::string name, std::string summary) {
    return {std::move(name), Backend::cusparse, std::move(summary), {prepare<format, float>, prepare<format, double>}};
}

/// A kernel that multiplies several vectors by cusparseSpMM.
template <CusparseFormat format>
KernelEntry entry_with_vectors(std::string name, std::string summary) {
    KernelEntry kernel = entry<format>(std::move(name), std::move(summary));
    kernel.prepare_vectors = {prepare_vectors<format, float>, prepare_vectors<format, double>};
    return kernel;
}

}  // namespace

std::vector<KernelEntry> csr_cusparse_kernels() {
    return {
        entry_with_vectors<CusparseFormat::csr_alg1>(
            "csr_alg1", "cusparseSpMV on CSR, CUSPARSE_SPMV_CSR_ALG1; several vectors: CUSPARSE_SPMM_CSR_ALG1"),
        entry_with_vectors<CusparseFormat::csr_alg2>(
            "csr_alg2", "cusparseSpMV on CSR, CUSPARSE_SPMV_CSR_ALG2; several vectors: CUSPARSE_SPMM_CSR_ALG2"),
        entry_with_vectors<CusparseFormat::csr_op>(
            "csr_op", "cusparseSpMVOp on CSR, with a cuSPARSE of 12.7.3 to 12.8; several vectors: CUSPARSE_SPMM_CSR_ALG3"),
        entry_with_vectors<CusparseFormat::coo>(
            "coo", "cusparseSpMV on sorted coordinates, CUSPARSE_SPMV_COO_ALG1; several vectors: CUSPARSE_SPMM_COO_ALG4"),
        entry<CusparseFormat::sell>("sell", "cusparseSpMV on sliced ELL of slice height 32, CUSPARSE_SPMV_SELL_ALG1"),
        entry<CusparseFormat::bsr>("bsr", "cusparseSpMV on blocks of 2 x 2, 3 x 3 or 4 x 4, whichever take least memory"),
    };
}

}  // namespace workbench
