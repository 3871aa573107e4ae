// One kernel: prepared, verified, timed.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/rounding.hpp"
#include "pipeline/measure/candidate.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/measure/verification.hpp"

namespace workbench {

/// An exact problem with its products.
struct ExactReference {
    ExactProblem problem;
    std::vector<std::vector<double>> products;  // [vector][row]
};

/// The reference results of one input matrix in one precision; computed once, used for every kernel.
template <ValueType Value>
class Oracle {
public:
    /// Throws Unsuitable, see ExactProblem; MachineError if there is no memory for the results. The input must outlive this.
    /// exactly: the integers of which kinds it has from the beginning; none: kernels are verified on real values alone.
    explicit Oracle(const CsrMatrix& input, std::optional<ExactValues> exactly = ExactValues::by_place);
    /// An oracle for some of the input's nonzeros, at their places in the input, and for one kind of integers. rounding: how
    /// the values in `references` were rounded.
    Oracle(const Oracle& whole, CsrMatrix share, ExactValues kind, Rounding rounding = Rounding::none);

    /// Computed when it is first requested. Throws std::logic_error if it is not the kind of a share.
    [[nodiscard]] const ExactReference& exact(ExactValues kind) const;
    /// Empty unless kernels are verified exactly.
    [[nodiscard]] ExactProblems exact_problems() const;
    [[nodiscard]] bool is_exact() const { return is_exact_; }
    /// The nonzeros that are multiplied, in the order of the input. That of the input does not own it.
    [[nodiscard]] const std::shared_ptr<const CsrMatrix>& matrix() const { return matrix_; }

    std::vector<std::vector<double>> real_vectors;  // two different x, [column]
    std::vector<BoundedReference> references;       // one per x

private:
    std::shared_ptr<const CsrMatrix> matrix_;
    bool is_whole_ = false;  // false: a share
    bool is_exact_ = true;
    mutable std::array<std::optional<ExactReference>, 2> exact_;
};

/// The result of comparing samples of a kernel and of the baseline, taken in turns. busy_machine: none, because the machine did
/// other work meanwhile.
enum class Verdict { faster, slower, within_noise, too_few_samples, busy_machine };

struct KernelOutcome {
    enum class Status { measured, wrong, unsuitable };

    std::string layout;
    std::string share;  // in a hybrid, the one share that y = A x is restricted to; empty: all nonzeros
    std::string kernel;
    Backend backend = Backend::kokkos;
    Precision precision = Precision::f64;
    bool baseline = false;
    bool one_by_one = false;  // multiplies several vectors one after another

    Status status = Status::unsuitable;
    std::string reason;  // why it is unsuitable, or what is wrong

    double error_over_bound = 0;
    double prepare_seconds = 0;                // device copies, buffers
    double vector_permutation_seconds = 0;     // x into the layout's order and y back, once; 0 if both keep the input's order
    std::optional<double> setup_seconds;       // stages, layouts, preparation, permuting vectors; none for a share of a hybrid
    std::optional<double> new_values_seconds;  // building the layouts and preparing again behind the known orders; likewise
    double first_seconds = 0;                  // of the first product with the real values
    Timing timing;
    std::int64_t bytes_to_move = 0;  // at least: the matrix, x and y once each
    double gflops = 0;               // 10^9 floating-point operations per second: 2 per nonzero and vector
    double gbytes_per_second = 0;    // bytes_to_move over the median, in 10^9 bytes per second
    double bytes_per_nonzero = 0;
    double share_of_copy = 0;  // of the copy bandwidth measured on the same device in the same run
    double share_of_read = 0;
    // Over the baseline of the same device and precision: the median over the rounds of its sample over this one's.
    std::optional<double> speedup;
    std::optional<Interval> speedup_interval;     // absent with too few samples, and for the baseline
    std::optional<double> break_even;             // SpMVs after which preprocessing pays off; only if the kernel is faster
    std::optional<Interval> break_even_interval;  // likewise
    bool busy = false;  // the machine did other work while this kernel or the baseline was timed, see machine_was_busy
    int series = 0;     // kernels of one process with the same number were timed in turns; 0: not timed
    std::vector<std::string> warnings;

    [[nodiscard]] bool verified() const { return status == Status::measured; }
    /// None for the baseline, and without a speed-up.
    [[nodiscard]] std::optional<Verdict> verdict() const;
};

/// A verified product with vectors of its own on a device (pipeline/measure/checked_product.hpp).
class TimedProduct : public Interface {
public:
    /// Refers to this object.
    [[nodiscard]] virtual Contender contender() = 0;

    /// From here on, products are those of conjugate gradients. Throws MachineError if the device cannot iterate.
    virtual void begin_cg() = 0;
    virtual void end_cg() = 0;

    /// Derives rates and the price of permuting x and y from the outcome's timing.
    virtual void derive_rates(KernelOutcome& outcome) = 0;
};

/// A prepared and verified kernel that waits to be timed.
struct ReadyKernel {
    KernelOutcome outcome;
    Device* device = nullptr;
    std::unique_ptr<TimedProduct> product = {};  // null: the kernel is wrong or unsuitable
};

/// A kernel for the real values; null if the outcome says that it is wrong or unsuitable.
template <ValueType Value>
struct VerifiedKernel {
    KernelOutcome outcome;
    std::shared_ptr<Kernel<Value>> kernel;
};

/// Prepares kernels on one device and verifies them in both ways (pipeline/measure/verification.hpp), including y += A x.
template <ValueType Value>
struct Verifier {
    Device& device;
    const Oracle<Value>* oracle = nullptr;  // null: kernels are prepared, but not verified
    Clock clock = {};

    /// Records a layout or kernel that does not suit as unsuitable, and a wrong result as wrong. The candidate must outlive the
    /// kernel. Throws MachineError if the device fails or lacks memory.
    [[nodiscard]] VerifiedKernel<Value> verify(const Candidate<Value>& candidate) const;
    /// Like verify, for timing; with an oracle, whose input must outlive the result.
    [[nodiscard]] ReadyKernel make_ready(const Candidate<Value>& candidate) const;
    /// Like make_ready, and times the kernel alone.
    [[nodiscard]] KernelOutcome measure(const Candidate<Value>& candidate, const TimingOptions& timing) const;
};

/// Times the kernels that are right, in turns. One that is wrong in the course, or faster than possible, has no timing.
void time_in_turns(const std::vector<ReadyKernel*>& kernels, const TimingOptions& options);

/// True if other work had the processors of the host while these samples, of `seconds` in all, were taken: threads were
/// preempted more than once a sample, and at 1 ms each that takes a tenth of the time. All threads wait for a preempted one.
[[nodiscard]] bool machine_was_busy(long interruptions, std::size_t samples, double seconds);
[[nodiscard]] bool machine_was_busy(const KernelOutcome& kernel);

/// The median over the rounds of the time of `one` over that of `other`, which was timed in turns with it.
[[nodiscard]] Median ratio_in_turns(const Timing& one, const Timing& other);

/// Speed-up and break-even of a kernel that was timed in turns with the baseline. The price is its setup_seconds.
void compare_with_baseline(KernelOutcome& kernel, const KernelOutcome& baseline);

/// Copies a little memory to the device and back. Returns false if that fails: after an illegal address, for example, nothing
/// else runs on a GPU in the same process.
[[nodiscard]] bool still_works(Device& device);

}  // namespace workbench
