// Products of a sparse matrix with vectors, y = A x, in the storage formats of the SpMV workbench.
//
// A recipe says how a matrix is reordered, how it is stored and which kernel multiplies; applied to a matrix it gives an
// Operator:
//
//     const auto recipe = spmv_workbench::Recipe::from_file("ehyb.toml");
//     spmv_workbench::Operator<double> a(recipe, {rows, columns, row_offsets, column_indices, values});
//     a.multiply(x, y);
//
// It takes C++17 and its standard library. What is thrown is an Error, std::invalid_argument where the caller broke a rule that
// stands here (a vector of the wrong length), or std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#define SPMV_WORKBENCH_API __attribute__((visibility("default")))

namespace spmv_workbench {

/// Everything that goes wrong without being the caller's fault. The text is for the user: where, what was found, what was
/// expected.
class SPMV_WORKBENCH_API Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A recipe that is wrong. Lists all that is wrong with it, each as "file:line:column: ...".
class SPMV_WORKBENCH_API RecipeError : public Error {
public:
    using Error::Error;
};

/// A matrix that is none (offsets that descend, columns out of range, a place twice), or one that the recipe does not suit.
class SPMV_WORKBENCH_API MatrixError : public Error {
public:
    using Error::Error;
};

/// The machine lacks something: a GPU, memory.
class SPMV_WORKBENCH_API MachineError : public Error {
public:
    using Error::Error;
};

/// The kernel gave a wrong result when it was verified.
class SPMV_WORKBENCH_API WrongResult : public Error {
public:
    using Error::Error;
};

/// An array of somebody else in the host's memory: of a std::vector, a std::array, a std::span, or by address and size.
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

/// An array in the memory of the GPU, made by on_device: {pointer, size} is always one of the host.
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

/// So many numbers at an address that cudaMalloc gave.
template <typename T>
[[nodiscard]] constexpr DeviceArray<T> on_device(T* address, std::size_t size) {
    return DeviceArray<T>::at(address, size);
}

/// A matrix in compressed sparse rows that belongs to somebody else; read while an Operator is made of it, and then no more.
template <typename Value>
struct CsrView {
    /// Row i holds the entries row_offsets[i] to row_offsets[i + 1] - 1: value values[k] in column column_indices[k], counted
    /// from 0, each column at most once, in any order. row_offsets: [rows + 1], from 0 to the number of entries.
    CsrView(std::int32_t row_count, std::int32_t column_count, ArrayView<const std::int64_t> offsets,
            ArrayView<const std::int32_t> indices, ArrayView<const Value> numbers)
        : rows(row_count), columns(column_count), row_offsets(offsets), column_indices(indices), values(numbers) {}
    CsrView(std::int32_t row_count, std::int32_t column_count, ArrayView<const std::int32_t> offsets,
            ArrayView<const std::int32_t> indices, ArrayView<const Value> numbers)
        : rows(row_count), columns(column_count), short_row_offsets(offsets), column_indices(indices), values(numbers) {}

    std::int32_t rows;
    std::int32_t columns;
    ArrayView<const std::int64_t> row_offsets = {};        // one of the two
    ArrayView<const std::int32_t> short_row_offsets = {};  // is empty
    ArrayView<const std::int32_t> column_indices;
    ArrayView<const Value> values;
};

/// A recipe that passed every check which needs no matrix. It can be copied, and applied to any number of matrices.
class SPMV_WORKBENCH_API Recipe {
public:
    /// `changes`: as `--set` of the workbench, "layout.slice_height=64". A matrix that the recipe names is not read; where it
    /// names one, its node_size goes with it, and "matrix.node_size=3" is one for the matrix at hand. Throws RecipeError.
    [[nodiscard]] static Recipe from_file(const std::string& file, const std::vector<std::string>& changes = {});
    /// `file` need not exist: messages name it, and what the recipe extends lies beside it.
    [[nodiscard]] static Recipe from_text(std::string_view text, const std::vector<std::string>& changes = {},
                                          const std::string& file = "recipe.toml");

