// libworkbench_cusparse.so: prepares and runs cusparseSpMV. The one file that is linked with cuSPARSE.
#include "kernels/csr/cusparse_module.hpp"

#include <cusparse.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

constexpr Index slice_height = 32;

void check_cusparse(cusparseStatus_t status, const char* call) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    const std::string reason = std::string(call) + ": " + cusparseGetErrorString(status);
    if (status == CUSPARSE_STATUS_NOT_SUPPORTED) throw Unsuitable("cuSPARSE does not support this: " + reason);
    throw MachineError("GPU: cuSPARSE failed: " + reason);
}

struct Destroy {
    void operator()(cusparseContext* handle) const { (void)cusparseDestroy(handle); }
    void operator()(const cusparseSpMatDescr* matrix) const { (void)cusparseDestroySpMat(matrix); }
    void operator()(const cusparseDnVecDescr* vector) const { (void)cusparseDestroyDnVec(vector); }
};

using Handle = std::unique_ptr<cusparseContext, Destroy>;
using MatrixDescription = std::unique_ptr<const cusparseSpMatDescr, Destroy>;
using VectorDescription = std::unique_ptr<cusparseDnVecDescr, Destroy>;

template <ValueType Value>
inline constexpr cudaDataType value_type = std::is_same_v<Value, float> ? CUDA_R_32F : CUDA_R_64F;

/// The matrix as cuSPARSE takes it, on the device.
struct DeviceMatrix {
    MatrixDescription description;
    DeviceMemory offsets;  // row, slice or block-row offsets; rows of a coordinate list
    DeviceMemory columns;
    DeviceMemory values;
};

/// cuSPARSE is at its best with 32-bit indices, and 64-bit ones for offsets alone are not documented.
void require_32_bits(Offset count, const std::string& what) {
    if (count <= std::numeric_limits<std::int32_t>::max()) return;
    throw Unsuitable("cuSPARSE is used with 32-bit indices; the matrix has " + std::to_string(count) + " " + what);
}

/// The format is made on the host first.
void require_memory(Offset stored, std::size_t bytes_each, const std::string& what) {
    const auto wanted = static_cast<std::size_t>(stored) * bytes_each;
    const std::size_t free = free_host_memory();
    if (wanted <= free) return;
    throw Unsuitable(what + " takes " + std::to_string(wanted) + " bytes of host memory, " + std::to_string(free) +
                     " are free");
}

template <ValueType Value>
DeviceMatrix upload(Device& device, const std::string& name, const std::vector<std::int32_t>& offsets,
                    const std::vector<Index>& columns, const std::vector<Value>& values) {
    return {nullptr, to_device(device, std::span(offsets), name + " offsets"),
            to_device(device, std::span(columns), name + " column indices"),
            to_device(device, std::span(values), name + " values")};
}

template <ValueType Value>
DeviceMatrix make_csr(const CsrLayout<Value>& matrix, Device& device) {
    require_32_bits(matrix.nonzeros(), "nonzeros");
    const std::vector<std::int32_t> offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    DeviceMatrix result = upload(device, "cuSPARSE CSR", offsets, matrix.column_indices, matrix.values);
    cusparseConstSpMatDescr_t description = nullptr;
    check_cusparse(cusparseCreateConstCsr(&description, matrix.row_count, matrix.column_count, matrix.nonzeros(),
                                          result.offsets.address(), result.columns.address(), result.values.address(),
                                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type<Value>),
                   "cusparseCreateConstCsr");
    result.description.reset(description);
    return result;
}

template <ValueType Value>
DeviceMatrix make_coo(const CsrLayout<Value>& matrix, Device& device) {
    require_32_bits(matrix.nonzeros(), "nonzeros");
    std::vector<std::int32_t> rows(static_cast<std::size_t>(matrix.nonzeros()));
    for (Index row = 0; row < matrix.row_count; ++row) {
        std::fill(rows.begin() + matrix.row_offsets[row], rows.begin() + matrix.row_offsets[row + 1], row);
    }
    DeviceMatrix result = upload(device, "cuSPARSE COO", rows, matrix.column_indices, matrix.values);
    cusparseConstSpMatDescr_t description = nullptr;
    check_cusparse(cusparseCreateConstCoo(&description, matrix.row_count, matrix.column_count, matrix.nonzeros(),
                                          result.offsets.address(), result.columns.address(), result.values.address(),
                                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type<Value>),
                   "cusparseCreateConstCoo");
    result.description.reset(description);
    return result;
}

/// Rows in slices in the order in which they come, each slice padded to its longest row. Padding has column -1.
template <ValueType Value>
DeviceMatrix make_sell(const CsrLayout<Value>& matrix, Device& device) {
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
    DeviceMatrix result = upload(device, "cuSPARSE sliced ELL", offsets, columns, values);
    cusparseConstSpMatDescr_t description = nullptr;
    check_cusparse(
        cusparseCreateConstSlicedEll(&description, matrix.row_count, matrix.column_count, matrix.nonzeros(), offsets.back(),
                                     slice_height, result.offsets.address(), result.columns.address(), result.values.address(),
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type<Value>),
        "cusparseCreateConstSlicedEll");
    result.description.reset(description);
    return result;
}

