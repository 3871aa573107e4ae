#include "pipeline/run/runner.hpp"

#include <algorithm>
#include <exception>
#include <span>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

void announce(const RunObserver& observer, const std::string& step) {
    if (observer.progress) observer.progress(step);
}

LayoutOutcome outcome_of(const LayoutEntry& entry, const Parameters& parameters, Precision precision) {
    LayoutOutcome outcome;
    outcome.name = entry.name;
    outcome.parameters = parameters;
    outcome.precision = precision;
    return outcome;
}

/// The same matrix twice in one layout: with its own values, and with those of the exact problem.
template <ValueType Value>
struct BuiltTwice {
    std::unique_ptr<Layout<Value>> real;
    std::unique_ptr<Layout<Value>> exact;
};

template <ValueType Value>
BuiltTwice<Value> build_twice(const LayoutEntry& entry, const Parameters& parameters, StagedMatrix& staged,
                              const ExactProblem& problem, const Clock& clock, LayoutOutcome& outcome) {
    BuiltTwice<Value> built;
    const BuildLayout<Value> build = entry.build.template get<Value>();
    const std::size_t nonzeros = staged.matrix.values.size();
    // The size of a layout is known once it is built; the values alone are a lower bound.
    require_host_memory(nonzeros * sizeof(Value), fmt::format("layout '{}'", entry.name));
    const Stopwatch watch(clock);
    built.real = build(staged, parameters);
    outcome.seconds = watch.seconds();
    std::size_t bytes = nonzeros * sizeof(double);
    for (const LayoutArray& array : built.real->arrays()) {
        outcome.footprint.push_back({std::string(array.name), array.role, array.count, array.bytes()});
        bytes += array.bytes();
    }
    require_host_memory(bytes, fmt::format("layout '{}', once more for the exact verification,", entry.name));
    // The exact layout is built by the same code, from the same matrix with other values.
    std::vector<double> exact = problem.values_of(staged.matrix, staged.row_order, staged.column_order);
    std::swap(staged.matrix.values, exact);
    try {
        built.exact = build(staged, parameters);
    } catch (...) {
        std::swap(staged.matrix.values, exact);
        throw;
    }
    std::swap(staged.matrix.values, exact);
    return built;
}

void warn(KernelOutcome& kernel, const DeviceProperties& device, const Cuts* partition) {
    if (!kernel.verified()) return;
    if (device.last_level_cache > 0 && kernel.bytes_to_move < static_cast<std::int64_t>(device.last_level_cache)) {
        kernel.warnings.push_back(
            fmt::format("the matrix fits in the last-level cache of {}: times say little about memory traffic", device.name));
    }
    if (partition != nullptr && device.kind == DeviceKind::gpu && partition->count() < device.processors) {
        kernel.warnings.push_back(
            fmt::format("{} partitions on {} multiprocessors leave some idle; parts = \"auto\" makes as many",
                        partition->count(), device.processors));
    }
    // All threads wait for the one that was interrupted. Where that happens in every sample, the spread does not show it.
    if (device.kind == DeviceKind::host && kernel.timing.interruptions > static_cast<long>(kernel.timing.samples.size())) {
        kernel.warnings.push_back(
            fmt::format("{} {} {}: interrupted {} times in {} samples: this machine does other work, and the time says little",
                        kernel.layout, kernel.kernel, name_of(kernel.precision), kernel.timing.interruptions,
                        kernel.timing.samples.size()));
    }
    if (kernel.timing.samples.size() < 5) {
        kernel.warnings.emplace_back("fewer than 5 samples a kernel: their times and spreads say little");
    }
    if (kernel.timing.spread > 0.1) {
        kernel.warnings.push_back(
            fmt::format("{} {} {}: a spread of {:.0f} % between the 10th and the 90th percentile of {} samples", kernel.layout,
                        kernel.kernel, name_of(kernel.precision), 100 * kernel.timing.spread, kernel.timing.samples.size()));
    }
}

}  // namespace

Runner::Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options)
    : input_(input), catalogue_(catalogue), devices_(devices), options_(std::move(options)), stages_(input) {}

template <ValueType Value>
Runner::Reference<Value>& Runner::reference() {
    std::optional<Reference<Value>>& made = references_.get<Value>();
    if (!made) {
        // Two vectors x each for the exact product and for the real one with its bounds.
        require_host_memory(2 * sizeof(double) * (std::size_t{3} * input_.rows + input_.columns), "the right results");
        made.emplace(input_);
    }
    return *made;
}

