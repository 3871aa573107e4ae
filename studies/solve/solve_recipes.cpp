#include "studies/solve/solve_recipes.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/keep/kept_result.hpp"
#include "pipeline/recipe/control.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/references.hpp"
#include "studies/solve/prepared_solver.hpp"
#include "studies/solve/several_solver.hpp"
#include "studies/solve/tuned_solve.hpp"
#include "studies/solve/turns.hpp"

namespace workbench {
namespace {

/// (90th - 10th percentile) / median; 0 for fewer than 5 samples.
double spread_of(std::vector<double> samples) {
    if (samples.size() < fewest_for_interval) return 0;
    std::sort(samples.begin(), samples.end());
    const std::size_t last = samples.size() - 1;
    return (samples[last - last / 10] - samples[last / 10]) / samples[last / 2];
}

std::string text_in_full(const Recipe& recipe) {
    Recipe same = in_full(recipe);
    same.name = same.source = "";
    return resolved_recipe(same);
}

/// Those that say how the outcome of a solve is reported.
enum class Role { recipe, baseline, tuned };

/// The caller holds CSR: nothing is built, and on the host nothing is copied.
void charge_nothing_for_csr(SolveOutcome& outcome, DeviceKind kind) {
    outcome.new_values_seconds = std::max(0.0, outcome.new_values_seconds - outcome.preparation.build_seconds);
    outcome.preparation.build_seconds = 0;
    if (kind != DeviceKind::host) return;
    outcome.new_values_seconds = outcome.preparation.copy_seconds = 0;
}

template <ValueType Value>
class Solves {
public:
    Solves(const SolvePlan& plan, SolveReport& report) : plan_(plan), report_(report), keeping_(plan.keep, plan.matrix) {
        systems_.emplace_back(plan.matrix, plan.b);
        for (const std::vector<double>& b : plan.more_b) systems_.emplace_back(plan.matrix, b);
    }

    void run(const std::vector<Recipe>& recipes) {
        require_finite(plan_.matrix);
        for (const System<Value>& system : systems_) system.require_range(report_.options);
        if (report_.options.method == KrylovMethod::cg && !is_nearly_symmetric(plan_.matrix)) {
            report_.warnings.push_back(not_symmetric +
                                       std::string(systems_.size() > 1 ? "" : "; --method bicgstab takes others"));
        }
        (void)plan_.device.bandwidth();  // measured while no solver has memory of the device
        if (plan_.device.properties().kind == DeviceKind::gpu) load_kernels(recipes);
        add_baseline();
        report_progress();
        for (const Recipe& recipe : recipes) {
            attempt([&] { add(recipe, filter_of_recipes(), Role::recipe); });
        }
        if (!plan_.tune_with.empty()) {
            attempt([&] { add(*csr_of_baseline(), filter_of_baseline(), Role::tuned); });
        }
        if (take_turns()) report_progress();
    }

private:
    /// Solves with a leading part of the matrix, which loads the same kernels; its outcome says nothing.
    void load_kernels(const std::vector<Recipe>& recipes) {
        constexpr Index most_rows = 4096;
        constexpr std::int64_t most_iterations = 20;
        if (plan_.progress) plan_.progress("kernels are loaded");
        const Stopwatch watch(report_.options.timing.clock);
        SolveReport unused;
        unused.options = report_.options;
        unused.options.timing = {CacheState::warm, 0, 0, 0};
        unused.options.timing.clock = report_.options.timing.clock;
        unused.options.most_iterations = most_iterations;
        unused.options.solves = std::numeric_limits<std::int32_t>::max();  // so that a persistent kernel is loaded, too
        const Index size = std::min(plan_.matrix.rows, most_rows);
        const CsrMatrix part = leading_part(plan_.matrix, size, size);
        SolvePlan small{part, std::vector<double>(static_cast<std::size_t>(part.rows), 1), plan_.catalogue, plan_.device,
                        plan_.backends};
        small.more_b.assign(plan_.more_b.size(), small.b);
        try {
            plan_.device.prepare_copies();
            Solves solves(small, unused);
            solves.add_baseline();
            for (const Recipe& recipe : recipes) {
                solves.open_.clear();
                solves.attempt([&] { solves.add(recipe, solves.filter_of_recipes(), Role::recipe); });
            }
        } catch (const Stopped&) {
            throw;
        } catch (const std::exception&) {  // the solves of the whole matrix report it
        }
        report_.process_seconds = watch.seconds();
    }

