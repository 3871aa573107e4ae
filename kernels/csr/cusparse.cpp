// cuSPARSE's formats, each made from CSR when a kernel is prepared.
#include <algorithm>
#include <string>
#include <utility>

#include "kernels/common/blocks.hpp"
#include "kernels/common/cusparse/cusparse.hpp"
#include "kernels/csr/layout.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

constexpr Index slice_height = 32;

/// The format is made on the host first.
void require_memory(Offset stored, std::size_t bytes_each, const std::string& what) {
    const auto wanted = static_cast<std::size_t>(stored) * bytes_each;
    const std::size_t free = free_host_memory();
    if (wanted <= free) return;
    throw Unsuitable(what + " takes " + std::to_string(wanted) + " bytes of host memory, " + std::to_string(free) +
                     " are free");
}

template <ValueType Value>
CusparseMatrix upload(CusparseFormat format, const CsrLayout<Value>& matrix, Index size, Device& device,
                      const std::vector<std::int32_t>& offsets, const std::vector<Index>& columns,
                      const std::vector<Value>& values) {
    return {format,
            matrix.row_count,
            matrix.column_count,
            matrix.nonzeros(),
            size,
            to_device(device, std::span(offsets), "offsets for cuSPARSE"),
            to_device(device, std::span(columns), "column indices for cuSPARSE"),
            to_device(device, std::span(values), "values for cuSPARSE")};
}

template <ValueType Value>
CusparseMatrix make_csr(CusparseFormat format, const CsrLayout<Value>& matrix, Device& device) {
    const std::vector<std::int32_t> offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    return upload(format, matrix, 1, device, offsets, matrix.column_indices, matrix.values);
}

template <ValueType Value>
CusparseMatrix make_coo(const CsrLayout<Value>& matrix, Device& device) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(matrix.nonzeros()));
    for (Index row = 0; row < matrix.row_count; ++row) {
        std::fill(rows.begin() + matrix.row_offsets[row], rows.begin() + matrix.row_offsets[row + 1], row);
    }
    return upload(CusparseFormat::coo, matrix, 1, device, rows, matrix.column_indices, matrix.values);
}

/// Rows in slices in the order in which they come, each slice padded to its longest row. Padding has column -1.
template <ValueType Value>
CusparseMatrix make_sell(const CsrLayout<Value>& matrix, Device& device) {
    std::vector<std::int32_t> offsets{0};
    for (Index first = 0; first < matrix.row_count; first += slice_height) {
        Offset width = 0;
        for (Index row = first; row < std::min(first + slice_height, matrix.row_count); ++row) {
            width = std::max(width, matrix.row_offsets[row + 1] - matrix.row_offsets[row]);
        }
        const Offset end = offsets.back() + width * slice_height;
        require_32_bits(end, "or more slots in slices of 32");
        offsets.push_back(static_cast<std::int32_t>(end));
    }
    require_memory(offsets.back(), sizeof(Value) + sizeof(Index), "sliced ELL");
    std::vector<Index> columns(offsets.back(), -1);
    std::vector<Value> values(offsets.back(), Value{0});
    for (Index row = 0; row < matrix.row_count; ++row) {
        Offset slot = offsets[row / slice_height] + row % slice_height;
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k, slot += slice_height) {
            columns[slot] = matrix.column_indices[k];
            values[slot] = matrix.values[k];
        }
    }
    return upload(CusparseFormat::sell, matrix, slice_height, device, offsets, columns, values);
}

/// Blocks of the size of 2, 3 and 4 that takes least memory. cuSPARSE wants a size that divides both sides of the matrix.
template <ValueType Value>
CusparseMatrix make_bsr(const CsrLayout<Value>& matrix, Device& device) {
    std::vector<Index> sizes;
    for (const Index size : {2, 3, 4}) {
        if (matrix.row_count % size == 0 && matrix.column_count % size == 0) sizes.push_back(size);
    }
    if (sizes.empty()) {
        throw Unsuitable("BSR: no block size of 2, 3 and 4 divides " + std::to_string(matrix.row_count) + " x " +
                         std::to_string(matrix.column_count));
    }
    const CsrView<Value> view{matrix.row_count, matrix.column_count, matrix.row_offsets, matrix.column_indices, matrix.values};
    const SlotBound bound{.slots_per_nonzero = 4, .advice = "layout bsr takes a bound (slots_per_nonzero) and other block sizes"};
    const Blocks<Value> blocks = build_blocks<Value>(view, choose_block_size<Value>(view, sizes), bound);
    return upload(CusparseFormat::bsr, matrix, blocks.size, device, blocks.offsets, blocks.columns, blocks.values);
}

template <ValueType Value>
CusparseMatrix make_matrix(CusparseFormat format, const CsrLayout<Value>& matrix, Device& device) {
    require_32_bits(matrix.nonzeros(), "nonzeros");
    switch (format) {
        case CusparseFormat::coo: return make_coo(matrix, device);
        case CusparseFormat::sell: return make_sell(matrix, device);
        case CusparseFormat::bsr: return make_bsr(matrix, device);
        default: return make_csr(format, matrix, device);
    }
}

template <CusparseFormat format, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    require_cusparse(layout.nonzeros());
    return prepare_cusparse<Value>(make_matrix(format, dynamic_cast<const CsrLayout<Value>&>(layout), device), device);
}

template <CusparseFormat format>
KernelEntry entry(std::string name, std::string summary) {
    return {std::move(name), Backend::cusparse, std::move(summary), {prepare<format, float>, prepare<format, double>}};
}

}  // namespace

std::vector<KernelEntry> csr_cusparse_kernels() {
    return {
        entry<CusparseFormat::csr_alg1>("csr_alg1", "cusparseSpMV on CSR, CUSPARSE_SPMV_CSR_ALG1"),
        entry<CusparseFormat::csr_alg2>("csr_alg2", "cusparseSpMV on CSR, CUSPARSE_SPMV_CSR_ALG2"),
        entry<CusparseFormat::coo>("coo", "cusparseSpMV on sorted coordinates, CUSPARSE_SPMV_COO_ALG1"),
        entry<CusparseFormat::sell>("sell", "cusparseSpMV on sliced ELL of slice height 32, CUSPARSE_SPMV_SELL_ALG1"),
        entry<CusparseFormat::bsr>("bsr", "cusparseSpMV on blocks of 2 x 2, 3 x 3 or 4 x 4, whichever take least memory"),
    };
}

}  // namespace workbench
