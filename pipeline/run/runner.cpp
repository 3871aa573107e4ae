#include "pipeline/run/runner.hpp"

#include <algorithm>
#include <exception>
#include <span>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/keep/prepared.hpp"
#include "pipeline/run/kernel_choice.hpp"
#include "pipeline/run/recipe_storage.hpp"

namespace workbench {
namespace {

void announce(const RunObserver& observer, const std::string& step) {
    if (observer.progress) observer.progress(step);
}

/// Where all that a product moves stays in the cache from one to the next. Between those of a solve, its other vectors pass.
void warn_of_cache(KernelOutcome& kernel, const DeviceProperties& device, CacheState cache, Index rows) {
    const bool inside_cg = cache == CacheState::inside_cg;
    constexpr std::int64_t others = 2;  // x and r, beside p and q
    const std::int64_t bytes = kernel.bytes_to_move + (inside_cg ? others * rows * value_bytes(kernel.precision) : 0);
    if (device.last_level_cache == 0 || bytes >= static_cast<std::int64_t>(device.last_level_cache)) return;
    kernel.warnings.push_back(fmt::format("the matrix{} in the last-level cache of {}: times say little about memory traffic",
                                          inside_cg ? " and the vectors of CG fit" : " fits", device.name));
}

void warn(KernelOutcome& kernel, const DeviceProperties& device, const Cuts* partition) {
    if (!kernel.verified()) return;
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

/// What of the report was kept by an earlier run.
void note_kept(RunReport& report) {
    std::vector<std::string> names;
    double seconds = 0;
    const auto add = [&](const std::string& name, const std::optional<double>& kept_seconds) {
        if (!kept_seconds) return;
        names.push_back(name);
        seconds += *kept_seconds;
    };
    for (const StageOutcome& stage : report.stages) add(stage.label(), stage.kept_seconds);
    const auto is_share = [](const LayoutOutcome& layout) { return !layout.share.empty(); };
    const bool hybrid = std::any_of(report.layouts.begin(), report.layouts.end(), is_share);
    for (const LayoutOutcome& layout : report.layouts) {
        if (hybrid && !is_share(layout)) continue;  // its shares are told
        const std::string of_share = hybrid ? fmt::format(" of share {}", layout.share) : "";
        add(fmt::format("layout {} {}{}", layout.name, name_of(layout.precision), of_share), layout.kept_seconds);
    }
    if (!names.empty()) report.notes.push_back(note_on_kept(names, seconds));
}

}  // namespace

Runner::Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options)
    : input_(input),
      catalogue_(catalogue),
      devices_(devices),
      options_(std::move(options)),
      stages_(input, keeping_with(Keeping(options_.keep, input), options_.preparer), options_.preparer) {}

template <ValueType Value>
Runner::Reference<Value>& Runner::reference() {
    std::optional<Reference<Value>>& made = references_.get<Value>();
    if (!made) made.emplace(input_);
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
        built = build_twice<Value>(entry, parameters, natural, exact_values(made.oracle.exact, natural), options_.timing.clock,
                                   layout);
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
        const auto warn_of = [&](KernelOutcome& kernel, const Cuts* partition) {
            const DeviceProperties& device = baseline->device->properties();
            if (kernel.verified()) warn_of_cache(kernel, device, options_.timing.cache, input_.rows);
            warn(kernel, device, partition);
        };
        warn_of(base, nullptr);
        for (ReadyKernel* kernel : std::span(turns).subspan(1)) {
            KernelOutcome& outcome = kernel->outcome;
            if (!outcome.share.empty()) continue;  // another product than the baseline's
            const double own_price = outcome.prepare_seconds + outcome.vector_permutation_seconds;
            compare_with_baseline(outcome, base, waiting.price_seconds + own_price);
            warn_of(outcome, waiting.partition);
        }
        const auto is_in_report = [&base](const KernelOutcome& there) {
            return there.baseline && there.precision == base.precision && device_of(there.backend) == device_of(base.backend);
        };
        if (std::none_of(report.kernels.begin(), report.kernels.end(), is_in_report)) report.kernels.push_back(std::move(base));
    }
    for (ReadyKernel& kernel : waiting.kernels) report.kernels.push_back(std::move(kernel.outcome));
    waiting.kernels.clear();
}

bool Runner::may_run(const KernelEntry& kernel) const {
    const auto& backends = options_.backends;
    return std::find(backends.begin(), backends.end(), kernel.backend) != backends.end() &&
           device(device_of(kernel.backend)) != nullptr;
}

std::vector<const KernelEntry*> Runner::kernels_of(const Recipe& recipe) const {
    const RecipeLayout& layout = recipe.layouts.front();
    const auto is_wanted = [&](const KernelEntry& kernel) {
        return (options_.only.empty() || options_.only == kernel.name) && may_run(kernel);
    };
    std::vector<const KernelEntry*> wanted;
    for (const KernelEntry& kernel : layout.entry->kernels) {
        const auto chosen = layout.kernels.find(kernel.backend);
        if ((chosen == layout.kernels.end() || chosen->second == kernel.name) && is_wanted(kernel)) wanted.push_back(&kernel);
    }
    for (const KernelEntry& kernel : recipe.own_kernels) {
        if (is_wanted(kernel)) wanted.push_back(&kernel);
    }
    return wanted;
}

