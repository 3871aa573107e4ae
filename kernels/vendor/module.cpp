// libworkbench_cusparse.so: prepares and runs cusparseSpMV and cusparseSpMM. No other file is linked with cuSPARSE.
#include "kernels/vendor/module.hpp"

#include <cusparse.h>
#include <dlfcn.h>

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
    void operator()(const cusparseDnMatDescr* vectors) const { (void)cusparseDestroyDnMat(vectors); }
};

using Handle = std::unique_ptr<cusparseContext, Destroy>;
using MatrixDescription = std::unique_ptr<const cusparseSpMatDescr, Destroy>;
using VectorDescription = std::unique_ptr<cusparseDnVecDescr, Destroy>;
using VectorsDescription = std::unique_ptr<cusparseDnMatDescr, Destroy>;

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
        case CusparseFormat::csr_op:
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
        case CusparseFormat::csr_op: break;
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

cusparseSpMMAlg_t algorithm_for_vectors(CusparseFormat format) {
    switch (format) {
        case CusparseFormat::csr_alg1: return CUSPARSE_SPMM_CSR_ALG1;
        case CusparseFormat::csr_alg2: return CUSPARSE_SPMM_CSR_ALG2;
        case CusparseFormat::csr_op: return CUSPARSE_SPMM_CSR_ALG3;
        case CusparseFormat::coo: return CUSPARSE_SPMM_COO_ALG4;
        case CusparseFormat::sell:
        case CusparseFormat::bsr: break;
    }
    throw Unsuitable("cusparseSpMM is not called for this format");
}

