#include "pipeline/run/measurement.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/ready.hpp"
#include "pipeline/run/recipe_storage.hpp"

namespace workbench {
namespace {

void announce(const ReportStep& progress, const std::string& step) {
    if (progress) progress(step);
}

/// Warns if all data of a product remain in the cache from one run to the next. Inside CG, the other vectors of the solve
/// pass through the cache in between.
void warn_of_cache(KernelOutcome& kernel, const DeviceProperties& device, CacheState cache, Index rows) {
    const bool inside_cg = cache == CacheState::inside_cg;
    constexpr std::int64_t others = 2;  // x and r, beside p and q
    const std::int64_t bytes = kernel.bytes_to_move + (inside_cg ? others * rows * value_bytes(kernel.precision) : 0);
    if (device.last_level_cache == 0 || bytes >= static_cast<std::int64_t>(device.last_level_cache)) return;
    kernel.warnings.push_back(fmt::format("the matrix{} in the last-level cache of {}: times say little about memory traffic",
                                          inside_cg ? " and the vectors of CG fit" : " fits", device.name));
}

void warn(KernelOutcome& kernel, const DeviceProperties& device, const std::optional<Index>& partitions) {
    const auto name = [&] { return fmt::format("{} {} {}", kernel.layout, kernel.kernel, name_of(kernel.precision)); };
    const std::size_t samples = kernel.timing.samples.size();
    if (partitions && device.kind == DeviceKind::gpu && *partitions < device.processors) {
        kernel.warnings.push_back(fmt::format("some of {} are idle with {}; parts = \"auto\" makes as many",
                                              counted(device.processors, "multiprocessor"), counted(*partitions, "partition")));
    }
    // All threads wait for an interrupted one. If that happens in every sample, the spread does not show it.
    if (machine_was_busy(kernel)) {
        kernel.warnings.push_back(
            fmt::format("{}: interrupted {} in {}: this machine does other work, and the time says little", name(),
                        counted(kernel.timing.interruptions, "time"), counted(samples, "sample")));
    }
    if (samples < 5) kernel.warnings.emplace_back("fewer than 5 samples a kernel: their times and spreads say little");
    if (kernel.timing.spread > 0.1) {
        kernel.warnings.push_back(fmt::format("{}: a spread of {} between the 10th and the 90th percentile of {}", name(),
                                              spread_text(kernel.timing.spread), counted(samples, "sample")));
    }
}

/// Times the waiting kernels of this baseline in turns with it, and derives their figures.
class TurnsWithBaseline {
public:
    TurnsWithBaseline(std::vector<WaitingKernels>& waiting, ReadyKernel& baseline, const TimingOptions& timing,
                      References& references)
        : waiting_(waiting), baseline_(baseline), timing_(timing), references_(references) {}

    void run(const ReportStep& progress) {
        std::vector<ReadyKernel*> turns{&baseline_};
        for_each_waiting([&turns](WaitingKernels&, ReadyKernel& kernel) { turns.push_back(&kernel); });
        std::string names;
        for (const ReadyKernel* kernel : turns) names += ' ' + kernel->outcome.kernel;
        announce(progress, fmt::format("timing {}:{}", name_of(baseline_.outcome.precision), names));
        time_in_turns(turns, timing_);

        const int series = references_.next_series();
        for (ReadyKernel* kernel : turns) kernel->outcome.series = series;
        KernelOutcome base = baseline_.outcome;
        compare_with_baseline(base, base);
        warn_of(base, {});
        for_each_waiting([&](WaitingKernels& of, ReadyKernel& kernel) {
            KernelOutcome& outcome = kernel.outcome;
            if (!outcome.share.empty()) return;  // a share's product is not that of the baseline
            if (outcome.setup_seconds) *outcome.setup_seconds += outcome.vector_permutation_seconds;
            compare_with_baseline(outcome, base);
            warn_of(outcome, of.partitions);
        });
        for (WaitingKernels& of : waiting_) {
            if (has_baseline(of)) add_baseline(base, of.report->kernels);
        }
    }

private:
    [[nodiscard]] bool has_baseline(const WaitingKernels& of) const {
        return std::any_of(of.baselines.begin(), of.baselines.end(),
                           [this](const auto& one) { return one.second == &baseline_; });
    }