    /// A recipe that is ready to solve again, whose outcome is in the report.
    struct Open {
        explicit Open(Recipe of) : recipe(std::move(of)) {}
        Recipe recipe;
        std::unique_ptr<Multiplier<Value>> multiplier = {};
        std::unique_ptr<PreparedSolver<Value>> solver = {};  // null for a tuned solve, and of several right-hand sides
        std::unique_ptr<SeveralSolver<Value>> several = {};
        RepeatableSolve solves = {};
        std::size_t place = 0;  // in the report
    };

    void report_progress() const {
        if (plan_.keep != nullptr) {
            for (std::string& note : plan_.keep->take_notes()) report_.notes.push_back(std::move(note));
        }
        if (plan_.reported) plan_.reported();
    }

    /// Adds what the step adds, or its failure, to the report.
    void attempt(const std::function<void()>& step) {
        try {
            step();
        } catch (const Stopped&) {
            throw;
        } catch (...) {
            report_.failures.push_back(current_failure());
        }
        report_progress();
    }

    [[nodiscard]] int right_sides() const { return static_cast<int>(systems_.size()); }
    [[nodiscard]] const System<Value>& system() const { return systems_.front(); }
    [[nodiscard]] KernelFilter filter_of_baseline() const {
        return {.kind = plan_.device.properties().kind, .vectors = right_sides()};
    }

    [[nodiscard]] KernelFilter filter_of_recipes() const {
        const auto may_run = [this](const KernelEntry& kernel) {
            return std::find(plan_.backends.begin(), plan_.backends.end(), kernel.backend) != plan_.backends.end();
        };
        return {plan_.device.properties().kind, report_.options.only, may_run, right_sides()};
    }

    /// Warns, as a run does, of times that say little.
    void warn(const SolveOutcome& outcome) {
        const DeviceProperties& device = plan_.device.properties();
        const std::int64_t vectors = 2 * right_sides();  // x and r, beside p and A p, which a product moves
        const std::int64_t bytes =
            outcome.preparation.bytes_to_move + vectors * plan_.matrix.rows * static_cast<std::int64_t>(sizeof(Value));
        const bool fits = outcome.preparation.bytes_to_move > 0 && bytes < static_cast<std::int64_t>(device.last_level_cache);
        if (fits) {
            warn_once(fmt::format(
                "the matrix and the vectors fit in the last-level cache of {}: times say little about memory traffic",
                device.name));
        }
        if (const double spread = spread_of(outcome.solve_samples); spread > 0.1) {
            warn_once(fmt::format("{}: a spread of {} between the 10th and the 90th percentile of {}",
                                  outcome.baseline ? "the baseline" : outcome.preparation.recipe, spread_text(spread),
                                  counted_with_commas(std::ssize(outcome.solve_samples), "solve")));
        }
    }

    void warn_once(const std::string& warning) {
        std::vector<std::string>& all = report_.warnings;
        if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
    }

    /// The fastest CSR kernel on the arrays of the caller: the vendor's, or the workbench's own.
    void add_baseline() {
        const DeviceKind kind = plan_.device.properties().kind;
        std::vector<std::unique_ptr<Open>> ready;
        std::unique_ptr<Open> last;
        for (const bool of_vendor : {true, false}) {
            auto open = std::make_unique<Open>(
                baseline_recipe(plan_.catalogue, kind, of_vendor, right_sides(), has_long_rows(plan_.matrix.row_offsets)));
            if (open->recipe.layouts.front().kernels.empty()) continue;
            try {
                open->multiplier = multiplier_of(open->recipe, filter_of_baseline(), Role::baseline);
            } catch (const MachineError& reason) {
                if (!of_vendor && ready.empty()) throw;
                report_.notes.push_back(fmt::format("baseline: {}", reason.what()));
                continue;
            }
            if (open->multiplier->ready()) {
                ready.push_back(std::move(open));
                continue;
            }
            if (of_vendor) report_.notes.push_back("baseline: " + open->multiplier->preparation().kernel.reason);
            last = std::move(open);
        }
        std::unique_ptr<Open> chosen = ready.empty() ? std::move(last) : fastest(std::move(ready));
        if (chosen != nullptr) solve_first(std::move(chosen), Role::baseline);
        const SolveOutcome* const baseline = report_.baseline();
        if (baseline != nullptr && baseline->solved()) report_.options.expected_iterations = baseline->iterations;
    }

