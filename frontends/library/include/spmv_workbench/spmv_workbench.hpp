// Sparse matrix-vector products, y = A x, in the storage formats of the SpMV workbench.
//
// A recipe describes how a matrix is reordered, how it is stored, and which kernel multiplies. Applied to a matrix it gives an
// Operator:
//
//     const auto recipe = spmv_workbench::Recipe::from_file("ehyb.toml");
//     spmv_workbench::Operator<double> a(recipe, {rows, columns, row_offsets, column_indices, values});
//     a.multiply(x, y);
//
// Requires C++17. Functions throw Error, std::invalid_argument if the caller violates a precondition stated here (such as the
// length of a vector), or std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The version of this header, as `workbench --version` prints it.
#define SPMV_WORKBENCH_VERSION_MAJOR 0
#define SPMV_WORKBENCH_VERSION_MINOR 1
#define SPMV_WORKBENCH_VERSION_PATCH 0

#define SPMV_WORKBENCH_API __attribute__((visibility("default")))

namespace spmv_workbench {

/// Base of all errors that are not violated preconditions. The text is meant for the user: where, what was found, what was
/// expected.
class SPMV_WORKBENCH_API Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An invalid recipe. The text lists all of its errors, each as "file:line:column: ...".
class SPMV_WORKBENCH_API RecipeError : public Error {
public:
    using Error::Error;
};

/// An invalid matrix (decreasing offsets, columns out of range, duplicate entries), or one that does not suit the recipe.
class SPMV_WORKBENCH_API MatrixError : public Error {
public:
    using Error::Error;
};

/// The machine lacks a resource, such as a GPU or memory.
class SPMV_WORKBENCH_API MachineError : public Error {
public:
    using Error::Error;
};

/// The kernel failed verification.
class SPMV_WORKBENCH_API WrongResult : public Error {
public:
    using Error::Error;
};

/// Options::stop returned true.
class SPMV_WORKBENCH_API Stopped : public Error {
public:
    using Error::Error;
};

/// A non-owning view of an array in host memory, from a std::vector, std::array or std::span, or from address and size.
template <typename T>
class ArrayView {
public:
    constexpr ArrayView() = default;
    constexpr ArrayView(T* data, std::size_t size) : data_(data), size_(size) {}
    template <typename Array, typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Array&>().data()), T*>>>
    constexpr ArrayView(Array&& array) : data_(array.data()), size_(array.size()) {}  // NOLINT(*-forwarding-reference-overload)

    [[nodiscard]] constexpr T* data() const { return data_; }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr T* begin() const { return data_; }
    [[nodiscard]] constexpr T* end() const { return data_ + size_; }
    [[nodiscard]] constexpr T& operator[](std::size_t i) const { return data_[i]; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A non-owning view of an array in GPU memory, made by on_device. {pointer, size} always denotes a host array.
template <typename T>
class DeviceArray {
public:
    constexpr DeviceArray() = default;
    template <typename Other, typename = std::enable_if_t<std::is_convertible_v<Other*, T*>>>
    constexpr DeviceArray(DeviceArray<Other> other) : address_(other.address()), size_(other.size()) {}

    [[nodiscard]] constexpr T* address() const { return address_; }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }

    /// See on_device.
    [[nodiscard]] static constexpr DeviceArray at(T* address, std::size_t size) {
        DeviceArray array;
        array.address_ = address;
        array.size_ = size;
        return array;
    }

private:
    T* address_ = nullptr;
    std::size_t size_ = 0;
};

/// A view of `size` elements in memory allocated with cudaMalloc.
template <typename T>
[[nodiscard]] constexpr DeviceArray<T> on_device(T* address, std::size_t size) {
    return DeviceArray<T>::at(address, size);
}

/// A non-owning view of a matrix in CSR format; an Operator reads it during construction only.
template <typename Value>
struct CsrView {
    /// Row i has the entries k = row_offsets[i] to row_offsets[i + 1] - 1: values[k] in column column_indices[k], counted from
    /// 0, each column at most once, in any order. row_offsets: [rows + 1], from 0 to the number of entries.
    CsrView(std::int32_t row_count, std::int32_t column_count, ArrayView<const std::int64_t> offsets,
            ArrayView<const std::int32_t> indices, ArrayView<const Value> numbers)
        : rows(row_count), columns(column_count), row_offsets(offsets), column_indices(indices), values(numbers) {}
    CsrView(std::int32_t row_count, std::int32_t column_count, ArrayView<const std::int32_t> offsets,
            ArrayView<const std::int32_t> indices, ArrayView<const Value> numbers)
        : rows(row_count), columns(column_count), short_row_offsets(offsets), column_indices(indices), values(numbers) {}

