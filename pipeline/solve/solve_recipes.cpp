#include "pipeline/solve/solve_recipes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/keep/kept_result.hpp"
#include "pipeline/solve/tuned_solve.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class Solves {
public:
    Solves(const SolvePlan& plan, SolveReport& report)
        : plan_(plan),
          report_(report),
          system_(plan.matrix, plan.b),
          keeping_(keeping_with(Keeping(plan.keep, plan.matrix), plan.preparer)) {}

    void run(const std::vector<Recipe>& recipes) {
        add_baseline();
        report_progress();
        for (const Recipe& recipe : recipes) {
            try {
                add(recipe, filter_of_recipes(), false);
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
            Multiplier<Value> csr(recipe, {.input = plan_.matrix,
                                           .device = plan_.device,
                                           .filter = {kind},
                                           .progress = plan_.progress,
                                           .clock = report_.options.timing.clock});
            if (plan_.progress) plan_.progress("tuned solve");
            report_.outcomes.push_back(solve_tuned(system_, csr, plan_.device, report_.options,
                                                   {.recipes = plan_.tune_with,
                                                    .filter = filter_of_recipes(),
                                                    .make_device = plan_.make_device,
                                                    .keeping = keeping_,
                                                    .preparer = plan_.preparer}));
        } catch (...) {
            report_.failures.push_back(current_failure());
        }
    }

    /// Returns true if the kernel passed verification.
    bool add(const Recipe& recipe, const KernelFilter& filter, bool baseline) {
        Multiplier<Value> multiplier(recipe, {.input = plan_.matrix,
                                              .device = plan_.device,
                                              .filter = filter,
                                              .oracle = &system_.oracle(),
                                              .progress = plan_.progress,
                                              .clock = report_.options.timing.clock,
                                              .keeping = baseline ? Keeping() : keeping_,
                                              .preparer = baseline ? nullptr : plan_.preparer});
        SolveOutcome outcome;
        outcome.preparation = multiplier.preparation();
        if (multiplier.ready()) {
            if (plan_.progress) plan_.progress(fmt::format("{}: {}", recipe.name, name_of(report_.options.method)));
            outcome = solve(system_, multiplier, plan_.device, report_.options);
        }
        outcome.baseline = baseline;
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