    [[nodiscard]] std::unique_ptr<Open> fastest(std::vector<std::unique_ptr<Open>> ready) const {
        std::vector<std::unique_ptr<CheckedProduct<Value>>> products;
        std::vector<Contender> contenders;
        for (const auto& open : ready) {
            const Preparation& preparation = open->multiplier->preparation();
            products.push_back(open->multiplier->checked_product());
            contenders.push_back(products.back()->contender(preparation.kernel.kernel, preparation.bytes_to_move));
        }
        return std::move(ready[fastest_of(contenders, report_.options.timing.clock)]);
    }

    /// The recipe of the baseline, with which a tuned solve begins.
    [[nodiscard]] const Recipe* csr_of_baseline() {
        const Backend backend = report_.outcomes.front().preparation.kernel.backend;
        const bool of_vendor = backend == Backend::cusparse || backend == Backend::eigen;
        csr_ = baseline_recipe(plan_.catalogue, plan_.device.properties().kind, of_vendor);
        return &csr_;
    }

    [[nodiscard]] std::unique_ptr<Multiplier<Value>> multiplier_of(const Recipe& recipe, const KernelFilter& filter,
                                                                   Role role) {
        ReadyPlan<Value> plan{
            .device = plan_.device, .filter = filter, .progress = plan_.progress, .clock = report_.options.timing.clock};
        // A tuned solve starts at once: its CSR is checked by the true residual in the end.
        if (role != Role::tuned) plan.oracle = &system().oracle();
        if (role == Role::recipe) plan.keeping = keeping_;
        plan.also_in_full = true;
        plan.keeps_copy = report_.options.engine != SolveEngine::graph;  // for a persistent kernel
        return std::make_unique<Multiplier<Value>>(recipe, plan_.matrix, plan);
    }

    /// If memory runs out, the recipes that are open have their turns first, which frees theirs.
    void add(const Recipe& recipe, const KernelFilter& filter, Role role) {
        const auto prepare_and_solve = [&] {
            auto open = std::make_unique<Open>(recipe);
            open->multiplier = multiplier_of(open->recipe, filter, role);
            solve_first(std::move(open), role);
        };
        if (bytes_of_open() > free_host_memory() / 4) (void)take_turns();
        const std::size_t before = report_.outcomes.size();
        try {
            prepare_and_solve();
        } catch (const MachineError&) {
            if (open_.empty() || report_.outcomes.size() > before) throw;
            (void)take_turns();
            prepare_and_solve();
        }
    }

    /// Solves, adds the outcome to the report, and keeps what is ready for repetitions if the solve is short.
    void solve_first(std::unique_ptr<Open> open, Role role) {
        open->place = report_.outcomes.size();
        if (!open->multiplier->ready()) {
            SolveOutcome outcome;
            outcome.preparation = open->multiplier->preparation();
            report_.outcomes.push_back(complete(std::move(outcome), open->recipe, role));
            return;
        }
        const std::string what = role == Role::tuned ? "tuned solve" : open->recipe.name;
        if (plan_.progress) plan_.progress(fmt::format("{}: {}", what, name_of(report_.options.method)));
        open->solves.options = report_.options;
        // For the baseline, which is what a user has without the workbench, and for tuned solves, which change kernels.
        if (role != Role::recipe) open->solves.options.engine = SolveEngine::graph;
        open->solves.solve = [this, &one = *open, role](const SolveOptions& options) {
            return complete(solve_once(one, options, role), one.recipe, role);
        };
        open->solves.begin();
        report_.outcomes.push_back(summary_of(open->solves));
        warn(report_.outcomes.back());
        if (open->solves.is_short()) open_.push_back(std::move(open));
    }

    [[nodiscard]] SolveOutcome solve_once(Open& open, const SolveOptions& options, Role role) {
        if (role == Role::tuned) {
            const TuningPlan tuning{.recipes = plan_.tune_with,
                                    .filter = filter_of_recipes(),
                                    .make_device = plan_.make_device,
                                    .keeping = keeping_};
            return solve_tuned(system(), *open.multiplier, plan_.device, options, tuning);
        }
        if (right_sides() > 1) return solve_several(open, options);
        const bool is_first = open.solver == nullptr;
        if (is_first) open.solver = std::make_unique<PreparedSolver<Value>>(system(), *open.multiplier, plan_.device, options);
        SolveOutcome outcome = solve(*open.solver, options);
        if (is_first) {
            // A persistent matrix of rounded values is made again.
            const bool is_made_again = open.solver->engine() == SolveEngine::persistent && open.multiplier->rounds();
            outcome.new_values_seconds =
                is_made_again ? open.solver->seconds() : open.multiplier->new_values_seconds(options.timing.clock);
        }
        return outcome;
    }