    std::int32_t rows;
    std::int32_t columns;
    ArrayView<const std::int64_t> row_offsets = {};
    ArrayView<const std::int32_t> short_row_offsets = {};  // used if row_offsets is empty
    ArrayView<const std::int32_t> column_indices;
    ArrayView<const Value> values;
};

/// A non-owning view of a matrix in CSR format in GPU memory; an Operator reads it during construction only, after the work
/// that Options::stream has so far. The arrays are those of CsrView.
template <typename Value>
struct DeviceCsrView {
    DeviceCsrView(std::int32_t row_count, std::int32_t column_count, DeviceArray<const std::int64_t> offsets,
                  DeviceArray<const std::int32_t> indices, DeviceArray<const Value> numbers)
        : rows(row_count), columns(column_count), row_offsets(offsets), column_indices(indices), values(numbers) {}
    DeviceCsrView(std::int32_t row_count, std::int32_t column_count, DeviceArray<const std::int32_t> offsets,
                  DeviceArray<const std::int32_t> indices, DeviceArray<const Value> numbers)
        : rows(row_count), columns(column_count), short_row_offsets(offsets), column_indices(indices), values(numbers) {}

    std::int32_t rows;
    std::int32_t columns;
    DeviceArray<const std::int64_t> row_offsets = {};
    DeviceArray<const std::int32_t> short_row_offsets = {};  // used if row_offsets is empty
    DeviceArray<const std::int32_t> column_indices;
    DeviceArray<const Value> values;
};

/// A recipe that passed every check which needs no matrix. It can be copied and applied to any number of matrices.
class SPMV_WORKBENCH_API Recipe {
public:
    /// `changes`: as for the workbench's `--set`, e.g. "layout.slice_height=64". A matrix named in the recipe is ignored,
    /// together with its node_size; set "matrix.node_size=3" for your own matrix. Throws RecipeError.
    [[nodiscard]] static Recipe from_file(const std::string& file, const std::vector<std::string>& changes = {});
    /// `file` need not exist; it appears in messages, and recipes named in `extends` are relative to it.
    [[nodiscard]] static Recipe from_text(std::string_view text, const std::vector<std::string>& changes = {},
                                          const std::string& file = "recipe.toml");

