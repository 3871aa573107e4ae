#include "pipeline/run/ready_recipe.hpp"

#include <iterator>
#include <span>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "pipeline/run/build.hpp"
#include "pipeline/run/chain.hpp"

namespace workbench {
namespace {

template <ValueType Value>
VerifiedKernel<Value> taken_as_it_is(const Candidate<Value>& candidate, Device& device, const Clock& clock) {
    VerifiedKernel<Value> taken;
    taken.outcome.kernel = candidate.kernel;
    taken.outcome.backend = candidate.backend;
    taken.outcome.precision = precision_of<Value>;
    if (candidate.try_out) candidate.try_out(device);
    const Stopwatch watch(clock);
    taken.kernel = candidate.real(device);
    (void)device.time([] {});
    taken.outcome.prepare_seconds = watch.seconds();
    taken.outcome.status = KernelOutcome::Status::measured;
    return taken;
}

template <ValueType Value>
VerifiedKernel<Value> verify(const Candidate<Value>& candidate, const ProductSpace& space, const ReadyPlan<Value>& plan) {
    if (plan.verify) return plan.verify(candidate, space);
    if (plan.oracle == nullptr) return taken_as_it_is(candidate, plan.device, plan.clock);
    return verify_candidate(candidate, space, *plan.oracle, plan.device, plan.clock);
}

}  // namespace

template <ValueType Value>
ReadyRecipe<Value>::ReadyRecipe(const Recipe& recipe, StagedMatrix matrix, const ReadyPlan<Value>& plan) {
    const auto tell = [&](const std::string& step) {
        if (plan.tell) plan.tell(preparation_.recipe + ": " + step);
    };
    preparation_.recipe = recipe.name;
    preparation_.layout = name_of_layouts(recipe);
    preparation_.notes = recipe.notes;

    tell("stages");
    StagedMatrix staged = std::move(matrix);
    const DeviceProperties& device = plan.device.properties();
    AppliedStages applied = apply_stages(
        recipe, staged, stage_context(recipe, precision_of<Value>, device.kind == DeviceKind::gpu ? &device : nullptr),
        plan.keeping, plan.clock);
    preparation_.stage_seconds = applied.seconds;
    kept_ = std::move(applied.kept);
    kept_seconds_ = applied.kept_seconds;
    std::move(applied.notes.begin(), applied.notes.end(), std::back_inserter(preparation_.notes));
    row_order_ = staged.row_order;
    column_order_ = staged.column_order;
    space_.emplace(row_order_, column_order_);

    tell("layout " + preparation_.layout);
    try {
        const Candidate<Value> candidate = build(recipe, staged, applied.keeping, plan);
        tell("kernel " + candidate.kernel);
        preparation_.kernel.kernel = candidate.kernel;
        preparation_.kernel.backend = candidate.backend;
        VerifiedKernel<Value> verified = verify(candidate, *space_, plan);
        preparation_.kernel = verified.outcome;
        kernel_ = std::move(verified.kernel);
        if (kernel_ != nullptr) {
            preparation_.bytes_to_move =
                kernel_->own_bytes_to_move().value_or(candidate.bytes_to_move) + candidate.bytes_of_targets;
        }
    } catch (const Unsuitable& reason) {
        preparation_.kernel.status = KernelOutcome::Status::unsuitable;
        preparation_.kernel.reason = reason.what();
    } catch (const BrokenKernel& reason) {
        preparation_.kernel.status = KernelOutcome::Status::wrong;
        preparation_.kernel.reason = reason.what();
    }
    if (!kept_.empty()) preparation_.notes.push_back(note_on_kept(kept_, kept_seconds_));
    preparation_.kernel.layout = preparation_.layout;
    preparation_.copy_seconds = preparation_.kernel.prepare_seconds;
    whole_.exact.reset();
    for (BuiltShare<Value>& share : shares_) share.built.exact.reset();
}

template <ValueType Value>
Candidate<Value> ReadyRecipe<Value>::build(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping,
                                           const ReadyPlan<Value>& plan) {
    const ExactProblem* const problem = plan.oracle == nullptr ? plan.problem : &plan.oracle->exact;
    const auto note = [this](const LayoutOutcome& layout) {
        preparation_.build_seconds = layout.seconds;
        preparation_.bytes = static_cast<std::int64_t>(layout.bytes());
        for (const auto& [what, text] : layout.notes) {
            if (what == "prepared") preparation_.notes.push_back(fmt::format("layout {}: {}: {}", layout.name, what, text));
        }
        if (!layout.kept_seconds) return;
        kept_.push_back("layout " + layout.name);
        kept_seconds_ += *layout.kept_seconds;
    };
    if (recipe.is_hybrid()) {
        shares_ = build_shares<Value>(
            recipe, staged, problem, plan.clock, [](const std::string&) {}, keeping);
        const LayoutOutcome whole = outcome_of_whole(recipe, shares_);
        note(whole);
        if (!whole.unsuitable.empty()) throw Unsuitable(whole.unsuitable);
        return candidate_of<Value>(std::span<const BuiltShare<Value>>(shares_),
                                   std::span<const KernelEntry* const>(plan.kernels), staged.matrix, *space_,
                                   recipe.side_by_side);
    }
    const RecipeLayout& choice = recipe.layouts.front();
    LayoutOutcome layout = outcome_of(*choice.entry, choice.parameters, precision_of<Value>);
    whole_ = build_twice<Value>(*choice.entry, choice.parameters, staged,
                                problem == nullptr ? nullptr : exact_values(*problem, staged), plan.clock, layout, keeping);
    note(layout);
    return candidate_of(*plan.kernels.front(), whole_.exact.get(), *whole_.real, *space_);
}

template <ValueType Value>
void ReadyRecipe<Value>::give_up(const std::string& reason) {
    preparation_.kernel.status = KernelOutcome::Status::wrong;
    preparation_.kernel.reason = reason;
    kernel_.reset();
}

template class ReadyRecipe<float>;
template class ReadyRecipe<double>;

}  // namespace workbench