    template <typename Visit>
    void for_each_waiting(const Visit& visit) const {
        for (WaitingKernels& of : waiting_) {
            if (!has_baseline(of)) continue;
            for (ReadyKernel& kernel : of.ready) {
                if (kernel.device == baseline_.device) visit(of, kernel);
            }
        }
    }

    static void add_baseline(const KernelOutcome& base, std::vector<KernelOutcome>& kernels) {
        const auto is_in_report = [&base](const KernelOutcome& kernel) {
            return kernel.baseline && kernel.precision == base.precision &&
                   device_of(kernel.backend) == device_of(base.backend);
        };
        if (std::none_of(kernels.begin(), kernels.end(), is_in_report)) kernels.push_back(base);
    }

    void warn_of(KernelOutcome& kernel, const std::optional<Index>& partitions) const {
        if (!kernel.verified()) return;
        const DeviceProperties& device = baseline_.device->properties();
        warn_of_cache(kernel, device, timing_.cache, references_.input().rows);
        warn(kernel, device, partitions);
    }

    std::vector<WaitingKernels>& waiting_;
    ReadyKernel& baseline_;
    const TimingOptions& timing_;
    References& references_;
};

/// The kernels of one recipe in one precision, which are prepared and verified one after another.
template <ValueType Value>
class Measurement {
public:
    Measurement(const MeasuredRecipe& measured, const TimingOptions& timing, References& references, RunReport& report,
                std::vector<WaitingKernels>& waiting)
        : recipe_(measured.recipe),
          products_(measured.products),
          observer_(measured.observer),
          matrix_(measured.matrix),
          keeping_(measured.keeping),
          timing_(timing),
          references_(references),
          report_(report),
          waiting_(waiting) {}

    /// Throws what a step throws, after the kernels that are ready have been added to those that wait.
    void run() {
        begin_waiting();
        try {
            std::set<DeviceKind> kinds;
            for (const Kernels& kernels : products_) kinds.insert(device_of(kernels.front()->backend));
            for (const DeviceKind kind : kinds) baselines_[kind] = &references_.baseline<Value>(kind, observer_.progress);
            waiting_.back().baselines = baselines_;
            if (!products_.empty()) oracle_ = &references_.oracle<Value>();
            space_ = std::make_shared<const ProductSpace>(matrix_.row_order, matrix_.column_order, references_.vectors());
            const Device* const gpu = references_.device(DeviceKind::gpu);
            built_ = build_layouts<Value>(recipe_, matrix_,
                                          {.exact = oracle_ == nullptr ? ExactProblems() : oracle_->exact_problems(),
                                           .clock = timing_.clock,
                                           .keeping = keeping_,
                                           .progress = observer_.progress,
                                           .device = gpu == nullptr ? nullptr : &gpu->properties()});
            price_seconds_ = report_.stage_seconds(precision_of<Value>) + built_.outcome.seconds;
            price_on_gpu_ = price_seconds_;
            layout_seconds_ = built_.outcome.seconds;
            prepare_on_gpu();
            report_.layouts.push_back(built_.outcome);
            if (recipe_.is_hybrid()) {
                for (const BuiltShare<Value>& share : built_.shares) report_.layouts.push_back(share.outcome);
            }
            if (!built_.outcome.unsuitable.empty()) return;
            map_storage();
            for (const Kernels& kernels : products_) {
                if (!is_baseline(kernels)) make_ready(kernels);
            }
        } catch (const Unsuitable& reason) {
            LayoutOutcome layout;
            if (!recipe_.is_hybrid()) layout = outcome_of(recipe_.layouts.front(), precision_of<Value>);
            layout.precision = precision_of<Value>;
            layout.name = name_of_layouts(recipe_);
            layout.unsuitable = reason.what();
            report_.layouts.push_back(std::move(layout));
        } catch (const BrokenKernel& reason) {
            add_broken(reason.what());
        }
    }

private:
    void begin_waiting() {
        const Cuts* const partition = matrix_.find_cuts(CutKind::partition);
        waiting_.push_back({.report = &report_,
                            .precision = precision_of<Value>,
                            .baselines = baselines_,
                            .partitions = partition == nullptr ? std::nullopt : std::optional(partition->count())});
    }