    /// The recipe as TOML with every default filled in.
    [[nodiscard]] std::string resolved() const;

private:
    template <typename Value>
    friend class Operator;
    template <typename Value>
    friend class Solver;
    struct Checked;
    explicit Recipe(std::shared_ptr<const Checked> checked) : checked_(std::move(checked)) {}
    std::shared_ptr<const Checked> checked_;
};

enum class Device {
    automatic,  // the GPU if there is one and the recipe has a kernel for it, otherwise the host
    host,
    gpu,  // the calling thread's current device (cudaSetDevice), at construction and whenever the operator is used
};

/// The meaning of a square matrix whose entries beside the diagonal are all on one side of it.
enum class Triangle {
    refused,    // the matrix is a MatrixError, as it may be half of a symmetric one
    symmetric,  // it is half of a symmetric matrix: an entry a_ij is also a_ji. Other matrices are a MatrixError
    as_given,   // it is triangular
};

struct Options {
    Device device = Device::automatic;
    /// Name of the kernel. Empty: the recipe's own kernel or choice, or the layout's default.
    std::string kernel = {};
    /// Verifies the kernel before use: exactly on integers, and within rounding errors on the matrix itself. The former needs a
    /// second, temporary layout; it is done once in a process for a recipe and a pattern, so that later operators for other
    /// values cost less. docs/library.md has figures, OperatorFacts::verification_seconds what it took.
    bool verify = true;
    /// If it is symmetric, the host prepares a matrix that is in the memory of the GPU.
    Triangle triangle = Triangle::refused;
    /// The cudaStream_t on which an operator on the GPU runs; it must outlive the operator. Null: the default stream.
    void* stream = nullptr;
    /// Called before each stage, before the layout is built and before the kernel is prepared, and by a Solver several times a
    /// second while it iterates; true ends the construction or the solve with Stopped. An exception that it throws does so,
    /// too, and reaches the caller. Empty: nothing is stopped.
    std::function<bool()> stop = {};
};

/// Properties of an operator.
struct OperatorFacts {
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int64_t nonzeros = 0;        // both halves if Options::triangle is symmetric
    Device device = Device::host;     // never automatic
    std::string device_name;          // "NVIDIA H200"
    std::string layout;               // "ehyb"; "csr + sell" for a hybrid
    std::string kernel;               // "fused"; "vector + slices" for a hybrid
    std::string backend;              // kokkos, eigen, cpu, cuda, cusparse
    std::int64_t bytes = 0;           // of the stored matrix
    std::int64_t bytes_to_move = 0;   // minimum traffic of one product
    double seconds = 0;               // time of the construction
    double process_seconds = 0;       // the part of `seconds` that a process pays once for a recipe on a GPU: loading kernels
    double verification_seconds = 0;  // the part of `seconds` that Options::verify = false saves, for a matrix of the host
    bool verified = false;
    std::vector<std::string> notes;  // of the recipe's stages: "metis_partition: partitions: 16"
};

/// The order of a vector's elements; see Operator.
enum class VectorOrder { caller, recipe };

/// A recipe applied to a matrix. Value: float or double.
///
/// Vectors are in the caller's order or in the recipe's. **The recipe's order** is that of the reordered matrix's columns, for
/// x and y alike, so that y can be the next x: its element i is the caller's element column_order()[i]. In this order a product
/// need not permute x, nor y if the recipe reorders rows and columns alike; if it does not, every product permutes y from row
/// order to column order. If the matrix is not square, y is in the caller's order.
///
/// On the host, a product is complete when the function returns. On the GPU, products of device arrays are asynchronous on the
/// stream; products of host arrays copy them to the device and back and are synchronous.
///
/// x and y must not overlap. An operator may be used by one thread at a time; different operators may be used concurrently. An
/// operator on the host may be used in a process that was forked while no thread used or made an operator; in other children,
/// and on a GPU, MachineError is thrown. An operator that was moved from may be destroyed or assigned to; everything else
/// throws std::invalid_argument.
template <typename Value>
class SPMV_WORKBENCH_API Operator {
public:
    /// Copies the matrix and applies the recipe, which may take long; must not be called in a parallel region of OpenMP. Throws
    /// MatrixError, MachineError, WrongResult, and RecipeError if the recipe has no kernel of that name.
    Operator(const Recipe& recipe, const CsrView<Value>& matrix, const Options& options = {});
    /// Creates an operator on the GPU for a matrix in GPU memory. The GPU applies the recipe itself if it has at most
    /// cuthill_mckee, then at most row_sort by length (of all rows or in windows), then `sell` with values in full and columns
    /// of 16 or 32 bits, or if it is another of the chains that docs/library.md lists. Otherwise, or if the matrix does not
    /// allow it (facts().notes has the reason), the matrix is copied to the host, which applies the recipe.
    Operator(const Recipe& recipe, const DeviceCsrView<Value>& matrix, const Options& options = {});
    ~Operator();
    Operator(Operator&& other) noexcept;
    Operator& operator=(Operator&& other) noexcept;
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    /// y = A x. x: [columns], y: [rows]. Device arrays require an operator on the GPU.
    void multiply(ArrayView<const Value> x, ArrayView<Value> y) { run(x, y, VectorOrder::caller, false); }
    void multiply(DeviceArray<const Value> x, DeviceArray<Value> y) { run(x, y, VectorOrder::caller, false); }
    /// y += A x.
    void multiply_add(ArrayView<const Value> x, ArrayView<Value> y) { run(x, y, VectorOrder::caller, true); }
    void multiply_add(DeviceArray<const Value> x, DeviceArray<Value> y) { run(x, y, VectorOrder::caller, true); }