    [[nodiscard]] SolveOutcome solve_several(Open& open, const SolveOptions& options) {
        const bool is_first = open.several == nullptr;
        if (is_first) {
            std::vector<const System<Value>*> systems;
            for (const System<Value>& system : systems_) systems.push_back(&system);
            open.several = std::make_unique<SeveralSolver<Value>>(std::move(systems), *open.multiplier, plan_.device, options);
        }
        SolveOutcome outcome = open.several->solve(options);
        if (!is_first) return outcome;
        outcome.new_values_seconds = open.multiplier->new_values_seconds(options.timing.clock);
        if (options.timing.minimum_samples > 0) open.several->solve_alone(options, outcome);
        if (outcome.preparation.kernel.one_by_one) {
            outcome.preparation.notes.push_back(
                fmt::format("the kernel {} has no loop for several vectors and multiplies one after another",
                            outcome.preparation.kernel.kernel));
        }
        return outcome;
    }

    [[nodiscard]] SolveOutcome complete(SolveOutcome outcome, const Recipe& recipe, Role role) const {
        outcome.baseline = role == Role::baseline;
        if (role == Role::recipe) {
            outcome.in_full = text_in_full(recipe);
            outcome.control = is_control(recipe);
        } else {
            charge_nothing_for_csr(outcome, plan_.device.properties().kind);
        }
        return outcome;
    }

    [[nodiscard]] std::size_t bytes_of_open() const {
        std::size_t bytes = 0;
        for (const auto& open : open_) bytes += static_cast<std::size_t>(open->multiplier->preparation().bytes);
        return bytes;
    }

    /// Repeats the short solves in turns, and frees what was ready for them. Returns false if there are none.
    bool take_turns() {
        if (open_.empty()) return false;
        if (plan_.progress) plan_.progress("short solves, in turns");
        std::vector<RepeatableSolve*> solves;
        for (const auto& open : open_) solves.push_back(&open->solves);
        repeat_in_turns(solves, report_.options.timing.clock);
        for (const auto& open : open_) {
            report_.outcomes[open->place] = summary_of(open->solves);
            warn(report_.outcomes[open->place]);
        }
        open_.clear();
        return true;
    }

    const SolvePlan& plan_;
    SolveReport& report_;
    std::deque<System<Value>> systems_;  // one of each right-hand side
    Keeping keeping_;
    Recipe csr_;
    std::vector<std::unique_ptr<Open>> open_;  // of short solves
};

}  // namespace

Recipe baseline_recipe(const Catalogue& catalogue, DeviceKind kind, bool of_vendor, int vectors, bool long_rows) {
    const bool gpu = kind == DeviceKind::gpu;
    Recipe recipe;
    RecipeLayout layout;
    layout.entry = catalogue.find_layout(catalogue.baseline_layout);
    layout.parameters = Parameters(layout.entry->parameters, {});
    const Backend backend = of_vendor ? (gpu ? Backend::cusparse : Backend::eigen) : (gpu ? Backend::cuda : Backend::kokkos);
    const auto may_run = [&](const KernelEntry& kernel) {
        return kernel.backend == backend && (vectors == 1 || kernel.prepare_vectors.f64);
    };
    const KernelFilter filter{.kind = kind, .may_run = may_run, .vectors = vectors, .long_rows = long_rows};
    if (const KernelEntry* const kernel = choose_kernel(layout, filter)) layout.kernels.emplace(backend, kernel->name);
    recipe.name = !of_vendor ? "CSR" : gpu ? "cuSPARSE CSR" : "Eigen CSR";
    recipe.layouts.push_back(std::move(layout));
    return recipe;
}

void solve_recipes(const SolvePlan& plan, const std::vector<Recipe>& recipes, SolveReport& report) {
    if (report.precision == Precision::f32) {
        Solves<float>(plan, report).run(recipes);
    } else {
        Solves<double>(plan, report).run(recipes);
    }
}

}  // namespace workbench
