#include "pipeline/choose/choose.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "pipeline/choose/cost_model.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/failure.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

constexpr const char* stopped_before = "stopped before it was timed";

/// The verified kernels of a recipe; the baseline's kernel counts only for the baseline recipe.
std::vector<const KernelOutcome*> own_kernels(const RunReport& report, bool is_baseline) {
    std::vector<const KernelOutcome*> kernels;
    for (const KernelOutcome& kernel : report.kernels) {
        if (kernel.verified() && kernel.share.empty() && (is_baseline || !kernel.baseline)) kernels.push_back(&kernel);
    }
    return kernels;
}

class Chooser {
public:
    Chooser(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
            const ChooseOptions& options)
        : matrix_(matrix),
          options_(options),
          devices_(devices),
          runner_(matrix, catalogue, devices,
                  {.precisions = {options.precision},
                   .backends = options.backends,
                   .only = "",
                   .timing = options.timing,
                   .keep = options.keep}),
          watch_(options.timing.clock) {
        for (const Recipe& recipe : recipes) {
            candidates_.push_back(
                {.recipe = recipe, .is_baseline = candidates_.empty(), .always = candidates_.size() < options.always});
        }
    }

    Choice run() {
        try_all();
        if (choice_.stopped && choice_.ranking.empty()) throw Stopped("stopped before anything was timed; nothing was written");
        rank();
        while (options_.confirm && !choice_.stopped && !choice_.stay && !choice_.ranking.front().confirmed) {
            confirm_first();
            rank();
        }
        choice_.seconds = watch_.seconds();
        return std::move(choice_);
    }

private:
    struct Candidate {
        Recipe recipe;
        bool is_baseline = false;
        bool always = false;
    };
    /// One run of a candidate.
    struct Result {
        RunReport report = {};
        std::optional<Record> record = {};  // with its fastest kernel; none if no kernel was verified
        double seconds = 0;                 // of the wall
    };
    struct Priced {
        std::size_t number = 0;  // of the candidate
        Price price;
        double cost = 0;  // by which candidates are ordered: of a product, or of all products and the preparation
    };

    void skip(const Candidate& one, const std::string& reason, const std::optional<Price>& price = {}) {
        const auto is_known = [&](const NotTimed& known) { return known.recipe == one.recipe.name && known.reason == reason; };
        if (std::any_of(choice_.not_timed.begin(), choice_.not_timed.end(), is_known)) return;
        NotTimed not_timed{one.recipe.name, reason};
        if (price) {
            not_timed.bytes = price->bytes;
            not_timed.predicted_seconds = price->product;
        }
        choice_.not_timed.push_back(std::move(not_timed));
    }

    /// Announces `next`, the other candidates and the best one so far, which is timed again at the end, so that the runner
    /// keeps for them what stages leave behind.
    void expect(const Candidate& next) {
        std::vector<Recipe> recipes{next.recipe};
        for (const Candidate& one : candidates_) recipes.push_back(one.recipe);
        if (const Timed* const best = fastest()) recipes.push_back(best->recipe);
        runner_.expect(recipes);
    }

    /// Null before anything was timed.
    [[nodiscard]] const Timed* fastest() const {
        const auto faster = [](const Timed& a, const Timed& b) { return a.record.seconds < b.record.seconds; };
        const auto found = std::min_element(choice_.ranking.begin(), choice_.ranking.end(), faster);
        return found == choice_.ranking.end() ? nullptr : &*found;
    }

    /// Skips the candidate if no kernel was verified.
    Result run_one(const Candidate& one, const TimingOptions& timing, const std::string& step) {
        Result result;
        RunReport& report = result.report;
        RunObserver observer;
        observer.progress = [&](const std::string& what) {
            if (options_.progress) options_.progress(fmt::format("{}: {}: {}", step, one.recipe.name, what));
        };
        observer.stage_done = [&](const StagedMatrix& staged, const StageOutcome& outcome) {
            const auto& stages = one.recipe.stages;
            const auto stage =
                std::find_if(stages.begin(), stages.end(), [&](const RecipeStage& known) { return known.id == outcome.id; });
            if (stage != stages.end()) model().learn(one.recipe, static_cast<std::size_t>(stage - stages.begin()) + 1, staged);
        };
        const Stopwatch watch(options_.timing.clock);
        runner_.time_with(timing);
        try {
            runner_.run(one.recipe, observer, report);
        } catch (const Stopped&) {
            choice_.stopped = true;
            return {};
        } catch (...) {
            report.failures.push_back(current_failure());
        }
        result.seconds = watch.seconds();
        const bool any_wrong = skip_wrong_kernels(one, report);
        std::vector<Record> records = records_of({report});
        const auto measured =
            std::find_if(records.begin(), records.end(), [](const Record& r) { return r.status == "measured"; });
        if (measured != records.end()) {
            for (const Failure& failure : report.failures) skip(one, failure.text);  // a kernel that does not compile, say
            result.record = std::move(*measured);
        } else if (!any_wrong) {
            skip(one, reason_of(one, report, records));
        }
        return result;
    }