    /// Like multiply and multiply_add, with x and y in the recipe's order.
    void multiply_in_recipe_order(ArrayView<const Value> x, ArrayView<Value> y) { run(x, y, VectorOrder::recipe, false); }
    void multiply_in_recipe_order(DeviceArray<const Value> x, DeviceArray<Value> y) { run(x, y, VectorOrder::recipe, false); }
    void multiply_add_in_recipe_order(ArrayView<const Value> x, ArrayView<Value> y) { run(x, y, VectorOrder::recipe, true); }
    void multiply_add_in_recipe_order(DeviceArray<const Value> x, DeviceArray<Value> y) {
        run(x, y, VectorOrder::recipe, true);
    }

    /// y = alpha A x + beta y. With beta = 0, y is not read. The product is rounded before it is multiplied by alpha. Arrays in
    /// memory of the host.
    void multiply(Value alpha, ArrayView<const Value> x, Value beta, ArrayView<Value> y);

    /// Y = A X, and Y += A X, for 1 to 64 vectors in the caller's order: X [columns x vectors] and Y [rows x vectors] row by
    /// row, so that the elements of a column of A, and of a row of Y, are neighbours. The matrix is read once, if the kernel
    /// can (docs/library.md). The first call with a number of vectors, and the first after set_values, prepares a kernel for
    /// it; on a GPU, NVRTC compiles it. With Options::verify it is verified, once in a process for a recipe, a pattern and a
    /// number of vectors: WrongResult. Device arrays begin at a multiple of 16 bytes. Throws
    /// MatrixError if the matrix is in the memory of the GPU alone, and for 2^31 elements or more; MachineError.
    void multiply(ArrayView<const Value> x, ArrayView<Value> y, std::int32_t vectors) { run(x, y, vectors, false); }
    void multiply(DeviceArray<const Value> x, DeviceArray<Value> y, std::int32_t vectors) { run(x, y, vectors, false); }
    void multiply_add(ArrayView<const Value> x, ArrayView<Value> y, std::int32_t vectors) { run(x, y, vectors, true); }
    void multiply_add(DeviceArray<const Value> x, DeviceArray<Value> y, std::int32_t vectors) { run(x, y, vectors, true); }

    /// An operator for A^T, as the same recipe applied to it makes it, with the options of this one; facts().seconds of the
    /// result is its price. It has the values of this moment, and a memory of its own. Throws MatrixError if the matrix is
    /// in the memory of the GPU alone or the recipe does not suit A^T, and what the constructor throws.
    [[nodiscard]] Operator transposed() const;

    /// Replaces the values of the matrix: as many as the constructor was given, in the order of its column_indices. Orders,
    /// layout and kernel are kept, without another verification. The first call finds out where the layout stores each value,
    /// which takes 12 bytes per stored value; later calls cost about as much as copying the layout. On the GPU, the layout is
    /// copied from the host while the previous copy still exists, and CUDA graphs with products of this operator must be
    /// captured again. Throws MatrixError if the layout cannot store the values (they are coded, or symmetric pairs are stored
    /// once), MachineError; products then give the result of the values from before. For a matrix that the GPU prepared, new
    /// values are gathered there, asynchronously if they are in its memory.
    void set_values(ArrayView<const Value> values);
    void set_values(DeviceArray<const Value> values);
    /// Like above, with the values of a matrix that has the pattern of the constructor's, and the columns of each row in any
    /// order. Copies the matrix meanwhile. Throws MatrixError with the first row whose pattern differs, or if the operator's
    /// matrix is in the memory of the GPU alone.
    void set_values(const CsrView<Value>& matrix);

