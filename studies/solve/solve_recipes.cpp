#include "studies/solve/solve_recipes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/text/text_table.hpp"
#include "pipeline/keep/kept_result.hpp"
#include "pipeline/recipe/rounding_of_recipe.hpp"
#include "studies/solve/tuned_solve.hpp"

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

template <ValueType Value>
class Solves {
public:
    Solves(const SolvePlan& plan, SolveReport& report)
        : plan_(plan), report_(report), system_(plan.matrix, plan.b), keeping_(plan.keep, plan.matrix) {}

    void run(const std::vector<Recipe>& recipes) {
        system_.require_range(report_.options);
        if (report_.options.method == KrylovMethod::cg && !is_nearly_symmetric(plan_.matrix)) {
            report_.warnings.emplace_back(
                "the matrix is not symmetric: conjugate gradients need a symmetric positive definite one; --method bicgstab "
                "takes others");
        }
        add_baseline();
        report_progress();
        for (const Recipe& recipe : recipes) {
            try {
                add(recipe, filter_of_recipes(), false);
            } catch (const Stopped&) {
                throw;
            } catch (...) {
                report_.failures.push_back(current_failure());
            }
            report_progress();
        }
        if (plan_.tune_with.empty()) return;
        add_tuned();
        report_progress();
    }

private:
    void report_progress() const {
        if (plan_.keep != nullptr) {
            for (std::string& note : plan_.keep->take_notes()) report_.notes.push_back(std::move(note));
        }
        if (plan_.reported) plan_.reported();
    }

    [[nodiscard]] KernelFilter filter_of_recipes() const {
        const auto may_run = [this](const KernelEntry& kernel) {
            return std::find(plan_.backends.begin(), plan_.backends.end(), kernel.backend) != plan_.backends.end();
        };
        return {plan_.device.properties().kind, report_.options.only, may_run};
    }

    /// Warns, as a run does, of times that say little.
    void warn(const SolveOutcome& outcome) {
        const DeviceProperties& device = plan_.device.properties();
        const std::string& name = outcome.tuned ? std::string("tuned") : outcome.preparation.recipe;
        constexpr std::int64_t vectors = 2;  // x and r, beside p and A p, which a product moves
        const std::int64_t bytes =
            outcome.preparation.bytes_to_move + vectors * plan_.matrix.rows * static_cast<std::int64_t>(sizeof(Value));
        const bool fits = outcome.preparation.bytes_to_move > 0 && device.last_level_cache > 0 &&
                          bytes < static_cast<std::int64_t>(device.last_level_cache);
        if (fits) {
            warn_once(fmt::format(
                "the matrix and the vectors fit in the last-level cache of {}: times say little about memory traffic",
                device.name));
        }
        if (const double spread = spread_of(outcome.solve_samples); spread > 0.1) {
            warn_once(fmt::format("{}: a spread of {} between the 10th and the 90th percentile of {} solves", name,
                                  spread_text(spread), outcome.solve_samples.size()));
        }
    }

    void warn_once(const std::string& warning) {
        std::vector<std::string>& all = report_.warnings;
        if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
    }

    /// Falls back to the workbench's own CSR if the vendor's kernel is missing or unsuitable.
    void add_baseline() {
        const DeviceKind kind = plan_.device.properties().kind;
        try {
            if (add(baseline_recipe(plan_.catalogue, kind, true), {kind}, true)) return;
            report_.notes.push_back("baseline: " + report_.outcomes.back().preparation.kernel.reason);
            report_.outcomes.pop_back();
        } catch (const MachineError& reason) {
            report_.notes.push_back(fmt::format("baseline: {}", reason.what()));
        }
        add(baseline_recipe(plan_.catalogue, kind, false), {kind}, true);
    }

    void add_tuned() {
        const DeviceKind kind = plan_.device.properties().kind;
        const bool of_vendor = report_.outcomes.front().preparation.kernel.backend == Backend::cusparse ||
                               report_.outcomes.front().preparation.kernel.backend == Backend::eigen;
        try {
            const Recipe recipe = baseline_recipe(plan_.catalogue, kind, of_vendor);
            // Not verified, so that the solve starts at once; the true residual checks it in the end.
            Multiplier<Value> csr(
                recipe, plan_.matrix,
                {.device = plan_.device, .filter = {kind}, .progress = plan_.progress, .clock = report_.options.timing.clock});
            if (plan_.progress) plan_.progress("tuned solve");
            const TuningPlan tuning{.recipes = plan_.tune_with,
                                    .filter = filter_of_recipes(),
                                    .make_device = plan_.make_device,
                                    .keeping = keeping_};
            const auto solve_once = [&](const SolveOptions& options) {
                return solve_tuned(system_, csr, plan_.device, options, tuning);
            };
            report_.outcomes.push_back(repeat_if_short(solve_once, options_with_graph()));
            warn(report_.outcomes.back());
        } catch (const Stopped&) {
            throw;
        } catch (...) {
            report_.failures.push_back(current_failure());
        }
    }

    /// For the baseline, which is what a user has without the workbench, and for tuned solves, which change kernels.
    [[nodiscard]] SolveOptions options_with_graph() const {
        SolveOptions options = report_.options;
        options.engine = SolveEngine::graph;
        return options;
    }

    /// Returns true if the kernel passed verification.
    bool add(const Recipe& recipe, const KernelFilter& filter, bool baseline) {
        Multiplier<Value> multiplier(recipe, plan_.matrix,
                                     {.device = plan_.device,
                                      .filter = filter,
                                      .oracle = &system_.oracle(),
                                      .progress = plan_.progress,
                                      .clock = report_.options.timing.clock,
                                      .keeping = baseline ? Keeping() : keeping_,
                                      .also_in_full = true});
        SolveOutcome outcome;
        outcome.preparation = multiplier.preparation();
        if (multiplier.ready()) {
            if (plan_.progress) plan_.progress(fmt::format("{}: {}", recipe.name, name_of(report_.options.method)));
            const auto solve_once = [&](const SolveOptions& options) {
                return solve(system_, multiplier, plan_.device, options);
            };
            outcome = repeat_if_short(solve_once, baseline ? options_with_graph() : report_.options);
            warn(outcome);
        }
        outcome.baseline = baseline;
        if (!baseline) outcome.in_full = text_in_full(recipe);
        report_.outcomes.push_back(std::move(outcome));
        return multiplier.ready();
    }

    const SolvePlan& plan_;
    SolveReport& report_;
    System<Value> system_;
    Keeping keeping_;
};

}  // namespace

Recipe baseline_recipe(const Catalogue& catalogue, DeviceKind kind, bool of_vendor) {
    const bool gpu = kind == DeviceKind::gpu;
    Recipe recipe;
    RecipeLayout layout;
    layout.entry = catalogue.find_layout(catalogue.baseline_layout);
    layout.parameters = Parameters(layout.entry->parameters, {});
    const Backend backend = of_vendor ? (gpu ? Backend::cusparse : Backend::eigen) : (gpu ? Backend::cuda : Backend::kokkos);
    for (const KernelEntry& kernel : layout.entry->kernels) {
        if (kernel.backend == backend) layout.kernels.emplace(backend, kernel.name);  // keeps the first one
    }
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
