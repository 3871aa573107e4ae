#include "pipeline/run/runner.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

/// What a recipe chose: the values that differ from their defaults.
std::string choices_of(const Parameters& parameters, const std::vector<ParameterDeclaration>& declarations) {
    std::string text;
    for (const ParameterDeclaration& declaration : declarations) {
        const auto value = parameters.values().find(declaration.name);
        if (value == parameters.values().end() || value->second == declaration.default_value) continue;
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", declaration.name, to_text(value->second));
    }
    return text;
}

void announce(const RunObserver& observer, const std::string& step) {
    if (observer.progress) observer.progress(step);
}

void finish_stage(StagedMatrix& staged, StageOutcome outcome, const RunObserver& observer,
                  std::vector<StageOutcome>& outcomes) {
    outcome.metrics = measure(staged);
    if (observer.stage_done) observer.stage_done(staged, outcome);
    outcomes.push_back(std::move(outcome));
}

void require_memory_for_copy(const CsrMatrix& matrix) {
    require_host_memory(matrix.row_offsets.size() * sizeof(Offset) + matrix.values.size() * (sizeof(double) + sizeof(Index)),
                        "a copy of the matrix for the stages");
}

/// The copy of the input that the stages reorder.
StagedMatrix stage_copy(const CsrMatrix& input, Index node_size) {
    require_memory_for_copy(input);
    return stage_input(input, node_size);
}

/// The copy that the stages of one precision go on with.
StagedMatrix stage_copy(const StagedMatrix& staged) {
    require_memory_for_copy(staged.matrix);
    return staged;
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
    // How large it becomes is known when it is there. The values are in every layout.
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
    // The exact layout goes through the same building code; only the values are exchanged meanwhile.
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

/// Everything that has to be paid once before the first y = A x.
double price(const RunReport& report, const LayoutOutcome& layout, const KernelOutcome& kernel) {
    return report.stage_seconds(layout.precision) + layout.seconds + kernel.prepare_seconds + kernel.vector_permutation_seconds;
}

void compare_with_baseline(KernelOutcome& kernel, const KernelOutcome& baseline, double price_in_seconds) {
    if (!kernel.verified() || !baseline.verified() || kernel.timing.median <= 0) return;
    kernel.speedup = baseline.timing.median / kernel.timing.median;
    const double gain = baseline.timing.median - kernel.timing.median;
    if (gain > 0 && !kernel.baseline) kernel.break_even = price_in_seconds / gain;
}

void warn(KernelOutcome& kernel, const DeviceProperties& device, const StagedMatrix& staged) {
    if (!kernel.verified()) return;
    if (device.last_level_cache > 0 && kernel.bytes_to_move < static_cast<std::int64_t>(device.last_level_cache)) {
        kernel.warnings.push_back(
            fmt::format("the matrix fits in the last-level cache of {}: times say little about memory traffic", device.name));
    }
    const Cuts* partition = staged.find_cuts(CutKind::partition);
    if (partition != nullptr && device.kind == DeviceKind::gpu && partition->count() < device.processors) {
        kernel.warnings.push_back(
            fmt::format("{} partitions on {} multiprocessors leave some idle; parts = \"auto\" makes as many",
                        partition->count(), device.processors));
    }
    // A thread that waits for one that was interrupted makes a whole sample wait, and all samples alike: the spread may hide
    // it.
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

void begin_with_input(StagedMatrix& staged, const RunObserver& observer, std::vector<StageOutcome>& outcomes) {
    StageOutcome input;
    input.id = input.name = "input";
    finish_stage(staged, std::move(input), observer, outcomes);
}

/// Some stages of a recipe, one after the other. `only_for`: the precision that they run for, where others follow.
void run_some_stages(std::span<const RecipeStage> stages, const Recipe& recipe, StagedMatrix& staged,
                     const StageContext& context, std::optional<Precision> only_for, const RunObserver& observer,
                     const Clock& clock, std::vector<StageOutcome>& outcomes) {
    for (const RecipeStage& stage : stages) {
        announce(observer, fmt::format("stage {}", stage.id));
        StageOutcome outcome;
        outcome.id = stage.id;
        outcome.precision = only_for;
        outcome.name = stage.entry->name;
        outcome.parameters = stage.parameters;
        outcome.choices = choices_of(stage.parameters, stage.entry->parameters);
        const Stopwatch watch(clock);
        try {
            StageResult result = stage.entry->run(staged, stage.parameters, context);
            apply(staged, std::move(result.change), stage.contract.keeps);
            outcome.seconds = watch.seconds();
            outcome.notes = std::move(result.notes);
        } catch (const Unsuitable& reason) {
            throw InputError(
                fmt::format("{}:{}: stage '{}': {}", recipe.file.string(), stage.place.line, stage.id, reason.what()));
        }
        finish_stage(staged, std::move(outcome), observer, outcomes);
    }
}

/// How many stages, from the first on, do the same for every precision.
std::size_t stages_in_common(const Recipe& recipe) {
    const auto depends = [](const RecipeStage& stage) { return stage.contract.depends_on_precision; };
    return static_cast<std::size_t>(std::find_if(recipe.stages.begin(), recipe.stages.end(), depends) - recipe.stages.begin());
}

}  // namespace

StageContext stage_context(const Recipe& recipe, Precision precision, const DeviceProperties* present_gpu) {
    return {recipe.device.empty() ? present_gpu : find_device_model(recipe.device), precision};
}

std::vector<StageOutcome> run_stages(const Recipe& recipe, StagedMatrix& staged, const StageContext& context,
                                     const RunObserver& observer, const Clock& clock) {
    std::vector<StageOutcome> outcomes;
    begin_with_input(staged, observer, outcomes);
    run_some_stages(recipe.stages, recipe, staged, context, std::nullopt, observer, clock, outcomes);
    return outcomes;
}

Runner::Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options)
    : input_(input), catalogue_(catalogue), devices_(devices), options_(std::move(options)) {}

