// The search behind `choose`: which candidate is tried next, and for how long it is timed.
//
// Recipes are tried in the order of their corrected predictions. With a space, they are tried while they are promising, for at
// most 40 % of the time. Then the model prices the points of the space, and
// 1. in the first half of the time, the best point of each kind of layouts without a trial comes first if its prediction is
// near
//    the best,
// 2. the others follow in the order of their predictions, where each trial that brings no progress makes the points with the
//    same stages and layouts dearer, so that variants of one idea do not crowd out the others,
// 3. in the second half, points near the best measured ones come first: those that differ in one place, and crossings of two
//    good ones.
// Points are timed briefly at first; the best third of each nine is timed again for longer (successive halving: Jamieson and
// Talwalkar, 'Non-stochastic best arm identification and hyperparameter optimization' (2016)).
#pragma once

#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "studies/choose/choose.hpp"
#include "studies/choose/pool.hpp"
#include "studies/choose/trials.hpp"

namespace workbench {

/// The points with the first places of one point and the last places of the other, and vice versa. They need not be legal.
[[nodiscard]] std::vector<SpacePoint> crossings(const SpacePoint& one, const SpacePoint& other);

class Search {
public:
    /// The arguments must outlive it. The first recipe is the baseline.
    Search(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
           const ChooseOptions& options);

    [[nodiscard]] Choice run();

private:
    // The beginning: the log, the recipes with which the space begins, and its points.
    void resume(const std::vector<LoggedTrial>& logged);
    void add_start();
    void add_points();

    // The trials.
    void try_all();
    void try_one(PricedRecipe one);
    void narrow();
    void time_longer(const std::string& identity, std::size_t level);
    [[nodiscard]] std::optional<PricedRecipe> take_next();
    [[nodiscard]] std::optional<PricedRecipe> take_affordable(const std::vector<std::size_t>& order);
    void drop_hopeless();
    void leave_out_the_rest(bool was_spent);

    [[nodiscard]] std::vector<std::size_t> order_of_trials();

    // The order of trials in a space.
    [[nodiscard]] std::vector<std::size_t> promising_places(double less_promising) const;
    [[nodiscard]] std::vector<std::size_t> order_of_recipes() const;
    [[nodiscard]] std::vector<std::size_t> order_in_space();
    [[nodiscard]] std::optional<std::size_t> unexplored_kind() const;
    void add_near_points(std::size_t count);
    void add_near(const SpacePoint& point);
    [[nodiscard]] double score_of(const PricedRecipe& one) const;

    // The end.
    void confirm();
    void confirm_at(std::size_t place);
    void time_undecided();
    void time_undecided_once(const std::string& identity, const TimingOptions& timing);
    [[nodiscard]] std::vector<std::string> undecided() const;
    void ablate();

    [[nodiscard]] bool in_space() const { return options_.space != nullptr; }
    /// True if the answer says why a candidate was not tried.
    [[nodiscard]] static bool is_listed(const PricedRecipe& one) { return !one.point && !one.is_start; }
    [[nodiscard]] double search_seconds() const;
    [[nodiscard]] double seconds_left() const { return search_seconds() - watch_.seconds(); }
    [[nodiscard]] TimingOptions timing_at(std::size_t level) const;
    [[nodiscard]] double best_cost() const;
    [[nodiscard]] std::vector<const Timed*> best_measured(std::size_t count) const;
    [[nodiscard]] std::string progress_text(const std::string& step) const;
    /// Adds a timed recipe to the ranking, in the place of its earlier times, and takes the report of the result.
    void add_timed(Timed timed, TrialResult& result);

    const Catalogue& catalogue_;
    const ChooseOptions& options_;
    MatrixChoice of_;
    Choice choice_;
    Trials trials_;
    Stopwatch watch_;
    Pool pool_;
    std::size_t recipes_ = 0;  // candidates that are not of the space
    bool points_are_added_ = false;
    std::set<std::string> tried_;
    double best_ = std::numeric_limits<double>::infinity();  // seconds of a product

    std::map<std::string, int> kinds_;         // the number of trials of each kind
    std::map<std::string, int> unsuccessful_;  // trials of a family since it last improved the best time
    std::set<SpacePoint> known_points_;        // that are or were candidates
    std::set<std::vector<SpacePoint>> expanded_;
    static constexpr std::size_t levels = 3;
    std::array<std::vector<std::string>, levels> waiting_;  // identities of recipes timed at a level, until nine are there
};

}  // namespace workbench