    bool skip_wrong_kernels(const Candidate& one, const RunReport& report) {
        bool any = false;
        for (const KernelOutcome& kernel : report.kernels) {
            if (kernel.status != KernelOutcome::Status::wrong) continue;
            any = choice_.wrong = true;
            skip(one, fmt::format("WRONG RESULT of kernel {}: {}", kernel.kernel, kernel.reason));
        }
        return any;
    }

    [[nodiscard]] std::string reason_of(const Candidate& one, const RunReport& report,
                                        const std::vector<Record>& records) const {
        if (matrix_.rows != matrix_.columns && needs_square(one.recipe)) return "needs a square matrix";
        for (const Record& record : records) {
            if (!record.reason.empty()) return record.reason;
        }
        return report.notes.empty() ? "none of its kernels runs on this device" : report.notes.back();
    }

    [[nodiscard]] static bool needs_square(const Recipe& recipe) {
        try {
            check_against(recipe, 1, 2);
        } catch (const InputError&) {
            return true;
        }
        return false;
    }

    [[noreturn]] void refuse(const Candidate& baseline, const RunReport& report) const {
        const ExitCode exit_code = report.failures.empty() ? ExitCode::bad_input : report.failures.back().exit_code;
        const std::string& reason = choice_.not_timed.back().reason;
        throw UserError(exit_code, fmt::format("no recipe suits this matrix, not even {}: {}", baseline.recipe.name, reason));
    }

    static std::int64_t fewest_bytes(const RunReport& report, bool is_baseline) {
        std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
        for (const KernelOutcome* kernel : own_kernels(report, is_baseline)) bytes = std::min(bytes, kernel->bytes_to_move);
        return bytes;
    }

    /// Raises the bandwidth to that of the fastest kernel: measured while the machine was busy, it may be too low.
    void note_bandwidth(const RunReport& report) {
        for (const KernelOutcome& kernel : report.kernels) {
            if (!kernel.verified() || kernel.timing.median <= 0) continue;
            choice_.bandwidth = std::max(choice_.bandwidth, static_cast<double>(kernel.bytes_to_move) / kernel.timing.median);
        }
        const Bandwidth measured = report.devices.front().bandwidth;
        model().set_bandwidth(measured.copy, choice_.bandwidth);
    }

    /// The fraction of the budget for preparing and timing; the rest is for confirming the winner.
    [[nodiscard]] double share_before_confirming() const { return options_.confirm ? 0.9 : 1; }

    /// Divides the remaining time evenly among the remaining candidates.
    [[nodiscard]] TimingOptions timing_for(std::size_t left) const {
        constexpr double kernels_at_once = 3;
        TimingOptions timing = options_.timing;
        timing.maximum_seconds =
            std::clamp(seconds_left() / static_cast<double>(left) / kernels_at_once, 0.0, timing.maximum_seconds);
        return timing;
    }

    [[nodiscard]] double seconds_left() const { return share_before_confirming() * options_.budget_seconds - watch_.seconds(); }