    /// The recipe with every default filled in, as a text that is a recipe again.
    [[nodiscard]] std::string resolved() const;

private:
    template <typename Value>
    friend class Operator;
    struct Checked;
    explicit Recipe(std::shared_ptr<const Checked> checked) : checked_(std::move(checked)) {}
    std::shared_ptr<const Checked> checked_;
};

enum class Device {
    automatic,  // the GPU, where there is one and the recipe has a kernel for it; otherwise the host
    host,
    gpu,  // the one that the calling thread has chosen (cudaSetDevice), when the operator is made and whenever it is used
};

struct Options {
    Device device = Device::automatic;
    /// The kernel of this name. Empty: what the recipe brings along or chooses for the device, or the usual one of the layout.
    std::string kernel = {};
    /// Is the kernel verified before it is used? Exactly, on integers, and within rounding, on the matrix itself. It takes a
    /// second layout for as long as it lasts, and the time of building it and of some ten products.
    bool verify = true;
    /// The cudaStream_t that all work of an operator on the GPU is put on, in order; it must outlive the operator. Null: the
    /// default stream.
    void* stream = nullptr;
};

/// What an operator is.
struct OperatorFacts {
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int64_t nonzeros = 0;
    Device device = Device::host;    // never automatic
    std::string device_name;         // "NVIDIA H200"
    std::string layout;              // "ehyb"; of a hybrid "csr + sell"
    std::string kernel;              // "fused"; of a hybrid "vector + slices"
    std::string backend;             // kokkos, eigen, cpu, cuda, cusparse
    std::int64_t bytes = 0;          // of the stored matrix
    std::int64_t bytes_to_move = 0;  // that one product moves at least
    double seconds = 0;              // that it took to make the operator
    bool verified = false;
    std::vector<std::string> notes;  // what the recipe's stages say: "metis_partition: partitions: 16"
};

/// A matrix that a recipe was applied to. Value: float or double.
///
/// Vectors are in the caller's order or in the recipe's. **The recipe's order** of a vector is that of the columns of the
/// reordered matrix, for x and y alike, so that y can be the next x: element i of it is element column_order()[i] of the
/// caller's. It spares a product the reordering of x, and that of y too where the recipe moves rows and columns alike; where it
/// moves them apart, bringing y from the order of the rows to that of the columns is a part of every product. Where the matrix
/// is not square there is no such order for y, which is then in the caller's.
///
/// On the host a product is done when the function returns. On the GPU, with arrays of the device, it is put on the stream and
/// the function returns at once; with arrays of the host they are copied there and back, and the function waits.
///
/// x and y must not overlap. An operator has room for one product: it may be used by one thread at a time, different operators
/// by different threads.
template <typename Value>
class SPMV_WORKBENCH_API Operator {
public:
    /// Applies the recipe, which may take long; not in a parallel region of OpenMP. The matrix is copied. Throws MatrixError,
    /// MachineError, RecipeError where the recipe has no such kernel, WrongResult.
    Operator(const Recipe& recipe, const CsrView<Value>& matrix, const Options& options = {});
    ~Operator();
    Operator(Operator&& other) noexcept;
    Operator& operator=(Operator&& other) noexcept;
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    /// y = A x. x: [columns], y: [rows]. Arrays of the device only where the operator is there.
    void multiply(ArrayView<const Value> x, ArrayView<Value> y);
    void multiply(DeviceArray<const Value> x, DeviceArray<Value> y);
    /// y += A x.
    void multiply_add(ArrayView<const Value> x, ArrayView<Value> y);
    void multiply_add(DeviceArray<const Value> x, DeviceArray<Value> y);

    /// The same in the recipe's order.
    void multiply_in_recipe_order(ArrayView<const Value> x, ArrayView<Value> y);
    void multiply_in_recipe_order(DeviceArray<const Value> x, DeviceArray<Value> y);
    void multiply_add_in_recipe_order(ArrayView<const Value> x, ArrayView<Value> y);
    void multiply_add_in_recipe_order(DeviceArray<const Value> x, DeviceArray<Value> y);

    /// Brings a vector from the caller's order to the recipe's, and back. Both arrays: [columns].
    void to_recipe_order(ArrayView<const Value> from, ArrayView<Value> to) const;
    void to_recipe_order(DeviceArray<const Value> from, DeviceArray<Value> to) const;
    void from_recipe_order(ArrayView<const Value> from, ArrayView<Value> to) const;
    void from_recipe_order(DeviceArray<const Value> from, DeviceArray<Value> to) const;

    /// Of the reordered matrix: its row i is the caller's row row_order()[i], and likewise its columns. They live as long as
    /// the operator.
    [[nodiscard]] ArrayView<const std::int32_t> row_order() const;
    [[nodiscard]] ArrayView<const std::int32_t> column_order() const;

    [[nodiscard]] const OperatorFacts& facts() const;

private:
    class Applied;
    std::unique_ptr<Applied> applied_;
};

extern template class Operator<float>;
extern template class Operator<double>;

}  // namespace spmv_workbench
