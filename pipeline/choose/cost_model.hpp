// Predicts what a recipe costs on a matrix, from the pattern alone, before stages run and layouts are built.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/contract/forecast.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The speed of a device. A product takes its launches, and then the longer of two times: that of its bytes and of the sectors
/// of x that its warps look up in L2, or that of the longest chain of loads of a thread.
struct DeviceSpeed {
    double bandwidth = 0;       // bytes per second of copying
    double sector_seconds = 0;  // of a lookup of 32 bytes of x
    double launch_seconds = 0;
    double step_seconds = 0;  // of a slot that a thread reads after the previous one
    bool is_gpu = false;
};

/// bandwidth: measured on the device; 0: that of the device model, if it is one.
[[nodiscard]] DeviceSpeed speed_of(const DeviceProperties& device, double bandwidth);

/// A prediction for one recipe. Times are in seconds.
struct Price {
    double product = 0;      // of the fastest kernel
    double least = 0;        // a product cannot take less: its bytes at the device's bandwidth; 0: unknown
    double preparation = 0;  // of stages and layouts
    double trial = 0;        // of preparing and verifying it now, without stages that have run before
    std::int64_t bytes = 0;
    Offset slots = 0;
    std::string unsuitable = {};  // see LayoutCost
};

/// The time of a product with layouts of these costs, one after another.
[[nodiscard]] double predicted_seconds(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed);

/// Predictions for recipes on one matrix. Its knowledge grows: from the orders that stages have found, and from measurements,
/// which correct later predictions for the same layout.
class CostModel {
public:
    /// The arguments must outlive it. `gpu`: the GPU of this machine, for stages that plan for it; null: none.
    CostModel(const CsrMatrix& input, Precision precision, const DeviceProperties& device, const DeviceProperties* gpu);

    void set_bandwidth(double copy, double highest);

    [[nodiscard]] Price price(const Recipe& recipe);

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
    };
    struct Ratios {
        double logarithms = 0;
        int count = 0;
    };

    [[nodiscard]] PatternForecast after_stages(const Recipe& recipe, std::size_t stages);
    [[nodiscard]] const Known& known_costs(const Recipe& recipe);
    [[nodiscard]] double correction(const Recipe& recipe) const;
    /// The measured time of trials over the predicted one.
    [[nodiscard]] double trial_scale() const;

    const CsrMatrix& input_;
    Precision precision_;
    const DeviceProperties& device_;
    const DeviceProperties* gpu_;
    DeviceSpeed speed_;
    double highest_bandwidth_;
    std::map<std::string, PatternForecast> foreseen_;  // by the stages that lead there
    std::map<std::string, PatternForecast> learned_;
    std::map<std::string, Known> costs_;  // by stages and layouts
    std::map<std::string, Ratios> of_layout_;
    Ratios of_all_;
    double trials_predicted_ = 0;
    double trials_measured_ = 0;
};

}  // namespace workbench