    /// Permutes a vector from the caller's order to the recipe's, and back. Both arrays: [columns].
    void to_recipe_order(ArrayView<const Value> from, ArrayView<Value> to) const { permute(from, to, VectorOrder::recipe); }
    void to_recipe_order(DeviceArray<const Value> from, DeviceArray<Value> to) const { permute(from, to, VectorOrder::recipe); }
    void from_recipe_order(ArrayView<const Value> from, ArrayView<Value> to) const { permute(from, to, VectorOrder::caller); }
    void from_recipe_order(DeviceArray<const Value> from, DeviceArray<Value> to) const {
        permute(from, to, VectorOrder::caller);
    }

    /// Row i of the reordered matrix is the caller's row row_order()[i]; likewise for columns. Valid as long as the operator.
    [[nodiscard]] ArrayView<const std::int32_t> row_order() const;
    [[nodiscard]] ArrayView<const std::int32_t> column_order() const;

    /// A's diagonal in the caller's order, as long as A's shorter side, 0 where A has no entry. Reads the layout on the host.
    /// Throws MatrixError if the matrix is in the memory of the GPU alone.
    [[nodiscard]] std::vector<Value> diagonal() const;

    [[nodiscard]] const OperatorFacts& facts() const;

private:
    template <typename>
    friend class Solver;
    struct Applied;
    Operator() noexcept;  // Solver sets applied_
    void run(ArrayView<const Value> x, ArrayView<Value> y, VectorOrder order, bool accumulate);
    void run(DeviceArray<const Value> x, DeviceArray<Value> y, VectorOrder order, bool accumulate);
    void run(ArrayView<const Value> x, ArrayView<Value> y, std::int32_t vectors, bool accumulate);
    void run(DeviceArray<const Value> x, DeviceArray<Value> y, std::int32_t vectors, bool accumulate);
    void permute(ArrayView<const Value> from, ArrayView<Value> to, VectorOrder order) const;  // to this order
    void permute(DeviceArray<const Value> from, DeviceArray<Value> to, VectorOrder order) const;
    [[nodiscard]] Applied& applied() const;

    std::unique_ptr<Applied> applied_;
};

extern template class Operator<float>;
extern template class Operator<double>;

/// conjugate_gradients: for symmetric positive definite matrices (Hestenes, Stiefel 1952). bicgstab: for all others (van der
/// Vorst 1992).
enum class Method { conjugate_gradients, bicgstab };

/// jacobi: the inverse of the diagonal, with 1 for entries that are missing or 0.
enum class Preconditioner { none, jacobi };

/// How iterations run. graph: the recipe's kernel and those of the vectors, one after another (on a GPU a CUDA graph).
/// persistent: one kernel that stays on the GPU, with a copy of the matrix in its shared memory; for an operator on a GPU whose
/// recipe rounds no values. automatic: the one that takes less time in all, by a model (SolverOptions::expected_iterations).
enum class Engine { automatic, graph, persistent };

struct SolverOptions {
    Method method = Method::conjugate_gradients;
    Preconditioner preconditioner = Preconditioner::none;
    double tolerance = 1e-8;  // on |b - A x| / |b|, 2-norms
    std::int64_t most_iterations = 10000;
    std::int64_t patience = 1000;  // iterations within which the residual must fall by 1 %; otherwise the solve ends
    Options recipe = {};           // for the operator
    Engine engine = Engine::automatic;
    std::int64_t expected_iterations = 0;  // for Engine::automatic: of all solves with this matrix; 0: most_iterations
};

/// How a solve ended. stagnated: see SolverOptions::patience; or rounding errors keep the true residual above the tolerance.
/// indefinite: p.Ap or r.Mr is not positive. breakdown: a divisor is 0, or a number is not finite.
enum class SolveEnd { converged, iteration_limit, stagnated, indefinite, breakdown };

struct SolveFacts {
    SolveEnd end = SolveEnd::breakdown;
    std::int64_t iterations = 0;
    double residual = 0;            // |b - A x| / |b|, computed anew from x at the end; |b - A x| if b is 0
    double seconds = 0;             // of this call
    Engine engine = Engine::graph;  // the one that ran
    std::int32_t together = 1;      // right-hand sides that were solved for in the same iterations; `seconds` is then of all
};

/// z = M r, where M approximates the inverse of A. r, z: [rows], in the caller's order and in host memory, valid during the
/// call. conjugate_gradients: M must be symmetric positive definite, and the same in each call.
template <typename Value>
using PreconditionerFunction = std::function<void(ArrayView<const Value> r, ArrayView<Value> z)>;

/// The course of one solve.
template <typename Value>
struct SolveCourse {
    /// Begins with the x that is given, instead of 0. If b is 0, x becomes 0.
    bool from_x = false;
    /// Called after each iteration, with x [rows] in the caller's order and in host memory, valid during the call. residual:
    /// |r| / |b| of the recurrence. Costs a copy of x and, on a GPU, a launch for each iteration. Empty: not called.
    std::function<void(std::int64_t iterations, double residual, ArrayView<const Value> x)> each_iteration = {};
};

/// Solves A x = b with the operator of a recipe. The vectors of the method stay in the recipe's order, and on the GPU for an
/// operator there; sums are in f64. The first solve on a GPU takes longer, because it records the iteration. On the default
/// stream a solver and its operator have a stream of their own that keeps its order with the default stream. May be used by one
/// thread at a time. What holds for an operator after a fork, or that was moved from, holds for a solver.
///
/// Functions of the caller may use other operators and solvers. An exception that they throw ends the solve and reaches the
/// caller; x is then not written.
template <typename Value>
class SPMV_WORKBENCH_API Solver {
public:
    /// Like the constructors of Operator. Throws MatrixError if the matrix is not square, or with the reason if
    /// Engine::persistent cannot solve with it. The notes of matrix().facts() say which engine was chosen and why.
    Solver(const Recipe& recipe, const CsrView<Value>& matrix, const SolverOptions& options = {});
    Solver(const Recipe& recipe, const DeviceCsrView<Value>& matrix, const SolverOptions& options = {});
    ~Solver();
    Solver(Solver&& other) noexcept;
    Solver& operator=(Solver&& other) noexcept;
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;