    /// Has the GPU prepare the recipe as a whole, if that was asked for and can be: its times replace those of stages and
    /// layout.
    void prepare_on_gpu() {
        Device* const gpu = references_.device(DeviceKind::gpu);
        if (gpu == nullptr || !recipe_.prepares_on_gpu()) return;
        auto found = std::ranges::find_if(products_, [&](const Kernels& kernels) { return is_prepared_there(kernels); });
        if (found == products_.end()) {  // a note is to say why none is
            found = std::ranges::find_if(products_, [](const Kernels& one) { return one.front()->backend == Backend::cuda; });
        }
        if (found == products_.end()) return;
        try {
            const ReadyPlan<Value> plan{.device = *gpu,
                                        .kernels = *found,
                                        .filter = {.vectors = references_.vectors()},
                                        .clock = timing_.clock,
                                        .keeps_copy = true,
                                        .only_on_device = true};
            there_ = std::make_unique<Ready<Value>>(recipe_, references_.input(), plan);
        } catch (const LeftToHost& reason) {
            note(reason.what());
            return take_orders(*gpu);
        } catch (const Unsuitable& reason) {
            return note(reason.what());
        }
        const PlannedFacts& facts = there_->planned()->facts();
        for (const std::string& text : notes_of(facts)) note(text);
        const auto is_other = [&](const Kernels& kernels) { return !is_prepared_there(kernels) && !is_baseline(kernels); };
        if (std::ranges::any_of(products_, is_other)) {
            note(fmt::format(
                "of the kernels, {} alone has the matrix of the GPU; the prices of the others are those of the host",
                names_of(*found)));
        }
        for (const PlannedFacts::Step& step : facts.steps) {
            if (step.is_stage) set_seconds(step.what, [&](StageOutcome& of) { of.seconds = step.seconds; });
        }
        built_.outcome.seconds = facts.seconds(false);
        if (!recipe_.is_hybrid()) built_.shares.front().outcome.seconds = facts.seconds(false);
        built_.outcome.kept_seconds.reset();
    }

    /// Has the GPU find the orders with which a recipe begins whose matrix the host stores: its times replace those of these
    /// stages, and count for kernels of the GPU.
    void take_orders(Device& gpu) {
        const OrdersOfDevice found = orders_of_device<Value>(recipe_, references_.input(), gpu, timing_.clock);
        for (const std::string& text : found.notes) note(text);
        if (found.stages.empty()) return;
        const auto& [last, result] = *found.stages.rbegin();
        const auto orders = [](const RecipeStage& stage) { return stage.contract.acts.has_value(); };
        const std::span<const RecipeStage> later = std::span(recipe_.stages).subspan(last + 1);
        if (std::ranges::none_of(later, orders) && result.result.change.order->order != matrix_.row_order) {
            return note("the GPU found another order than the host, whose times are reported");
        }
        for (const auto& one : found.stages) {
            const double seconds = one.second.seconds;
            set_seconds(recipe_.stages[one.first].id, [&](StageOutcome& of) { of.seconds = seconds + of.applying_seconds; });
        }
        price_on_gpu_ = report_.stage_seconds(precision_of<Value>) + layout_seconds_;
    }

    void note(const std::string& text) { report_.notes.push_back(fmt::format("{}: {}", name_of(precision_of<Value>), text)); }

    /// Sets the time of a stage on the GPU instead of that on the host.
    template <typename Set>
    void set_seconds(const std::string& id, const Set& set) {
        for (StageOutcome& stage : report_.stages) {
            if (stage.id != id || stage.precision.value_or(precision_of<Value>) != precision_of<Value>) continue;
            set(stage);
            stage.kept_seconds.reset();
        }
    }

    /// True for the kernel of a matrix that a GPU prepares.
    [[nodiscard]] bool is_prepared_there(const Kernels& kernels) const {
        return std::ranges::equal(kernels, recipe_.layouts, [](const KernelEntry* kernel, const RecipeLayout& layout) {
            return kernel->backend == Backend::cuda && kernel->name == layout.entry->kernel_on_device;
        });
    }

