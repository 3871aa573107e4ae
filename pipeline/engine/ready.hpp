// A recipe on one matrix with one kernel per layout, ready to multiply again and again on one device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/planned_matrix.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/device_plan_of.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/measure.hpp"

namespace workbench {

/// The course and the price of preprocessing.
struct Preparation {
    std::string recipe;
    std::string layout;
    KernelOutcome kernel;                        // verified, wrong, or unsuitable with the reason
    std::int64_t bytes = 0;                      // of the layout's arrays
    std::int64_t bytes_to_move = 0;              // by a product, at least
    double stage_seconds = 0;                    // without metrics and pictures
    double build_seconds = 0;                    // of the layouts
    double copy_seconds = 0;                     // to the device, with the buffers that the kernel needs
    std::optional<RoundingError> rounding = {};  // none if values are not rounded
    std::int64_t bytes_in_full = 0;  // of the arrays of the same layouts with values in full (ReadyPlan); 0: there are none
    std::vector<std::string> notes;

    [[nodiscard]] double seconds() const { return stage_seconds + build_seconds + copy_seconds; }
};

/// One reference product with error bounds: a check cheap enough for a kernel that joins a running solve.
template <ValueType Value>
struct OneProduct {
    explicit OneProduct(const CsrMatrix& input)
        : x(real_vector(input.columns, 1)), reference(bounded_reference<Value>(input, x)) {}

    std::vector<double> x;
    BoundedReference reference;
};

template <ValueType Value>
struct ReadyPlan {
    Device& device;
    std::vector<const KernelEntry*> kernels = {};  // one per layout; empty: choose_kernels with the filter
    KernelFilter filter = {};                      // its number of vectors is that of a product
    // The kernel is verified by the oracle, as in `run`, or by one product; if both are null, it is not verified.
    const Oracle<Value>* oracle = nullptr;
    const OneProduct<Value>* product = nullptr;
    ReportStep progress = {};
    Clock clock = {};
    Keeping keeping = {};  // the key of the matrix
    // If set, verifies instead of the oracle; the exact layouts then have the values of `exact`, and are freed afterwards.
    std::function<VerifiedKernel<Value>(const Candidate<Value>&)> verify = {};
    ExactProblems exact = {};
    /// If the layouts round values, builds them once more, with values in full and a kernel of their own. Their prices are part
    /// of the preparation.
    bool also_in_full = false;
    /// Keeps the copy of the matrix from which the device prepares it (Ready::copy).
    bool keeps_copy = false;
    /// What the device declines is not prepared on the host: Unsuitable is thrown, with the reason; LeftToHost unless it began.
    bool only_on_device = false;
};

/// A copy of a matrix in the memory of a device. Row offsets have 32 bits if they suffice. Where the values may still be on
/// their way, CsrOnDevice::values_coming of matrix() is not null.
template <ValueType Value>
class CopyOnDevice {
public:
    /// The matrix must outlive this, or wait() must have been called.
    CopyOnDevice(Device& device, const CsrMatrix& matrix) : CopyOnDevice(device, matrix, matrix.values) {}
    /// With these values; none: the pattern alone.
    CopyOnDevice(Device& device, const CsrMatrix& matrix, std::span<const double> values);
    CopyOnDevice(const CopyOnDevice&) = delete;
    CopyOnDevice& operator=(const CopyOnDevice&) = delete;
    ~CopyOnDevice() = default;

    /// Those of a matrix of the same pattern.
    void upload_values(Device& device, std::span<const double> values) { upload(device, values, values_); }
    static void upload(Device& device, std::span<const double> values, DeviceMemory& to);
    void wait();
    [[nodiscard]] const CsrOnDevice<Value>& matrix() const { return matrix_; }

private:
    DeviceMemory offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
    std::unique_ptr<PendingCopy> coming_;  // destroyed before all that it uses
    CsrOnDevice<Value> matrix_;
};

/// What a device that prepared a matrix did, and how long each step took.
[[nodiscard]] std::vector<std::string> notes_of(const PlannedFacts& facts);

/// The recipe, its kernel or the product is not one that the device prepares, whatever the matrix: it has not begun.
class LeftToHost : public Unsuitable {
public:
    using Unsuitable::Unsuitable;
};

/// Orders and parts that a device found for a recipe whose matrix the host stores.
struct OrdersOfDevice {
    KnownResults stages;  // that need not run; the first has the time of all copies, too, and the last the whole change
    std::vector<std::string> notes;
    double lost_seconds = 0;  // until the device declined the matrix
};

/// Has a device carry out plan_of_orders, if there is one. No stages if the device declines the matrix; a note says why.
template <ValueType Value>
[[nodiscard]] OrdersOfDevice orders_of_device(const Recipe& recipe, const CsrMatrix& matrix, Device& device,
                                              const Clock& clock);

/// The layouts, kernel and orders of a recipe on a matrix.
template <ValueType Value>
class Ready {
public:
    /// Runs the stages on the matrix, builds the layouts, prepares and verifies the kernel. The matrix must suit the recipe
    /// (check_against). The recipe and the plan's device must outlive this. Throws InputError if the matrix does not suit a
    /// stage, RecipeError if no kernel of the recipe runs on the device, MachineError, and the errors of compiling a kernel
    /// that came with the recipe.
    Ready(const Recipe& recipe, StagedMatrix matrix, const ReadyPlan<Value>& plan);

