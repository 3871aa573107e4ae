// One kernel: prepared, verified, timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/run/timing.hpp"
#include "pipeline/run/verification.hpp"

namespace workbench {

/// The reference results of one input matrix in one precision; computed once, used for every kernel.
template <ValueType Value>
struct Oracle {
    /// Throws Unsuitable, see ExactProblem.
    explicit Oracle(const CsrMatrix& input);
    /// Of some of the input's nonzeros, at their places in the input.
    Oracle(const Oracle& whole, const CsrMatrix& share);

    ExactProblem exact;
    std::vector<std::vector<double>> exact_products;  // [vector][row]
    std::vector<std::vector<double>> real_vectors;    // two different x, [column]
    std::vector<BoundedReference> references;         // one for each x
};

/// The orders of x and y. y must be usable as the next x: where rows and columns have one order, y stays as it is; otherwise it
/// is scattered to the order of the columns (to the input's order of rows where the matrix is not square), which is timed with
/// the kernel.
struct ProductSpace {
    ProductSpace(const Permutation& rows, const Permutation& columns);

    const Permutation& row_order;
    const Permutation& column_order;
    std::vector<Index> target;  // [rows] where y of the current row i goes; empty: it stays

    /// Is x or y in another order than the input's? Then a caller permutes x before and y after.
    [[nodiscard]] bool permuted() const { return !(row_order.is_identity() && column_order.is_identity()); }
};

struct KernelOutcome {
    enum class Status { measured, wrong, unsuitable };

    std::string layout;
    std::string share;  // of a hybrid, one share alone: y = A x with its nonzeros; empty: with all of them
    std::string kernel;
    Backend backend = Backend::kokkos;
    Precision precision = Precision::f64;
    bool baseline = false;

    Status status = Status::unsuitable;
    std::string reason;  // why it is unsuitable, or the first wrong row

    double error_over_bound = 0;
    double prepare_seconds = 0;             // device copies, buffers
    double vector_permutation_seconds = 0;  // x into the layout's order and y back, once; 0 where nothing is permuted
    Timing timing;
    std::int64_t bytes_to_move = 0;  // at least: the matrix, x and y once each
    double gflops = 0;               // 10^9 floating-point operations a second: 2 a nonzero
    double gbytes_per_second = 0;    // bytes_to_move over the median, in 10^9 bytes a second
    double bytes_per_nonzero = 0;
    double share_of_copy = 0;  // of the copy bandwidth measured on the same device in the same run
    double share_of_read = 0;
    std::optional<double> speedup;     // over the baseline of the same device and precision
    std::optional<double> break_even;  // SpMVs after which preprocessing is paid; absent: never
    std::vector<std::string> warnings;

    [[nodiscard]] bool verified() const { return status == Status::measured; }
};

/// What is to be measured: something that multiplies, made ready on layouts of the exact and of the real values.
template <ValueType Value>
struct Candidate {
    using Prepare = std::function<std::unique_ptr<Kernel<Value>>(Device&)>;

    std::string kernel;
    Backend backend = Backend::kokkos;
    Prepare exact;
    Prepare real;
    Offset nonzeros = 0;
    std::int64_t bytes_to_move = 0;  // where the kernel does not say it itself
};

template <ValueType Value>
[[nodiscard]] KernelOutcome measure_candidate(const Candidate<Value>& candidate, const ProductSpace& space,
                                              const Oracle<Value>& oracle, Device& device, const TimingOptions& timing);

/// Prepares the kernel on layouts of the exact and of the real values, verifies both ways (pipeline/run/verification.hpp), with
/// and without accumulation, and times it. What does not fit is recorded as unsuitable; a wrong result is recorded and not
/// timed. Throws MachineError where the device fails or lacks memory.
template <ValueType Value>
[[nodiscard]] KernelOutcome measure_kernel(const KernelEntry& entry, const Layout<Value>& exact, const Layout<Value>& real,
                                           const ProductSpace& space, const Oracle<Value>& oracle, Device& device,
                                           const TimingOptions& timing);

}  // namespace workbench
