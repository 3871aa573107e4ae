// Runs the recipes of a search, one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/choose/choose.hpp"
#include "studies/choose/cost_model.hpp"

namespace workbench {

/// The facts that are known about a recipe before it runs.
struct RecipeTrial {
    Recipe recipe;
    bool is_baseline = false;
    Price price = {};
    std::optional<SpacePoint> point = {};
    std::string identity = {};  // see Timed
    BenchRecipeFacts tried = {};
};

/// The first trial of a recipe, and the next one of a recipe that was timed.
[[nodiscard]] RecipeTrial first_trial(const Recipe& recipe);
[[nodiscard]] RecipeTrial next_trial(const Timed& timed);

/// One run of a recipe.
struct TrialResult {
    RunReport report = {};
    std::optional<Record> record = {};  // with its fastest kernel; none if no kernel was verified
    double seconds = 0;                 // of the wall
};

/// Runs recipes in one process, and notes in a choice what the runs show beside times: recipes that were not timed and why,
/// wrong results, the bandwidth and the device.
class Trials {
public:
    /// The arguments must outlive it.
    Trials(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const ChooseOptions& options, Choice& choice);

    /// The recipes that will be run, in their order, see Runner::expect.
    void expect(const std::vector<Recipe>& recipes) { runner_.expect(recipes); }

    /// Prepares, verifies and times; `step` is for progress. Skips the recipe if no kernel was verified. Sets Choice::stopped
    /// instead of throwing Stopped. Throws InputError if the baseline cannot be measured, DeviceLost if a device no longer
    /// works after a failure.
    TrialResult run(const RecipeTrial& trial, const TimingOptions& timing, const std::string& step);

    /// Adds the recipe to those that were not timed.
    void skip(const Recipe& recipe, const std::string& reason, const std::optional<Price>& price = {});

    /// The prediction of the model. A recipe whose pricing fails, or ended an earlier process, is unsuitable. Several threads
    /// may call it at once.
    [[nodiscard]] Price price(const Recipe& recipe);

    [[nodiscard]] Timed timed_of(const RecipeTrial& trial, const TrialResult& result) const;

    /// The model of the device on which the recipes run. The first call measures the bandwidth.
    [[nodiscard]] CostModel& model();

private:
    bool skip_wrong_kernels(const Recipe& recipe, const RunReport& report);
    [[nodiscard]] std::string reason_of(const Recipe& recipe, const RunReport& report,
                                        const std::vector<Record>& records) const;
    [[noreturn]] void refuse(const Recipe& baseline, const RunReport& report) const;
    void check_devices(const RunReport& report) const;
    void judge(const RecipeTrial& trial, TrialResult& result);
    void note_devices(const RecipeTrial& trial, const RunReport& report);
    void log_begin(const RecipeTrial& trial) const;
    void log_end(const RecipeTrial& trial, const TrialResult& result) const;

    const CsrMatrix& matrix_;
    const ChooseOptions& options_;
    Devices devices_;
    Choice& choice_;
    Runner runner_;
    std::optional<CostModel> model_;
};

}  // namespace workbench