    /// Likewise for a matrix that the caller keeps, which is checked. If the recipe asks for it ([recipe] prepare), the
    /// plan's GPU prepares it if it can. If not, a note says why, and the GPU may still order it (orders_of_device).
    Ready(const Recipe& recipe, const CsrMatrix& matrix, const ReadyPlan<Value>& plan);

    /// Has the plan's device prepare a matrix in its memory, and verify the kernel if asked to. Throws Unsuitable if the host
    /// must prepare the matrix or the recipe (device_plan_of), MachineError. The plan's oracle is not used. If values are
    /// rounded, they are copied to the host for the error of rounding.
    Ready(const Recipe& recipe, const CsrOnDevice<Value>& matrix, const ReadyPlan<Value>& plan, bool verify);
    Ready(const Ready&) = delete;
    Ready& operator=(const Ready&) = delete;
    ~Ready() = default;

    [[nodiscard]] const Preparation& preparation() const { return preparation_; }
    /// Null if the kernel is wrong or unsuitable. It writes y in the order of the space.
    [[nodiscard]] Kernel<Value>* kernel() const { return kernel_.get(); }
    /// The matrix that a device prepared as a whole; null if the host did.
    [[nodiscard]] PlannedMatrix<Value>* planned() const { return planned_.get(); }
    /// The matrix as it was given, on the device that prepared it; null unless the plan keeps it.
    [[nodiscard]] const CsrOnDevice<Value>* copy() const { return copy_ == nullptr ? nullptr : &copy_->matrix(); }
    void drop_copy() { copy_.reset(); }
    /// With values in full, for layouts that round values; null unless the plan requested it.
    [[nodiscard]] Kernel<Value>* kernel_in_full() const { return kernel_in_full_.get(); }
    /// For a matrix that a device prepared, the first call copies its order to the host.
    [[nodiscard]] const ProductSpace& space() const;

    /// The boundaries of the parts that a stage divided rows and columns into; empty if there are none, or if rows and columns
    /// have different orders.
    [[nodiscard]] const std::vector<Index>& partition() const { return partition_; }

    [[nodiscard]] const Candidate<Value>& candidate() const { return candidate_; }

    /// The time to store new values of the caller: measured with those of `matrix` if a device prepared it; otherwise that of
    /// building the layouts and copying them to the device, behind the known orders.
    [[nodiscard]] double new_values_seconds(const CsrMatrix& matrix, Device& device, const Clock& clock);

    /// The kernel with other values of the matrix that the device prepared, in the order of the input; its plan must have kept
    /// the copy. If the coding of the present values does not take them, the device prepares the matrix once more.
    [[nodiscard]] std::shared_ptr<Kernel<Value>> kernel_with(std::span<const double> values, const Recipe& recipe,
                                                             Device& device);

    /// Prepares the kernel again, for layouts whose values have changed. If that throws, the kernel is unchanged.
    void prepare_again(Device& device) { kernel_ = candidate_.prepare(Values::real, device); }

private:
    /// The stages, the layouts and the kernel, on the host. Stages that are known do not run.
    void prepare_on_host(const Recipe& recipe, StagedMatrix matrix, const ReadyPlan<Value>& plan, const KnownResults& known);
    /// The same on the device, from a matrix in its memory. `values`: on the host, if they are there.
    void prepare_on_device(const Recipe& recipe, const CsrOnDevice<Value>& matrix, std::span<const double> values,
                           const ReadyPlan<Value>& plan, bool verify);
    /// Copies the matrix to the device, which prepares the recipe. Throws Unsuitable.
    void copy_and_prepare(const Recipe& recipe, const CsrMatrix& matrix, const ReadyPlan<Value>& plan);
    /// `values`: on the host; empty: they are copied from the device.
    void note_rounding(const CsrOnDevice<Value>& matrix, std::span<const double> values, Rounding to, Device& device);
    /// Builds the layouts, and prepares and verifies the kernel.
    void make_ready(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping, KeptParts& kept,
                    const ReadyPlan<Value>& plan);
    /// Likewise with values in full.
    void make_ready_in_full(const Recipe& recipe, StagedMatrix& staged, const BuildOptions& options,
                            const ReadyPlan<Value>& plan);
    [[nodiscard]] VerifiedKernel<Value> verified(const Candidate<Value>& candidate, const ReadyPlan<Value>& plan) const;
    /// Compares one product with its reference; a wrong kernel is discarded.
    void check(const OneProduct<Value>& product, Device& device);
    void note(const LayoutOutcome& layout, KeptParts& kept);

    Preparation preparation_;
    std::vector<Index> partition_;
    std::unique_ptr<CopyOnDevice<Value>> copy_;
    std::shared_ptr<StagesOnHost> on_host_;
    std::shared_ptr<PlannedMatrix<Value>> planned_;
    std::shared_ptr<PlannedMatrix<Value>> planned_in_full_;
    mutable Candidate<Value> candidate_;
    std::shared_ptr<Kernel<Value>> kernel_;
    Candidate<Value> candidate_in_full_;
    std::shared_ptr<Kernel<Value>> kernel_in_full_;
};

}  // namespace workbench
