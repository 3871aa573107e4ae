#include "studies/choose/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/text/words.hpp"
#include "pipeline/recipe/checks.hpp"

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

/// True if a kernel of the layout has a loop for several vectors.
bool reads_matrix_once(const LayoutEntry& layout, DeviceKind device) {
    return std::ranges::any_of(layout.kernels, [device](const KernelEntry& kernel) {
        return device_of(kernel.backend) == device && bool(kernel.prepare_vectors.f64);
    });
}

/// Makes the cost of a product with one vector that of one with several.
void add_vectors(LayoutCost& cost, int vectors, bool matrix_once) {
    cost.sectors *= vectors;
    cost.vector_bytes *= vectors;
    if (matrix_once) return;
    cost.vector_bytes *= 3;  // x is copied before each product, and y after it
    cost.array_bytes *= vectors;
    cost.unread_bytes *= vectors;
    cost.launches *= vectors;
    cost.chain *= vectors;
}

}  // namespace

std::string unmet_need(const Recipe& recipe, const CsrMatrix& matrix) {
    if (!matrix.square() && needs_square(recipe)) return "needs a square matrix";
    if (matrix.rows % recipe.node_size == 0) return {};
    return fmt::format("needs a multiple of {}, for node_size in [matrix]", counted(recipe.node_size, "row"));
}

CostModel::CostModel(const CsrMatrix& input, Precision precision, const DeviceProperties& device, const DeviceProperties* gpu,
                     int vectors)
    : input_(input),
      precision_(precision),
      device_(device),
      gpu_(gpu),
      vectors_(vectors),
      speed_(speed_of(device, 0)),
      highest_bandwidth_(speed_.bandwidth),
      values_(value_facts(input, precision)) {}

void CostModel::set_bandwidth(double copy, double highest) {
    if (copy > 0 && !calibrated_) speed_ = speed_of(device_, copy);
    highest_bandwidth_ = highest;
}

void CostModel::calibrate(const Calibration& calibration) {
    speed_ = calibration.speed;
    calibrated_ = true;
    corrections_.expect(calibration.layouts);
}

CostModel::StagePrefix& CostModel::chain_of(const Recipe& recipe, std::size_t stages) {
    const std::scoped_lock lock(mutex_);
    const auto find = [this](StagePrefix* before, const std::string& text) -> StagePrefix* {
        const auto [known, is_new] = chains_.try_emplace(std::pair(before, text), nullptr);
        if (is_new) known->second = &all_chains_.emplace_back(before, text);
        return known->second;
    };
    StagePrefix* chain = find(nullptr, std::to_string(recipe.node_size) + ' ' + recipe.device);
    for (std::size_t i = 0; i < stages; ++i) {
        const RecipeStage& stage = recipe.stages[i];
        chain = find(chain, text_of(stage.entry->name, stage.parameters));
    }
    return *chain;
}

PatternForecast CostModel::after_stages(StagePrefix& chain, const Recipe& recipe, std::size_t stages) {
    const std::scoped_lock computing(chain.computing);
    {
        const std::scoped_lock lock(mutex_);
        if (chain.pattern) return *chain.pattern;
    }
    const auto computed = [&] {
        if (stages > 0) {
            return changed_by_stage(after_stages(*chain.before, recipe, stages - 1), chain, recipe, recipe.stages[stages - 1]);
        }
        const std::scoped_lock lock(mutex_);
        if (!input_pattern_) input_pattern_.emplace(input_);
        PatternForecast pattern = *input_pattern_;
        pattern.set_node_size(recipe.node_size);
        return pattern;
    };
    PatternForecast pattern = computed();
    const std::scoped_lock lock(mutex_);
    chain.pattern = pattern;
    return pattern;
}

PatternForecast CostModel::changed_by_stage(PatternForecast pattern, const StagePrefix& chain, const Recipe& recipe,
                                            const RecipeStage& stage) {
    if (stage.entry->foresee == nullptr) return pattern;
    const DeviceProperties* const device = recipe.device.empty() ? gpu_ : find_device_model(recipe.device);
    const std::shared_ptr<KnownChanges> known = [&] {
        const std::scoped_lock lock(mutex_);
        std::shared_ptr<KnownChanges>& of_stage = known_changes_[chain.text + '\n' + recipe.device];
        if (!of_stage) of_stage = std::make_shared<KnownChanges>();
        return of_stage;
    }();
    try {
        pattern.change_once(
            [&](PatternForecast& changed) {
                stage.entry->foresee(changed, stage.parameters, {device, precision_});
            },
            *known);
    } catch (const UserError&) {  // the stage itself will report it
    }
    return pattern;
}

