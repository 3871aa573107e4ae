#include "pipeline/bench/choose.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr const char* cuthill_mckee = "cuthill_mckee";
constexpr std::string_view after_rcm = " after RCM";

/// Recipes of one identity do the same. Whether Cuthill-McKee is reversed makes no difference worth the time.
std::string identity_of(Recipe recipe) {
    recipe.name = recipe.source = "";
    recipe.matrix = {};
    for (RecipeStage& stage : recipe.stages) {
        if (stage.entry->name == cuthill_mckee) stage.parameters = {};
    }
    return resolved_recipe(recipe);
}

bool finds_an_order(const RecipeStage& stage) {
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

/// The other order in which a recipe may be worth trying.
std::optional<Recipe> in_other_order(const Recipe& recipe, const RecipeStage& rcm, Orders orders) {
    Recipe other = recipe;
    if (!recipe.stages.empty() && recipe.stages.front().entry->name == cuthill_mckee) {
        other.stages.erase(other.stages.begin());
        const bool named_so = other.name.ends_with(after_rcm);
        other.name = named_so ? other.name.substr(0, other.name.size() - after_rcm.size()) : other.name + ", natural order";
        return other;
    }
    if (orders != Orders::others_of_square) return std::nullopt;
    if (std::any_of(recipe.stages.begin(), recipe.stages.end(), finds_an_order)) return std::nullopt;
    other.stages.insert(other.stages.begin(), rcm);
    other.name += after_rcm;
    return other;
}

/// The right kernels that are the recipe's own: the baseline is the first recipe's alone.
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
          runner_(matrix, catalogue, devices, {{options.precision}, options.backends, "", options.timing, options.keep}),
          watch_(options.timing.clock) {
        for (const Recipe& recipe : recipes) {
            waiting_.push_back({recipe, 0, waiting_.empty(), waiting_.size() < options.always});
        }
        std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
            return a.always != b.always ? a.always : !a.always && a.recipe.stages.size() < b.recipe.stages.size();
        });
    }

    Choice run() {
        weigh_all();
        time_all();
        rank();
        while (options_.confirm && !choice_.stay && !choice_.ranking.front().confirmed) {
            confirm_first();
            rank();
        }
        choice_.seconds = watch_.seconds();
        return std::move(choice_);
    }

