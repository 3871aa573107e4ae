#include "pipeline/run/runner.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/text/words.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/measure.hpp"

namespace workbench {
namespace {

/// Notes which results an earlier run kept.
void note_kept(RunReport& report) {
    KeptParts kept;
    for (const StageOutcome& stage : report.stages) kept.add(stage.label(), stage.kept_seconds);
    for (const LayoutOutcome& layout : report.layouts) {
        if (report.has_shares() && layout.share.empty()) continue;  // each share is listed
        const std::string of_share = layout.share.empty() ? "" : fmt::format(" of share {}", layout.share);
        kept.add(fmt::format("layout {} {}{}", layout.name, name_of(layout.precision), of_share), layout.kept_seconds);
    }
    if (std::string note = kept.note(); !note.empty()) report.notes.push_back(std::move(note));
}

/// Notes which kernels read the matrix once for each vector.
void note_one_by_one(const std::vector<Kernels>& products, RunReport& report) {
    std::vector<std::string> names;
    for (const Kernels& kernels : products) {
        for (const KernelEntry* const kernel : kernels) {
            const std::string name = fmt::format("{} ({})", kernel->name, name_of(kernel->backend));
            if (!kernel->prepare_vectors.f64 && std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
    }
    if (names.empty()) return;
    report.notes.push_back(fmt::format("multiplying the vectors one after another: {}", fmt::join(names, ", ")));
}

}  // namespace

double load_kernels(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options,
                    std::span<const Recipe> recipes) {
    constexpr Index most = 4096;
    const Stopwatch watch(options.timing.clock);
    const CsrMatrix part = leading_part(input, std::min(input.rows, most), std::min(input.columns, most));
    std::erase_if(options.backends, [](Backend backend) { return device_of(backend) == DeviceKind::host; });
    options.timing.minimum_samples = 0;
    options.timing.minimum_seconds = 0;
    options.keep = nullptr;
    if (devices.gpu != nullptr) devices.gpu->prepare_copies();
    Runner runner(part, catalogue, devices, options);
    for (const Recipe& recipe : recipes) {
        if (!recipe.code.empty()) continue;
        try {
            (void)runner.run(recipe, {});
        } catch (const Stopped&) {
            throw;
        } catch (const std::exception&) {  // the run on the whole matrix reports it
        }
    }
    return watch.seconds();
}

Runner::Runner(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, RunOptions options)
    : options_(std::move(options)),
      references_(input, catalogue, devices, options_.timing.clock, options_.fastest_baseline, options_.vectors),
      stages_(input, Keeping(options_.keep, input)) {}

bool Runner::may_run(const KernelEntry& kernel) const {
    const auto& backends = options_.backends;
    return std::find(backends.begin(), backends.end(), kernel.backend) != backends.end() &&
           references_.device(device_of(kernel.backend)) != nullptr;
}

std::vector<Kernels> Runner::products_of(const Recipe& recipe) const {
    std::vector<Kernels> products;
    const auto allowed = [this](const KernelEntry& kernel) { return may_run(kernel); };
    if (recipe.is_hybrid()) {
        for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu}) {
            Kernels kernels = choose_kernels(
                recipe, {kind, options_.only, allowed, options_.vectors, has_long_rows(references_.input().row_offsets)});
            if (!kernels.empty()) products.push_back(std::move(kernels));
        }
        return products;
    }
    const RecipeLayout& layout = recipe.layouts.front();
    const auto add = [&](const KernelEntry& kernel) {
        if ((options_.only.empty() || options_.only == kernel.name) && may_run(kernel)) products.push_back({&kernel});
    };
    for (const KernelEntry& kernel : layout.entry->kernels) {
        const auto chosen = layout.kernels.find(kernel.backend);
        if (chosen == layout.kernels.end() || chosen->second == kernel.name) add(kernel);
    }
    for (const KernelEntry& kernel : layout.own_kernels) add(kernel);
    return products;
}

RunReport Runner::run(const Recipe& recipe, const RunObserver& observer) {
    RunReport report;
    run(recipe, observer, report);
    return report;
}

void Runner::run(const Recipe& recipe, const RunObserver& observer, RunReport& report) {
    try {
        run_stages(recipe, observer, report, [&](Precision precision, const MeasuredRecipe& measured) {
            measure(precision, measured, options_.timing, references_, report);
        });
    } catch (...) {
        conclude(report);
        throw;
    }
    conclude(report);
}

void Runner::make_ready(const Recipe& recipe, const RunObserver& observer, RunReport& report) {
    not_concluded_.push_back(&report);
    run_stages(recipe, observer, report, [&](Precision precision, const MeasuredRecipe& measured) {
        workbench::make_ready(precision, measured, options_.timing, references_, report, waiting_);
    });
}

void Runner::time_together(const ReportStep& progress) {
    const std::vector<RunReport*> reports = std::exchange(not_concluded_, {});
    time_waiting(waiting_, options_.timing, references_, progress);
    for (RunReport* report : reports) conclude(*report);
}

void Runner::run_stages(const Recipe& recipe, const RunObserver& observer, RunReport& report,
                        const std::function<void(Precision, const MeasuredRecipe&)>& after) {
    report.recipe_name = recipe.name;
    report.recipe_source = recipe.source;
    report.recipe_file = recipe.file.string();
    report.resolved_recipe = resolved_recipe(recipe, FileNames::from_here);
    report.cache = options_.timing.cache;
    report.vectors = options_.vectors;
    report.sweep = recipe.sweep;
    report.notes = recipe.notes;
    report.turn_seed = options_.timing.seed;

    const std::vector<Chain> chains = chains_of(recipe);
    stages_.no_longer_expect(chains);
    const CsrMatrix& input = references_.input();
    check_against(recipe, input.rows, input.columns);
    if (options_.timing.cache == CacheState::inside_cg && input.rows != input.columns) {
        throw InputError(fmt::format("the matrix has {} and {}; expected a square one, to time inside CG",
                                     counted(input.rows, "row"), counted(input.columns, "column")));
    }
    const std::vector<Kernels> products = products_of(recipe);
    if (products.empty()) report.notes.push_back(no_kernel_of(recipe));
    if (options_.vectors > 1) note_one_by_one(products, report);
    const auto measure_after = [&](const Chain& chain, StagedMatrix& matrix) {
        const MeasuredRecipe measured{recipe, products, observer, matrix, stages_.keeping_after(chain)};
        for (const Precision precision : chain.precisions) after(precision, measured);
    };
    stages_.run({recipe, observer, options_.timing.clock}, chains, report.stages, measure_after);
}

std::optional<std::string> Runner::broken_device() const {
    for (Device* const used : {references_.device(DeviceKind::host), references_.device(DeviceKind::gpu)}) {
        if (used != nullptr && !still_works(*used)) return used->properties().name;
    }
    return std::nullopt;
}

std::vector<Chain> Runner::chains_of(const Recipe& recipe) const {
    const Device* const gpu = references_.device(DeviceKind::gpu);
    return workbench::chains_of(recipe, options_.precisions, gpu == nullptr ? nullptr : &gpu->properties());
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
    for (Device* used : {references_.device(DeviceKind::host), references_.device(DeviceKind::gpu)}) {
        const auto runs_here = [&](const KernelOutcome& kernel) {
            return references_.device(device_of(kernel.backend)) == used;
        };
        if (used == nullptr || std::none_of(report.kernels.begin(), report.kernels.end(), runs_here)) continue;
        report.devices.push_back({used->properties(), used->bandwidth()});
    }
}

}  // namespace workbench
