#include "pipeline/bench/choose.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "pipeline/bench/tell_apart.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/failure.hpp"

namespace workbench {
namespace {

constexpr const char* stopped_before = "stopped before it was timed";
constexpr const char* cuthill_mckee = "cuthill_mckee";
constexpr std::string_view after_rcm = " after RCM";

/// Equal for equivalent recipes; plain and reverse Cuthill-McKee count as one.
std::string identity_of(Recipe recipe) {
    recipe.name = recipe.source = "";
    recipe.matrix = {};
    for (RecipeStage& stage : recipe.stages) {
        if (stage.entry->name == cuthill_mckee) stage.parameters = {};
    }
    return resolved_recipe(recipe);
}

bool reorders(const RecipeStage& stage) {
    static const std::set<std::string> names{cuthill_mckee,
                                             "metis_partition",
                                             "multilevel_partition",
                                             "rcm_blocks",
                                             "bfs_blocks",
                                             "random_order",
                                             "column_sort",
                                             "approximate_minimum_degree",
                                             "degree_sort",
                                             "gray",
                                             "king",
                                             "nested_dissection",
                                             "rabbit_order",
                                             "sloan"};
    return names.contains(stage.entry->name);
}

/// The recipe in another order: without its initial Cuthill-McKee stage, or with one.
std::optional<Recipe> in_other_order(const Recipe& recipe, const RecipeStage& rcm, Orders orders) {
    Recipe other = recipe;
    if (!recipe.stages.empty() && recipe.stages.front().entry->name == cuthill_mckee) {
        other.stages.erase(other.stages.begin());
        const bool named_so = other.name.ends_with(after_rcm);
        other.name = named_so ? other.name.substr(0, other.name.size() - after_rcm.size()) : other.name + ", natural order";
        return other;
    }
    if (orders != Orders::others_of_square) return std::nullopt;
    if (std::any_of(recipe.stages.begin(), recipe.stages.end(), reorders)) return std::nullopt;
    other.stages.insert(other.stages.begin(), rcm);
    other.name += after_rcm;
    return other;
}

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
        sort_candidates([](const Candidate& one) { return static_cast<std::int64_t>(one.recipe.stages.size()); });
    }

    Choice run() {
        prepare_all();
        time_all();
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
        std::int64_t bytes = 0;  // moved by its kernel with the least traffic; 0 until it is prepared
        bool is_baseline = false;
        bool always = false;
    };
    /// One run of a candidate.
    struct Result {
        RunReport report = {};
        std::optional<Record> record = {};  // with its fastest kernel; none if no kernel was verified
    };

    /// Those that are always timed first, then by ascending cost.
    void sort_candidates(std::int64_t (*cost)(const Candidate&)) {
        std::stable_sort(candidates_.begin(), candidates_.end(), [cost](const Candidate& a, const Candidate& b) {
            return a.always != b.always ? a.always : !a.always && cost(a) < cost(b);
        });
    }

    [[nodiscard]] bool out_of_time(double share) const { return watch_.seconds() >= share * options_.budget_seconds; }

    void skip(const Candidate& one, const std::string& reason) {
        const auto is_known = [&](const NotTimed& known) { return known.recipe == one.recipe.name && known.reason == reason; };
        if (std::any_of(choice_.not_timed.begin(), choice_.not_timed.end(), is_known)) return;
        choice_.not_timed.push_back({one.recipe.name, reason, one.bytes > 0 ? std::optional(one.bytes) : std::nullopt});
    }

    /// Announces this many runs of each candidate, so that the runner keeps shared results for them.
    void expect(int times) {
        std::vector<Recipe> recipes;
        for (int i = 0; i < times; ++i) {
            for (const Candidate& one : candidates_) recipes.push_back(one.recipe);
        }
        runner_.expect(recipes);
    }

    /// Skips the candidate if no kernel was verified.
    Result run_one(const Candidate& one, const TimingOptions& timing, const std::string& step) {
        Result result;
        RunReport& report = result.report;
        RunObserver observer;
        observer.progress = [&](const std::string& what) {
            if (options_.progress) options_.progress(fmt::format("{}: {}: {}", step, one.recipe.name, what));
        };
        runner_.time_with(timing);
        try {
            runner_.run(one.recipe, observer, report);
        } catch (const Stopped&) {
            choice_.stopped = true;
            return {};
        } catch (...) {
            report.failures.push_back(current_failure());
        }
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

    /// Prepares and verifies all candidates without timing them, and drops those that fail.
    void prepare_all() {
        expect(2);
        TimingOptions untimed = options_.timing;
        untimed.minimum_samples = 0;
        untimed.minimum_seconds = 0;
        std::vector<Candidate> prepared;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            Candidate& one = candidates_[i];
            if (choice_.stopped) {
                skip(one, stopped_before);
                continue;
            }
            if (!one.always && out_of_time(0.5)) {
                skip(one, fmt::format("not prepared within half of the {:g} s budget", options_.budget_seconds));
                continue;
            }
            const Result result = run_one(one, untimed, fmt::format("preparing {} of {}", i + 1, candidates_.size()));
            if (!result.record) {
                if (choice_.stopped) skip(one, stopped_before);
                if (one.is_baseline && !choice_.stopped) refuse(one, result.report);
                continue;
            }
            one.bytes = fewest_bytes(result.report, one.is_baseline);
            const Bandwidth bandwidth = result.report.devices.front().bandwidth;
            choice_.bandwidth = std::max({choice_.bandwidth, bandwidth.copy, bandwidth.read});
            prepared.push_back(std::move(one));
        }
        candidates_ = std::move(prepared);
        sort_candidates([](const Candidate& one) { return one.bytes; });
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
    }