    /// b, x: [rows], in the caller's order; they must not overlap. Waits. x is written however the solve ends. Device arrays
    /// require an operator on the GPU and are used on its stream. Host arrays must be finite: b, and x with
    /// SolveCourse::from_x; a solve with device arrays that are not ends as a breakdown. Throws MatrixError with the figures if
    /// sums of squares leave the range of f64, as for |b| = 1e-170; x is then not written.
    SolveFacts solve(ArrayView<const Value> b, ArrayView<Value> x, const SolveCourse<Value>& course = {});
    SolveFacts solve(DeviceArray<const Value> b, DeviceArray<Value> x, const SolveCourse<Value>& course = {});

    /// Solves for 1 to 64 right-hand sides: B, X [rows x right_sides], row by row. Conjugate gradients advance together, with
    /// one product with all directions an iteration, unless the engine is a persistent kernel, the preconditioner a function,
    /// each_iteration is given, or the matrix is in the memory of the GPU alone; these solves, and those of bicgstab, take
    /// place one after another. Otherwise as above; if one of several solves with device arrays throws, x is not written.
    std::vector<SolveFacts> solve(ArrayView<const Value> b, ArrayView<Value> x, std::int32_t right_sides,
                                  const SolveCourse<Value>& course = {});
    std::vector<SolveFacts> solve(DeviceArray<const Value> b, DeviceArray<Value> x, std::int32_t right_sides,
                                  const SolveCourse<Value>& course = {});

    /// Replaces the preconditioner of later solves by a function. Their vectors are then in host memory also if the operator is
    /// on a GPU, to which each product copies. An empty function: back to SolverOptions::preconditioner.
    void precondition_by(PreconditionerFunction<Value> function);

    /// The operator, for products with the same matrix. Its set_values changes the matrix of later solves, and the diagonal of
    /// Preconditioner::jacobi with it, unless the matrix is in the memory of the GPU alone. A persistent kernel that stores
    /// values in f32, because it represents all of them, gives way to Engine::graph where it does not represent the new ones.
    [[nodiscard]] Operator<Value>& matrix();

private:
    struct State;
    [[nodiscard]] State& state() const;
    std::unique_ptr<State> state_;
};

extern template class Solver<float>;
extern template class Solver<double>;

}  // namespace spmv_workbench