/// The blocks of size x size that hold a nonzero: offsets of the block rows, and the block columns, ascending in each block
/// row.
struct BlockPattern {
    Index size = 0;
    std::vector<std::int32_t> offsets{0};
    std::vector<Index> columns;
};

template <ValueType Value>
BlockPattern find_blocks(const CsrLayout<Value>& matrix, Index size) {
    BlockPattern blocks;
    blocks.size = size;
    std::vector<Index> last_seen(matrix.column_count / size, -1);  // block row that last had this block column
    for (Index block_row = 0; block_row < matrix.row_count / size; ++block_row) {
        for (Offset k = matrix.row_offsets[block_row * size]; k < matrix.row_offsets[(block_row + 1) * size]; ++k) {
            const Index block_column = matrix.column_indices[k] / size;
            if (last_seen[block_column] == block_row) continue;
            last_seen[block_column] = block_row;
            blocks.columns.push_back(block_column);
        }
        std::sort(blocks.columns.begin() + blocks.offsets.back(), blocks.columns.end());
        blocks.offsets.push_back(static_cast<std::int32_t>(blocks.columns.size()));
    }
    return blocks;
}

/// The block size of 2, 3 and 4 whose blocks take least memory. Throws Unsuitable where no size divides both sides of the
/// matrix, or the blocks would be mostly padding.
template <ValueType Value>
BlockPattern choose_blocks(const CsrLayout<Value>& matrix) {
    constexpr int most_fill = 4;
    const auto bytes = [](const BlockPattern& blocks) {
        return blocks.columns.size() * (blocks.size * blocks.size * sizeof(Value) + sizeof(Index));
    };
    BlockPattern best;
    for (const Index size : {2, 3, 4}) {
        if (matrix.row_count % size != 0 || matrix.column_count % size != 0) continue;
        BlockPattern blocks = find_blocks(matrix, size);
        if (best.size == 0 || bytes(blocks) < bytes(best)) best = std::move(blocks);
    }
    const std::string sides = std::to_string(matrix.row_count) + " x " + std::to_string(matrix.column_count);
    if (best.size == 0) throw Unsuitable("BSR: no block size of 2, 3 and 4 divides " + sides);
    const Offset stored = static_cast<Offset>(best.columns.size()) * best.size * best.size;
    if (stored > most_fill * matrix.nonzeros()) {
        throw Unsuitable("BSR: blocks of " + std::to_string(best.size) + " x " + std::to_string(best.size) + " would store " +
                         std::to_string(stored) + " values for " + std::to_string(matrix.nonzeros()) + " nonzeros, more than " +
                         std::to_string(most_fill) + " times as many");
    }
    return best;
}

/// Values of the blocks, each block row by row.
template <ValueType Value>
std::vector<Value> block_values(const CsrLayout<Value>& matrix, const BlockPattern& blocks) {
    const Index size = blocks.size;
    std::vector<Value> values(blocks.columns.size() * size * size, Value{0});
    std::vector<Offset> position(matrix.column_count / size);  // of a block column in the present block row
    for (Index block_row = 0; block_row < matrix.row_count / size; ++block_row) {
        for (Offset block = blocks.offsets[block_row]; block < blocks.offsets[block_row + 1]; ++block) {
            position[blocks.columns[block]] = block;
        }
        for (Index row = block_row * size; row < (block_row + 1) * size; ++row) {
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                const Index column = matrix.column_indices[k];
                values[(position[column / size] * size + row % size) * size + column % size] = matrix.values[k];
            }
        }
    }
    return values;
}

