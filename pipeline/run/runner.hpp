// A recipe on a matrix: stages, layout, kernels, in the order of the recipe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/report.hpp"

namespace workbench {

struct RunOptions {
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse};
    std::string only;  // run just the kernel of this name, and the baselines; empty: all
    TimingOptions timing;
};

/// The devices that a run may use.
struct Devices {
    Device& host;
    Device* gpu = nullptr;  // null: none, or none wanted
};

/// Told as a run goes on; either may be empty.
struct RunObserver {
    std::function<void(const std::string&)> progress;                    // a step that may take long begins
    std::function<void(const StagedMatrix&, StageOutcome&)> stage_done;  // the input too, as stage 0
};

/// Runs recipes on one matrix in one process. References and baselines are made once, so that all figures of a process can be
/// compared with each other.
class Runner {
public:
    /// Everything handed over must outlive the runner.
    Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options);

    /// Fills stages, layouts, kernels, devices and notes of a report; the caller knows the rest. Throws InputError where the
    /// matrix does not suit the recipe, MachineError where the machine lacks something.
    [[nodiscard]] RunReport run(const Recipe& recipe, const RunObserver& observer);

    /// The same into an empty report, which keeps what was found before it throws.
    void run(const Recipe& recipe, const RunObserver& observer, RunReport& report);

private:
    /// What is made once for all recipes.
    template <ValueType Value>
    struct Reference {
        explicit Reference(const CsrMatrix& input) : oracle(input) {}
        Oracle<Value> oracle;
        std::map<DeviceKind, KernelOutcome> baselines;
    };
    template <typename Value>
    using MaybeReference = std::optional<Reference<Value>>;

    template <ValueType Value>
    [[nodiscard]] Reference<Value>& reference();
    /// The first kernel of the baseline layout that gives a result on this kind of device, in input order.
    template <ValueType Value>
    [[nodiscard]] const KernelOutcome& baseline(DeviceKind kind, const RunObserver& observer);
    void measure(Precision precision, const Recipe& recipe, StagedMatrix& staged, const RunObserver& observer,
                 RunReport& report);
    template <ValueType Value>
    void measure_precision(const Recipe& recipe, StagedMatrix& staged, const RunObserver& observer, RunReport& report);

    void add_devices(RunReport& report) const;
    [[nodiscard]] Device* device(DeviceKind kind) const { return kind == DeviceKind::host ? &devices_.host : devices_.gpu; }
    [[nodiscard]] std::vector<const KernelEntry*> kernels_of(const Recipe& recipe) const;

    const CsrMatrix& input_;
    const Catalogue& catalogue_;
    Devices devices_;
    RunOptions options_;
    ForEachPrecision<MaybeReference> references_;
};

/// What the stages of a recipe may know: its device, or else the GPU that is there (null: none).
[[nodiscard]] StageContext stage_context(const Recipe& recipe, Precision precision, const DeviceProperties* present_gpu);

/// Runs the stages of a recipe, one after the other, on a matrix that check_against accepts. Throws InputError where the matrix
/// does not suit a stage.
[[nodiscard]] std::vector<StageOutcome> run_stages(const Recipe& recipe, StagedMatrix& staged, const StageContext& context,
                                                   const RunObserver& observer, const Clock& clock = {});

}  // namespace workbench