private:
    struct Waiting {
        Recipe recipe;
        std::int64_t bytes = 0;
        bool is_baseline = false;
        bool always = false;
    };

    [[nodiscard]] bool out_of_time(double share) const { return watch_.seconds() >= share * options_.budget_seconds; }

    void pass_over(const Waiting& one, const std::string& reason, bool weighed) {
        const auto is_known = [&](const NotTimed& known) { return known.recipe == one.recipe.name && known.reason == reason; };
        if (std::any_of(choice_.not_timed.begin(), choice_.not_timed.end(), is_known)) return;
        choice_.not_timed.push_back({one.recipe.name, reason, weighed ? std::optional(one.bytes) : std::nullopt});
    }

    /// Runs that are to come begin with what was done before.
    void expect(int times) {
        std::vector<Recipe> recipes;
        for (int i = 0; i < times; ++i) {
            for (const Waiting& one : waiting_) recipes.push_back(one.recipe);
        }
        runner_.expect(recipes);
    }

    /// The recipe by its fastest kernel; none where no kernel gave the right result, and it is passed over.
    std::optional<Record> run_one(const Waiting& one, const TimingOptions& timing, const std::string& step, RunReport& report) {
        RunObserver observer;
        observer.progress = [&](const std::string& what) {
            if (options_.progress) options_.progress(fmt::format("{}: {}: {}", step, one.recipe.name, what));
        };
        runner_.time_with(timing);
        try {
            runner_.run(one.recipe, observer, report);
        } catch (...) {
            report.failures.push_back(current_failure());
        }
        const bool told = tell_wrong_results(one, report);
        std::vector<Record> records = records_of({report});
        const auto measured =
            std::find_if(records.begin(), records.end(), [](const Record& r) { return r.status == "measured"; });
        if (measured == records.end()) {
            if (!told) pass_over(one, reason_of(one, report, records), false);
            return std::nullopt;
        }
        for (const Failure& failure : report.failures) {
            pass_over(one, failure.text, false);  // a source that is not compiled, say
        }
        return std::move(*measured);
    }

    bool tell_wrong_results(const Waiting& one, const RunReport& report) {
        bool any = false;
        for (const KernelOutcome& kernel : report.kernels) {
            if (kernel.status != KernelOutcome::Status::wrong) continue;
            any = choice_.wrong = true;
            pass_over(one, fmt::format("WRONG RESULT of kernel {}: {}", kernel.kernel, kernel.reason), false);
        }
        return any;
    }

    [[nodiscard]] std::string reason_of(const Waiting& one, const RunReport& report, const std::vector<Record>& records) const {
        if (matrix_.rows != matrix_.columns && needs_square(one.recipe)) return "for square matrices alone";
        for (const Record& record : records) {
            if (!record.reason.empty()) return record.reason;
        }
        return report.notes.empty() ? "no kernel of it runs here" : report.notes.back();
    }

    [[nodiscard]] static bool needs_square(const Recipe& recipe) {
        try {
            check_against(recipe, 1, 2);
        } catch (const InputError&) {
            return true;
        }
        return false;
    }

    /// Prepares and verifies each, which takes few products, and times none.
    void weigh_all() {
        expect(2);
        TimingOptions untimed = options_.timing;
        untimed.minimum_samples = 0;
        untimed.minimum_seconds = 0;
        std::vector<Waiting> weighed;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            Waiting& one = waiting_[i];
            if (!one.always && out_of_time(0.5)) {
                pass_over(one, fmt::format("not prepared within half of the {:g} s", options_.budget_seconds), false);
                continue;
            }
            RunReport report;
            const auto record = run_one(one, untimed, fmt::format("preparing {} of {}", i + 1, waiting_.size()), report);
            if (!record) {
                if (one.is_baseline) refuse(one, report);
                continue;
            }
            one.bytes = fewest_bytes(report, one.is_baseline);
            const Bandwidth bandwidth = report.devices.front().bandwidth;
            choice_.bandwidth = std::max({choice_.bandwidth, bandwidth.copy, bandwidth.read});
            weighed.push_back(std::move(one));
        }
        waiting_ = std::move(weighed);
        std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
            return a.always != b.always ? a.always : !a.always && a.bytes < b.bytes;
        });
    }

    [[noreturn]] void refuse(const Waiting& baseline, const RunReport& report) const {
        const ExitCode exit_code = report.failures.empty() ? ExitCode::bad_input : report.failures.back().exit_code;
        const std::string& reason = choice_.not_timed.back().reason;
        throw UserError(exit_code, fmt::format("nothing suits this matrix, not even {}: {}", baseline.recipe.name, reason));
    }

    static std::int64_t fewest_bytes(const RunReport& report, bool is_baseline) {
        std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
        for (const KernelOutcome* kernel : own_kernels(report, is_baseline)) bytes = std::min(bytes, kernel->bytes_to_move);
        return bytes;
    }

    /// Bandwidths that were measured while the machine did other work are too low: a kernel may show more.
    void note_bandwidth(const RunReport& report) {
        for (const KernelOutcome& kernel : report.kernels) {
            if (!kernel.verified() || kernel.timing.median <= 0) continue;
            choice_.bandwidth = std::max(choice_.bandwidth, static_cast<double>(kernel.bytes_to_move) / kernel.timing.median);
        }
    }

    /// Of the budget: the rest is to time the choice again.
    [[nodiscard]] double for_timing() const { return options_.confirm ? 0.9 : 1; }

    /// Each that is left has the same share of the time that is left.
    [[nodiscard]] TimingOptions timing_for(std::size_t left) const {
        constexpr double kernels_at_once = 3;
        TimingOptions timing = options_.timing;
        const double share = (for_timing() * options_.budget_seconds - watch_.seconds()) / static_cast<double>(left);
        timing.maximum_seconds = std::clamp(share / kernels_at_once, 0.0, timing.maximum_seconds);
        return timing;
    }

    void time_all() {
        expect(1);
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            const Waiting& one = waiting_[i];
            if (!one.always && static_cast<double>(one.bytes) / choice_.bandwidth > best) {
                pass_over(one, "its bytes alone take longer than the best time", true);
                continue;
            }
            if (!one.always && out_of_time(for_timing())) {
                pass_over(one, fmt::format("not timed within {:g} s", options_.budget_seconds), true);
                continue;
            }
            RunReport report;
            const auto record =
                run_one(one, timing_for(waiting_.size() - i), fmt::format("timing {} of {}", i + 1, waiting_.size()), report);
            if (!record && one.is_baseline) refuse(one, report);
            if (!record) continue;
            note_bandwidth(report);
            best = std::min(best, record->seconds);
            if (one.is_baseline) note_baseline(report);
            choice_.ranking.push_back(timed_of(one, *record, report));
            choice_.reports.push_back(std::move(report));
        }
    }

    /// Times the first once more, as long as `run` would; it is out where it cannot be run again.
    void confirm_first() {
        Timed& first = choice_.ranking.front();
        const Waiting one{first.recipe, first.bytes};
        RunReport report;
        if (const auto record = run_one(one, options_.timing, "timing the first again", report)) {
            first = timed_of(one, *record, report);
            first.confirmed = true;
            choice_.reports.push_back(std::move(report));
        } else {
            choice_.ranking.erase(choice_.ranking.begin());
        }
    }

    void note_baseline(const RunReport& report) {
        choice_.device = report.devices.front().properties.name;
        for (const KernelOutcome& kernel : report.kernels) {
            if (kernel.baseline) choice_.baseline_kernel = kernel.kernel;
        }
    }

    [[nodiscard]] static Timed timed_of(const Waiting& one, const Record& record, const RunReport& report) {
        Timed timed{one.recipe, record, one.bytes};
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

    /// So that `run` takes this one. That of a hybrid is made of several, and one beside the recipe is named there.
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
        std::size_t chosen = 0;  // the baseline
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
    std::vector<Waiting> waiting_;
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
    return candidates;
}

Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
              const ChooseOptions& options) {
    return Chooser(matrix, catalogue, devices, recipes, options).run();
}

}  // namespace workbench
