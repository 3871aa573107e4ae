// The candidates of a search that have not been tried, with their prices.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/choose/choose.hpp"
#include "pipeline/choose/cost_model.hpp"

namespace workbench {

struct PricedRecipe {
    Recipe recipe;
    bool is_baseline = false;
    bool always = false;                   // tried first, whatever its price
    std::optional<SpacePoint> point = {};  // of the space
    bool is_near = false;                  // reached from good points by one change, or by crossing two of them
    std::string kind = {};                 // the names of its layouts
    std::string family = {};               // and of its stages
    Price price = {};
    double cost = 0;         // by which candidates are ordered: of a product, or of all products and the preparation
    std::size_t number = 0;  // in the order in which candidates were added
};

/// The seconds that count: those of a product, or of the preparation and all products.
[[nodiscard]] double cost_of(double product, double preparation, const ChooseOptions& options);

/// A bounded set of candidates, ordered by cost.
class Pool {
public:
    using Pricing = std::function<Price(const Recipe&)>;

    Pool(const ChooseOptions& options, Pricing price) : options_(options), price_(std::move(price)) {}

    void add(PricedRecipe candidate);

    /// Prices the points of the space until the deadline, and adds the best few thousand, among them the best of each kind.
    /// If the time does not suffice for all points, those that are priced are spread evenly over the space.
    void add_points(const Space& space, const std::function<bool()>& is_late, SearchCount& count);

    [[nodiscard]] bool empty() const { return candidates_.empty(); }
    [[nodiscard]] std::size_t size() const { return candidates_.size(); }
    [[nodiscard]] std::vector<PricedRecipe>& candidates() { return candidates_; }
    [[nodiscard]] const std::vector<PricedRecipe>& candidates() const { return candidates_; }
    [[nodiscard]] PricedRecipe take(std::size_t place);
    void clear() { candidates_.clear(); }

    /// Prices the candidates again, as measurements have corrected the model, and orders them by cost. Of a large pool, it
    /// prices the cheapest candidates each time, and the others from time to time.
    void price_again();

private:
    const ChooseOptions& options_;
    Pricing price_;
    std::vector<PricedRecipe> candidates_;
    std::size_t added_ = 0;
    int rounds_ = 0;
};

}  // namespace workbench
