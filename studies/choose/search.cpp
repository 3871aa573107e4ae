#include "studies/choose/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/engine/brought_files.hpp"
#include "studies/choose/ablation.hpp"
#include "studies/choose/rank_choice.hpp"

namespace workbench {
namespace {

constexpr const char* stopped_before = "stopped before it was timed";

// Shares of the budget.
constexpr double share_of_start = 0.4;
constexpr double share_of_pricing = 0.2;
constexpr double share_of_confirming = 0.1;
constexpr double share_of_ablation = 0.1;

// Successive halving: the best of each group of recipes timed at a level go on to the next level.
constexpr std::size_t group_size = 9;
constexpr std::size_t go_on = 3;
constexpr double worth_timing_longer = 1.2;  // times the best cost

/// The number of samples at each level, relative to that of the options.
constexpr std::array<double, 3> samples_at_level{1.0 / 3, 1, 2};

}  // namespace

Search::Search(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
               const ChooseOptions& options)
    : catalogue_(catalogue),
      options_(options),
      trials_(matrix, catalogue, devices, options, choice_),
      watch_(options.timing.clock),
      pool_(options, [this](const Recipe& recipe) { return trials_.price(recipe); }),
      recipes_(recipes.size()) {
    of_ = recipes.front().matrix;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        pool_.add({.recipe = recipes[i], .is_baseline = i == 0, .always = i < options.always});
    }
    if (in_space()) add_start();
    if (options.log == nullptr) return;
    for (const auto& [name, reason] : options.log->unpriced) choice_.not_timed.push_back({name, reason});
}

/// Adds the recipes with which the space begins, except those that are candidates already.
void Search::add_start() {
    std::set<std::string> known;
    for (const PricedRecipe& one : pool_.candidates()) known.insert(identity_of_trial(one.recipe));
    for (Recipe recipe : options_.space->start()) {
        recipe.matrix = of_;
        recipe.node_size = options_.space->node_size();
        if (known.insert(identity_of_trial(recipe)).second) pool_.add({.recipe = std::move(recipe), .is_start = true});
    }
}

Choice Search::run() {
    if (options_.log != nullptr) resume(logged_trials(*options_.log));
    try_all();
    if (choice_.stopped && choice_.ranking.empty()) throw Stopped("stopped before anything was timed; nothing was written");
    confirm();
    time_undecided();
    if (options_.ablate) ablate();
    choice_.seconds = watch_.seconds();
    return std::move(choice_);
}

void Search::resume(const std::vector<LoggedTrial>& logged) {
    std::set<std::string> always;
    for (const PricedRecipe& one : pool_.candidates()) {
        if (one.always) always.insert(identity_of_trial(one.recipe));
    }
    for (const LoggedTrial& trial : logged) {
        Recipe recipe;
        try {
            recipe = parse_recipe(trial.resolved, trial.name, catalogue_);
        } catch (const RecipeError&) {
            continue;  // its kernel source is gone, say
        }
        if (contents_of_files(recipe) != trial.files) continue;  // its kernel source was edited: tried again
        const std::string identity = identity_of_trial(recipe);
        if (always.contains(identity)) continue;  // timed in each run
        const auto known = std::find_if(pool_.candidates().begin(), pool_.candidates().end(),
                                        [&](const PricedRecipe& one) { return identity_of_trial(one.recipe) == identity; });
        if (known != pool_.candidates().end())
            recipe = pool_.take(static_cast<std::size_t>(known - pool_.candidates().begin())).recipe;
        recipe.matrix = of_;
        tried_.insert(identity);
        ++choice_.search.tried;
        ++choice_.search.logged;
        if (!trial.record) {
            const std::string reason = trial.status == "wrong" ? "WRONG RESULT: " + trial.reason : trial.reason;
            choice_.wrong = choice_.wrong || trial.status == "wrong";
            trials_.skip(recipe, reason);
            continue;
        }
        trials_.model().correct(recipe, trials_.price(recipe), trial.record->seconds, trial.facts.seconds);
        Timed timed{.recipe = recipe, .record = *trial.record, .bytes = trial.facts.bytes};
        timed.one_by_one = trial.facts.one_by_one;
        timed.price_seconds = trial.facts.price_seconds;
        timed.predicted_seconds = trial.facts.predicted_seconds;
        timed.logged = true;
        timed.identity = identity;
        timed.tried = facts_for_log(recipe);
        best_ = std::min(best_, timed.record.seconds);
        const auto& point = trial.facts.point;
        if (in_space() && point && options_.space->is_legal(*point) &&
            identity_of_trial(options_.space->recipe(*point)) == identity) {
            timed.point = point;
            known_points_.insert(*point);
        }
        ++kinds_[name_of_layouts(recipe)];
        choice_.ranking.push_back(std::move(timed));
    }
}

