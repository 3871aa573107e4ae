#include "pipeline/engine/chain.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/entries_behind.hpp"
#include "core/system/host_memory.hpp"

namespace workbench {
namespace {

/// The parameters that the recipe sets, even to their defaults.
std::string choices_of(const RecipeStage& stage) {
    std::string text;
    const Parameters parameters = stage.parameters.seen_from_here(stage.entry->parameters);
    for (const ParameterDeclaration& declaration : stage.entry->parameters) {
        const auto value = parameters.values().find(declaration.name);
        const bool written = std::find(stage.written.begin(), stage.written.end(), declaration.name) != stage.written.end();
        if (value == parameters.values().end() || !written) continue;
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", declaration.name, to_text(value->second));
    }
    for (const auto& [name, value] : undeclared_values(*stage.entry, stage.parameters)) {
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, to_text(value));
    }
    return text;
}

void observe(StagedMatrix& staged, StageOutcome& outcome, const RunObserver& observer) {
    outcome.metrics = measure(staged);
    outcome.stored_apart = staged.shares.size() > 1;
    if (observer.stage_done) observer.stage_done(staged, outcome);
}

StageOutcome input_outcome(StagedMatrix& staged, const RunObserver& observer) {
    StageOutcome input;
    input.id = input.name = "input";
    observe(staged, input, observer);
    return input;
}

/// The change that stage `i` of a recipe makes. `keeping`: the key of its result.
Obtained<StageResult> find_change(const StageRun& run, std::size_t i, const ChainStep& step, const Keeping& keeping,
                                  const StagedMatrix& staged) {
    const RecipeStage& stage = run.recipe.stages[i];
    if (run.observer.progress) run.observer.progress(fmt::format("stage {}", stage.id));
    try {
        return obtain(step, staged, keeping, run.clock);
    } catch (const Unsuitable& reason) {
        throw InputError(fmt::format("{}: stage '{}': {}", run.recipe.line_of(stage.place), stage.id, reason.what()));
    }
}

/// Applies it. `behind`: the entries follow later; null: at once.
StageOutcome apply_change(const StageRun& run, std::size_t i, const ChainStep& step, Obtained<StageResult> found,
                          StagedMatrix& staged, std::optional<EntriesBehind>* behind = nullptr) {
    const RecipeStage& stage = run.recipe.stages[i];
    StageOutcome outcome;
    outcome.id = stage.id;
    outcome.precision = step.only_for;
    outcome.name = stage.entry->name;
    outcome.parameters = stage.parameters.seen_from_here(stage.entry->parameters);
    outcome.choices = choices_of(stage);
    outcome.kept_seconds = found.kept_seconds;
    const Stopwatch applying(run.clock);
    if (behind == nullptr) {
        apply(staged, std::move(found.result.change), stage.contract.keeps);
    } else {
        apply(staged, std::move(found.result.change), stage.contract.keeps, *behind);
    }
    outcome.applying_seconds = applying.seconds();
    outcome.seconds = found.seconds + outcome.applying_seconds;
    outcome.notes = std::move(found.result.notes);
    return outcome;
}

std::size_t copy_bytes(const CsrMatrix& matrix) {
    return matrix.row_offsets.size() * sizeof(Offset) + matrix.values.size() * (sizeof(double) + sizeof(Index));
}

/// True if one more such matrix can be kept, possibly as a copy, with enough memory left for layouts and their verification.
bool has_memory_for(const CsrMatrix& matrix, bool copied) {
    constexpr std::size_t others = 5;
    return free_host_memory() >= (copied ? others + 1 : others) * copy_bytes(matrix);
}

/// The number of stages, from the first on, that do not depend on the precision.
std::size_t stages_in_common(const Recipe& recipe) {
    const auto depends = [](const RecipeStage& stage) { return stage.contract.depends_on_precision; };
    return static_cast<std::size_t>(std::find_if(recipe.stages.begin(), recipe.stages.end(), depends) - recipe.stages.begin());
}

}  // namespace

ChainStep step_of(const RecipeStage& stage, const StageContext& context, std::optional<Precision> only_for) {
    return {stage.entry, stage.parameters, context.device, context.precision, only_for};
}

StageContext stage_context(const Recipe& recipe, Precision precision, const DeviceProperties* present_gpu) {
    return {recipe.device.empty() ? present_gpu : find_device_model(recipe.device), precision};
}

StagedMatrix stage_copy(const CsrMatrix& input, Index node_size) {
    require_host_memory(copy_bytes(input), "a copy of the matrix for the stages");
    return stage_input(input, node_size);
}