    /// The kernel of the matrix that the GPU prepared, with real values or those of the exact problem.
    [[nodiscard]] std::shared_ptr<Kernel<Value>> kernel_there(Values values, Device& gpu) const {
        const CsrMatrix& input = references_.input();
        if (values == Values::real) return there_->kernel_with(input.values, recipe_, gpu);
        const ExactProblem& exact = oracle_->exact_problems()(built_.exact_values);
        return there_->kernel_with(
            exact.values_of(input, Permutation::identity(input.rows), Permutation::identity(input.columns)), recipe_, gpu);
    }

    /// A format beside the recipe failed its trial: none of its kernels ran, and all of them are wrong.
    void add_broken(const std::string& reason) {
        for (const Kernels& kernels : products_) {
            KernelOutcome outcome;
            outcome.layout = name_of_layouts(recipe_);
            outcome.kernel = kernels.front()->name;
            outcome.backend = kernels.front()->backend;
            outcome.precision = precision_of<Value>;
            outcome.status = KernelOutcome::Status::wrong;
            outcome.reason = reason;
            report_.kernels.push_back(std::move(outcome));
        }
    }

    /// Adds the storage map to the report, if it is to have one.
    void map_storage() {
        if (!observer_.maps_storage || report_.storage != nullptr) return;
        announce(observer_.progress, "map of the storage");
        try {
            report_.storage = std::make_shared<const StorageMap>(storage_of(recipe_, matrix_.matrix, built_));
        } catch (const UserError&) {
            report_.failures.push_back(current_failure());
        }
    }

    /// True if the kernel is the baseline itself, which the report has already.
    [[nodiscard]] bool is_baseline(const Kernels& kernels) const {
        const KernelOutcome& base = baselines_.at(device_of(kernels.front()->backend))->outcome;
        return !recipe_.is_hybrid() && space_->unchanged() && built_.outcome.name == base.layout &&
               kernels.front()->name == base.kernel && kernels.front()->backend == base.backend;
    }

    /// All layouts together, which is compared with the baseline; in a hybrid, then each share alone.
    void make_ready(const Kernels& kernels) {
        const std::string_view precision = name_of(precision_of<Value>);
        const std::string& layout = built_.outcome.name;
        announce(observer_.progress, recipe_.is_hybrid()
                                         ? fmt::format("kernels {} {}", layout, precision)
                                         : fmt::format("kernel {} {} {}", layout, kernels.front()->name, precision));
        try {
            Candidate<Value> candidate = built_.candidate(kernels, space_, recipe_.side_by_side);
            const bool is_there = there_ != nullptr && is_prepared_there(kernels);
            if (is_there) candidate.prepare_there = [this](Values values, Device& gpu) { return kernel_there(values, gpu); };
            add(candidate, *oracle_, built_.outcome);
            if (is_there) finish_there();
        } catch (const UserError&) {
            const auto is_own = [](const KernelEntry* kernel) { return bool(kernel->try_out.get<Value>()); };
            if (std::none_of(kernels.begin(), kernels.end(), is_own)) throw;
            report_.failures.push_back(current_failure());  // a source that cannot be compiled costs its own kernel alone
            return;
        }
        if (!recipe_.is_hybrid()) return;
        for (std::size_t i = 0; i < built_.shares.size(); ++i) {
            const BuiltShare<Value>& share = built_.shares[i];
            announce(observer_.progress,
                     fmt::format("kernel {} {} of share {}", kernels[i]->name, precision, share.outcome.share));
            const Oracle<Value> of_share(*oracle_, share_of_input(matrix_, *share.share), built_.exact_values,
                                         rounding_of(recipe_.layouts[i].parameters, precision_of<Value>));
            add(built_.candidate_of_share(i, kernels, space_), of_share, share.outcome);
        }
    }

    /// The prices of a kernel whose matrix the GPU prepared. In another order than the host's it is wrong even if its products
    /// are right.
    void finish_there() {
        ReadyKernel& ready = waiting_.back().ready.back();
        KernelOutcome& outcome = ready.outcome;
        if (outcome.verified()) {
            outcome.new_values_seconds = outcome.prepare_seconds;  // they were copied and stored once more
            outcome.setup_seconds = there_->preparation().seconds();
        }
        outcome.prepare_seconds = there_->preparation().copy_seconds;
        const ProductSpace& space = there_->space();
        if (space.row_order == space_->row_order && space.column_order == space_->column_order) return;
        outcome.status = KernelOutcome::Status::wrong;
        outcome.reason = "the GPU prepared the matrix in another order than the host";
        ready.product.reset();
    }

