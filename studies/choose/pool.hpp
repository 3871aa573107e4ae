// The candidates of a search that have not been tried, with their prices.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "studies/choose/choose.hpp"
#include "studies/choose/cost_model.hpp"

namespace workbench {

struct PricedRecipe {
    Recipe recipe;
    bool is_baseline = false;
    bool always = false;                   // tried first, whatever its price
    bool is_start = false;                 // one of the recipes with which the space begins
    std::optional<SpacePoint> point = {};  // of the space
    bool is_near = false;                  // reached from good points by one change, or by crossing two of them
    std::string kind = {};                 // the names of its layouts
    std::string family = {};               // and of its stages
    Price price = {};
    double cost = 0;         // the time by which candidates are ordered: a product, or all products and the preparation
    std::size_t number = 0;  // in the order in which candidates were added
};

/// The content of a recipe as text: its stages, layouts and parameters, and the kernels of shares. A single layout runs all of
/// its kernels.
[[nodiscard]] std::string content_of(const Recipe& recipe);

/// The seconds that count: those of a product, or of the preparation and all products.
[[nodiscard]] double cost_of(double product, double preparation, const ChooseOptions& options);

/// A point of a space, by its number, with its cost.
struct PricedPoint {
    double cost = 0;
    std::uint64_t number = 0;

    friend bool operator<(const PricedPoint& a, const PricedPoint& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
    }
};

/// Points whose pricing failed for one reason.
struct FailedPoints {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// A bounded set of candidates, ordered by cost.
class Pool {
public:
    /// Several threads call it at once.
    using Pricing = std::function<Price(const Recipe&)>;

    Pool(const ChooseOptions& options, Pricing price) : options_(options), price_(std::move(price)) {}

    void add(PricedRecipe candidate);

    /// Makes add_points look for the point that does the same as this recipe.
    void seek(const Recipe& recipe) { sought_.insert(content_of(recipe)); }
    /// The number of that point; none if no priced point is the same.
    [[nodiscard]] std::optional<std::uint64_t> found(const Recipe& recipe) const;

    /// Prices the points of the space until the deadline, and adds the best few thousand, among them the best of each kind.
    /// If the time does not suffice for all points, those that are priced are spread evenly over the space. Returns the points
    /// whose pricing failed, by the reason.
    std::map<std::string, FailedPoints> add_points(const Space& space, const std::function<bool()>& is_late,
                                                   SearchCount& count);

    [[nodiscard]] bool empty() const { return candidates_.empty(); }
    [[nodiscard]] std::size_t size() const { return candidates_.size(); }
    [[nodiscard]] std::vector<PricedRecipe>& candidates() { return candidates_; }
    [[nodiscard]] const std::vector<PricedRecipe>& candidates() const { return candidates_; }
    [[nodiscard]] PricedRecipe take(std::size_t place);
    void clear() { candidates_.clear(); }

    /// Prices the candidates again, as measurements have corrected the model, and orders them by cost.
    void price_again();

private:
    struct PricedBlock {
        std::uint64_t points = 0;
        std::vector<std::pair<std::string, PricedPoint>> suitable = {};  // by their kinds
        std::vector<std::pair<std::string, std::uint64_t>> found = {};   // by their contents
        std::vector<std::pair<std::string, std::uint64_t>> failed = {};  // by the reason
    };
    [[nodiscard]] PricedBlock priced_block(const Space& space, std::uint64_t begin, std::uint64_t end) const;

    const ChooseOptions& options_;
    Pricing price_;
    std::vector<PricedRecipe> candidates_;
    std::set<std::string> sought_;                // by their contents
    std::map<std::string, std::uint64_t> found_;  // points, by their contents
    std::size_t added_ = 0;
};

}  // namespace workbench
