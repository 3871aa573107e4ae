// Chooses a recipe for a matrix: predicts what each candidate costs, and tries the candidates in the order of their
// predictions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/contract/errors.hpp"
#include "pipeline/recipe/space.hpp"
#include "pipeline/run/runner.hpp"
#include "studies/bench/records.hpp"
#include "studies/choose/calibration.hpp"
#include "studies/choose/search_log.hpp"

namespace workbench {

/// The orders in which recipes are tried. own: as they are. others: also without an initial Cuthill-McKee stage.
/// others_of_square: in addition, recipes without a reordering stage also after reverse Cuthill-McKee (square matrices only).
enum class Orders { own, others, others_of_square };

/// The baseline layout in input order and after reverse Cuthill-McKee, then `recipes`, then `recipes` in other orders, all of
/// them on `matrix`. Recipes equivalent to an earlier one are left out.
[[nodiscard]] std::vector<Recipe> candidates_of(const Catalogue& catalogue, const std::vector<Recipe>& recipes,
                                                const MatrixChoice& matrix, Orders orders);

/// A recipe has broken its device: nothing else can run in this process. The recipe has no line in the log yet.
struct DeviceLost : MachineError {
    using MachineError::MachineError;
};

struct ChooseOptions {
    double budget_seconds = 60;      // the recipe running when it expires is finished
    std::optional<double> products;  // the number of products planned; if none, minimise the break-even
    double solves = 1;               // to which the products belong; each permutes its vectors
    bool counts_solves = false;      // the answer is for solves by conjugate gradients, of products / solves iterations
    Precision precision = Precision::f64;
    int vectors = 1;                // of each product
    std::vector<Backend> backends;  // of one kind of device
    bool confirm = true;            // time the winner again and use those figures: the fastest of many may just be lucky
    std::size_t always = 1;         // this many of the first recipes are timed whatever their prediction and the budget
    TimingOptions timing = {};
    const Calibration* calibration = nullptr;  // of the device; null: the defaults of the cost model
    KeepFolder* keep = nullptr;                // see RunOptions
    const Space* space = nullptr;              // searched after the recipes; null: only the recipes are candidates
    bool ablate = false;                       // time the winner without each of its stages
    double hang_seconds = 30;  // a trial may take at least this long before it counts as hanging, see SearchLog::begin
    SearchLog* log = nullptr;  // of this search, see search_log.hpp; null: none
    std::function<void(RunReport&)> complete = {};          // fills in the matrix and the provenance of a report
    std::function<void(const std::string&)> progress = {};  // called before each long step; may throw Stopped, see choose
};

/// A recipe that was timed.
struct Timed {
    Recipe recipe;                           // names its fastest kernel if that belongs to the layout, so that `run` repeats it
    Record record;                           // with that kernel
    std::int64_t bytes = 0;                  // moved by the kernel with the least traffic
    double price_seconds = 0;                // preprocessing: stages, layout, kernel preparation, permuting x and y
    bool is_baseline = false;                // its recipe is the first one; its fastest kernel need not be the baseline's
    bool one_by_one = false;                 // its kernel multiplies several vectors one after another
    bool tied = false;                       // its confidence interval overlaps that of the choice
    bool confirmed = false;                  // timed again at the end; the figures are those of the last time
    double predicted_seconds = 0;            // of a product, when it was chosen to be tried
    std::optional<SpacePoint> point = {};    // of the space
    bool logged = false;                     // timed by an earlier run, whose log this one continues
    std::string identity = {};               // of the recipe as it was tried, see identity_of_trial
    BenchRecipeFacts tried = {};             // the recipe as it was tried, for the log
    std::vector<std::string> warnings = {};  // about its time or the baseline's