AppliedStages apply_stages(const Recipe& recipe, StagedMatrix& staged, const StageContext& context, const RunObserver& observer,
                           const Clock& clock, const Keeping& keeping, const KnownResults& known) {
    AppliedStages applied;
    applied.keeping = keeping_after(keeping, staged.node_size, {});
    const StageRun run{recipe, observer, clock};
    const bool is_observed = observer.stage_done != nullptr;
    if (is_observed) applied.outcomes.push_back(input_outcome(staged, observer));
    std::optional<EntriesBehind> behind;
    const auto let_entries_follow = [&] {
        const Stopwatch applying(clock);
        catch_up(staged, behind);
        applied.seconds += applying.seconds();
    };
    for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
        const RecipeStage& stage = recipe.stages[i];
        const ChainStep step = step_of(stage, context);
        applied.keeping = keeping_after(applied.keeping, step);
        if (stage.entry->reads_entries == nullptr || stage.entry->reads_entries(stage.parameters)) let_entries_follow();
        const auto before = known.find(i);
        Obtained<StageResult> found =
            before == known.end() ? find_change(run, i, step, applied.keeping, staged) : before->second;
        applied.outcomes.push_back(apply_change(run, i, step, std::move(found), staged, is_observed ? nullptr : &behind));
        applied.seconds += applied.outcomes.back().seconds;
        if (is_observed) observe(staged, applied.outcomes.back(), observer);
    }
    let_entries_follow();
    return applied;
}

std::optional<std::size_t> common_beginning(const Chain& a, const Chain& b) {
    if (a.node_size != b.node_size) return std::nullopt;
    const auto [end, ignored] = std::mismatch(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end());
    return static_cast<std::size_t>(end - a.steps.begin());
}

std::vector<Chain> chains_of(const Recipe& recipe, const std::vector<Precision>& precisions,
                             const DeviceProperties* present_gpu) {
    const std::size_t common = precisions.size() == 1 ? recipe.stages.size() : stages_in_common(recipe);
    const auto chain_for = [&](Precision precision) {
        Chain chain{recipe.node_size, {}, {precision}};
        for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
            const Precision of_step = i < common ? precisions.front() : precision;
            chain.steps.push_back(step_of(recipe.stages[i], stage_context(recipe, of_step, present_gpu),
                                          i < common ? std::nullopt : std::optional(precision)));
        }
        return chain;
    };
    std::vector<Chain> chains;
    for (const Precision precision : precisions) chains.push_back(chain_for(precision));
    if (common < recipe.stages.size()) return chains;
    chains.resize(1);
    chains.front().precisions = precisions;
    return chains;
}

std::size_t SharedStages::kept() const {
    return static_cast<std::size_t>(
        std::count_if(kept_.begin(), kept_.end(), [](const Kept& kept) { return kept.staged.has_value(); }));
}

std::deque<SharedStages::Kept>::iterator SharedStages::longest_kept(const Chain& chain) {
    auto longest = kept_.end();
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
        const std::size_t steps = kept->beginning.steps.size();
        if (common_beginning(kept->beginning, chain) != steps) continue;
        if (longest == kept_.end() || longest->beginning.steps.size() < steps) longest = kept;
    }
    return longest;
}

std::vector<const Chain*> SharedStages::later_than(const std::vector<Chain>& chains, std::size_t i) const {
    std::vector<const Chain*> later;
    for (std::size_t k = i + 1; k < chains.size(); ++k) later.push_back(&chains[k]);
    for (const std::vector<Chain>& recipe : to_come_) {
        for (const Chain& chain : recipe) later.push_back(&chain);
    }
    return later;
}

SharedStages::Plan SharedStages::make_plan(const Chain& chain, const std::vector<const Chain*>& later) {
    Plan plan;
    std::vector<const Kept*> needed;
    for (const Chain* other : later) {
        const auto kept = longest_kept(*other);
        const std::optional<std::size_t> common = common_beginning(chain, *other);
        if (common && (kept == kept_.end() || *common > kept->beginning.steps.size())) {
            plan.keep.push_back(*common);
        } else if (kept != kept_.end()) {
            needed.push_back(&*kept);
        }
    }
    const auto is_needed = [&needed](const Kept& kept) {
        return std::find(needed.begin(), needed.end(), &kept) != needed.end();
    };
    if (const auto begin = longest_kept(chain); begin != kept_.end()) {
        const bool copied = is_needed(*begin) && (!begin->staged || has_memory_for(begin->staged->matrix, true));
        plan.begin = copied ? *begin : std::move(*begin);
        if (!copied) std::erase(needed, &*begin);
    }
    std::deque<Kept> still_needed;
    for (Kept& kept : kept_) {
        if (is_needed(kept)) still_needed.push_back(std::move(kept));
    }
    kept_ = std::move(still_needed);
    return plan;
}

