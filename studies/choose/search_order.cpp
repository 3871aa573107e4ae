// The order in which a search tries the points of a space.
#include <algorithm>
#include <cmath>

#include "studies/choose/search.hpp"

namespace workbench {
namespace {

/// Points whose cost is predicted to exceed the best one by more than this factor are not promising. For kinds
/// with few trials the factor is larger: one disturbed measurement must not exclude a kind.
constexpr double promising = 1.5;
constexpr double promising_of_few = 3;
constexpr int few_trials = 3;
/// The same factor for points near the best measured ones, because the error of the model exceeds their differences.
constexpr double promising_near = 3;
/// Before a search ends, it also tries points that are less promising by this factor.
constexpr double last_resort = 2;
/// The first point of a kind is tried if its cost is at most this factor times the least prediction.
constexpr double promising_kind = 1.6;
/// The additional cost, in parts of its cost, of a trial that takes all of the time of the search.
constexpr double dearer_by_time = 3;
/// The additional cost of a family's points for each of its trials that has brought no progress.
constexpr double dearer = 0.1;
/// Before this part of the search has passed, kinds without trials come first; after it, points near the best measured ones.
constexpr double part_of_exploring = 0.5;
constexpr std::size_t good_points = 3;
constexpr std::size_t more_good_points = 9;  // when nothing else is promising

}  // namespace

std::vector<SpacePoint> crossings(const SpacePoint& one, const SpacePoint& other) {
    std::vector<SpacePoint> points;
    for (std::size_t place = 1; place < one.size(); ++place) {
        for (const auto& [first, second] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
            SpacePoint& crossing = points.emplace_back(*first);
            const auto from = static_cast<std::ptrdiff_t>(place);
            std::copy(second->begin() + from, second->end(), crossing.begin() + from);
        }
    }
    return points;
}

double Search::score_of(const PricedRecipe& one) const {
    const auto trials = unsuccessful_.find(one.family);
    const double share_of_time = one.price.trial / std::max(search_seconds(), 1e-9);
    // One slow point of a kind does not show yet that the others are slow.
    const auto tried = kinds_.find(one.kind);
    const bool is_uncertain = tried != kinds_.end() && tried->second < few_trials && one.price.correction > 1;
    const double cost = one.cost / (is_uncertain ? std::sqrt(one.price.correction) : 1);
    return cost * (1 + dearer * (trials == unsuccessful_.end() ? 0 : trials->second)) * (1 + dearer_by_time * share_of_time);
}

std::vector<std::size_t> Search::promising_places(double less_promising) const {
    std::vector<std::size_t> places;
    const double best = less_promising * best_cost();
    for (std::size_t i = 0; i < pool_.size(); ++i) {
        const PricedRecipe& one = pool_.candidates()[i];
        const auto tried = kinds_.find(one.kind);
        const bool few = tried == kinds_.end() || tried->second < few_trials;
        const double most = one.is_near ? promising_near : few ? promising_of_few : promising;
        if (one.cost <= most * best) places.push_back(i);
    }
    return places;
}

std::vector<std::size_t> Search::order_of_recipes() const {
    std::vector<std::size_t> order = promising_places(1);
    const auto score = [this](std::size_t place) { return score_of(pool_.candidates()[place]); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score(a) < score(b); });
    return order;
}

std::vector<std::size_t> Search::order_in_space() {
    const bool is_exploring = watch_.seconds() <= part_of_exploring * search_seconds();
    if (!is_exploring) add_near_points(good_points);
    std::vector<std::size_t> order = promising_places(1);
    if (order.empty()) {
        add_near_points(more_good_points);
        order = promising_places(1);
    }
    if (order.empty()) order = promising_places(last_resort);
    const auto goes_first = [&](std::size_t a, std::size_t b) {
        const PricedRecipe& one = pool_.candidates()[a];
        const PricedRecipe& other = pool_.candidates()[b];
        if (one.is_near != other.is_near) return one.is_near;
        return score_of(one) < score_of(other);
    };
    std::stable_sort(order.begin(), order.end(), goes_first);
    if (const auto kind = is_exploring ? unexplored_kind() : std::nullopt) order.insert(order.begin(), *kind);
    return order;
}

std::optional<std::size_t> Search::unexplored_kind() const {
    const std::vector<PricedRecipe>& all = pool_.candidates();
    if (all.empty()) return std::nullopt;
    const double most = promising_kind * std::min(all.front().cost, best_cost());
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < all.size() && all[i].cost <= most; ++i) {
        if (kinds_.contains(all[i].kind)) continue;
        if (!best || score_of(all[i]) < score_of(all[*best])) best = i;
    }
    return best;
}

std::vector<const Timed*> Search::best_measured(std::size_t count) const {
    std::vector<const Timed*> best;
    for (const Timed& one : choice_.ranking) best.push_back(&one);
    const auto cost = [this](const Timed* one) { return cost_of(one->record.seconds, one->price_seconds, options_); };
    std::stable_sort(best.begin(), best.end(), [&](const Timed* a, const Timed* b) { return cost(a) < cost(b); });
    best.resize(std::min(count, best.size()));
    return best;
}

void Search::add_near_points(std::size_t count) {
    std::vector<SpacePoint> good;
    for (const Timed* one : best_measured(count)) {
        if (one->point) good.push_back(*one->point);
    }
    bool any = false;
    for (std::size_t i = 0; i < good.size(); ++i) {
        if (expanded_.insert({good[i]}).second) {
            any = true;
            for (const SpacePoint& neighbour : options_.space->neighbours(good[i])) add_near(neighbour);
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (!expanded_.insert({std::min(good[i], good[j]), std::max(good[i], good[j])}).second) continue;
            any = true;
            for (const SpacePoint& crossing : crossings(good[i], good[j])) {
                if (options_.space->is_legal(crossing)) add_near(crossing);
            }
        }
    }
    if (!any) return;
    pool_.price_again();
    drop_hopeless();
}

void Search::add_near(const SpacePoint& point) {
    if (!known_points_.insert(point).second) {
        for (PricedRecipe& one : pool_.candidates()) {
            if (one.point == point) one.is_near = true;
        }
        return;
    }
    PricedRecipe candidate{.recipe = options_.space->recipe(point), .point = point, .is_near = true};
    candidate.recipe.matrix = of_;
    pool_.add(std::move(candidate));
}

}  // namespace workbench
