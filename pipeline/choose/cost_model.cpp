#include "pipeline/choose/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/host_threads.hpp"

namespace workbench {
namespace {

// Nanoseconds per slot on `measured_cores`, as in docs/results: a layout is built twice, copied and verified.
constexpr double build_cost = 8;
constexpr double trial_cost = 30;
constexpr double measured_cores = 16;

/// Estimated bytes may be too high by this fraction.
constexpr double tolerance_of_bytes = 0.15;

/// Predictions of more recipes, and patterns of more bytes, are made anew when they are needed again.
constexpr std::size_t most_known_costs = 1 << 17;
constexpr double most_pattern_bytes = 2e9;

/// A layout that states no cost is taken for CSR.
LayoutCost cost_of_csr(const PatternForecast& pattern, Precision precision) {
    const std::int64_t value = value_bytes(precision);
    return {.slots = pattern.nonzeros(),
            .array_bytes = pattern.nonzeros() * (static_cast<std::int64_t>(sizeof(Index)) + value) +
                           (Offset{pattern.rows()} + 1) * static_cast<std::int64_t>(sizeof(Offset)),
            .vector_bytes = value * (std::int64_t{pattern.rows()} + pattern.columns()),
            .sectors = pattern.sectors(precision)};
}

}  // namespace

CostModel::CostModel(const CsrMatrix& input, Precision precision, const DeviceProperties& device, const DeviceProperties* gpu)
    : input_(input),
      precision_(precision),
      device_(device),
      gpu_(gpu),
      speed_(speed_of(device, 0)),
      highest_bandwidth_(speed_.bandwidth) {}

void CostModel::set_bandwidth(double copy, double highest) {
    if (copy > 0 && !calibrated_) speed_ = speed_of(device_, copy);
    highest_bandwidth_ = highest;
}

void CostModel::calibrate(const Calibration& calibration) {
    speed_ = calibration.speed;
    calibrated_ = true;
    corrections_.expect(calibration.layouts);
}

CostModel::Chain& CostModel::chain_of(const Recipe& recipe, std::size_t stages) {
    const auto find = [this](Chain* before, std::string text) -> Chain* {
        const auto [known, is_new] = chains_.try_emplace(std::pair(before, std::move(text)), nullptr);
        if (!is_new) return known->second;
        all_chains_.push_back({.before = before, .text = known->first.second});
        known->second = &all_chains_.back();
        return known->second;
    };
    Chain* chain = find(nullptr, std::to_string(recipe.node_size) + ' ' + recipe.device);
    for (std::size_t i = 0; i < stages; ++i) {
        const RecipeStage& stage = recipe.stages[i];
        chain = find(chain, text_of(stage.entry->name, stage.parameters));
    }
    return *chain;
}

const PatternForecast& CostModel::after_stages(Chain& chain, const Recipe& recipe, std::size_t stages) {
    if (chain.pattern) return *chain.pattern;
    if (stages == 0) {
        if (!input_pattern_) input_pattern_.emplace(input_);
        chain.pattern = *input_pattern_;
        chain.pattern->set_node_size(recipe.node_size);
        return *chain.pattern;
    }
    PatternForecast pattern = after_stages(*chain.before, recipe, stages - 1);
    const RecipeStage& stage = recipe.stages[stages - 1];
    if (stage.entry->foresee != nullptr) {
        const DeviceProperties* const device = recipe.device.empty() ? gpu_ : find_device_model(recipe.device);
        std::vector<KnownChange>& known = known_changes_[chain.text + '\n' + recipe.device];
        const std::size_t before = known.size();
        try {
            pattern.change_once(
                [&](PatternForecast& changed) {
                    stage.entry->foresee(changed, stage.parameters, {device, precision_});
                },
                known);
        } catch (const UserError&) {  // the stage itself will report it
        }
        changes_ += known.size() - before;
    }
    chain.pattern = std::move(pattern);
    return *chain.pattern;
}

/// Bounds the memory of predictions.
void CostModel::forget_some() {
    const double bytes_of_change = 20.0 * input_.rows + 4e6;  // lengths, orders and samples
    if (static_cast<double>(changes_) * bytes_of_change > most_pattern_bytes) {
        known_changes_.clear();
        changes_ = 0;
        for (Chain& chain : all_chains_) {
            if (!chain.learned) chain.pattern.reset();
        }
    }
    if (known_costs_ > most_known_costs) {
        for (Chain& chain : all_chains_) chain.costs.clear();
        known_costs_ = 0;
    }
}

const CostModel::Known& CostModel::known_costs(const Recipe& recipe) {
    Chain& chain = chain_of(recipe, recipe.stages.size());
    std::string layouts = text_of_layouts(recipe);
    if (const auto found = chain.costs.find(layouts); found != chain.costs.end()) return found->second;
    forget_some();
    Known& known = chain.costs[std::move(layouts)];
    ++known_costs_;
    const PatternForecast& pattern = after_stages(chain, recipe, recipe.stages.size());
    const Chain* after = &chain;
    for (std::size_t i = recipe.stages.size(); i > 0; --i, after = after->before) {
        const double cost = recipe.stages[i - 1].entry->nanoseconds_per_nonzero;
        known.all_stages += cost;
        if (!after->learned) known.new_stages += cost;
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        const PatternForecast& part = layout.share ? pattern.share(layout.share->kind) : pattern;
        const PredictCost predict = layout.entry->predict;
        known.costs.push_back(predict == nullptr
                                  ? cost_of_csr(part, precision_)
                                  : predict(part, layout.parameters.on_device(layout.entry->parameters, device_), precision_));
        if (known.unsuitable.empty()) known.unsuitable = known.costs.back().unsuitable;
    }
    known.subject = corrections_.subject_of(recipe);
    return known;
}

double CostModel::trial_scale() const { return trials_predicted_ > 0 ? trials_measured_ / trials_predicted_ : 1; }

Price CostModel::price(const Recipe& recipe) {
    const Known& known = known_costs(recipe);
    Price price{.unsuitable = known.unsuitable};
    double certain_bytes = 0;
    bool all_predicted = true;
    for (std::size_t i = 0; i < known.costs.size(); ++i) {
        const LayoutCost& cost = known.costs[i];
        price.bytes += cost.bytes();
        price.slots += cost.slots;
        certain_bytes += static_cast<double>(cost.bytes()) * (cost.exact ? 1 : 1 - tolerance_of_bytes);
        all_predicted = all_predicted && recipe.layouts[i].entry->predict != nullptr;
    }
    price.correction = corrections_.factor(known.subject);
    price.product = predicted_seconds(known.costs, speed_) * price.correction;
    if (all_predicted) price.least = certain_bytes / highest_bandwidth_;
    const double cores = std::min(measured_cores, static_cast<double>(host_threads()));
    const double nonzeros = 1e-9 * measured_cores / cores * static_cast<double>(input_.nonzeros());
    const double slots = 1e-9 * measured_cores / cores * static_cast<double>(price.slots);
    price.preparation = known.all_stages * nonzeros + build_cost * slots;
    price.trial = known.new_stages * nonzeros + trial_cost * slots;
    price.preparation *= trial_scale();
    price.trial *= trial_scale();
    return price;
}

void CostModel::learn(const Recipe& recipe, std::size_t stages, const StagedMatrix& staged) {
    if (stages == 0) return;
    Chain& chain = chain_of(recipe, stages);
    if (chain.learned) return;
    const RecipeStage& stage = recipe.stages[stages - 1];
    const bool order_was_known = after_stages(*chain.before, recipe, stages - 1).order_is_known();
    const bool is_new = order_was_known && !after_stages(chain, recipe, stages).order_is_known();
    const bool splits = !stage.contract.gives_shares.empty();
    if (!is_new && !splits) return;
    for (Chain& other : all_chains_) {
        const Chain* one = &other;
        while (one != nullptr && one != &chain) one = one->before;
        if (one == nullptr) continue;
        known_costs_ -= other.costs.size();
        other.costs.clear();
        if (!other.learned) other.pattern.reset();
    }
    chain.pattern.emplace(input_, staged);
    chain.learned = true;
}

void CostModel::correct(const Recipe& recipe, const Price& price, double product, double trial) {
    const double unscaled = price.trial / trial_scale();
    trials_predicted_ += unscaled;
    trials_measured_ += trial;
    if (product <= 0 || price.product <= 0) return;
    corrections_.note(known_costs(recipe).subject, std::log(product / predicted_seconds(known_costs(recipe).costs, speed_)));
}

}  // namespace workbench