std::vector<const KernelEntry*> Runner::kernels_of_hybrid(const Recipe& recipe, DeviceKind kind) const {
    return choose_kernels(recipe, {kind, options_.only, [this](const KernelEntry& kernel) { return may_run(kernel); }});
}

std::vector<DeviceKind> Runner::kinds_of(const Recipe& recipe) const {
    std::vector<DeviceKind> kinds;
    for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu}) {
        const std::vector<const KernelEntry*> kernels =
            recipe.is_hybrid() ? kernels_of_hybrid(recipe, kind) : kernels_of(recipe);
        const auto runs_there = [kind](const KernelEntry* kernel) { return device_of(kernel->backend) == kind; };
        if (std::any_of(kernels.begin(), kernels.end(), runs_there)) kinds.push_back(kind);
    }
    return kinds;
}

template <ValueType Value>
void Runner::measure_precision(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping, const RunObserver& observer,
                               RunReport& report) {
    Waiting waiting;
    Built<Value> built;
    std::exception_ptr failure;
    try {
        for (const DeviceKind kind : kinds_of(recipe)) waiting.baselines[kind] = &baseline<Value>(kind, observer);
        built.space.emplace(staged.row_order, staged.column_order);
        waiting.partition = staged.find_cuts(CutKind::partition);
        if (recipe.is_hybrid()) {
            prepare_hybrid(recipe, staged, keeping, built, waiting, observer, report);
        } else {
            prepare_layout(recipe, staged, keeping, built, waiting, observer, report);
        }
    } catch (const Unsuitable& reason) {
        const RecipeLayout& first = recipe.layouts.front();
        LayoutOutcome layout =
            outcome_of(*first.entry, recipe.is_hybrid() ? Parameters() : first.parameters, precision_of<Value>);
        layout.name = name_of_layouts(recipe);
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

void Runner::wait(Waiting& waiting, const RunObserver& observer, RunReport& report,
                  const std::function<ReadyKernel()>& prepare) const {
    try {
        waiting.kernels.push_back(prepare());
    } catch (const MachineError&) {
        if (waiting.kernels.empty()) throw;
        // Those that wait may have all the memory: they take their turns now.
        measure_in_turns(waiting, observer, report);
        waiting.kernels.push_back(prepare());
    }
}

void Runner::map(const Recipe& recipe, const StagedMatrix& staged, const auto& layouts, const RunObserver& observer,
                 RunReport& report) const {
    if (!observer.maps_storage || report.storage != nullptr) return;
    announce(observer, "map of the storage");
    try {
        report.storage = std::make_shared<const StorageMap>(storage_of(recipe, staged.matrix, layouts));
    } catch (const UserError&) {
        report.failures.push_back(current_failure());
    }
}

/// One layout of all nonzeros, with each of its kernels.
template <ValueType Value>
void Runner::prepare_layout(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping, Built<Value>& built,
                            Waiting& waiting, const RunObserver& observer, RunReport& report) {
    const RecipeLayout& choice = recipe.layouts.front();
    const LayoutEntry& entry = *choice.entry;
    announce(observer, fmt::format("layout {} {}", entry.name, name_of(precision_of<Value>)));
    const Oracle<Value>& oracle = reference<Value>().oracle;
    LayoutOutcome layout = outcome_of(entry, choice.parameters, precision_of<Value>);
    built.whole = build_twice<Value>(entry, choice.parameters, staged, exact_values(oracle.exact, staged),
                                     options_.timing.clock, layout, keeping);
    waiting.price_seconds = report.stage_seconds(layout.precision) + layout.seconds;
    report.layouts.push_back(std::move(layout));  // whatever becomes of the kernels
    map(recipe, staged, *built.whole.real, observer, report);
    for (const KernelEntry* kernel : kernels_of(recipe)) {
        const KernelOutcome& base = waiting.baselines.at(device_of(kernel->backend))->outcome;
        if (entry.name == base.layout && kernel->name == base.kernel && kernel->backend == base.backend &&
            built.space->unchanged()) {
            continue;  // it is the baseline, and stands in the report already
        }
        announce(observer, fmt::format("kernel {} {} {}", entry.name, kernel->name, name_of(precision_of<Value>)));
        const auto prepare = [&] {
            ReadyKernel ready = prepare_kernel(*kernel, *built.whole.exact, *built.whole.real, *built.space, oracle,
                                               *device(device_of(kernel->backend)), options_.timing.clock);
            ready.outcome.layout = entry.name;
            return ready;
        };
        try {
            wait(waiting, observer, report, prepare);
        } catch (const UserError&) {
            if (!kernel->try_out.get<Value>()) throw;
            report.failures.push_back(current_failure());  // a source that cannot be compiled costs its own kernel alone
        }
    }
}

/// All shares together, which is compared with the baseline, then each alone.
template <ValueType Value>
void Runner::prepare_hybrid(const Recipe& recipe, const StagedMatrix& staged, const Keeping& keeping, Built<Value>& built,
                            Waiting& waiting, const RunObserver& observer, RunReport& report) {
    const Oracle<Value>& oracle = reference<Value>().oracle;
    const Clock& clock = options_.timing.clock;
    const auto tell = [&](const std::string& step) { announce(observer, step); };
    built.shares = build_shares<Value>(recipe, staged, &oracle.exact, clock, tell, keeping);
    const LayoutOutcome whole = outcome_of_whole(recipe, built.shares);
    waiting.price_seconds = report.stage_seconds(whole.precision) + whole.seconds;
    report.layouts.push_back(whole);
    for (const BuiltShare<Value>& share : built.shares) report.layouts.push_back(share.outcome);
    if (!whole.unsuitable.empty()) return;

    const std::span<const BuiltShare<Value>> shares(built.shares);
    map(recipe, staged, shares, observer, report);
    for (const DeviceKind kind : kinds_of(recipe)) {
        const std::vector<const KernelEntry*> chosen = kernels_of_hybrid(recipe, kind);
        const std::span<const KernelEntry* const> kernels(chosen);
        tell(fmt::format("kernels {} {}", whole.name, name_of(precision_of<Value>)));
        wait(waiting, observer, report, [&] {
            ReadyKernel ready =
                prepare_candidate(candidate_of<Value>(shares, kernels, staged.matrix, *built.space, recipe.side_by_side),
                                  *built.space, oracle, *device(kind), clock);
            ready.outcome.layout = whole.name;
            return ready;
        });
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const LayoutOutcome& share = shares[i].outcome;
            tell(fmt::format("kernel {} {} of share {}", kernels[i]->name, name_of(precision_of<Value>), share.share));
            const Oracle<Value> of_share(oracle, share_of_input(staged, shares[i].share));
            wait(waiting, observer, report, [&] {
                ReadyKernel ready = prepare_candidate(
                    candidate_of<Value>(shares.subspan(i, 1), kernels.subspan(i, 1), staged.matrix, *built.space, false),
                    *built.space, of_share, *device(kind), clock);
                ready.outcome.layout = share.name;
                ready.outcome.share = share.share;
                return ready;
            });
        }
    }
}

void Runner::measure(Precision precision, const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping,
                     const RunObserver& observer, RunReport& report) {
    if (precision == Precision::f32) {
        measure_precision<float>(recipe, staged, keeping, observer, report);
    } else {
        measure_precision<double>(recipe, staged, keeping, observer, report);
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
    report.sweep = recipe.sweep;
    report.notes = recipe.notes;
    report.turn_seed = options_.timing.seed;

    const std::vector<Chain> chains = chains_of(recipe);
    stages_.no_longer_expect(chains);
    check_against(recipe, input_.rows, input_.columns);
    if (options_.timing.cache == CacheState::inside_cg && input_.rows != input_.columns) {
        throw InputError(fmt::format("the matrix has {} rows and {} columns; expected a square one, to time inside CG",
                                     input_.rows, input_.columns));
    }
    if (kinds_of(recipe).empty()) report.notes.push_back(no_kernel_of(recipe));
    try {
        stages_.run(recipe, chains, observer, options_.timing.clock, report.stages,
                    [&](const Chain& chain, StagedMatrix& staged) {
                        const Keeping keeping = stages_.keeping_after(chain);
                        for (const Precision precision : chain.precisions) {
                            measure(precision, recipe, staged, keeping, observer, report);
                        }
                    });
    } catch (...) {
        conclude(report);
        throw;
    }
    conclude(report);
}

std::vector<Chain> Runner::chains_of(const Recipe& recipe) const {
    return workbench::chains_of(recipe, options_.precisions, devices_.gpu == nullptr ? nullptr : &devices_.gpu->properties());
}

void Runner::expect(std::span<const Recipe> recipes) {
    std::vector<std::vector<Chain>> to_come;
    for (const Recipe& recipe : recipes) to_come.push_back(chains_of(recipe));
    stages_.expect(std::move(to_come));
}

void Runner::conclude(RunReport& report) const {
    note_kept(report);
    if (options_.keep != nullptr) {
        for (std::string& note : options_.keep->take_notes()) report.notes.push_back(std::move(note));
    }
    for (Device* used : {&devices_.host, devices_.gpu}) {
        const auto runs_here = [&](const KernelOutcome& kernel) { return device(device_of(kernel.backend)) == used; };
        if (used == nullptr || std::none_of(report.kernels.begin(), report.kernels.end(), runs_here)) continue;
        report.devices.push_back({used->properties(), used->bandwidth()});
    }
}

}  // namespace workbench
