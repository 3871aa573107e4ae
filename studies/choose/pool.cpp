#include "studies/choose/pool.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "core/matrix/guarded_loop.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_points = 4096;
constexpr std::size_t least_of_kind = 8;
/// Points are priced in blocks of consecutive ones, because most of these have the same stages, and so the same predicted rows.
constexpr std::uint64_t points_of_block = 64;

/// A step through `count` numbers that visits each once, so that the first ones visited are spread evenly over all.
std::uint64_t spreading_step(std::uint64_t count) {
    constexpr double golden_section = 0.618033988749895;
    auto step = static_cast<std::uint64_t>(golden_section * static_cast<double>(count));
    step = std::max<std::uint64_t>(step, 1);
    while (std::gcd(step, count) != 1) ++step;
    return step;
}

/// The best points, among them the best of each kind.
std::vector<PricedPoint> best_points(std::map<std::string, std::vector<PricedPoint>>& by_kind) {
    std::vector<PricedPoint> best;
    std::vector<PricedPoint> others;
    for (auto& [kind, points] : by_kind) {
        std::sort(points.begin(), points.end());
        const auto end_of_best = points.begin() + static_cast<std::ptrdiff_t>(std::min(least_of_kind, points.size()));
        best.insert(best.end(), points.begin(), end_of_best);
        others.insert(others.end(), end_of_best, points.end());
    }
    std::sort(others.begin(), others.end());
    const std::size_t more = std::min(others.size(), most_points - std::min(most_points, best.size()));
    best.insert(best.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(more));
    std::sort(best.begin(), best.end());
    return best;
}

std::string family_of(const Recipe& recipe) {
    std::string family;
    for (const RecipeStage& stage : recipe.stages) family += stage.entry->name + ' ';
    return family + name_of_layouts(recipe);
}

}  // namespace

std::string content_of(const Recipe& recipe) {
    std::string content;
    for (const RecipeStage& stage : recipe.stages) content += text_of(stage.entry->name, stage.parameters) + '\n';
    content += text_of_layouts(recipe);
    for (const RecipeLayout& layout : recipe.layouts) {
        if (!layout.share) continue;
        for (const auto& [backend, kernel] : layout.kernels) content += kernel + ' ';
    }
    return content;
}

double cost_of(double product, double preparation, const ChooseOptions& options) {
    return options.products ? preparation + *options.products * product : product;
}

void Pool::add(PricedRecipe candidate) {
    candidate.number = added_++;
    candidate.kind = name_of_layouts(candidate.recipe);
    candidate.family = family_of(candidate.recipe);
    candidates_.push_back(std::move(candidate));
}

std::map<std::string, FailedPoints> Pool::add_points(const Space& space, const std::function<bool()>& is_late,
                                                     SearchCount& count) {
    std::map<std::string, FailedPoints> failed;
    std::map<std::string, std::vector<PricedPoint>> by_kind;
    const std::uint64_t points = count.points = space.count();
    const std::uint64_t blocks = (points + points_of_block - 1) / points_of_block;
    const std::uint64_t step = spreading_step(blocks);
    std::mutex mutex;  // of the clock and the results
    bool late = false;
    guarded_for("price_points", UnevenHostRange<std::uint64_t>(0, blocks), [&](std::uint64_t i) {
        {
            const std::scoped_lock lock(mutex);
            late = late || is_late();
            if (late) return;
        }
        const std::uint64_t begin = points_of_block * (i * step % blocks);
        const PricedBlock block = priced_block(space, begin, std::min(points, begin + points_of_block));
        const std::scoped_lock lock(mutex);
        count.priced += block.points;
        for (const auto& [kind, point] : block.suitable) by_kind[kind].push_back(point);
        found_.insert(block.found.begin(), block.found.end());
        for (const auto& [reason, number] : block.failed) {
            FailedPoints& same = failed.try_emplace(reason, FailedPoints{.first = number}).first->second;
            same.first = std::min(same.first, number);
            ++same.count;
        }
    });
    for (const PricedPoint& one : best_points(by_kind)) {
        SpacePoint point = space.point(one.number);
        PricedRecipe candidate{.recipe = space.recipe(point), .point = std::move(point)};
        candidate.cost = one.cost;
        add(std::move(candidate));
    }
    return failed;
}

std::optional<std::uint64_t> Pool::found(const Recipe& recipe) const {
    const auto point = found_.find(content_of(recipe));
    return point == found_.end() ? std::nullopt : std::optional(point->second);
}

Pool::PricedBlock Pool::priced_block(const Space& space, std::uint64_t begin, std::uint64_t end) const {
    PricedBlock block{.points = end - begin};
    for (std::uint64_t number = begin; number < end; ++number) {
        const Recipe recipe = space.recipe(space.point(number));
        if (!sought_.empty()) {
            std::string content = content_of(recipe);
            if (sought_.contains(content)) block.found.emplace_back(std::move(content), number);
        }
        const Price price = price_(recipe);
        if (price.failed) block.failed.emplace_back(price.unsuitable, number);
        if (!price.unsuitable.empty()) continue;
        const double cost = cost_of(price.product, price.preparation, options_);
        block.suitable.emplace_back(name_of_layouts(recipe), PricedPoint{cost, number});
    }
    return block;
}

PricedRecipe Pool::take(std::size_t place) {
    PricedRecipe taken = std::move(candidates_[place]);
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(place));
    return taken;
}

void Pool::price_again() {
    guarded_for("price_again", UnevenHostRange<std::size_t>(0, candidates_.size()), [&](std::size_t i) {
        PricedRecipe& one = candidates_[i];
        one.price = price_(one.recipe);
        one.cost = cost_of(one.price.product, one.price.preparation, options_);
    });
    std::sort(candidates_.begin(), candidates_.end(), [](const PricedRecipe& a, const PricedRecipe& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
    });
}

}  // namespace workbench