template <ValueType Value>
ReadyKernel& Runner::baseline(DeviceKind kind, const RunObserver& observer) {
    Reference<Value>& made = reference<Value>();
    if (const auto known = made.baselines.find(kind); known != made.baselines.end()) return known->second->kernel;

    const LayoutEntry& entry = *catalogue_.find_layout(catalogue_.baseline_layout);
    const Parameters parameters(entry.parameters, {});
    LayoutOutcome layout = outcome_of(entry, parameters, precision_of<Value>);
    auto baseline = std::make_unique<Baseline<Value>>(input_);
    BuiltTwice<Value> built;
    {
        StagedMatrix natural = stage_copy(input_, 1);
        built = build_twice<Value>(entry, parameters, natural, made.oracle.exact, options_.timing.clock, layout);
    }
    baseline->layout = std::move(built.real);

    // A vendor's kernel first, where there is one.
    std::vector<const KernelEntry*> candidates;
    for (const Backend backend : {Backend::cusparse, Backend::cuda, Backend::kokkos}) {
        for (const KernelEntry& kernel : entry.kernels) {
            if (kernel.backend == backend && device_of(backend) == kind) candidates.push_back(&kernel);
        }
    }
    for (const KernelEntry* kernel : candidates) {
        announce(observer, fmt::format("baseline {} {} {}", entry.name, kernel->name, name_of(precision_of<Value>)));
        baseline->kernel = prepare_kernel(*kernel, *built.exact, *baseline->layout, baseline->space, made.oracle, *device(kind),
                                          options_.timing.clock);
        if (baseline->kernel.outcome.status != KernelOutcome::Status::unsuitable) break;
    }
    baseline->kernel.device = device(kind);
    baseline->kernel.outcome.layout = entry.name;
    baseline->kernel.outcome.baseline = true;
    return made.baselines.emplace(kind, std::move(baseline)).first->second->kernel;
}

void Runner::measure_in_turns(Waiting& waiting, const RunObserver& observer, RunReport& report) const {
    for (const auto& [kind, baseline] : waiting.baselines) {
        std::vector<ReadyKernel*> turns{baseline};
        for (ReadyKernel& kernel : waiting.kernels) {
            if (kernel.device == baseline->device) turns.push_back(&kernel);
        }
        std::string names;
        for (const ReadyKernel* kernel : turns) names += ' ' + kernel->outcome.kernel;
        announce(observer, fmt::format("timing {}:{}", name_of(baseline->outcome.precision), names));
        time_in_turns(turns, options_.timing);

        KernelOutcome base = baseline->outcome;
        compare_with_baseline(base, base, 0);
        warn(base, baseline->device->properties(), nullptr);
        for (ReadyKernel* kernel : std::span(turns).subspan(1)) {
            KernelOutcome& outcome = kernel->outcome;
            const double own_price = outcome.prepare_seconds + outcome.vector_permutation_seconds;
            compare_with_baseline(outcome, base, waiting.price_seconds + own_price);
            warn(outcome, kernel->device->properties(), waiting.partition);
        }
        const auto is_in_report = [&base](const KernelOutcome& there) {
            return there.baseline && there.precision == base.precision && device_of(there.backend) == device_of(base.backend);
        };
        if (std::none_of(report.kernels.begin(), report.kernels.end(), is_in_report)) report.kernels.push_back(std::move(base));
    }
    for (ReadyKernel& kernel : waiting.kernels) report.kernels.push_back(std::move(kernel.outcome));
    waiting.kernels.clear();
}

std::vector<const KernelEntry*> Runner::kernels_of(const Recipe& recipe) const {
    std::vector<const KernelEntry*> wanted;
    for (const KernelEntry& kernel : recipe.layout.entry->kernels) {
        const auto& backends = options_.backends;
        if (std::find(backends.begin(), backends.end(), kernel.backend) == backends.end()) continue;
        if (device(device_of(kernel.backend)) == nullptr) continue;
        const auto chosen = recipe.kernels.find(kernel.backend);
        if (chosen != recipe.kernels.end() && chosen->second != kernel.name) continue;
        if (!options_.only.empty() && options_.only != kernel.name) continue;
        wanted.push_back(&kernel);
    }
    return wanted;
}