template <ValueType Value>
DeviceMatrix make_bsr(const CsrLayout<Value>& matrix, Device& device) {
    require_32_bits(matrix.nonzeros(), "nonzeros");
    const BlockPattern blocks = choose_blocks(matrix);
    const Index size = blocks.size;
    require_memory(static_cast<Offset>(blocks.columns.size()), size * size * sizeof(Value), "BSR");
    DeviceMatrix result = upload(device, "cuSPARSE BSR", blocks.offsets, blocks.columns, block_values(matrix, blocks));
    cusparseConstSpMatDescr_t description = nullptr;
    check_cusparse(
        cusparseCreateConstBsr(&description, matrix.row_count / size, matrix.column_count / size,
                               static_cast<std::int64_t>(blocks.columns.size()), size, size, result.offsets.address(),
                               result.columns.address(), result.values.address(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_BASE_ZERO, value_type<Value>, CUSPARSE_ORDER_ROW),
        "cusparseCreateConstBsr");
    result.description.reset(description);
    return result;
}

template <ValueType Value>
DeviceMatrix make_matrix(CusparseFormat format, const CsrLayout<Value>& matrix, Device& device) {
    switch (format) {
        case CusparseFormat::coo: return make_coo(matrix, device);
        case CusparseFormat::sell: return make_sell(matrix, device);
        case CusparseFormat::bsr: return make_bsr(matrix, device);
        default: return make_csr(matrix, device);
    }
}

cusparseSpMVAlg_t algorithm_of(CusparseFormat format) {
    switch (format) {
        case CusparseFormat::csr_alg1: return CUSPARSE_SPMV_CSR_ALG1;
        case CusparseFormat::csr_alg2: return CUSPARSE_SPMV_CSR_ALG2;
        case CusparseFormat::coo: return CUSPARSE_SPMV_COO_ALG1;
        case CusparseFormat::sell: return CUSPARSE_SPMV_SELL_ALG1;
        case CusparseFormat::bsr: return CUSPARSE_SPMV_BSR_ALG1;
    }
    return CUSPARSE_SPMV_ALG_DEFAULT;
}

Handle make_handle(void* stream) {
    cusparseHandle_t handle = nullptr;
    check_cusparse(cusparseCreate(&handle), "cusparseCreate");
    Handle result(handle);
    check_cusparse(cusparseSetStream(handle, static_cast<cudaStream_t>(stream)), "cusparseSetStream");
    return result;
}

template <ValueType Value>
VectorDescription describe_vector(Index size, const DeviceMemory& memory) {
    cusparseDnVecDescr_t description = nullptr;
    check_cusparse(cusparseCreateDnVec(&description, size, memory.address(), value_type<Value>), "cusparseCreateDnVec");
    return VectorDescription(description);
}

template <ValueType Value>
class CusparseKernel final : public Kernel<Value> {
public:
    CusparseKernel(CusparseFormat format, const CsrLayout<Value>& matrix, Device& device, void* stream)
        : algorithm_(algorithm_of(format)),
          vector_bytes_(static_cast<std::int64_t>(sizeof(Value)) * (std::int64_t{matrix.row_count} + matrix.column_count)),
          handle_(make_handle(stream)),
          matrix_(make_matrix(format, matrix, device)) {
        // The preparation wants vectors, though not their contents.
        const DeviceMemory x = device.allocate(sizeof(Value) * matrix.column_count, "x, to prepare cuSPARSE");
        const DeviceMemory y = device.allocate(sizeof(Value) * matrix.row_count, "y, to prepare cuSPARSE");
        x_ = describe_vector<Value>(matrix.column_count, x);
        y_ = describe_vector<Value>(matrix.row_count, y);
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMV_bufferSize(handle_.get(), operation, &one, matrix_.description.get(), x_.get(), &zero,
                                               y_.get(), value_type<Value>, algorithm_, &bytes),
                       "cusparseSpMV_bufferSize");
        buffer_ = device.allocate(bytes, "the buffer of cuSPARSE");
        const cusparseStatus_t status =
            cusparseSpMV_preprocess(handle_.get(), operation, &one, matrix_.description.get(), x_.get(), &zero, y_.get(),
                                    value_type<Value>, algorithm_, buffer_.address());
        // A format without anything to prepare may say so.
        if (status != CUSPARSE_STATUS_NOT_SUPPORTED) check_cusparse(status, "cusparseSpMV_preprocess");
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        check_cusparse(cusparseDnVecSetValues(x_.get(), const_cast<Value*>(x)), "cusparseDnVecSetValues");
        check_cusparse(cusparseDnVecSetValues(y_.get(), y), "cusparseDnVecSetValues");
        check_cusparse(cusparseSpMV(handle_.get(), operation, &one, matrix_.description.get(), x_.get(),
                                    accumulate ? &one : &zero, y_.get(), value_type<Value>, algorithm_, buffer_.address()),
                       "cusparseSpMV");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override {
        return static_cast<std::int64_t>(matrix_.offsets.bytes() + matrix_.columns.bytes() + matrix_.values.bytes()) +
               vector_bytes_;
    }

private:
    static constexpr cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
    static constexpr Value zero = 0;
    static constexpr Value one = 1;

    cusparseSpMVAlg_t algorithm_;
    std::int64_t vector_bytes_;
    Handle handle_;
    DeviceMatrix matrix_;
    VectorDescription x_;
    VectorDescription y_;
    DeviceMemory buffer_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(CusparseFormat format, const CsrLayout<Value>& matrix, Device& device, void* stream) {
    return std::make_unique<CusparseKernel<Value>>(format, matrix, device, stream);
}

}  // namespace
}  // namespace workbench

extern "C" const workbench::CusparseModule* workbench_cusparse_module() {
    static constexpr workbench::CusparseModule module{{workbench::prepare<float>, workbench::prepare<double>}};
    return &module;
}