void Search::add_points() {
    const double begin = watch_.seconds();
    const double deadline = begin + share_of_pricing * options_.budget_seconds;
    if (options_.progress) options_.progress(fmt::format("pricing {}", counted_with_commas(options_.space->count(), "point")));
    for (const Timed& one : choice_.ranking) pool_.seek(one.recipe);
    const std::map<std::string, FailedPoints> failed = pool_.add_points(
        *options_.space, [&] { return watch_.seconds() > deadline; }, choice_.search);
    choice_.search.pricing_seconds = watch_.seconds() - begin;
    for (const auto& [reason, points] : failed) {
        const std::uint64_t more = points.count - 1;
        const std::string others = more == 0 ? "" : fmt::format(" ({}: the same)", counted_with_commas(more, "other point"));
        trials_.skip(options_.space->recipe(options_.space->point(points.first)), reason + others);
    }
    for (PricedRecipe& one : pool_.candidates()) {
        one.recipe.matrix = of_;
        if (one.point) known_points_.insert(*one.point);
    }
    for (Timed& one : choice_.ranking) {
        const std::optional<std::uint64_t> number = one.point ? std::nullopt : pool_.found(one.recipe);
        if (!number) continue;
        one.point = options_.space->point(*number);
        known_points_.insert(*one.point);
        tried_.insert(identity_of_trial(options_.space->recipe(*one.point)));
    }
    points_are_added_ = true;
}

void Search::try_all() {
    while (std::optional<PricedRecipe> next = take_next()) {
        if (choice_.stopped) {
            if (is_listed(*next)) trials_.skip(next->recipe, stopped_before);
            continue;
        }
        try_one(std::move(*next));
        if (in_space() && !choice_.stopped) narrow();
    }
}

std::optional<PricedRecipe> Search::take_next() {
    if (pool_.empty() && (!in_space() || choice_.stopped)) {
        choice_.search.finished = !choice_.stopped;
        return std::nullopt;
    }
    if (choice_.stopped || (!pool_.empty() && pool_.candidates().front().always)) {
        PricedRecipe one = pool_.take(0);
        if (!choice_.stopped) one.price = trials_.price(one.recipe);
        return one;
    }
    const std::vector<std::size_t> order = order_of_trials();
    if (order.empty()) {
        choice_.search.finished = true;
        leave_out_the_rest(false);
        return std::nullopt;
    }
    std::optional<PricedRecipe> next = take_affordable(order);
    if (!next) leave_out_the_rest(true);
    return next;
}

std::vector<std::size_t> Search::order_of_trials() {
    const auto price_again = [this] {
        pool_.price_again();
        drop_hopeless();
    };
    price_again();
    if (!in_space()) {
        std::vector<std::size_t> all(pool_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }
    if (!points_are_added_) {
        const bool in_time = watch_.seconds() < share_of_start * search_seconds();
        if (std::vector<std::size_t> order = order_of_recipes(); in_time && !order.empty()) return order;
        add_points();
        price_again();
    }
    return order_in_space();
}

std::optional<PricedRecipe> Search::take_affordable(const std::vector<std::size_t>& order) {
    const double left = seconds_left();
    if (left <= 0) return std::nullopt;
    const auto trial = [this](std::size_t place) { return pool_.candidates()[place].price.trial; };
    for (const std::size_t place : order) {
        if (trial(place) <= left) return pool_.take(place);
    }
    // The remaining seconds are for the cheapest trial, even if it exceeds them.
    const auto cheapest =
        std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return trial(a) < trial(b); });
    if (trial(*cheapest) <= 2 * left) return pool_.take(*cheapest);
    return std::nullopt;
}

void Search::leave_out_the_rest(bool was_spent) {
    const double left = seconds_left();
    for (const PricedRecipe& one : pool_.candidates()) {
        if (!is_listed(one) || !was_spent) continue;
        trials_.skip(one.recipe,
                     left > 0 ? fmt::format("preparation would exceed the {:g} s budget", options_.budget_seconds)
                              : fmt::format("not tried within the {:g} s budget", options_.budget_seconds),
                     one.price);
    }
    pool_.clear();
}

void Search::drop_hopeless() {
    std::vector<PricedRecipe>& all = pool_.candidates();
    const auto is_hopeless = [&](const PricedRecipe& one) {
        const bool too_slow = one.price.least > best_;
        if (one.price.unsuitable.empty() && !too_slow) return false;
        const std::string& reason = one.price.unsuitable;
        if (is_listed(one)) {
            trials_.skip(one.recipe, reason.empty() ? "its bytes alone would take longer than the best time" : reason,
                         one.price);
        }
        return true;
    };
    std::erase_if(all, is_hopeless);
}