template <ValueType Value>
void Runner::measure_precision(const Recipe& recipe, StagedMatrix& staged, const RunObserver& observer, RunReport& report) {
    const LayoutEntry& entry = *recipe.layout.entry;
    LayoutOutcome layout = outcome_of(entry, recipe.layout.parameters, precision_of<Value>);
    const std::vector<const KernelEntry*> kernels = kernels_of(recipe);
    Waiting waiting;
    BuiltTwice<Value> built;
    std::optional<ProductSpace> space;
    std::exception_ptr failure;
    try {
        for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu}) {
            const bool used = std::any_of(kernels.begin(), kernels.end(),
                                          [kind](const KernelEntry* kernel) { return device_of(kernel->backend) == kind; });
            if (used) waiting.baselines[kind] = &baseline<Value>(kind, observer);
        }
        announce(observer, fmt::format("layout {} {}", entry.name, name_of(precision_of<Value>)));
        const Oracle<Value>& oracle = reference<Value>().oracle;
        built = build_twice<Value>(entry, recipe.layout.parameters, staged, oracle.exact, options_.timing.clock, layout);
        report.layouts.push_back(layout);  // whatever becomes of the kernels
        space.emplace(staged.row_order, staged.column_order);
        waiting.partition = staged.find_cuts(CutKind::partition);
        waiting.price_seconds = report.stage_seconds(layout.precision) + layout.seconds;
        for (const KernelEntry* kernel : kernels) {
            const KernelOutcome& base = waiting.baselines.at(device_of(kernel->backend))->outcome;
            if (entry.name == base.layout && kernel->name == base.kernel && kernel->backend == base.backend &&
                !space->permuted()) {
                continue;  // it is the baseline, and stands in the report already
            }
            announce(observer, fmt::format("kernel {} {} {}", entry.name, kernel->name, name_of(precision_of<Value>)));
            Device& on = *device(device_of(kernel->backend));
            const auto prepare = [&] {
                waiting.kernels.push_back(
                    prepare_kernel(*kernel, *built.exact, *built.real, *space, oracle, on, options_.timing.clock));
                waiting.kernels.back().outcome.layout = entry.name;
            };
            try {
                prepare();
            } catch (const MachineError&) {
                if (waiting.kernels.empty()) throw;
                // Those that wait may have all the memory: they take their turns now.
                measure_in_turns(waiting, observer, report);
                prepare();
            }
        }
    } catch (const Unsuitable& reason) {
        layout.unsuitable = reason.what();
        report.layouts.push_back(std::move(layout));
    } catch (...) {
        failure = std::current_exception();
    }
    try {
        measure_in_turns(waiting, observer, report);  // what is there is kept, whatever failed
    } catch (...) {
        if (failure == nullptr) throw;
    }
    if (failure != nullptr) std::rethrow_exception(failure);
}

void Runner::measure(Precision precision, const Recipe& recipe, StagedMatrix& staged, const RunObserver& observer,
                     RunReport& report) {
    if (precision == Precision::f32) {
        measure_precision<float>(recipe, staged, observer, report);
    } else {
        measure_precision<double>(recipe, staged, observer, report);
    }
}

RunReport Runner::run(const Recipe& recipe, const RunObserver& observer) {
    RunReport report;
    run(recipe, observer, report);
    return report;
}

void Runner::run(const Recipe& recipe, const RunObserver& observer, RunReport& report) {
    report.recipe_name = recipe.name;
    report.recipe_source = recipe.source;
    report.recipe_file = recipe.file.string();
    report.resolved_recipe = resolved_recipe(recipe);
    report.cache = options_.timing.cache;
    report.turn_seed = options_.timing.seed;
    report.sweep = recipe.sweep;
    report.notes = recipe.notes;

    const std::vector<Chain> chains = chains_of(recipe);
    stages_.no_longer_expect(chains);
    check_against(recipe, input_.rows, input_.columns);
    if (kernels_of(recipe).empty()) {
        std::string known;
        for (const KernelEntry& kernel : recipe.layout.entry->kernels) {
            known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", kernel.name, name_of(kernel.backend));
        }
        report.notes.push_back(fmt::format("no kernel of layout '{}' runs with these options on this machine; it has {}",
                                           recipe.layout.entry->name, known));
    }
    try {
        stages_.run(recipe, chains, observer, options_.timing.clock, report.stages,
                    [&](const Chain& chain, StagedMatrix& staged) {
                        for (const Precision precision : chain.precisions) measure(precision, recipe, staged, observer, report);
                    });
    } catch (...) {
        add_devices(report);
        throw;
    }
    add_devices(report);
}

std::vector<Chain> Runner::chains_of(const Recipe& recipe) const {
    return workbench::chains_of(recipe, options_.precisions, devices_.gpu == nullptr ? nullptr : &devices_.gpu->properties());
}

void Runner::expect(std::span<const Recipe> recipes) {
    std::vector<std::vector<Chain>> to_come;
    for (const Recipe& recipe : recipes) to_come.push_back(chains_of(recipe));
    stages_.expect(std::move(to_come));
}

void Runner::add_devices(RunReport& report) const {
    for (Device* used : {&devices_.host, devices_.gpu}) {
        const auto runs_here = [&](const KernelOutcome& kernel) { return device(device_of(kernel.backend)) == used; };
        if (used == nullptr || std::none_of(report.kernels.begin(), report.kernels.end(), runs_here)) continue;
        report.devices.push_back({used->properties(), used->bandwidth()});
    }
}

}  // namespace workbench