    void try_all() {
        const std::size_t count = candidates_.size();
        while (!candidates_.empty()) {
            const std::optional<Priced> next = take_next();
            if (!next) break;
            const Candidate one = std::move(candidates_[next->number]);
            candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(next->number));
            if (choice_.stopped) {
                skip(one, stopped_before);
                continue;
            }
            expect(one);
            const std::string step = fmt::format("trying {} of {}{}", count - candidates_.size(), count, best_so_far());
            Result result = run_one(one, timing_for(candidates_.size() + 1), step);
            if (choice_.stopped) skip(one, stopped_before);
            if (!result.record && one.is_baseline && !choice_.stopped) refuse(one, result.report);
            model().correct(one.recipe, next->price, result.record ? result.record->seconds : 0, result.seconds);
            if (!result.record) continue;
            note_bandwidth(result.report);
            best_ = std::min(best_, result.record->seconds);
            if (one.is_baseline) note_baseline(result.report);
            choice_.ranking.push_back(timed_of(one, *result.record, result.report));
            choice_.ranking.back().predicted_seconds = next->price.product;
            choice_.reports.push_back(std::move(result.report));
        }
    }

    /// The candidate to try next; skips all that are not worth it. None if no candidate remains.
    std::optional<Priced> take_next() {
        if (candidates_.front().always || choice_.stopped) return Priced{0, price_of(candidates_.front())};
        std::vector<Priced> others = priced();
        skip_hopeless(others);
        if (others.empty()) return std::nullopt;
        const double left = seconds_left();
        const auto fits = [left](const Priced& one) { return one.price.trial <= left; };
        const auto first = std::find_if(others.begin(), others.end(), fits);
        if (first != others.end() && left > 0) return *first;
        // The remaining seconds are for the cheapest trial, even if it exceeds them.
        const auto cheapest = std::min_element(others.begin(), others.end(),
                                               [](const Priced& a, const Priced& b) { return a.price.trial < b.price.trial; });
        if (left > 0 && cheapest->price.trial <= 2 * left) return *cheapest;
        for (const Priced& one : others) {
            const std::string reason = left > 0
                                           ? fmt::format("preparation would exceed the {:g} s budget", options_.budget_seconds)
                                           : fmt::format("not tried within the {:g} s budget", options_.budget_seconds);
            skip(candidates_[one.number], reason, one.price);
        }
        candidates_.clear();
        return std::nullopt;
    }

    [[nodiscard]] Price price_of(const Candidate& one) { return model().price(one.recipe); }

    /// The remaining candidates, the best first.
    [[nodiscard]] std::vector<Priced> priced() {
        std::vector<Priced> all;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            Priced one{.number = i, .price = price_of(candidates_[i])};
            one.cost = one.price.product;
            if (options_.products) one.cost = one.price.preparation + *options_.products * one.price.product;
            all.push_back(std::move(one));
        }
        std::stable_sort(all.begin(), all.end(), [](const Priced& a, const Priced& b) { return a.cost < b.cost; });
        return all;
    }

    /// Drops candidates that will not fit, and those that cannot beat the best time.
    void skip_hopeless(std::vector<Priced>& others) {
        std::vector<std::size_t> hopeless;
        for (const Priced& one : others) {
            const Candidate& candidate = candidates_[one.number];
            if (!one.price.unsuitable.empty()) {
                skip(candidate, one.price.unsuitable, one.price);
            } else if (one.price.least > best_) {
                skip(candidate, "its bytes alone would take longer than the best time", one.price);
            } else {
                continue;
            }
            hopeless.push_back(one.number);
        }
        if (hopeless.empty()) return;
        std::sort(hopeless.begin(), hopeless.end());
        for (auto number = hopeless.rbegin(); number != hopeless.rend(); ++number) {
            candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(*number));
        }
        others = priced();
    }

    /// ", best 41.2 us (Halo)", for progress.
    [[nodiscard]] std::string best_so_far() const {
        const Timed* const best = fastest();
        if (best == nullptr) return "";
        return fmt::format(", best {} ({})", duration(best->record.seconds), best->recipe.name);
    }

    /// The model of the device on which the candidates run; its bandwidth is measured once.
    CostModel& model() {
        if (!model_) {
            const bool on_gpu =
                devices_.gpu != nullptr && std::any_of(options_.backends.begin(), options_.backends.end(),
                                                       [](Backend one) { return device_of(one) == DeviceKind::gpu; });
            Device& device = on_gpu ? *devices_.gpu : devices_.host;
            const DeviceProperties* const gpu = devices_.gpu == nullptr ? nullptr : &devices_.gpu->properties();
            model_.emplace(matrix_, options_.precision, device.properties(), gpu);
            const Bandwidth bandwidth = device.bandwidth();
            choice_.bandwidth = std::max(bandwidth.copy, bandwidth.read);
            model_->set_bandwidth(bandwidth.copy, choice_.bandwidth);
            if (options_.calibration != nullptr) model_->calibrate(*options_.calibration);
        }
        return *model_;
    }

    /// Times the winner again for as long as `run` would, and drops it if that fails.
    void confirm_first() {
        Timed& first = choice_.ranking.front();
        const Candidate one{first.recipe};
        Result result = run_one(one, options_.timing, "timing the winner again");
        if (result.record) {
            const double predicted = first.predicted_seconds;
            first = timed_of(one, *result.record, result.report);
            first.predicted_seconds = predicted;
            first.confirmed = true;
            choice_.reports.push_back(std::move(result.report));
        } else if (!choice_.stopped) {
            choice_.ranking.erase(choice_.ranking.begin());
        }
    }

    void note_baseline(const RunReport& report) {
        choice_.device = report.devices.front().properties.name;
        for (const KernelOutcome& kernel : report.kernels) {
            if (kernel.baseline) choice_.baseline_kernel = kernel.kernel;
        }
    }

    [[nodiscard]] static Timed timed_of(const Candidate& one, const Record& record, const RunReport& report) {
        Timed timed{.recipe = one.recipe, .record = record, .bytes = fewest_bytes(report, one.is_baseline)};
        for (const KernelOutcome* kernel : own_kernels(report, one.is_baseline)) {
            if (kernel->kernel != record.kernel || name_of(kernel->backend) != record.backend) continue;
            timed.price_seconds = report.stage_seconds(kernel->precision) + report.layouts.front().seconds +
                                  kernel->prepare_seconds + kernel->vector_permutation_seconds;
            name_kernel(timed.recipe, *kernel);
            timed.warnings.insert(timed.warnings.end(), kernel->warnings.begin(), kernel->warnings.end());
        }
        for (const KernelOutcome& kernel : report.kernels) {
            if (kernel.baseline) timed.warnings.insert(timed.warnings.end(), kernel.warnings.begin(), kernel.warnings.end());
        }
        return timed;
    }

    /// Makes the recipe name its fastest kernel, so that `run` repeats it; not for hybrids, which have several, and not for a
    /// kernel source, which the recipe already names.
    static void name_kernel(Recipe& recipe, const KernelOutcome& fastest) {
        RecipeLayout& layout = recipe.layouts.front();
        const std::vector<KernelEntry>& kernels = layout.entry->kernels;
        const bool known = std::any_of(kernels.begin(), kernels.end(), [&](const KernelEntry& kernel) {
            return kernel.name == fastest.kernel && kernel.backend == fastest.backend;
        });
        if (known && !recipe.is_hybrid()) layout.kernels[fastest.backend] = fastest.kernel;
    }

    void rank() {
        std::vector<Timed>& ranking = choice_.ranking;
        std::stable_partition(ranking.begin(), ranking.end(),
                              [](const Timed& one) { return one.record.verdict == "baseline"; });
        choice_.stay = true;
        const auto speedup = [](const Timed& one) { return one.record.speedup.value_or(0); };
        const Timed* fastest = nullptr;
        for (const Timed& one : ranking) {
            if (one.faster() && (fastest == nullptr || speedup(one) > speedup(*fastest))) fastest = &one;
        }
        std::size_t chosen = 0;
        for (std::size_t i = 0; i < ranking.size(); ++i) {
            const Timed* const other = choice_.stay ? nullptr : &ranking[chosen];
            if (!(options_.products ? saves_more(ranking[i], other) : pays_earlier(ranking[i], other, fastest))) continue;
            chosen = i;
            choice_.stay = false;
        }
        std::rotate(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(chosen),
                    ranking.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
        std::stable_sort(ranking.begin() + 1, ranking.end(),
                         [&](const Timed& a, const Timed& b) { return speedup(a) > speedup(b); });
        for (Timed& one : ranking) one.tied = &one != &ranking.front() && overlap(one, ranking.front());
    }

    static bool pays_earlier(const Timed& one, const Timed* other, const Timed* fastest) {
        if (!one.faster() || !overlap(one, *fastest)) return false;
        return other == nullptr || one.record.break_even < other->record.break_even;
    }

    [[nodiscard]] bool saves_more(const Timed& one, const Timed* other) const {
        const std::optional<double> saved = one.saved_seconds(*options_.products);
        return saved && *saved > (other == nullptr ? 0 : *other->saved_seconds(*options_.products));
    }

    static bool overlap(const Timed& a, const Timed& b) {
        return a.record.interval && b.record.interval && a.record.interval->low <= b.record.interval->high &&
               b.record.interval->low <= a.record.interval->high;
    }

    const CsrMatrix& matrix_;
    const ChooseOptions& options_;
    Devices devices_;
    Runner runner_;
    std::optional<CostModel> model_;
    Stopwatch watch_;
    std::vector<Candidate> candidates_;  // that have not been tried
    double best_ = std::numeric_limits<double>::infinity();
    Choice choice_;
};

}  // namespace

std::optional<double> Timed::saved_seconds(double products) const {
    if (!faster() || !record.break_even) return std::nullopt;
    return price_seconds * (products / *record.break_even - 1);
}

Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
              const ChooseOptions& options) {
    return Chooser(matrix, catalogue, devices, recipes, options).run();
}

}  // namespace workbench
