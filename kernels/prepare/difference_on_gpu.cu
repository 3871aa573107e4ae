// A thread compares one row of a product with the row of the matrix as it was given.
#include <cmath>
#include <limits>
#include <span>

#include "core/contract/kernel.hpp"
#include "core/matrix/random.hpp"
#include "core/matrix/value_bits.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/prepare/narrowing.cuh"
#include "kernels/prepare/plan_on_gpu.hpp"
#include "kernels/primitives/workspace.cuh"

namespace workbench {
namespace {

constexpr Index no_row = std::numeric_limits<Index>::max();

/// Small integers: their products and sums are exact for rows of up to 2^20 entries, even in f32.
template <typename Value>
__device__ Value exact_value(const CsrOnDevice<Value>& matrix, std::int64_t entry, Integers integers) {
    if (integers == Integers::by_place) return static_cast<Value>(1 + entry % 5);
    const std::uint64_t bits = bits_of(matrix.values[entry]);
    return static_cast<Value>(bits == 0 ? 0 : 1 + mixed(bits) % 5);  // 0 may share its code with padding
}

template <typename Value>
__device__ Value exact_x(Index column) {
    return static_cast<Value>(1 + column % 3);
}

/// f32 represents it, but products with it are rounded.
template <typename Value>
__device__ Value real_x(Index column) {
    return static_cast<Value>(8 + column % 9) / static_cast<Value>(8.5);
}

template <typename Value>
__global__ void fill_exact_values(CsrOnDevice<Value> matrix, Integers integers, Value* values) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i < matrix.nonzeros) values[i] = exact_value(matrix, i, integers);
}

template <bool exact, typename Value>
__global__ void fill_x(const Index* __restrict__ new_of_old, Index columns, Value* __restrict__ x) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i >= columns) return;
    const auto column = static_cast<Index>(i);
    x[new_of_old[column]] = exact ? exact_x<Value>(column) : real_x<Value>(column);
}

template <typename Value>
__global__ void fill_with(Index count, Value value, Value* array) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i < count) array[i] = value;
}

/// start: what y held before y += A x, otherwise 0.
template <bool exact, typename Value, typename Given>
__global__ void compare_rows(const Given* __restrict__ offsets, CsrOnDevice<Value> matrix, Integers integers, Rounding rounding,
                             const Index* __restrict__ new_of_old, const Value* __restrict__ y, double start,
                             Index* first_wrong) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i >= matrix.rows) return;
    double sum = start;
    double size = start;
    for (auto k = static_cast<std::int64_t>(offsets[i]); k < static_cast<std::int64_t>(offsets[i + 1]); ++k) {
        const Index column = matrix.column_indices[k];
        const double product =
            exact ? static_cast<double>(exact_value(matrix, k, integers)) * static_cast<double>(exact_x<Value>(column))
                  : rounded_on_gpu(matrix.values[k], rounding) * static_cast<double>(real_x<Value>(column));
        sum += product;
        size += fabs(product);
    }
    const auto found = static_cast<double>(y[new_of_old[i]]);
    const double length = static_cast<double>(offsets[i + 1] - offsets[i]) + 2;
    const double error = exact ? 0 : length * static_cast<double>(std::numeric_limits<Value>::epsilon()) * size;
    const bool is_right = fabs(found - sum) <= error || found == sum || (isnan(found) && isnan(sum));
    if (!is_right) atomicMin(first_wrong, static_cast<Index>(i));
}

/// Products of one operator, and vectors for them.
template <ValueType Value>
class DifferenceOnGpu {
public:
    DifferenceOnGpu(PlannedMatrix<Value>& sliced, const CsrOnDevice<Value>& matrix, Integers integers, Rounding rounding,
                    Device& device)
        : sliced_(sliced),
          matrix_(matrix),
          integers_(integers),
          rounding_(rounding),
          device_(device),
          x_(device.allocate(static_cast<std::size_t>(matrix.columns) * sizeof(Value), "x for verification")),
          y_(device.allocate(static_cast<std::size_t>(matrix.rows) * sizeof(Value), "y for verification")),
          first_wrong_(device.allocate(sizeof(Index), "a row number")) {}