    /// What is known before the kernel is timed.
    void set_prices(KernelOutcome& outcome) const {
        if (!outcome.share.empty() || !outcome.verified()) return;
        outcome.setup_seconds =
            (device_of(outcome.backend) == DeviceKind::gpu ? price_on_gpu_ : price_seconds_) + outcome.prepare_seconds;
        outcome.new_values_seconds = layout_seconds_ + outcome.prepare_seconds;
    }

    /// If memory runs out, the kernels that wait are timed first, which frees theirs.
    void add(const Candidate<Value>& candidate, const Oracle<Value>& oracle, const LayoutOutcome& layout) {
        const auto make = [&] {
            const Verifier<Value> verifier{*references_.device(device_of(candidate.backend())), &oracle, timing_.clock};
            ReadyKernel ready = verifier.make_ready(candidate);
            ready.outcome.layout = layout.name;
            ready.outcome.share = layout.share;
            set_prices(ready.outcome);
            waiting_.back().ready.push_back(std::move(ready));
        };
        try {
            make();
        } catch (const MachineError&) {
            const auto has_memory = [](const WaitingKernels& one) { return !one.ready.empty(); };
            if (std::none_of(waiting_.begin(), waiting_.end(), has_memory)) throw;
            time_waiting(waiting_, timing_, references_, observer_.progress);
            begin_waiting();
            make();
        }
    }

    const Recipe& recipe_;
    const std::vector<Kernels>& products_;
    const RunObserver& observer_;
    StagedMatrix& matrix_;
    Keeping keeping_;
    const TimingOptions& timing_;
    References& references_;
    RunReport& report_;
    std::vector<WaitingKernels>& waiting_;  // the last one is this recipe's
    const Oracle<Value>* oracle_ = nullptr;
    std::shared_ptr<const ProductSpace> space_;
    BuiltLayouts<Value> built_;
    std::unique_ptr<Ready<Value>> there_;  // null: the host prepared the matrix
    double price_seconds_ = 0;             // of the stages and the layouts on the host
    double price_on_gpu_ = 0;              // likewise, for kernels of the GPU, which may have found orders
    double layout_seconds_ = 0;            // of the latter
    std::map<DeviceKind, ReadyKernel*> baselines_;
};

}  // namespace

void make_ready(Precision precision, const MeasuredRecipe& measured, const TimingOptions& timing, References& references,
                RunReport& report, std::vector<WaitingKernels>& waiting) {
    if (precision == Precision::f32) {
        Measurement<float>(measured, timing, references, report, waiting).run();
    } else {
        Measurement<double>(measured, timing, references, report, waiting).run();
    }
}

void time_waiting(std::vector<WaitingKernels>& waiting, const TimingOptions& timing, References& references,
                  const ReportStep& progress) {
    std::vector<WaitingKernels> all = std::exchange(waiting, {});
    std::vector<ReadyKernel*> baselines;
    for (const WaitingKernels& of : all) {
        for (const auto& [kind, baseline] : of.baselines) {
            if (std::find(baselines.begin(), baselines.end(), baseline) == baselines.end()) baselines.push_back(baseline);
        }
    }
    for (ReadyKernel* const baseline : baselines) TurnsWithBaseline(all, *baseline, timing, references).run(progress);
    for (WaitingKernels& of : all) {
        for (ReadyKernel& kernel : of.ready) of.report->kernels.push_back(std::move(kernel.outcome));
    }
}

void measure(Precision precision, const MeasuredRecipe& measured, const TimingOptions& timing, References& references,
             RunReport& report) {
    std::vector<WaitingKernels> waiting;
    std::exception_ptr failure;
    try {
        make_ready(precision, measured, timing, references, report, waiting);
    } catch (...) {
        failure = std::current_exception();
    }
    try {
        time_waiting(waiting, timing, references, measured.observer.progress);
    } catch (...) {
        if (failure == nullptr) throw;
    }
    if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace workbench