    [[nodiscard]] bool faster() const { return record.interval && record.interval->low > 1; }
    /// The time of one product of the baseline, measured in turns with this recipe: time times speed-up. 0 without a speed-up.
    [[nodiscard]] double baseline_seconds() const { return record.seconds * record.speedup.value_or(0); }
    /// For permuting x and y once, a part of the price.
    [[nodiscard]] double permutation_seconds() const;
    /// Seconds that the products of these solves save over the baseline, minus preprocessing and permuting the vectors of each
    /// solve; none if the recipe is not faster.
    [[nodiscard]] std::optional<double> saved_seconds(double products, double solves = 1) const;
};

/// A recipe, or one of its kernels, that was not timed.
struct NotTimed {
    std::string recipe;
    std::string reason;
    std::optional<std::int64_t> bytes = {};        // as in Timed, measured or predicted
    std::optional<double> predicted_seconds = {};  // of a product; none if it was tried
};

/// How far a search came.
struct SearchCount {
    std::uint64_t points = 0;  // of the space; 0: no space
    std::uint64_t priced = 0;  // of these points, by the model, before the first was tried
    double pricing_seconds = 0;
    std::size_t tried = 0;     // recipes, with those of the log
    std::size_t logged = 0;    // recipes that are in the log of an earlier run
    std::size_t narrowed = 0;  // recipes that were timed again for longer during the search
    std::size_t repeated = 0;  // timings at the end, because noise prevented a choice
    bool finished = false;     // nothing promising was left to try; false: the budget was spent
};

/// The winner without one of its stages.
struct WithoutStage {
    std::string stage;                 // its id
    std::optional<double> seconds;     // of a product; none if it was not timed
    std::optional<Interval> interval;  // of the speed-up over the baseline
    bool legal = true;                 // false: the stages or layouts behind it need the stage
    std::string reason = {};           // why it was not timed
};

struct Choice {
    /// The choice comes first. Candidates for it are the recipes that are faster than the baseline and as fast as the fastest
    /// (their speed-ups lie in each other's intervals). The choice is the candidate with the earliest break-even or, if the
    /// number of products is known, the recipe that saves most in total; without candidates, the baseline. The others follow by
    /// speed-up. A control (is_control) is never the choice.
    std::vector<Timed> ranking;
    bool stay = true;        // no recipe beat the baseline, which comes first
    bool undecided = false;  // `stay` because noise hides whether a recipe beats the baseline, see is_undecided
    std::vector<NotTimed> not_timed;
    std::string baseline_kernel;
    std::string device;
    double bandwidth = 0;            // bytes per second: the highest seen while copying, reading or multiplying
    double seconds = 0;              // wall time of the search
    bool wrong = false;              // some kernel gave a wrong result; not_timed names it
    bool stopped = false;            // by the user; the choice is among the recipes timed before
    std::vector<RunReport> reports;  // of all timed recipes
    SearchCount search;
    std::vector<WithoutStage> without;  // one per stage of the winner; empty: not examined
};

/// The first recipe is the baseline. A model (cost_model.hpp) predicts the time of a product with each recipe, and its
/// preparation. The recipes are prepared, verified and timed in turns with the baseline, those with the least predicted time
/// first (with the preparation, if the number of products is known), until the budget is spent. Measured orders and times
/// correct the predictions of the others. Recipes whose predicted bytes alone take longer than the best time are skipped, and
/// so are those whose preparation would exceed the budget. The points of a space follow the recipes, see search.hpp. The winner
/// is timed again, and if its advantage vanishes, so is the next one. If noise prevents a choice, the rest of the budget goes
/// into timing again. After Stopped, nothing else is prepared or timed. Throws InputError if not even the baseline can be
/// measured, Stopped if it was not timed before, RecipeError if the log belongs to another search, DeviceLost if a device no
/// longer works.
[[nodiscard]] Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices,
                            const std::vector<Recipe>& recipes, const ChooseOptions& options);

/// "cold cache", or "cold cache, 8 vectors".
[[nodiscard]] std::string conditions_of(const ChooseOptions& options);

/// One sentence: which recipe, its speed-up, and its break-even.
[[nodiscard]] std::string answer_of(const Choice& choice, const ChooseOptions& options);

/// One sentence or two: how many points were priced and tried, and why the search ended.
[[nodiscard]] std::string search_text(const Choice& choice, const ChooseOptions& options);

/// A table with whole names, however long, and the recipes that were not timed.
[[nodiscard]] std::string choice_text(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix);

/// JSON, described in docs/choosing.md. `written`: the file with the chosen recipe.
[[nodiscard]] nlohmann::ordered_json json_of(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                                             const std::string& written);
/// The same as text.
[[nodiscard]] std::string choice_json(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                                      const std::string& written);

/// The chosen recipe as TOML. Comments state the answer, its price, and what leaving out each stage would cost.
[[nodiscard]] std::string choice_recipe(const Choice& choice, const ChooseOptions& options);

}  // namespace workbench