template <ValueType Value>
VectorsDescription describe_vectors(Index size, int vectors, const DeviceMemory& memory) {
    cusparseDnMatDescr_t description = nullptr;
    check_cusparse(
        cusparseCreateDnMat(&description, size, vectors, vectors, memory.address(), value_type<Value>, CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
    return VectorsDescription(description);
}

template <ValueType Value>
std::int64_t bytes_to_move(const CusparseMatrix& matrix, int count = 1) {
    const std::size_t arrays = matrix.offsets.bytes() + matrix.column_indices.bytes() + matrix.values.bytes();
    const std::size_t vectors = sizeof(Value) * count * (std::size_t(matrix.rows) + std::size_t(matrix.columns));
    return static_cast<std::int64_t>(arrays + vectors);
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

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_to_move<Value>(matrix_); }

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

/// cusparseSpMM with X and Y row by row.
template <ValueType Value>
class CusparseVectorsKernel final : public Kernel<Value> {
public:
    CusparseVectorsKernel(CusparseMatrix matrix, int vectors, Device& device, void* stream)
        : algorithm_(algorithm_for_vectors(matrix.format)),
          matrix_(std::move(matrix)),
          vectors_(vectors),
          handle_(make_handle(stream)),
          description_(describe<Value>(matrix_)) {
        // The preparation needs vectors but does not read their contents.
        const DeviceMemory x = device.allocate(sizeof(Value) * matrix_.columns * vectors, "X, to prepare cuSPARSE");
        const DeviceMemory y = device.allocate(sizeof(Value) * matrix_.rows * vectors, "Y, to prepare cuSPARSE");
        x_ = describe_vectors<Value>(matrix_.columns, vectors, x);
        y_ = describe_vectors<Value>(matrix_.rows, vectors, y);
        std::size_t bytes = 0;
        check_cusparse(cusparseSpMM_bufferSize(handle_.get(), operation, operation, &one, description_.get(), x_.get(), &zero,
                                               y_.get(), value_type<Value>, algorithm_, &bytes),
                       "cusparseSpMM_bufferSize");
        buffer_ = device.allocate(bytes, "the buffer of cuSPARSE");
        const cusparseStatus_t status =
            cusparseSpMM_preprocess(handle_.get(), operation, operation, &one, description_.get(), x_.get(), &zero, y_.get(),
                                    value_type<Value>, algorithm_, buffer_.address());
        // A format that needs no preparation may return this status.
        if (status != CUSPARSE_STATUS_NOT_SUPPORTED) check_cusparse(status, "cusparseSpMM_preprocess");
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        check_cusparse(cusparseDnMatSetValues(x_.get(), const_cast<Value*>(x)), "cusparseDnMatSetValues");
        check_cusparse(cusparseDnMatSetValues(y_.get(), y), "cusparseDnMatSetValues");
        check_cusparse(cusparseSpMM(handle_.get(), operation, operation, &one, description_.get(), x_.get(),
                                    accumulate ? &one : &zero, y_.get(), value_type<Value>, algorithm_, buffer_.address()),
                       "cusparseSpMM");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override {
        return bytes_to_move<Value>(matrix_, vectors_);
    }

private:
    static constexpr cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
    static constexpr Value zero = 0;
    static constexpr Value one = 1;

    cusparseSpMMAlg_t algorithm_;
    CusparseMatrix matrix_;
    int vectors_;
    Handle handle_;
    MatrixDescription description_;
    VectorsDescription x_;
    VectorsDescription y_;
    DeviceMemory buffer_;
};

/// cusparseSpMVOp, z = alpha A x + beta y, whose plan is compiled once. The headers with which this was built may not have it,
/// so that its functions are found when the program runs (cuSPARSE's documentation, "cusparseSpMVOp").
class SpMVOp {
public:
    explicit SpMVOp(cusparseContext* handle) {
        int version = 0;
        check_cusparse(cusparseGetVersion(handle, &version), "cusparseGetVersion");
        takes_algorithm_ = version >= first_with_algorithm;
        const bool has_all =
            find(buffer_size_, "cusparseSpMVOp_bufferSize") && find(create_description_, "cusparseSpMVOp_createDescr") &&
            find(create_plan_, "cusparseSpMVOp_createPlan") && find(run_, "cusparseSpMVOp") &&
            find(destroy_plan_, "cusparseSpMVOp_destroyPlan") && find(destroy_description_, "cusparseSpMVOp_destroyDescr");
        if (has_all && version >= first_with_buffer && version < first_unknown) return;
        throw Unsuitable("cusparseSpMVOp is called in cuSPARSE 12.7.3 to 12.8; this one is " + std::to_string(version));
    }
    ~SpMVOp() {
        if (plan_ != nullptr) (void)destroy_plan_(plan_);
        if (description_ != nullptr) (void)destroy_description_(description_);
    }
    SpMVOp(const SpMVOp&) = delete;
    SpMVOp& operator=(const SpMVOp&) = delete;

    void prepare(cusparseContext* handle, cusparseConstSpMatDescr_t matrix, cusparseDnVecDescr_t x, cusparseDnVecDescr_t y,
                 cudaDataType type, Device& device) {
        constexpr cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
        std::size_t bytes = 0;
        check_cusparse(takes_algorithm_
                           ? reinterpret_cast<BufferSizeOf>(buffer_size_)(handle, operation, matrix, x, y, y, type,
                                                                          default_algorithm, &bytes)
                           : reinterpret_cast<BufferSize>(buffer_size_)(handle, operation, matrix, x, y, y, type, &bytes),
                       "cusparseSpMVOp_bufferSize");
        buffer_ = device.allocate(bytes, "the buffer of cuSPARSE");
        check_cusparse(takes_algorithm_
                           ? reinterpret_cast<CreateDescriptionOf>(create_description_)(
                                 handle, &description_, operation, matrix, x, y, y, type, default_algorithm, buffer_.address())
                           : reinterpret_cast<CreateDescription>(create_description_)(handle, &description_, operation, matrix,
                                                                                      x, y, y, type, buffer_.address()),
                       "cusparseSpMVOp_createDescr");
        check_cusparse(create_plan_(handle, description_, &plan_, nullptr, 0), "cusparseSpMVOp_createPlan");
    }

    /// y = A x + added; both factors point to 1.
    void run(cusparseContext* handle, const void* one, cusparseDnVecDescr_t x, cusparseDnVecDescr_t added,
             cusparseDnVecDescr_t y) const {
        check_cusparse(run_(handle, plan_, one, one, x, added, y), "cusparseSpMVOp");
    }

private:
    using Operation = cusparseOperation_t;
    using Matrix = cusparseConstSpMatDescr_t;
    using Vector = cusparseDnVecDescr_t;
    using BufferSize = cusparseStatus_t (*)(cusparseHandle_t, Operation, Matrix, Vector, Vector, Vector, cudaDataType,
                                            std::size_t*);
    using BufferSizeOf = cusparseStatus_t (*)(cusparseHandle_t, Operation, Matrix, Vector, Vector, Vector, cudaDataType, int,
                                              std::size_t*);
    using CreateDescription = cusparseStatus_t (*)(cusparseHandle_t, void**, Operation, Matrix, Vector, Vector, Vector,
                                                   cudaDataType, void*);
    using CreateDescriptionOf = cusparseStatus_t (*)(cusparseHandle_t, void**, Operation, Matrix, Vector, Vector, Vector,
                                                     cudaDataType, int, void*);

    // Its arguments changed under the same names.
    static constexpr int first_with_buffer = 12703;     // 12.7.3, of CUDA 13.1 Update 1
    static constexpr int first_with_algorithm = 12801;  // 12.8.1, of CUDA 13.3
    static constexpr int first_unknown = 12900;
    static constexpr int default_algorithm = 0;

    template <typename Function>
    static bool find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
        return function != nullptr;
    }

    bool takes_algorithm_ = false;
    void (*buffer_size_)() = nullptr;
    void (*create_description_)() = nullptr;
    cusparseStatus_t (*create_plan_)(cusparseHandle_t, void*, void**, const void*, std::size_t) = nullptr;
    cusparseStatus_t (*run_)(cusparseHandle_t, void*, const void*, const void*, Vector, Vector, Vector) = nullptr;
    cusparseStatus_t (*destroy_plan_)(void*) = nullptr;
    cusparseStatus_t (*destroy_description_)(void*) = nullptr;
    DeviceMemory buffer_;
    void* description_ = nullptr;
    void* plan_ = nullptr;
};

template <ValueType Value>
class CusparseOpKernel final : public Kernel<Value> {
public:
    CusparseOpKernel(CusparseMatrix matrix, Device& device, void* stream)
        : matrix_(std::move(matrix)),
          handle_(make_handle(stream)),
          description_(describe<Value>(matrix_)),
          operation_(handle_.get()),
          no_y_(device.allocate(sizeof(Value) * matrix_.rows, "a y of zeros for cuSPARSE")) {
        const DeviceMemory x = device.allocate(sizeof(Value) * matrix_.columns, "x, to prepare cuSPARSE");
        const DeviceMemory y = device.allocate(sizeof(Value) * matrix_.rows, "y, to prepare cuSPARSE");
        x_ = describe_vector<Value>(matrix_.columns, x);
        y_ = describe_vector<Value>(matrix_.rows, y);
        device.fill(no_y_.address(), std::byte{0}, no_y_.bytes());
        zeros_ = describe_vector<Value>(matrix_.rows, no_y_);
        operation_.prepare(handle_.get(), description_.get(), x_.get(), y_.get(), value_type<Value>, device);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        static constexpr Value one = 1;
        check_cusparse(cusparseDnVecSetValues(x_.get(), const_cast<Value*>(x)), "cusparseDnVecSetValues");
        check_cusparse(cusparseDnVecSetValues(y_.get(), y), "cusparseDnVecSetValues");
        operation_.run(handle_.get(), &one, x_.get(), accumulate ? y_.get() : zeros_.get(), y_.get());
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_to_move<Value>(matrix_); }

private:
    CusparseMatrix matrix_;
    Handle handle_;
    MatrixDescription description_;
    SpMVOp operation_;
    // That a factor of 0 ignores what y contains is not documented, so that y = A x adds to zeros.
    DeviceMemory no_y_;
    VectorDescription x_;
    VectorDescription y_;
    VectorDescription zeros_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(CusparseMatrix matrix, int vectors, Device& device, void* stream) {
    if (vectors > 1) return std::make_unique<CusparseVectorsKernel<Value>>(std::move(matrix), vectors, device, stream);
    if (matrix.format == CusparseFormat::csr_op)
        return std::make_unique<CusparseOpKernel<Value>>(std::move(matrix), device, stream);
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
