// Predicts what a recipe costs on a matrix, from the pattern alone, before stages run and layouts are built.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/forecast/forecast.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "studies/choose/calibration.hpp"
#include "studies/choose/corrections.hpp"

namespace workbench {

/// A prediction for one recipe. Times are in seconds.
struct Price {
    double product = 0;      // of the fastest kernel
    double correction = 1;   // the factor in `product` that comes from measurements
    double least = 0;        // a product cannot take less: its bytes at the device's bandwidth; 0: unknown
    double preparation = 0;  // of stages and layouts
    double trial = 0;        // of preparing and verifying it now, without stages that have run before
    std::int64_t bytes = 0;
    Offset slots = 0;
    std::string unsuitable = {};  // see LayoutCost
    bool failed = false;          // `unsuitable` is a fault of the prediction, not a property of the matrix
};

/// What check_against refuses, in short, such as "needs a square matrix"; empty: nothing.
[[nodiscard]] std::string unmet_need(const Recipe& recipe, const CsrMatrix& matrix);

/// Predictions for recipes on one matrix. Its knowledge grows: from the orders that stages have found, and from measurements,
/// which correct later predictions for the same layout. Several threads may request prices at once, while nothing is learned
/// or corrected.
class CostModel {
public:
    /// The arguments must outlive it. `gpu`: the GPU of this machine, for stages that plan for it; null: none. vectors: of each
    /// product.
    CostModel(const CsrMatrix& input, Precision precision, const DeviceProperties& device, const DeviceProperties* gpu,
              int vectors = 1);

    void set_bandwidth(double copy, double highest);

    /// Uses the constants of a calibration of this device instead of the defaults and the bandwidth of copying. Before
    /// `correct`.
    void calibrate(const Calibration& calibration);

    /// A recipe with an unmet need is unsuitable, and has no price.
    [[nodiscard]] Price price(const Recipe& recipe);

    /// The costs of the layouts of a recipe, one after another.
    [[nodiscard]] std::vector<LayoutCost> costs(const Recipe& recipe) { return known_costs(recipe)->costs; }

    /// The matrix after the first `stages` stages of a recipe. Kept if they could not be foreseen exactly.
    void learn(const Recipe& recipe, std::size_t stages, const StagedMatrix& staged);

    /// A measurement of a recipe that had this price.
    void correct(const Recipe& recipe, const Price& price, double product, double trial);

private:
    struct Known {
        std::vector<LayoutCost> costs;
        std::string unsuitable = {};
        double new_stages = 0;  // nanoseconds per nonzero of stages that have not run
        double all_stages = 0;
        Corrections::Subject subject = {};
    };
    using KnownPointer = std::shared_ptr<const Known>;
    /// The stages that a recipe begins with.
    struct StagePrefix {
        StagePrefix(StagePrefix* without_last, std::string last) : before(without_last), text(std::move(last)) {}
        StagePrefix* const before;  // without the last stage
        const std::string text;     // of the last stage, with its parameters
        std::mutex computing;       // locked while a thread computes the pattern
        std::optional<PatternForecast> pattern = {};
        bool learned = false;                            // the pattern was measured
        std::map<std::string, KnownPointer> costs = {};  // by layouts with their parameters
    };

    [[nodiscard]] StagePrefix& chain_of(const Recipe& recipe, std::size_t stages);
    [[nodiscard]] PatternForecast after_stages(StagePrefix& chain, const Recipe& recipe, std::size_t stages);
    [[nodiscard]] PatternForecast changed_by_stage(PatternForecast pattern, const StagePrefix& chain, const Recipe& recipe,
                                                   const RecipeStage& stage);
    [[nodiscard]] KnownPointer known_costs(const Recipe& recipe);
    [[nodiscard]] Known computed_costs(StagePrefix& chain, const Recipe& recipe);
    void forget_some();
    /// The measured time of trials over the predicted one.
    [[nodiscard]] double trial_scale() const;
    [[nodiscard]] const ValueFacts& values_in_nodes(Index node_size);

    const CsrMatrix& input_;
    Precision precision_;
    const DeviceProperties& device_;
    const DeviceProperties* gpu_;
    int vectors_;
    DeviceSpeed speed_;
    bool calibrated_ = false;
    double highest_bandwidth_;
    ValueFacts values_;
    std::mutex values_mutex_;
    std::map<Index, ValueFacts> values_in_nodes_;  // by the unknowns of a node; where a layout codes blocks
    std::optional<PatternForecast> input_pattern_;
    /// Protects the chains, their patterns and costs, the changes, and the numbers in corrections_. No computation holds it.
    std::mutex mutex_;
    std::deque<StagePrefix> all_chains_;
    std::map<std::pair<StagePrefix*, std::string>, StagePrefix*> chains_;
    std::map<std::string, std::shared_ptr<KnownChanges>> known_changes_;  // by the stage
    std::size_t known_costs_ = 0;                                         // of all chains
    Corrections corrections_;
    double trials_predicted_ = 0;
    double trials_measured_ = 0;
};

}  // namespace workbench