    /// The fraction of the budget for preparing and timing; the rest is for confirming the winner.
    [[nodiscard]] double share_before_confirming() const { return options_.confirm ? 0.9 : 1; }

    /// Divides the remaining time evenly among the remaining candidates.
    [[nodiscard]] TimingOptions timing_for(std::size_t left) const {
        constexpr double kernels_at_once = 3;
        TimingOptions timing = options_.timing;
        const double seconds = share_before_confirming() * options_.budget_seconds - watch_.seconds();
        timing.maximum_seconds = std::clamp(seconds / static_cast<double>(left) / kernels_at_once, 0.0, timing.maximum_seconds);
        return timing;
    }

    void time_all() {
        expect(1);
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const Candidate& one = candidates_[i];
            if (choice_.stopped) {
                skip(one, stopped_before);
                continue;
            }
            if (!one.always && static_cast<double>(one.bytes) / choice_.bandwidth > best) {
                skip(one, "moving its bytes alone takes longer than the best time");
                continue;
            }
            if (!one.always && out_of_time(share_before_confirming())) {
                skip(one, fmt::format("not timed within the {:g} s budget", options_.budget_seconds));
                continue;
            }
            const std::string step = fmt::format("timing {} of {}", i + 1, candidates_.size());
            Result result = run_one(one, timing_for(candidates_.size() - i), step);
            if (choice_.stopped) skip(one, stopped_before);
            if (!result.record && one.is_baseline && !choice_.stopped) refuse(one, result.report);
            if (!result.record) continue;
            note_bandwidth(result.report);
            best = std::min(best, result.record->seconds);
            if (one.is_baseline) note_baseline(result.report);
            choice_.ranking.push_back(timed_of(one, *result.record, result.report));
            choice_.reports.push_back(std::move(result.report));
        }
    }

    /// Times the winner again for as long as `run` would, and drops it if that fails.
    void confirm_first() {
        Timed& first = choice_.ranking.front();
        const Candidate one{first.recipe, first.bytes};
        Result result = run_one(one, options_.timing, "timing the winner again");
        if (result.record) {
            first = timed_of(one, *result.record, result.report);
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
        Timed timed{.recipe = one.recipe, .record = record, .bytes = one.bytes};
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
    Runner runner_;
    Stopwatch watch_;
    std::vector<Candidate> candidates_;
    Choice choice_;
};

}  // namespace

std::optional<double> Timed::saved_seconds(double products) const {
    if (!faster() || !record.break_even) return std::nullopt;
    return price_seconds * (products / *record.break_even - 1);
}

std::vector<Recipe> candidates_of(const Catalogue& catalogue, const std::vector<Recipe>& recipes, const MatrixChoice& matrix,
                                  Orders orders) {
    const std::string layout = fmt::format("[layout]\nuse = \"{}\"\n", catalogue.baseline_layout);
    const std::string stage = fmt::format("[[stage]]\nuse = \"{}\"\n", cuthill_mckee);
    std::vector<Recipe> candidates;
    std::set<std::string> known;
    const auto add = [&](Recipe recipe) {
        recipe.matrix = matrix;
        if (!recipe.sweep.label.empty()) recipe.name += ": " + recipe.sweep.label;
        recipe.sweep = {};
        if (known.insert(identity_of(recipe)).second) candidates.push_back(std::move(recipe));
    };
    add(parse_recipe("[recipe]\nname = \"CSR\"\n" + layout, "csr.toml", catalogue));
    const Recipe rcm = parse_recipe("[recipe]\nname = \"CSR after RCM\"\n" + stage + layout, "csr_after_rcm.toml", catalogue);
    add(rcm);
    for (const Recipe& recipe : recipes) add(recipe);
    for (const Recipe& recipe : recipes) {
        if (orders == Orders::own) break;
        if (std::optional<Recipe> other = in_other_order(recipe, rcm.stages.front(), orders)) add(std::move(*other));
    }
    tell_names_apart(candidates, 2);
    return candidates;
}

Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
              const ChooseOptions& options) {
    return Chooser(matrix, catalogue, devices, recipes, options).run();
}

}  // namespace workbench
