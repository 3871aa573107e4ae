// Which recipe for a matrix: what fits, what moves few bytes, and what is the fastest within the time that is given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/bench/records.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {

/// In which orders recipes are tried: as they are; also without Cuthill-McKee, where they begin with it; and also after reverse
/// Cuthill-McKee, where they find no order of their own, which takes a square matrix.
enum class Orders { own, others, others_of_square };

/// The baseline layout in the order of the input and in that of reverse Cuthill-McKee, then these recipes, then those in other
/// orders, all of them on `matrix`. What does the same as one before it is left out.
[[nodiscard]] std::vector<Recipe> candidates_of(const Catalogue& catalogue, const std::vector<Recipe>& recipes,
                                                const MatrixChoice& matrix, Orders orders);

struct ChooseOptions {
    double budget_seconds = 60;  // what is under way when it is over is finished; half of it may pass before anything is timed
    std::optional<double> products;  // how many are wanted; none: as many as it takes to pay
    Precision precision = Precision::f64;
    std::vector<Backend> backends;  // of one kind of device
    bool confirm = true;            // the choice is timed a second time, which is what counts: one of many is fast by luck
    std::size_t always = 1;         // so many of the first recipes are timed first, whatever bytes and budget say
    TimingOptions timing = {};
    KeepFolder* keep = nullptr;                             // as in RunOptions
    std::function<void(const std::string&)> progress = {};  // a step that may take long begins
};

/// A recipe that was timed.
struct Timed {
    Recipe recipe;                           // its fastest kernel is named, where the layout has it; `run` takes it as it is
    Record record;                           // by that kernel
    std::int64_t bytes = 0;                  // that its kernel with the fewest has to move
    double price_seconds = 0;                // what break-even counts: stages, layout, preparing the kernel, permuting x and y
    bool tied = false;                       // the noise does not tell it from the first
    bool confirmed = false;                  // the figures are of a second time
    std::vector<std::string> warnings = {};  // on its time, and on the baseline's beside it

    [[nodiscard]] bool faster() const { return record.interval && record.interval->low > 1; }
    /// What so many products save over the baseline, the price taken off; none where it is not faster.
    [[nodiscard]] std::optional<double> saved_seconds(double products) const;
};

/// A recipe that was not timed, or a kernel of it.
struct NotTimed {
    std::string recipe;
    std::string reason;
    std::optional<std::int64_t> bytes = {};  // as above, where it is known
};

struct Choice {
    /// The first is the choice. It is the one that pays earliest among those that are faster than the baseline and that the
    /// noise does not tell from the fastest, or, where the number of products is known, the one that saves the most in all;
    /// where there is none, the baseline. The others follow by their speed-up.
    std::vector<Timed> ranking;
    bool stay = true;  // the first is the baseline, for want of a better one
    std::vector<NotTimed> not_timed;
    std::string baseline_kernel;
    std::string device;
    double bandwidth = 0;            // bytes a second: the most that was seen, be it of copying, of reading, or of a kernel
    double seconds = 0;              // that all of it took
    bool wrong = false;              // a kernel gave a wrong result; not_timed says which
    std::vector<RunReport> reports;  // of what was timed
};

/// The first recipe is the baseline. Each is prepared and verified once, those of few stages first, which says what does not
/// fit and how many bytes its kernels move. Then they are timed, each in turns with the baseline, those of the fewest bytes
/// first; a recipe whose bytes alone would take longer than the best time so far is passed over. What would be chosen is timed
/// again; where that takes its advantage away, the next is, until one keeps it or the baseline is left. Throws InputError where
/// not even the baseline can be measured.
[[nodiscard]] Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices,
                            const std::vector<Recipe>& recipes, const ChooseOptions& options);

/// A plain sentence: which, how much faster, and when it pays.
[[nodiscard]] std::string answer_of(const Choice& choice, const ChooseOptions& options);

/// A table of at most 80 columns, and what was not timed.
[[nodiscard]] std::string choice_text(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix);

/// Described in docs/prototyping.md. `written`: the file with the recipe that was chosen.
[[nodiscard]] std::string choice_json(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                                      const std::string& written);

/// The recipe that was chosen as a file, with the answer above it.
[[nodiscard]] std::string choice_recipe(const Choice& choice, const ChooseOptions& options);

}  // namespace workbench