void Search::try_one(PricedRecipe one) {
    const std::string identity = identity_of_trial(one.recipe);
    const bool is_new = tried_.insert(identity).second;
    if (!is_new && !one.always) return;  // equal to a recipe that was tried
    std::vector<Recipe> to_come{one.recipe};
    constexpr std::size_t most_to_come = 128;
    for (const PricedRecipe& other : pool_.candidates()) {
        if (to_come.size() < most_to_come) to_come.push_back(other.recipe);
    }
    if (const Timed* const best = fastest_of(choice_)) to_come.push_back(best->recipe);
    trials_.expect(to_come);
    ++choice_.search.tried;
    ++kinds_[one.kind];
    const std::string step = in_space() ? fmt::format("trying {}", choice_.search.tried)
                                        : fmt::format("trying {} of {}", recipes_ - pool_.size(), recipes_);
    RecipeTrial trial = first_trial(one.recipe);
    trial.is_baseline = one.is_baseline;
    trial.price = one.price;
    trial.point = one.point;
    TrialResult result = trials_.run(trial, timing_at(0), progress_text(step));
    if (choice_.stopped) return trials_.skip(one.recipe, stopped_before);
    trials_.model().correct(one.recipe, one.price, result.record ? result.record->seconds : 0, result.seconds);
    const double before = best_cost();
    if (result.record) {
        add_timed(trials_.timed_of(trial, result), result);
        if (in_space() && !one.always) waiting_[0].push_back(identity);
    }
    constexpr double progress = 0.995;
    int& unsuccessful = unsuccessful_[one.family];
    unsuccessful = best_cost() < progress * before ? 0 : unsuccessful + 1;
}

void Search::add_timed(Timed timed, TrialResult& result) {
    best_ = std::min(best_, timed.record.seconds);
    const auto same = std::find_if(choice_.ranking.begin(), choice_.ranking.end(),
                                   [&](const Timed& one) { return one.identity == timed.identity; });
    if (same != choice_.ranking.end()) {
        *same = std::move(timed);
    } else {
        choice_.ranking.push_back(std::move(timed));
    }
    choice_.reports.push_back(std::move(result.report));
}

double Search::search_seconds() const {
    double share = 1;
    if (options_.confirm) share -= share_of_confirming;
    if (options_.ablate && in_space()) share -= share_of_ablation;
    return share * options_.budget_seconds;
}

TimingOptions Search::timing_at(std::size_t level) const {
    TimingOptions timing = options_.timing;
    if (in_space()) {
        // At 60 s, 0.15 s for each kernel of a first trial.
        constexpr double first_part_of_budget = 1.0 / 400;
        constexpr int fewest_samples = 5;
        timing.minimum_samples =
            std::max(fewest_samples, static_cast<int>(std::lround(samples_at_level.at(level) * timing.minimum_samples)));
        const double most = first_part_of_budget * options_.budget_seconds * samples_at_level.at(level) / samples_at_level[0];
        timing.maximum_seconds = std::min(most, timing.maximum_seconds);
        return timing;
    }
    // The remaining time is divided evenly among the remaining candidates.
    constexpr double kernels_at_once = 3;
    const auto left = static_cast<double>(pool_.size() + 1);
    timing.maximum_seconds = std::clamp(seconds_left() / left / kernels_at_once, 0.0, timing.maximum_seconds);
    return timing;
}

double Search::best_cost() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Timed& one : choice_.ranking) {
        best = std::min(best, cost_of(one.record.seconds, one.price_seconds, options_));
    }
    return best;
}

std::string Search::progress_text(const std::string& step) const {
    std::string text = fmt::format("{}, {:.0f} s left", step, std::max(0.0, options_.budget_seconds - watch_.seconds()));
    if (const Timed* const best = fastest_of(choice_)) {
        text += fmt::format(", best {} ({})", duration(best->record.seconds), best->recipe.name);
    }
    return text;
}

void Search::narrow() {
    for (std::size_t level = 0; level + 1 < levels; ++level) {
        std::vector<std::string>& group = waiting_.at(level);
        if (group.size() < group_size) continue;
        std::vector<std::pair<double, std::string>> by_cost;
        for (const Timed& one : choice_.ranking) {
            if (std::find(group.begin(), group.end(), one.identity) == group.end()) continue;
            by_cost.emplace_back(cost_of(one.record.seconds, one.price_seconds, options_), one.identity);
        }
        group.clear();
        std::sort(by_cost.begin(), by_cost.end());
        by_cost.resize(std::min(by_cost.size(), go_on));
        for (const auto& [cost, identity] : by_cost) {
            if (cost <= worth_timing_longer * best_cost() && seconds_left() > 0 && !choice_.stopped)
                time_longer(identity, level + 1);
        }
    }
}