bool SharedStages::later_begins_here(const Running& running) {
    const std::size_t steps = running.done.size() - 1;
    return std::any_of(running.later.begin(), running.later.end(), [&](const Chain* other) {
        const auto kept = longest_kept(*other);
        return common_beginning(running.chain, *other) >= steps &&
               (kept == kept_.end() || kept->beginning.steps.size() < steps);
    });
}

void SharedStages::keep(Running& running, bool copied) {
    const std::size_t steps = running.done.size() - 1;
    if (steps > 0 && !has_memory_for(running.staged.matrix, copied)) return;
    Kept kept{.beginning = running.chain, .outcomes = running.done, .staged = {}};
    kept.beginning.steps.resize(steps);
    if (steps > 0 && copied) kept.staged = running.staged;
    if (steps > 0 && !copied) kept.staged = std::move(running.staged);
    kept_.push_back(std::move(kept));
}

void SharedStages::no_longer_expect(const std::vector<Chain>& chains) {
    const auto expected = std::find(to_come_.begin(), to_come_.end(), chains);
    if (expected != to_come_.end()) to_come_.erase(expected);
}

void SharedStages::expect_beginnings(const std::vector<Chain>& chains) {
    to_come_.clear();
    for (const Chain& chain : chains) {
        for (std::size_t steps = 0; steps <= chain.steps.size(); ++steps) {
            to_come_.push_back({chain});
            to_come_.back().front().steps.resize(steps);
        }
    }
}

void SharedStages::begin(const StageRun& run, std::optional<Kept> from, Running& running) {
    const bool has_matrix = from && from->staged;
    running.staged = has_matrix ? std::move(*from->staged) : stage_copy(input_, running.chain.node_size);
    if (!from) {
        running.done.push_back(input_outcome(running.staged, run.observer));
        return;
    }
    running.done = std::move(from->outcomes);
    for (std::size_t i = 0; i < running.done.size(); ++i) {
        running.done[i].shared = true;
        if (i == 0) continue;
        const RecipeStage& stage = run.recipe.stages[i - 1];
        running.done[i].id = stage.id;
        running.done[i].choices = choices_of(stage);  // equal values, but perhaps not all of them written
    }
}

void SharedStages::run_next(const StageRun& run, Running& running) {
    const std::size_t next = running.done.size() - 1;
    const std::span<const ChainStep> steps(running.chain.steps.data(), next + 1);
    const Keeping keeping = workbench::keeping_after(keeping_, running.chain.node_size, steps);
    Obtained<StageResult> found = find_change(run, next, steps.back(), keeping, running.staged);
    running.intact = false;
    running.done.push_back(apply_change(run, next, steps.back(), std::move(found), running.staged));
    observe(running.staged, running.done.back(), run.observer);
    running.intact = true;
}

void SharedStages::run(const StageRun& run, const std::vector<Chain>& chains, std::vector<StageOutcome>& outcomes,
                       const std::function<void(const Chain&, StagedMatrix&)>& use) {
    if (keeps_all_) expect_beginnings(chains);
    for (std::size_t i = 0; i < chains.size(); ++i) {
        const Chain& chain = chains[i];
        Running running{.chain = chain, .later = later_than(chains, i)};
        Plan plan = make_plan(chain, running.later);
        begin(run, std::move(plan.begin), running);
        // Outcomes that all chains have in common are listed with the first chain.
        const auto is_new = [i](const StageOutcome& outcome) { return i == 0 || outcome.precision; };
        for (const StageOutcome& outcome : running.done) {
            if (!is_new(outcome)) continue;
            if (outcome.shared && run.observer.stage_shared) run.observer.stage_shared(outcome);
            outcomes.push_back(outcome);
        }
        try {
            while (running.done.size() <= chain.steps.size()) {
                const std::size_t next = running.done.size() - 1;
                if (std::find(plan.keep.begin(), plan.keep.end(), next) != plan.keep.end()) keep(running, true);
                run_next(run, running);
                if (is_new(running.done.back())) outcomes.push_back(running.done.back());
            }
            use(chain, running.staged);
        } catch (...) {
            if (running.intact && later_begins_here(running)) keep(running, false);
            throw;
        }
        if (later_begins_here(running)) keep(running, false);
    }
}

}  // namespace workbench
