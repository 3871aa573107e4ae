// libworkbench_cusparse.so: prepares and runs cusparseSpMV. No other file is linked with cuSPARSE.
#include "kernels/vendor/module.hpp"

#include <cusparse.h>

#include <string>
#include <type_traits>
#include <utility>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

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

template <ValueType Value>
MatrixDescription describe(const CusparseMatrix& matrix) {
    constexpr cusparseIndexType_t bits = CUSPARSE_INDEX_32I;
    constexpr cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
    constexpr cudaDataType type = value_type<Value>;
    const void* const offsets = matrix.offsets.address();
    const void* const columns = matrix.column_indices.address();
    const void* const values = matrix.values.address();
    const auto indices = static_cast<std::int64_t>(matrix.column_indices.bytes() / sizeof(Index));  // slots, or blocks
    cusparseConstSpMatDescr_t description = nullptr;
    switch (matrix.format) {
        case CusparseFormat::csr_alg1:
        case CusparseFormat::csr_alg2:
            check_cusparse(cusparseCreateConstCsr(&description, matrix.rows, matrix.columns, matrix.nonzeros, offsets, columns,
                                                  values, bits, bits, base, type),
                           "cusparseCreateConstCsr");
            break;
        case CusparseFormat::coo:
            check_cusparse(cusparseCreateConstCoo(&description, matrix.rows, matrix.columns, matrix.nonzeros, offsets, columns,
                                                  values, bits, base, type),
                           "cusparseCreateConstCoo");
            break;
        case CusparseFormat::sell:
            check_cusparse(cusparseCreateConstSlicedEll(&description, matrix.rows, matrix.columns, matrix.nonzeros, indices,
                                                        matrix.size, offsets, columns, values, bits, bits, base, type),
                           "cusparseCreateConstSlicedEll");
            break;
        case CusparseFormat::bsr:
            check_cusparse(cusparseCreateConstBsr(&description, matrix.rows / matrix.size, matrix.columns / matrix.size,
                                                  indices, matrix.size, matrix.size, offsets, columns, values, bits, bits, base,
                                                  type, CUSPARSE_ORDER_ROW),
                           "cusparseCreateConstBsr");
            break;
    }
    return MatrixDescription(description);
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
    CusparseKernel(CusparseMatrix matrix, Device& device, void* stream)
        : algorithm_(algorithm_of(matrix.format)),
          matrix_(std::move(matrix)),
          handle_(make_handle(stream)),
          description_(describe<Value>(matrix_)) {
        // The preparation needs vectors but does not read their contents.
        const DeviceMemory x = device.allocate(sizeof(Value) * matrix_.columns, "x, to prepare cuSPARSE");
        const DeviceMemory y = device.allocate(sizeof(Value) * matrix_.rows, "y, to prepare cuSPARSE");
        x_ = describe_vector<Value>(matrix_.columns, x);
        y_ = describe_vector<Value>(matrix_.rows, y);
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMV_bufferSize(handle_.get(), operation, &one, description_.get(), x_.get(), &zero, y_.get(),
                                               value_type<Value>, algorithm_, &bytes),
                       "cusparseSpMV_bufferSize");
        buffer_ = device.allocate(bytes, "the buffer of cuSPARSE");
        const cusparseStatus_t status =
            cusparseSpMV_preprocess(handle_.get(), operation, &one, description_.get(), x_.get(), &zero, y_.get(),
                                    value_type<Value>, algorithm_, buffer_.address());
        // A format that needs no preparation may return this status.
        if (status != CUSPARSE_STATUS_NOT_SUPPORTED) check_cusparse(status, "cusparseSpMV_preprocess");
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        check_cusparse(cusparseDnVecSetValues(x_.get(), const_cast<Value*>(x)), "cusparseDnVecSetValues");
        check_cusparse(cusparseDnVecSetValues(y_.get(), y), "cusparseDnVecSetValues");
        check_cusparse(cusparseSpMV(handle_.get(), operation, &one, description_.get(), x_.get(), accumulate ? &one : &zero,
                                    y_.get(), value_type<Value>, algorithm_, buffer_.address()),
                       "cusparseSpMV");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override {
        const std::size_t arrays = matrix_.offsets.bytes() + matrix_.column_indices.bytes() + matrix_.values.bytes();
        const std::size_t vectors = sizeof(Value) * (std::size_t(matrix_.rows) + std::size_t(matrix_.columns));
        return static_cast<std::int64_t>(arrays + vectors);
    }

private:
    static constexpr cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
    static constexpr Value zero = 0;
    static constexpr Value one = 1;

    cusparseSpMVAlg_t algorithm_;
    CusparseMatrix matrix_;
    Handle handle_;
    MatrixDescription description_;
    VectorDescription x_;
    VectorDescription y_;
    DeviceMemory buffer_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(CusparseMatrix matrix, Device& device, void* stream) {
    return std::make_unique<CusparseKernel<Value>>(std::move(matrix), device, stream);
}

/// The version of the loaded cuSPARSE, which may be newer than the header.
std::string version() {
    std::string text;
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int number = 0;
        check_cusparse(cusparseGetProperty(part, &number), "cusparseGetProperty");
        text += (text.empty() ? "" : ".") + std::to_string(number);
    }
    return text;
}

}  // namespace
}  // namespace workbench

extern "C" const workbench::CusparseModule* workbench_cusparse_module() {
    static constexpr workbench::CusparseModule module{{workbench::prepare<float>, workbench::prepare<double>},
                                                      workbench::version};
    return &module;
}