    std::string difference() {
        if (integers_ == Integers::none) return difference_of<false>("the values of the matrix");
        const DeviceMemory exact = device_.allocate(static_cast<std::size_t>(matrix_.nonzeros) * sizeof(Value), "exact values");
        fill_exact_values<<<blocks_for(matrix_.nonzeros, block_threads), block_threads, 0, stream()>>>(
            matrix_, integers_, exact.template as<Value>());
        check_launch("fill_exact_values");
        sliced_.set_values(exact.template as<const Value>());
        std::string found = difference_of<true>("integers");
        sliced_.set_values(matrix_.values);
        if (found.empty()) found = difference_of<false>("the values of the matrix");
        return found;
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return cuda_device(device_).stream(); }
    [[nodiscard]] const Index* new_of_old() const { return sliced_.new_of_old(); }

    template <bool exact>
    std::string difference_of(const std::string& numbers) {
        fill_x<exact><<<blocks_for(matrix_.columns, block_threads), block_threads, 0, stream()>>>(new_of_old(), matrix_.columns,
                                                                                                  x_.template as<Value>());
        check_launch("fill_x");
        for (const bool accumulate : {false, true}) {
            const double start = accumulate ? 3 : 0;
            const Value before = accumulate ? static_cast<Value>(start) : std::numeric_limits<Value>::quiet_NaN();
            fill_with<<<blocks_for(matrix_.rows, block_threads), block_threads, 0, stream()>>>(matrix_.rows, before,
                                                                                               y_.template as<Value>());
            check_launch("fill_with");
            sliced_.kernel().run(x_.template as<const Value>(), y_.template as<Value>(), accumulate);
            const Index wrong = matrix_.long_offsets
                                    ? first_wrong<exact>(static_cast<const std::int64_t*>(matrix_.row_offsets), start)
                                    : first_wrong<exact>(static_cast<const std::int32_t*>(matrix_.row_offsets), start);
            if (wrong == no_row) continue;
            return std::string(accumulate ? "y += A x" : "y = A x") + " with " + numbers + ": row " + std::to_string(wrong) +
                   " is wrong";
        }
        return "";
    }

    template <bool exact, typename Given>
    Index first_wrong(const Given* offsets, double start) {
        Index first = no_row;
        device_.upload(std::as_bytes(std::span(&first, 1)), first_wrong_);
        compare_rows<exact><<<blocks_for(matrix_.rows, block_threads), block_threads, 0, stream()>>>(
            offsets, matrix_, integers_, rounding_, new_of_old(), y_.template as<const Value>(), start,
            first_wrong_.template as<Index>());
        check_launch("compare_rows");
        device_.download(first_wrong_, std::as_writable_bytes(std::span(&first, 1)));
        return first;
    }

    PlannedMatrix<Value>& sliced_;
    const CsrOnDevice<Value>& matrix_;
    Integers integers_;
    Rounding rounding_;
    Device& device_;
    DeviceMemory x_;
    DeviceMemory y_;
    DeviceMemory first_wrong_;
};

}  // namespace

template <ValueType Value>
std::string difference_on_gpu(PlannedMatrix<Value>& sliced, const CsrOnDevice<Value>& matrix, Integers integers,
                              Rounding rounding, Device& device) {
    return DifferenceOnGpu<Value>(sliced, matrix, integers, rounding, device).difference();
}

template std::string difference_on_gpu(PlannedMatrix<float>&, const CsrOnDevice<float>&, Integers, Rounding, Device&);
template std::string difference_on_gpu(PlannedMatrix<double>&, const CsrOnDevice<double>&, Integers, Rounding, Device&);

}  // namespace workbench
