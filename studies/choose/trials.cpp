#include "studies/choose/trials.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"

namespace workbench {
namespace {

/// The verified kernels of a recipe; the baseline's kernel counts only for the baseline recipe.
std::vector<const KernelOutcome*> own_kernels(const RunReport& report, bool is_baseline) {
    std::vector<const KernelOutcome*> kernels;
    for (const KernelOutcome& kernel : report.kernels) {
        if (kernel.verified() && kernel.share.empty() && (is_baseline || !kernel.baseline)) kernels.push_back(&kernel);
    }
    return kernels;
}

std::int64_t fewest_bytes(const RunReport& report, bool is_baseline) {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
    for (const KernelOutcome* kernel : own_kernels(report, is_baseline)) bytes = std::min(bytes, kernel->bytes_to_move);
    return bytes;
}

/// Makes the recipe name its fastest kernel, so that `run` repeats it; not for hybrids, which have several, and not for a
/// kernel source, which the recipe already names.
void name_kernel(Recipe& recipe, const KernelOutcome& fastest) {
    RecipeLayout& layout = recipe.layouts.front();
    const std::vector<KernelEntry>& kernels = layout.entry->kernels;
    const bool known = std::any_of(kernels.begin(), kernels.end(), [&](const KernelEntry& kernel) {
        return kernel.name == fastest.kernel && kernel.backend == fastest.backend;
    });
    if (known && !recipe.is_hybrid()) layout.kernels[fastest.backend] = fastest.kernel;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// While it lives, the log names the recipe that this thread prices.
class PricingNote {
public:
    PricingNote(const SearchLog* log, const Recipe& recipe) : log_(log != nullptr && log->prices ? log : nullptr) {
        if (log_ != nullptr) log_->prices(recipe.name.c_str());
    }
    ~PricingNote() {
        if (log_ != nullptr) log_->prices(nullptr);
    }
    PricingNote(const PricingNote&) = delete;
    PricingNote& operator=(const PricingNote&) = delete;

private:
    const SearchLog* log_;
};

/// A trial hangs if it takes longer than this many seconds.
double hang_limit(const Price& price, const ChooseOptions& options) {
    constexpr double of_prediction = 20;
    return std::max({options.hang_seconds, options.budget_seconds / 2, of_prediction * price.trial});
}

}  // namespace

RecipeTrial first_trial(const Recipe& recipe) {
    return {.recipe = recipe, .identity = identity_of_trial(recipe), .tried = facts_for_log(recipe)};
}

RecipeTrial next_trial(const Timed& timed) {
    return {.recipe = timed.recipe,
            .is_baseline = timed.is_baseline,
            .price = {.product = timed.predicted_seconds},
            .point = timed.point,
            .identity = timed.identity,
            .tried = timed.tried};
}

Trials::Trials(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const ChooseOptions& options,
               Choice& choice)
    : matrix_(matrix),
      options_(options),
      devices_(devices),
      choice_(choice),
      runner_(matrix, catalogue, devices,
              {.precisions = {options.precision},
               .backends = options.backends,
               .only = "",
               .timing = options.timing,
               .keep = options.keep,
               .fastest_baseline = true,
               .vectors = options.vectors}) {}

void Trials::skip(const Recipe& recipe, const std::string& reason, const std::optional<Price>& price) {
    const auto is_known = [&](const NotTimed& known) { return known.recipe == recipe.name && known.reason == reason; };
    if (std::any_of(choice_.not_timed.begin(), choice_.not_timed.end(), is_known)) return;
    NotTimed not_timed{recipe.name, reason};
    if (price && price->product > 0) {
        not_timed.bytes = price->bytes;
        not_timed.predicted_seconds = price->product;
    }
    choice_.not_timed.push_back(std::move(not_timed));
}

Price Trials::price(const Recipe& recipe) {
    if (options_.log != nullptr) {
        const auto lost = options_.log->unpriced.find(recipe.name);
        if (lost != options_.log->unpriced.end()) return {.unsuitable = lost->second};
    }
    CostModel& model = this->model();
    const PricingNote note(options_.log, recipe);
    try {
        return model.price(recipe);
    } catch (...) {
        return {.unsuitable = "pricing it failed: " + first_line(current_failure().text), .failed = true};
    }
}

TrialResult Trials::run(const RecipeTrial& trial, const TimingOptions& timing, const std::string& step) {
    const Recipe& recipe = trial.recipe;
    TrialResult result;
    RunReport& report = result.report;
    RunObserver observer;
    observer.progress = [&](const std::string& what) {
        if (options_.progress) options_.progress(fmt::format("{}: {}: {}", step, recipe.name, what));
    };
    observer.stage_done = [&](const StagedMatrix& staged, const StageOutcome& outcome) {
        const auto& stages = recipe.stages;
        const auto stage =
            std::find_if(stages.begin(), stages.end(), [&](const RecipeStage& known) { return known.id == outcome.id; });
        if (stage != stages.end()) model().learn(recipe, static_cast<std::size_t>(stage - stages.begin()) + 1, staged);
    };
    log_begin(trial);
    const Stopwatch watch(options_.timing.clock);
    runner_.time_with(timing);
    try {
        runner_.run(recipe, observer, report);
    } catch (const Stopped&) {
        choice_.stopped = true;
        return {};
    } catch (...) {
        report.failures.push_back(current_failure());
    }
    check_devices(report);
    result.seconds = watch.seconds();
    judge(trial, result);
    if (options_.complete) options_.complete(report);
    log_end(trial, result);
    if (result.record) {
        note_devices(trial, report);
    } else if (trial.is_baseline) {
        refuse(recipe, report);
    }
    return result;
}

/// Throws DeviceLost if the trial has broken a device.
void Trials::check_devices(const RunReport& report) const {
    if (report.failures.empty()) return;
    const std::optional<std::string> broken = runner_.broken_device();
    if (!broken) return;
    throw DeviceLost(fmt::format("{}; {} no longer works in this process", first_line(report.failures.back().text), *broken));
}

void Trials::judge(const RecipeTrial& trial, TrialResult& result) {
    const Recipe& recipe = trial.recipe;
    const bool any_wrong = skip_wrong_kernels(recipe, result.report);
    std::vector<Record> records = records_of({result.report});
    const auto measured = std::find_if(records.begin(), records.end(), [](const Record& r) { return r.status == "measured"; });
    if (measured != records.end()) {
        for (const Failure& failure : result.report.failures)
            skip(recipe, failure.text);  // a kernel that does not compile, say
        result.record = std::move(*measured);
    } else if (!any_wrong) {
        skip(recipe, reason_of(recipe, result.report, records));
    }
}

bool Trials::skip_wrong_kernels(const Recipe& recipe, const RunReport& report) {
    bool any = false;
    for (const KernelOutcome& kernel : report.kernels) {
        if (kernel.status != KernelOutcome::Status::wrong) continue;
        any = choice_.wrong = true;
        skip(recipe, fmt::format("WRONG RESULT of kernel {}: {}", kernel.kernel, kernel.reason));
    }
    return any;
}

std::string Trials::reason_of(const Recipe& recipe, const RunReport& report, const std::vector<Record>& records) const {
    if (const std::string need = unmet_need(recipe, matrix_); !need.empty()) return need;
    for (const Record& record : records) {
        if (!record.reason.empty()) return record.reason;
    }
    return report.notes.empty() ? "none of its kernels runs on this device" : report.notes.back();
}

void Trials::refuse(const Recipe& baseline, const RunReport& report) const {
    const ExitCode exit_code = report.failures.empty() ? ExitCode::bad_input : report.failures.back().exit_code;
    const std::string& reason = choice_.not_timed.back().reason;
    throw UserError(exit_code, fmt::format("no recipe suits this matrix, not even {}: {}", baseline.name, reason));
}

void Trials::note_devices(const RecipeTrial& trial, const RunReport& report) {
    // The bandwidth is raised to that of the fastest kernel: measured while the machine was busy, it may be too low.
    for (const KernelOutcome& kernel : report.kernels) {
        if (!kernel.verified() || kernel.timing.median <= 0) continue;
        choice_.bandwidth = std::max(choice_.bandwidth, static_cast<double>(kernel.bytes_to_move) / kernel.timing.median);
    }
    model().set_bandwidth(report.devices.front().bandwidth.copy, choice_.bandwidth);
    if (!trial.is_baseline) return;
    choice_.device = report.devices.front().properties.name;
    for (const KernelOutcome& kernel : report.kernels) {
        if (kernel.baseline) choice_.baseline_kernel = kernel.kernel;
    }
}

void Trials::log_begin(const RecipeTrial& trial) const {
    if (options_.log == nullptr || !options_.log->begin) return;
    options_.log->begin(begun_line(*options_.log, trial.tried), hang_limit(trial.price, options_));
}

void Trials::log_end(const RecipeTrial& trial, const TrialResult& result) const {
    if (options_.log == nullptr) return;
    TrialFacts facts{.seconds = result.seconds, .predicted_seconds = trial.price.product, .point = trial.point};
    if (result.record) {
        const Timed timed = timed_of(trial, result);
        facts.price_seconds = timed.price_seconds;
        facts.bytes = timed.bytes;
        facts.one_by_one = timed.one_by_one;
    }
    options_.log->add(trial_line(*options_.log, trial.tried, result.report, facts));
}

Timed Trials::timed_of(const RecipeTrial& trial, const TrialResult& result) const {
    const RunReport& report = result.report;
    const Record& record = *result.record;
    Timed timed{.recipe = trial.recipe, .record = record, .bytes = fewest_bytes(report, trial.is_baseline)};
    timed.predicted_seconds = trial.price.product;
    timed.point = trial.point;
    timed.identity = trial.identity;
    timed.is_baseline = trial.is_baseline;
    timed.tried = trial.tried;
    for (const KernelOutcome* kernel : own_kernels(report, trial.is_baseline)) {
        if (kernel->kernel != record.kernel || name_of(kernel->backend) != record.backend) continue;
        timed.price_seconds = report.stage_seconds(kernel->precision) + report.layouts.front().seconds +
                              kernel->prepare_seconds + kernel->vector_permutation_seconds;
        timed.one_by_one = kernel->one_by_one;
        name_kernel(timed.recipe, *kernel);
    }
    timed.warnings = record.warnings;
    return timed;
}

CostModel& Trials::model() {
    if (!model_) {
        const bool on_gpu =
            devices_.gpu != nullptr && std::any_of(options_.backends.begin(), options_.backends.end(),
                                                   [](Backend one) { return device_of(one) == DeviceKind::gpu; });
        Device& device = on_gpu ? *devices_.gpu : devices_.host;
        const DeviceProperties* const gpu = devices_.gpu == nullptr ? nullptr : &devices_.gpu->properties();
        model_.emplace(matrix_, options_.precision, device.properties(), gpu, options_.vectors);
        const Bandwidth bandwidth = device.bandwidth();
        choice_.bandwidth = std::max(bandwidth.copy, bandwidth.read);
        model_->set_bandwidth(bandwidth.copy, choice_.bandwidth);
        if (options_.calibration != nullptr) model_->calibrate(*options_.calibration);
    }
    return *model_;
}

}  // namespace workbench
