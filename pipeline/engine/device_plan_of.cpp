#include "pipeline/engine/device_plan_of.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/contract/device.hpp"
#include "core/contract/value_facts.hpp"

namespace workbench {
namespace {

bool contains_only(const std::vector<CutKind>& kinds, CutKind kind) {
    return std::ranges::all_of(kinds, [kind](CutKind each) { return each == kind; });
}

GivenOrder given_order(Obtained<StageResult> found) {
    GivenOrder given{.old_of_new = {}, .partition = {}, .notes = std::move(found.result.notes), .seconds = found.seconds};
    const StageChange& change = found.result.change;
    if (change.order) {
        const std::span<const Index> old_of_new = change.order->order.old_of_new();
        given.old_of_new.assign(old_of_new.begin(), old_of_new.end());
    }
    if (!change.cuts.empty()) given.partition = change.cuts.front().boundaries;
    return given;
}

/// The step of a stage that the host runs for a device. Nothing unless the stage only orders the matrix or divides it into
/// parts. Nothing for code that came with a recipe either: it may read values, which a device has only as they are stored.
std::optional<TakeOrder> taken_from_host(const std::shared_ptr<const Recipe>& recipe, std::size_t i,
                                         const std::shared_ptr<StagesOnHost>& on_host) {
    const RecipeStage& stage = recipe->stages[i];
    const StageContract& contract = stage.contract;
    const bool has_parts = !contract.gives_cuts.empty();
    const bool divides = !contract.gives_shares.empty() || !contract.needs.shares.empty() || contract.splits.has_value() ||
                         !contract.unites.empty();
    const bool has_other_cuts =
        !contains_only(contract.gives_cuts, CutKind::partition) || !contains_only(contract.needs.cuts, CutKind::partition);
    if (divides || has_other_cuts || stage.entry->takes_other_keys || !(contract.acts || has_parts)) return std::nullopt;
    return TakeOrder{.find =
                         [recipe, i, on_host](const StagedMatrix& staged, const StageContext& context) {
                             StagesOnHost once;
                             return given_order((on_host == nullptr ? once : *on_host).run(*recipe, i, staged, context));
                         },
                     .reads_entries = stage.entry->reads_entries == nullptr || stage.entry->reads_entries(stage.parameters),
                     .has_parts = has_parts,
                     .needs_parts = !contract.needs.cuts.empty(),
                     .keeps_parts = std::ranges::find(contract.keeps, CutKind::partition) != contract.keeps.end(),
                     .acts = contract.acts.value_or(Acts::symmetric)};
}

DevicePlan plan_without_steps(const Recipe& recipe) {
    return {.node_size = recipe.node_size,
            .model = recipe.device.empty() ? nullptr : find_device_model(recipe.device),
            .steps = {},
            .storage = {},
            .settle = {},
            .kernel = {},
            .shares = {},
            .side_by_side = recipe.side_by_side};
}

bool orders_graph(const DeviceStep& step) {
    return std::holds_alternative<OrderByLevels>(step) || std::holds_alternative<CutLevels>(step);
}

/// True if the step does no more than order rows and columns alike, or cut both into parts.
bool orders_alike(const DeviceStep& step) {
    const auto* const sort = std::get_if<SortRows>(&step);
    return orders_graph(step) || std::holds_alternative<KeepNodes>(step) || std::holds_alternative<SortByDegree>(step) ||
           (sort != nullptr && sort->acts == Acts::symmetric);
}

std::optional<DeviceStep> step_on_device(const RecipeStage& stage) {
    return stage.entry->on_device == nullptr ? std::nullopt : stage.entry->on_device(stage.parameters);
}

}  // namespace

Obtained<StageResult> StagesOnHost::run(const Recipe& recipe, std::size_t stage, const StagedMatrix& staged,
                                        const StageContext& context) {
    if (const auto known = found_.find(stage); known != found_.end()) return {known->second.result, 0};
    Keeping keeping = keeping_after(keeping_, recipe.node_size, {});
    for (std::size_t i = 0; i <= stage; ++i) keeping = keeping_after(keeping, step_of(recipe.stages[i], context));
    const std::string& id = recipe.stages[stage].id;
    if (progress_) progress_(fmt::format("{}: stage {}", recipe.name, id));
    Obtained<StageResult> found = obtain(step_of(recipe.stages[stage], context), staged, keeping, clock_);
    kept_.add(id, found.kept_seconds);
    found_.emplace(stage, found);
    return found;
}

std::variant<DevicePlan, std::string> device_plan_of(const Recipe& recipe, const std::shared_ptr<StagesOnHost>& on_host) {
    DevicePlan plan = plan_without_steps(recipe);
    const auto copy = std::make_shared<const Recipe>(recipe);
    for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
        const RecipeStage& stage = recipe.stages[i];
        const std::optional<DeviceStep> step = step_on_device(stage);
        std::optional<TakeOrder> taken = taken_from_host(copy, i, on_host);
        if (!step && !taken) return fmt::format("a GPU does not do stage '{}'", stage.id);
        plan.steps.push_back(step ? PlanStep{stage.id, *step, std::move(taken)} : PlanStep{stage.id, *std::move(taken)});
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        const auto declared = layout.entry->on_device;
        const std::optional<DeviceStorage> storage =
            layout.own_kernels.empty() && declared != nullptr ? declared(layout.parameters) : std::nullopt;
        const auto is_auto = [&](const char* name) {
            return layout.parameters.has(name) && layout.parameters.is_word(name, "auto");
        };
        const bool settles = layout.entry->settle != nullptr && (is_auto("values") || is_auto("column_index"));
        if (!storage) return "a GPU does not store layout " + name_of_layouts(recipe);
        SettleStorage settle;
        if (settles) {
            settle = [declared, settle = layout.entry->settle, parameters = layout.parameters](const ValueFacts& facts) {
                return declared(settle(parameters, facts));
            };
        }
        if (recipe.is_hybrid()) {
            plan.shares.push_back({*layout.share, *storage, std::move(settle), layout.entry->kernel_on_device});
            continue;
        }
        plan.storage = *storage;
        plan.settle = std::move(settle);
        plan.kernel = layout.entry->kernel_on_device;
    }
    if (std::string reason = plan.refusal(); !reason.empty()) return reason;
    return plan;
}

std::optional<DevicePlan> plan_of_orders(const Recipe& recipe) {
    DevicePlan plan = plan_without_steps(recipe);
    plan.storage = OrdersAlone{};
    for (const RecipeStage& stage : recipe.stages) {
        const std::optional<DeviceStep> step = step_on_device(stage);
        if (!step || !orders_alike(*step)) break;
        plan.steps.push_back({stage.id, *step});
    }
    const auto is_order_of_graph = [](const PlanStep& each) { return orders_graph(each.step); };
    while (!plan.refusal().empty()) plan.steps.pop_back();
    if (std::ranges::none_of(plan.steps, is_order_of_graph)) return std::nullopt;
    return plan;
}

}  // namespace workbench