template <ValueType Value>
Runner::Reference<Value>& Runner::reference() {
    std::optional<Reference<Value>>& made = references_.get<Value>();
    if (!made) {
        // For two x each: the exact product, and the real one with its bounds.
        require_host_memory(2 * sizeof(double) * (std::size_t{3} * input_.rows + input_.columns), "the right results");
        made.emplace(input_);
    }
    return *made;
}

template <ValueType Value>
const KernelOutcome& Runner::baseline(DeviceKind kind, const RunObserver& observer) {
    Reference<Value>& made = reference<Value>();
    if (const auto known = made.baselines.find(kind); known != made.baselines.end()) return known->second;

    const LayoutEntry& entry = *catalogue_.find_layout(catalogue_.baseline_layout);
    const Parameters parameters(entry.parameters, {});
    StagedMatrix natural = stage_copy(input_, 1);
    LayoutOutcome layout = outcome_of(entry, parameters, precision_of<Value>);
    const BuiltTwice<Value> built =
        build_twice<Value>(entry, parameters, natural, made.oracle.exact, options_.timing.clock, layout);
    const ProductSpace space(natural.row_order, natural.column_order);

    // A vendor's kernel first, where there is one.
    std::vector<const KernelEntry*> candidates;
    for (const Backend backend : {Backend::cusparse, Backend::cuda, Backend::kokkos}) {
        for (const KernelEntry& kernel : entry.kernels) {
            if (kernel.backend == backend && device_of(backend) == kind) candidates.push_back(&kernel);
        }
    }
    KernelOutcome outcome;
    for (const KernelEntry* kernel : candidates) {
        announce(observer, fmt::format("baseline {} {} {}", entry.name, kernel->name, name_of(precision_of<Value>)));
        outcome = measure_kernel(*kernel, *built.exact, *built.real, space, made.oracle, *device(kind), options_.timing);
        if (outcome.status != KernelOutcome::Status::unsuitable) break;
    }
    outcome.layout = entry.name;
    outcome.baseline = true;
    compare_with_baseline(outcome, outcome, 0);
    warn(outcome, device(kind)->properties(), natural);
    return made.baselines.emplace(kind, std::move(outcome)).first->second;
}

std::vector<const KernelEntry*> Runner::kernels_of(const Recipe& recipe) const {
    std::vector<const KernelEntry*> wanted;
    const auto runs_here = [&](const KernelEntry& kernel) {
        const auto& backends = options_.backends;
        return std::find(backends.begin(), backends.end(), kernel.backend) != backends.end() &&
               device(device_of(kernel.backend)) != nullptr && (options_.only.empty() || options_.only == kernel.name);
    };
    for (const KernelEntry& kernel : recipe.layout.entry->kernels) {
        if (!runs_here(kernel)) continue;
        const auto chosen = recipe.kernels.find(kernel.backend);
        if (chosen != recipe.kernels.end() && chosen->second != kernel.name) continue;
        wanted.push_back(&kernel);
    }
    for (const KernelEntry& kernel : recipe.own_kernels) {
        if (runs_here(kernel)) wanted.push_back(&kernel);
    }
    return wanted;
}