/// Bounds the memory of predictions. `mutex_` is locked.
void CostModel::forget_some() {
    const double bytes_of_change = 20.0 * input_.rows + 4e6;  // lengths, orders and samples
    std::size_t changes = 0;
    for (const auto& [stage, known] : known_changes_) changes += known->size();
    if (static_cast<double>(changes) * bytes_of_change > most_pattern_bytes) {
        known_changes_.clear();
        for (StagePrefix& chain : all_chains_) {
            if (!chain.learned) chain.pattern.reset();
        }
    }
    if (known_costs_ > most_known_costs) {
        for (StagePrefix& chain : all_chains_) chain.costs.clear();
        known_costs_ = 0;
    }
}

CostModel::KnownPointer CostModel::known_costs(const Recipe& recipe) {
    StagePrefix& chain = chain_of(recipe, recipe.stages.size());
    const std::string layouts = text_of_layouts(recipe);
    {
        const std::scoped_lock lock(mutex_);
        if (const auto found = chain.costs.find(layouts); found != chain.costs.end()) return found->second;
        forget_some();
    }
    auto known = std::make_shared<Known>(computed_costs(chain, recipe));
    const std::scoped_lock lock(mutex_);
    known->subject = corrections_.subject_of(recipe);
    const auto [kept, is_new] = chain.costs.emplace(layouts, std::move(known));
    known_costs_ += is_new ? 1 : 0;
    return kept->second;
}

CostModel::Known CostModel::computed_costs(StagePrefix& chain, const Recipe& recipe) {
    Known known;
    const PatternForecast pattern = after_stages(chain, recipe, recipe.stages.size());
    const StagePrefix* after = &chain;
    for (std::size_t i = recipe.stages.size(); i > 0; --i, after = after->before) {
        const double cost = recipe.stages[i - 1].entry->nanoseconds_per_nonzero;
        known.all_stages += cost;
        if (!after->learned) known.new_stages += cost;
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        const PatternForecast& part = layout.share ? pattern.share(layout.share->kind) : pattern;
        const PredictCost predict = layout.entry->predict;
        Parameters parameters = layout.parameters.on_device(layout.entry->parameters, device_);
        const ValueFacts* values = &values_;
        if (layout.entry->settle != nullptr && codes_values(parameters)) {
            if (parameters.has("block_size") && part.node_size() > 1) values = &values_in_nodes(part.node_size());
            parameters = layout.entry->settle(parameters, *values);
        }
        known.costs.push_back(predict == nullptr ? cost_of_csr(part, precision_) : predict(part, parameters, precision_));
        if (vectors_ > 1) add_vectors(known.costs.back(), vectors_, reads_matrix_once(*layout.entry, device_.kind));
        // The values of a share are not known apart.
        if (!layout.share && known.costs.back().unsuitable.empty()) {
            known.costs.back().unsuitable = reason_against_coding(parameters, *values);
        }
        if (known.unsuitable.empty()) known.unsuitable = known.costs.back().unsuitable;
    }
    return known;
}

const ValueFacts& CostModel::values_in_nodes(Index node_size) {
    const std::scoped_lock lock(values_mutex_);
    const auto found = values_in_nodes_.find(node_size);
    if (found != values_in_nodes_.end()) return found->second;
    return values_in_nodes_.emplace(node_size, value_facts(input_, precision_, node_size)).first->second;
}

double CostModel::trial_scale() const { return trials_predicted_ > 0 ? trials_measured_ / trials_predicted_ : 1; }

Price CostModel::price(const Recipe& recipe) {
    if (std::string need = unmet_need(recipe, input_); !need.empty()) return {.unsuitable = std::move(need)};
    const KnownPointer pointer = known_costs(recipe);
    const Known& known = *pointer;
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
    StagePrefix& chain = chain_of(recipe, stages);
    if (chain.learned) return;
    const RecipeStage& stage = recipe.stages[stages - 1];
    const bool order_was_known = after_stages(*chain.before, recipe, stages - 1).order_is_known();
    const bool is_new = order_was_known && !after_stages(chain, recipe, stages).order_is_known();
    const bool splits = !stage.contract.gives_shares.empty();
    if (!is_new && !splits) return;
    for (StagePrefix& other : all_chains_) {
        const StagePrefix* one = &other;
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
    const KnownPointer known = known_costs(recipe);
    corrections_.note(known->subject, std::log(product / predicted_seconds(known->costs, speed_)));
}

}  // namespace workbench
