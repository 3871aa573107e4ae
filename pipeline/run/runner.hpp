// A recipe on a matrix: stages, layout, kernels, in the order of the recipe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/chain.hpp"
#include "pipeline/run/hybrid.hpp"

namespace workbench {

struct RunOptions {
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse};
    std::string only;  // run just the kernel of this name, and the baselines; empty: all
    TimingOptions timing;
    KeepFolder* keep = nullptr;    // where results of stages and layouts are kept; null: nowhere
    Preparer* preparer = nullptr;  // who is asked first to do the work of stages and layouts; null: the host
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

    /// From the next recipe on. Where neither a sample nor a second is the least, kernels are prepared, verified and priced
    /// alone.
    void time_with(const TimingOptions& timing) { options_.timing = timing; }

    /// Fills stages, layouts, kernels, devices and notes of a report; the rest is the caller's. Throws InputError where the
    /// matrix does not suit the recipe, MachineError where the machine lacks something.
    [[nodiscard]] RunReport run(const Recipe& recipe, const RunObserver& observer);

    /// The same into an empty report, which keeps what was found before it throws.
    void run(const Recipe& recipe, const RunObserver& observer, RunReport& report);

private:
    /// A kernel of the baseline layout, in input order, prepared and verified: every recipe's kernels are timed in turns with
    /// it.
    template <ValueType Value>
    struct Baseline {
        explicit Baseline(const CsrMatrix& input)
            : rows(Permutation::identity(input.rows)), columns(Permutation::identity(input.columns)) {}
        Permutation rows;
        Permutation columns;
        ProductSpace space{rows, columns};
        std::unique_ptr<Layout<Value>> layout;
        ReadyKernel kernel;
    };
    /// What is made once for all recipes.
    template <ValueType Value>
    struct Reference {
        explicit Reference(const CsrMatrix& input) : oracle(input) {}
        Oracle<Value> oracle;
        std::map<DeviceKind, std::unique_ptr<Baseline<Value>>> baselines;
    };
    template <typename Value>
    using MaybeReference = std::optional<Reference<Value>>;

    template <ValueType Value>
    [[nodiscard]] Reference<Value>& reference();
    /// The first kernel of the baseline layout that gives a result on this kind of device, in input order.
    template <ValueType Value>
    [[nodiscard]] ReadyKernel& baseline(DeviceKind kind, const RunObserver& observer);
    /// A recipe's kernels for one precision that wait to be timed.
    struct Waiting {
        std::map<DeviceKind, ReadyKernel*> baselines;
        std::vector<ReadyKernel> kernels;
        const Cuts* partition = nullptr;
        double price_seconds = 0;  // of the stages and the layout
    };
    /// A recipe's layouts, which its waiting kernels multiply with.
    template <ValueType Value>
    struct Built {
        BuiltTwice<Value> whole;                // of one layout
        std::vector<BuiltShare<Value>> shares;  // of a hybrid
        std::optional<ProductSpace> space;
    };
    /// One more that waits; where it lacks memory, those before it are timed first.
    void wait(Waiting& waiting, const RunObserver& observer, RunReport& report,
              const std::function<ReadyKernel()>& prepare) const;
    template <ValueType Value>
    void prepare_layout(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping, Built<Value>& built,
                        Waiting& waiting, const RunObserver& observer, RunReport& report);
    template <ValueType Value>
    void prepare_hybrid(const Recipe& recipe, const StagedMatrix& staged, const Keeping& keeping, Built<Value>& built,
                        Waiting& waiting, const RunObserver& observer, RunReport& report);
    /// Times them, on each device in turns with its baseline, and moves them to the report.
    void measure_in_turns(Waiting& waiting, const RunObserver& observer, RunReport& report) const;
    /// What the layouts store, made of storage_of's arguments after the recipe, where it is wanted and not there yet.
    void map(const Recipe& recipe, const StagedMatrix& staged, const auto& layouts, const RunObserver& observer,
             RunReport& report) const;
    void measure(Precision precision, const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping,
                 const RunObserver& observer, RunReport& report);
    template <ValueType Value>
    void measure_precision(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping, const RunObserver& observer,
                           RunReport& report);

    /// Notes on what could not be kept, and the devices that were used.
    void conclude(RunReport& report) const;
    [[nodiscard]] Device* device(DeviceKind kind) const { return kind == DeviceKind::host ? &devices_.host : devices_.gpu; }
    /// Of the backends that are wanted, on a device that is there?
    [[nodiscard]] bool may_run(const KernelEntry& kernel) const;
    [[nodiscard]] std::vector<const KernelEntry*> kernels_of(const Recipe& recipe) const;
    /// One a share; none where not every share has one (choose_kernels).
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