template <ValueType Value>
void Runner::measure_precision(const Recipe& recipe, StagedMatrix& staged, const RunObserver& observer, RunReport& report) {
    const LayoutEntry& entry = *recipe.layout.entry;
    LayoutOutcome layout = outcome_of(entry, recipe.layout.parameters, precision_of<Value>);
    const std::vector<const KernelEntry*> kernels = kernels_of(recipe);
    try {
        for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu}) {
            const bool used = std::any_of(kernels.begin(), kernels.end(),
                                          [kind](const KernelEntry* kernel) { return device_of(kernel->backend) == kind; });
            if (used) report.kernels.push_back(baseline<Value>(kind, observer));
        }
        announce(observer, fmt::format("layout {} {}", entry.name, name_of(precision_of<Value>)));
        const Oracle<Value>& oracle = reference<Value>().oracle;
        const BuiltTwice<Value> built =
            build_twice<Value>(entry, recipe.layout.parameters, staged, oracle.exact, options_.timing.clock, layout);
        report.layouts.push_back(layout);  // whatever becomes of the kernels
        const ProductSpace space(staged.row_order, staged.column_order);
        for (const KernelEntry* kernel : kernels) {
            const KernelOutcome& base = baseline<Value>(device_of(kernel->backend), observer);
            if (entry.name == base.layout && kernel->name == base.kernel && kernel->backend == base.backend &&
                !space.permuted()) {
                continue;  // it is the baseline, and stands in the report already
            }
            announce(observer, fmt::format("kernel {} {} {}", entry.name, kernel->name, name_of(precision_of<Value>)));
            Device& on = *device(device_of(kernel->backend));
            KernelOutcome outcome;
            try {
                outcome = measure_kernel(*kernel, *built.exact, *built.real, space, oracle, on, options_.timing);
            } catch (const UserError&) {
                if (!kernel->try_out.get<Value>()) throw;
                report.failures.push_back(current_failure());  // a source that cannot be compiled costs its own kernel alone
                continue;
            }
            outcome.layout = entry.name;
            compare_with_baseline(outcome, base, price(report, layout, outcome));
            warn(outcome, on.properties(), staged);
            report.kernels.push_back(std::move(outcome));
        }
    } catch (const Unsuitable& reason) {
        layout.unsuitable = reason.what();
        report.layouts.push_back(std::move(layout));
    }
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

    check_against(recipe, input_.rows, input_.columns);
    StagedMatrix staged = stage_copy(input_, recipe.node_size);
    // What does not depend on the precision is done once; from the first stage on that does, each precision has its own.
    const DeviceProperties* const gpu = devices_.gpu == nullptr ? nullptr : &devices_.gpu->properties();
    const auto context = [&](Precision precision) { return stage_context(recipe, precision, gpu); };
    const std::span<const RecipeStage> stages(recipe.stages);
    const auto common = options_.precisions.size() == 1 ? stages : stages.first(stages_in_common(recipe));
    begin_with_input(staged, observer, report.stages);
    run_some_stages(common, recipe, staged, context(options_.precisions.front()), std::nullopt, observer, options_.timing.clock,
                    report.stages);
    if (kernels_of(recipe).empty()) {
        std::string known;
        for (const KernelEntry& kernel : recipe.layout.entry->kernels) {
            known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", kernel.name, name_of(kernel.backend));
        }
        report.notes.push_back(fmt::format("no kernel of layout '{}' runs with these options on this machine; it has {}",
                                           recipe.layout.entry->name, known));
    }
    try {
        for (const Precision precision : options_.precisions) {
            if (common.size() == stages.size()) {
                measure(precision, recipe, staged, observer, report);
                continue;
            }
            StagedMatrix own = stage_copy(staged);
            run_some_stages(stages.subspan(common.size()), recipe, own, context(precision), precision, observer,
                            options_.timing.clock, report.stages);
            measure(precision, recipe, own, observer, report);
        }
    } catch (...) {
        add_devices(report);
        throw;
    }
    add_devices(report);
}

void Runner::add_devices(RunReport& report) const {
    for (Device* used : {&devices_.host, devices_.gpu}) {
        const auto runs_here = [&](const KernelOutcome& kernel) { return device(device_of(kernel.backend)) == used; };
        if (used == nullptr || std::none_of(report.kernels.begin(), report.kernels.end(), runs_here)) continue;
        report.devices.push_back({used->properties(), used->bandwidth()});
    }
}

}  // namespace workbench