void Search::time_longer(const std::string& identity, std::size_t level) {
    const auto one = std::find_if(choice_.ranking.begin(), choice_.ranking.end(),
                                  [&](const Timed& timed) { return timed.identity == identity; });
    const RecipeTrial trial = next_trial(*one);
    TrialResult result = trials_.run(trial, timing_at(level), progress_text("timing again"));
    if (choice_.stopped) return;
    if (!result.record) {
        choice_.ranking.erase(one);
        return;
    }
    ++choice_.search.narrowed;
    add_timed(trials_.timed_of(trial, result), result);
    waiting_.at(level).push_back(identity);
}

void Search::confirm() {
    rank_choice(choice_, options_);
    if (!options_.confirm) return;
    if (in_space()) {
        constexpr std::size_t finalists = 3;
        constexpr double near_the_best = 1.05;
        std::vector<std::string> identities;
        for (const Timed* one : best_measured(finalists)) {
            if (one->faster() && one->record.seconds <= near_the_best * fastest_of(choice_)->record.seconds) {
                identities.push_back(one->identity);
            }
        }
        for (const std::string& identity : identities) {
            const auto place = std::find_if(choice_.ranking.begin(), choice_.ranking.end(),
                                            [&](const Timed& one) { return one.identity == identity; });
            if (!choice_.stopped) confirm_at(static_cast<std::size_t>(place - choice_.ranking.begin()));
        }
        rank_choice(choice_, options_);
    }
    while (!choice_.stopped && !choice_.stay && !choice_.ranking.front().confirmed) {
        confirm_at(0);
        rank_choice(choice_, options_);
    }
}

/// Times a recipe again for as long as `run` would, and drops it if that fails.
void Search::confirm_at(std::size_t place) {
    Timed& one = choice_.ranking[place];
    const RecipeTrial trial = next_trial(one);
    TrialResult result =
        trials_.run(trial, options_.timing, in_space() ? "timing the finalists again" : "timing the winner again");
    if (result.record) {
        one = trials_.timed_of(trial, result);
        one.confirmed = true;
        choice_.reports.push_back(std::move(result.report));
    } else if (!choice_.stopped) {
        choice_.ranking.erase(choice_.ranking.begin() + static_cast<std::ptrdiff_t>(place));
    }
}

/// The identities of the fastest recipes of which noise hides whether they beat the baseline; none if there is a choice.
std::vector<std::string> Search::undecided() const {
    constexpr std::size_t most = 3;
    std::vector<std::string> identities;
    if (!choice_.stay || !options_.confirm) return identities;
    for (const Timed& one : choice_.ranking) {  // by speed-up
        if (identities.size() < most && is_undecided(one)) identities.push_back(one.identity);
    }
    return identities;
}

/// If noise prevents a choice, spends the rest of the budget on timing again, in each round for twice as long.
void Search::time_undecided() {
    constexpr int most_rounds = 10;
    TimingOptions timing = options_.timing;
    const auto left = [this] { return options_.budget_seconds - watch_.seconds(); };
    const auto may_go_on = [&] { return !choice_.stopped && left() > 0; };
    for (int round = 0; round < most_rounds && may_go_on() && !undecided().empty(); ++round) {
        timing.minimum_samples *= 2;
        timing.minimum_seconds *= 2;
        timing.maximum_seconds *= 2;
        for (const std::string& identity : undecided()) {
            TimingOptions affordable = timing;
            affordable.maximum_seconds = std::min(timing.maximum_seconds, left());
            if (may_go_on()) time_undecided_once(identity, affordable);
        }
        rank_choice(choice_, options_);
        if (!choice_.stay) confirm();
    }
    choice_.undecided = !undecided().empty();
}

void Search::time_undecided_once(const std::string& identity, const TimingOptions& timing) {
    const auto one = std::find_if(choice_.ranking.begin(), choice_.ranking.end(),
                                  [&](const Timed& timed) { return timed.identity == identity; });
    const RecipeTrial trial = next_trial(*one);
    TrialResult result = trials_.run(trial, timing, progress_text("timing again, because of noise"));
    if (choice_.stopped) return;
    ++choice_.search.repeated;
    if (!result.record) {
        choice_.ranking.erase(one);
        return;
    }
    add_timed(trials_.timed_of(trial, result), result);
}

void Search::ablate() {
    constexpr int most_rounds = 3;
    for (int round = 0; round < most_rounds && !choice_.stopped && !choice_.stay; ++round) {
        const std::string winner = choice_.ranking.front().identity;
        choice_.without = stages_left_out(trials_, catalogue_, choice_, options_, watch_);
        rank_choice(choice_, options_);
        if (choice_.ranking.front().identity == winner) return;
        confirm();  // the winner without one of its stages is better
    }
}

}  // namespace workbench
