// One kernel: prepared, verified, timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/measure/median.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/measure/verification.hpp"

namespace workbench {

/// The reference results of one input matrix in one precision; computed once, used for every kernel.
template <ValueType Value>
struct Oracle {
    /// Throws Unsuitable, see ExactProblem; MachineError where there is no memory for the results.
    explicit Oracle(const CsrMatrix& input);
    /// Of some of the input's nonzeros, at their places in the input.
    Oracle(const Oracle& whole, const CsrMatrix& share);

    ExactProblem exact;
    std::vector<std::vector<double>> exact_products;  // [vector][row]
    std::vector<std::vector<double>> real_vectors;    // two different x, [column]
    std::vector<BoundedReference> references;         // one for each x
};

/// The orders of x and y. y must be usable as the next x: where rows and columns have one order, y stays as it is; otherwise
/// its rows are written in the order of the columns (in the input's order of rows where the matrix is not square), by the
/// kernel or after it, which is timed with the kernel.
struct ProductSpace {
    ProductSpace(const Permutation& rows, const Permutation& columns);

    const Permutation& row_order;
    const Permutation& column_order;
    std::vector<Index> target;  // [rows] where y of the current row i goes; empty: it stays

    /// Where y of these rows of the current order goes.
    [[nodiscard]] std::vector<Index> targets_of(std::span<const Index> rows) const;
    /// Is the matrix still as it came in?
    [[nodiscard]] bool unchanged() const { return row_order.is_identity() && column_order.is_identity(); }
    /// Which row of the input stands in each place of y as a product leaves it. [rows]
    [[nodiscard]] std::vector<Index> rows_of_result() const;
};

/// What samples taken in turns say of a kernel and the baseline.
enum class Verdict { faster, slower, within_noise, too_few_samples };

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
    double vector_permutation_seconds = 0;  // x into the layout's order and y back, once; 0 where a product does it or nobody
    Timing timing;
    std::int64_t bytes_to_move = 0;  // at least: the matrix, x and y once each
    double gflops = 0;               // 10^9 floating-point operations a second: 2 a nonzero
    double gbytes_per_second = 0;    // bytes_to_move over the median, in 10^9 bytes a second
    double bytes_per_nonzero = 0;
    double share_of_copy = 0;  // of the copy bandwidth measured on the same device in the same run
    double share_of_read = 0;
    // Over the baseline of the same device and precision: the median over the rounds of its sample over this one's.
    std::optional<double> speedup;
    std::optional<Interval> speedup_interval;     // absent where the samples are too few, and of the baseline
    std::optional<double> break_even;             // SpMVs after which preprocessing is paid; only where it is faster
    std::optional<Interval> break_even_interval;  // likewise
    std::vector<std::string> warnings;

    [[nodiscard]] bool verified() const { return status == Status::measured; }
    /// Of the baseline, and where there is no speed-up: none.
    [[nodiscard]] std::optional<Verdict> verdict() const;
};

/// Something that multiplies and can be made ready on layouts of the exact and of the real values.
template <ValueType Value>
struct Candidate {
    using Prepare = std::function<std::unique_ptr<Kernel<Value>>(Device&)>;

    std::string kernel;
    Backend backend = Backend::kokkos;
    Prepare exact;
    Prepare real;
    Offset nonzeros = 0;
    std::int64_t bytes_to_move = 0;             // where the kernel does not say it itself
    std::int64_t bytes_of_targets = 0;          // which it reads besides
    std::function<void(Device&)> try_out = {};  // before all else, of a kernel that nobody has tried yet
};

/// A product as it stands in an iteration, and what the iteration does beside it. Both share its vectors.
struct InsideIteration {
    std::function<void()> run;
    std::function<void()> rest_of_iteration;
};

/// A kernel that was prepared and verified, and waits to be timed. It has its memory on the device.
struct ReadyKernel {
    KernelOutcome outcome;
    Device* device = nullptr;
    std::function<void()> run;                         // what is timed; empty where the kernel is wrong or unsuitable
    std::function<void(KernelOutcome&)> derive_rates;  // from its timing
    std::function<InsideIteration()> inside_cg;        // the same product in a solve, whose vectors it takes memory for

    [[nodiscard]] bool to_be_timed() const { return run != nullptr; }
};

/// A kernel of one layout as something to measure, which leaves y as the space wants it. All that is handed over must outlive
/// what is prepared. `exact` null: it will not be verified.
template <ValueType Value>
[[nodiscard]] Candidate<Value> candidate_of(const KernelEntry& entry, const Layout<Value>* exact, const Layout<Value>& real,
                                            const ProductSpace& space);

/// A kernel of the real values; null where the outcome says that it is wrong or unsuitable.
template <ValueType Value>
struct VerifiedKernel {
    KernelOutcome outcome;
    std::shared_ptr<Kernel<Value>> kernel;
};

/// As prepare_candidate, for who wants to multiply with it rather than time it.
template <ValueType Value>
[[nodiscard]] VerifiedKernel<Value> verify_candidate(const Candidate<Value>& candidate, const ProductSpace& space,
                                                     const Oracle<Value>& oracle, Device& device, const Clock& clock);

/// Prepares it on layouts of the exact and of the real values, and verifies it both ways (pipeline/measure/verification.hpp),
/// with and without accumulation. What does not fit is recorded as unsuitable, a wrong result as wrong. All that is handed
/// over, and what the candidate is made of, must outlive what is returned, but for the candidate itself and the exact layout.
/// Throws MachineError where the device fails or lacks memory.
template <ValueType Value>
[[nodiscard]] ReadyKernel prepare_candidate(const Candidate<Value>& candidate, const ProductSpace& space,
                                            const Oracle<Value>& oracle, Device& device, const Clock& clock);

/// The same of a kernel of one layout.
template <ValueType Value>
[[nodiscard]] ReadyKernel prepare_kernel(const KernelEntry& entry, const Layout<Value>& exact, const Layout<Value>& real,
                                         const ProductSpace& space, const Oracle<Value>& oracle, Device& device,
                                         const Clock& clock);

/// Times those that are to be timed, in turns.
void time_in_turns(const std::vector<ReadyKernel*>& kernels, const TimingOptions& options);

/// Speed-up and break-even of a kernel that was timed in turns with the baseline.
void compare_with_baseline(KernelOutcome& kernel, const KernelOutcome& baseline, double price_in_seconds);

/// Prepares and verifies, and times it alone.
template <ValueType Value>
[[nodiscard]] KernelOutcome measure_candidate(const Candidate<Value>& candidate, const ProductSpace& space,
                                              const Oracle<Value>& oracle, Device& device, const TimingOptions& timing);
template <ValueType Value>
[[nodiscard]] KernelOutcome measure_kernel(const KernelEntry& entry, const Layout<Value>& exact, const Layout<Value>& real,
                                           const ProductSpace& space, const Oracle<Value>& oracle, Device& device,
                                           const TimingOptions& timing);

}  // namespace workbench
