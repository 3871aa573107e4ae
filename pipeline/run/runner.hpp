// A recipe on a matrix: stages, layout, kernels, in the order of the recipe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/chain.hpp"
#include "pipeline/run/report.hpp"

namespace workbench {

struct RunOptions {
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends{Backend::kokkos, Backend::eigen, Backend::cuda, Backend::cusparse};
    std::string only;  // run just the kernel of this name, and the baselines; empty: all
    TimingOptions timing;
};

/// The devices that a run may use.
struct Devices {
    Device& host;
    Device* gpu = nullptr;  // null: none, or none wanted
};

/// Runs recipes on one matrix in one process. References and baselines are made once, so that all figures of a process can be
/// compared with each other.
class Runner {
public:
    /// Everything handed over must outlive the runner.
    Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options);

    /// The recipes that will be run, in their order. Stages with which several of them begin run once.
    void expect(std::span<const Recipe> recipes);

    /// Fills stages, layouts, kernels, devices and notes of a report; the rest is the caller's. Throws InputError where the
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
    template <ValueType Value>
    void measure_hybrid(const Recipe& recipe, const StagedMatrix& staged, const RunObserver& observer, RunReport& report);

    void add_devices(RunReport& report) const;
    [[nodiscard]] Device* device(DeviceKind kind) const { return kind == DeviceKind::host ? &devices_.host : devices_.gpu; }
    /// Of the backends that are wanted, on a device that is there?
    [[nodiscard]] bool may_run(const KernelEntry& kernel) const;
    [[nodiscard]] std::vector<const KernelEntry*> kernels_of(const RecipeLayout& layout) const;
    /// The one kernel of a share on such a device: what is asked for by name, what the recipe chooses, or the usual one.
    [[nodiscard]] const KernelEntry* kernel_of_share(const RecipeLayout& layout, DeviceKind kind) const;
    /// One a share; none where not every share has one.
    [[nodiscard]] std::vector<const KernelEntry*> kernels_of_hybrid(const Recipe& recipe, DeviceKind kind) const;
    /// On which devices kernels of the recipe run.
    [[nodiscard]] std::vector<DeviceKind> kinds_of(const Recipe& recipe) const;
    [[nodiscard]] std::vector<Chain> chains_of(const Recipe& recipe) const;

    const CsrMatrix& input_;
    const Catalogue& catalogue_;
    Devices devices_;
    RunOptions options_;
    ForEachPrecision<MaybeReference> references_;
    SharedStages stages_;
};

}  // namespace workbench
