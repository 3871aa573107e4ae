#include "pipeline/choose/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/host_threads.hpp"

namespace workbench {
namespace {

// Fitted to the lines of docs/results (h200-*): lookups of x in L2 pass at 1.66 times the bandwidth of copying.
constexpr double sector_bandwidth = 1.66;
constexpr double gpu_launch = 4e-6;
constexpr double gpu_step = 8e-8;
constexpr double host_launch = 1e-5;
constexpr double usual_bandwidth_of_host = 2e10;

// Nanoseconds per slot on `measured_cores`, as in docs/results: a layout is built twice, copied and verified.
constexpr double build_cost = 8;
constexpr double trial_cost = 30;
constexpr double measured_cores = 16;

/// Estimated bytes may be too high by this fraction.
constexpr double tolerance_of_bytes = 0.15;

/// The stages up to a number, with their parameters.
std::string key_of(const Recipe& recipe, std::size_t stages) {
    std::string key = std::to_string(recipe.node_size) + ' ' + recipe.device;
    for (std::size_t i = 0; i < stages; ++i) {
        key += '\n' + recipe.stages[i].entry->name;
        for (const auto& [name, value] : recipe.stages[i].parameters.values()) key += ' ' + name + '=' + to_text(value);
    }
    return key;
}

std::string key_of_layouts(const Recipe& recipe) {
    std::string key = key_of(recipe, recipe.stages.size());
    for (const RecipeLayout& layout : recipe.layouts) {
        key += "\n[" + (layout.share ? name_of(*layout.share) : std::string()) + "] " + layout.entry->name;
        for (const auto& [name, value] : layout.parameters.values()) key += ' ' + name + '=' + to_text(value);
    }
    return key;
}

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

DeviceSpeed speed_of(const DeviceProperties& device, double bandwidth) {
    if (device.kind == DeviceKind::host) {
        return {.bandwidth = bandwidth > 0 ? bandwidth : usual_bandwidth_of_host, .launch_seconds = host_launch};
    }
    DeviceSpeed speed{.launch_seconds = gpu_launch, .step_seconds = gpu_step, .is_gpu = true};
    speed.bandwidth = bandwidth > 0 ? bandwidth : std::max(device.memory_bandwidth, tuned_device_model().memory_bandwidth);
    speed.sector_seconds = cache_sector / (sector_bandwidth * speed.bandwidth);
    return speed;
}

double predicted_seconds(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed) {
    double seconds = 0;
    for (const LayoutCost& cost : costs) {
        const double reached = speed.bandwidth * (speed.is_gpu ? cost.bandwidth : 1);
        const double throughput = static_cast<double>(cost.bytes()) / reached + cost.sectors * speed.sector_seconds;
        seconds += std::max(throughput, static_cast<double>(cost.chain) * speed.step_seconds);
        seconds += cost.launches * (cost.launches > 1 ? speed.launch_seconds / 2 : speed.launch_seconds);
    }
    return seconds;
}

CostModel::CostModel(const CsrMatrix& input, Precision precision, const DeviceProperties& device, const DeviceProperties* gpu)
    : input_(input),
      precision_(precision),
      device_(device),
      gpu_(gpu),
      speed_(speed_of(device, 0)),
      highest_bandwidth_(speed_.bandwidth) {}

void CostModel::set_bandwidth(double copy, double highest) {
    if (copy > 0) speed_ = speed_of(device_, copy);
    highest_bandwidth_ = highest;
}

PatternForecast CostModel::after_stages(const Recipe& recipe, std::size_t stages) {
    const std::string key = key_of(recipe, stages);
    if (const auto learned = learned_.find(key); learned != learned_.end()) return learned->second;
    if (const auto known = foreseen_.find(key); known != foreseen_.end()) return known->second;
    if (stages == 0) return foreseen_.emplace(key, PatternForecast(input_, recipe.node_size)).first->second;
    PatternForecast pattern = after_stages(recipe, stages - 1);
    const RecipeStage& stage = recipe.stages[stages - 1];
    if (stage.entry->foresee != nullptr) {
        const DeviceProperties* const device = recipe.device.empty() ? gpu_ : find_device_model(recipe.device);
        try {
            stage.entry->foresee(pattern, stage.parameters, {device, precision_});
        } catch (const UserError&) {  // the stage itself will report it
        }
    }
    return foreseen_.emplace(key, std::move(pattern)).first->second;
}

const CostModel::Known& CostModel::known_costs(const Recipe& recipe) {
    const auto [place, is_new] = costs_.try_emplace(key_of_layouts(recipe));
    Known& known = place->second;
    if (!is_new) return known;
    for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
        const double cost = recipe.stages[i].entry->nanoseconds_per_nonzero;
        known.all_stages += cost;
        if (!learned_.contains(key_of(recipe, i + 1))) known.new_stages += cost;
    }
    const PatternForecast pattern = after_stages(recipe, recipe.stages.size());
    for (const RecipeLayout& layout : recipe.layouts) {
        const PatternForecast& part = layout.share ? pattern.share(layout.share->kind) : pattern;
        const PredictCost predict = layout.entry->predict;
        known.costs.push_back(predict == nullptr
                                  ? cost_of_csr(part, precision_)
                                  : predict(part, layout.parameters.on_device(layout.entry->parameters, device_), precision_));
        if (known.unsuitable.empty()) known.unsuitable = known.costs.back().unsuitable;
    }
    return known;
}

double CostModel::correction(const Recipe& recipe) const {
    // One measurement of the layout counts as much as two thirds of the correction, three as 0.86.
    constexpr double prior = 0.5;
    const double of_all = of_all_.count == 0 ? 0 : of_all_.logarithms / (of_all_.count + prior);
    const auto found = of_layout_.find(name_of_layouts(recipe));
    if (found == of_layout_.end()) return std::exp(of_all / 2);
    const Ratios& ratios = found->second;
    const double weight = ratios.count / (ratios.count + prior);
    return std::exp(weight * ratios.logarithms / ratios.count + (1 - weight) * of_all / 2);
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
    price.product = predicted_seconds(known.costs, speed_) * correction(recipe);
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
    const std::string key = key_of(recipe, stages);
    if (stages == 0 || learned_.contains(key)) return;
    const RecipeStage& stage = recipe.stages[stages - 1];
    const PatternForecast before = after_stages(recipe, stages - 1);
    const PatternForecast after = after_stages(recipe, stages);
    const bool is_new = before.order_is_known() && !after.order_is_known();
    const bool splits = !stage.contract.gives_shares.empty();
    if (!is_new && !splits) return;
    learned_.emplace(key, PatternForecast(input_, staged));
    const auto is_after = [&key](const auto& one) { return one.first.starts_with(key); };
    std::erase_if(foreseen_, is_after);
    std::erase_if(costs_, is_after);
}

void CostModel::correct(const Recipe& recipe, const Price& price, double product, double trial) {
    const double unscaled = price.trial / trial_scale();
    trials_predicted_ += unscaled;
    trials_measured_ += trial;
    if (product <= 0 || price.product <= 0) return;
    const double ratio = std::log(product / (price.product / correction(recipe)));
    for (Ratios* ratios : {&of_all_, &of_layout_[name_of_layouts(recipe)]}) {
        ratios->logarithms += ratio;
        ++ratios->count;
    }
}

}  // namespace workbench
