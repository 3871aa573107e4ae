#include "pipeline/solve/multiplier.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/run/build.hpp"
#include "pipeline/run/chain.hpp"

namespace workbench {
namespace {

const DeviceProperties* gpu_of(const Device& device) {
    return device.properties().kind == DeviceKind::gpu ? &device.properties() : nullptr;
}

template <ValueType Value>
VerifiedKernel<Value> taken_as_it_is(const Candidate<Value>& candidate, Device& device, const Clock& clock) {
    VerifiedKernel<Value> taken;
    taken.outcome.kernel = candidate.kernel;
    taken.outcome.backend = candidate.backend;
    taken.outcome.precision = precision_of<Value>;
    const Stopwatch watch(clock);
    taken.kernel = candidate.real(device);
    (void)device.time([] {});
    taken.outcome.prepare_seconds = watch.seconds();
    taken.outcome.status = KernelOutcome::Status::measured;
    return taken;
}

}  // namespace

template <ValueType Value>
Multiplier<Value>::Multiplier(const Recipe& recipe, const MultiplierPlan<Value>& plan) : device_(plan.device) {
    const auto tell = [&](const std::string& step) {
        if (plan.tell) plan.tell(fmt::format("{}: {}", recipe.name, step));
    };
    check_against(recipe, plan.input.rows, plan.input.columns);
    chosen_ = choose_kernels(recipe, plan.wish);
    if (chosen_.empty()) throw RecipeError(fmt::format("{}: {}", recipe.name, no_kernel_of(recipe)));
    preparation_.recipe = recipe.name;
    preparation_.layout = name_of_layouts(recipe);
    preparation_.notes = recipe.notes;

    StagedMatrix staged = stage_copy(plan.input, recipe.node_size);
    tell("stages");
    const Stopwatch stages(plan.clock);
    std::vector<std::string> notes =
        apply_stages(recipe, staged, stage_context(recipe, precision_of<Value>, gpu_of(plan.device)));
    preparation_.stage_seconds = stages.seconds();
    std::move(notes.begin(), notes.end(), std::back_inserter(preparation_.notes));
    row_order_ = staged.row_order;
    column_order_ = staged.column_order;
    space_.emplace(row_order_, column_order_);

    tell("layout " + preparation_.layout);
    try {
        const Candidate<Value> candidate = build(recipe, staged, plan);
        tell("kernel " + candidate.kernel);
        VerifiedKernel<Value> verified = plan.oracle == nullptr
                                             ? taken_as_it_is(candidate, plan.device, plan.clock)
                                             : verify_candidate(candidate, *space_, *plan.oracle, plan.device, plan.clock);
        preparation_.kernel = verified.outcome;
        kernel_ = std::move(verified.kernel);
    } catch (const Unsuitable& reason) {
        preparation_.kernel.status = KernelOutcome::Status::unsuitable;
        preparation_.kernel.reason = reason.what();
    }
    preparation_.kernel.layout = preparation_.layout;
    preparation_.copy_seconds = preparation_.kernel.prepare_seconds;
    whole_.exact.reset();
    for (BuiltShare<Value>& share : shares_) share.built.exact.reset();
    if (!ready()) return;
    prepare_target();
    if (plan.oracle == nullptr && plan.product != nullptr) check(*plan.product);
}

template <ValueType Value>
void Multiplier<Value>::prepare_target() {
    if (space_->target.empty()) return;
    target_ = to_device(device_, std::span<const Index>(space_->target), "the order of y");
    by_rows_ = device_.allocate(space_->target.size() * sizeof(Value), "y in the order of the rows");
}

template <ValueType Value>
void Multiplier<Value>::check(const OneProduct<Value>& product) {
    std::vector<Value> there(product.x.size());
    for (Index i = 0; i < column_order_.size(); ++i) there[i] = static_cast<Value>(product.x[column_order_.old_of_new(i)]);
    const DeviceMemory x = to_device(device_, std::span<const Value>(there), "x");
    std::fill(there.begin(), there.end(), unwritten<Value>());
    DeviceMemory y = to_device(device_, std::span<const Value>(there), "y");
    (void)device_.time([&] { multiply(x.as<const Value>(), y.as<Value>()); });
    device_.download(y, std::as_writable_bytes(std::span(there)));
    std::vector<Value> in_input_order(there.size());
    for (Index i = 0; i < column_order_.size(); ++i) in_input_order[column_order_.old_of_new(i)] = there[i];
    const Comparison found = compare_within(in_input_order, product.reference);
    if (found.right) return;
    preparation_.kernel.status = KernelOutcome::Status::wrong;
    preparation_.kernel.reason = found.first_wrong;
    kernel_.reset();
}

template <ValueType Value>
Candidate<Value> Multiplier<Value>::build(const Recipe& recipe, StagedMatrix& staged, const MultiplierPlan<Value>& plan) {
    if (recipe.is_hybrid()) {
        shares_ = build_shares<Value>(recipe, staged, plan.oracle == nullptr ? nullptr : &plan.oracle->exact, plan.clock,
                                      [](const std::string&) {});
        const LayoutOutcome whole = outcome_of_whole(recipe, shares_);
        preparation_.build_seconds = whole.seconds;
        if (!whole.unsuitable.empty()) throw Unsuitable(whole.unsuitable);
        return candidate_of<Value>(std::span<const BuiltShare<Value>>(shares_), std::span<const KernelEntry* const>(chosen_),
                                   staged.matrix, recipe.side_by_side);
    }
    const RecipeLayout& choice = recipe.layouts.front();
    LayoutOutcome layout = outcome_of(*choice.entry, choice.parameters, precision_of<Value>);
    whole_ =
        build_twice<Value>(*choice.entry, choice.parameters, staged,
                           plan.oracle == nullptr ? nullptr : exact_values(plan.oracle->exact, staged), plan.clock, layout);
    preparation_.build_seconds = layout.seconds;
    return candidate_of(*chosen_.front(), whole_.exact.get(), *whole_.real);
}

template <ValueType Value>
void Multiplier<Value>::multiply(const Value* x, Value* y) {
    if (space_->target.empty()) return kernel_->run(x, y, false);
    kernel_->run(x, by_rows_.as<Value>(), false);
    device_.scatter(by_rows_.as<const Value>(), target_.as<const Index>(), static_cast<Index>(space_->target.size()), y);
}

template <ValueType Value>
std::function<void()> Multiplier<Value>::product() {
    if (x_.bytes() == 0) {
        const std::vector<double> values = real_vector(column_order_.size(), 1);
        const std::vector<Value> rounded(values.begin(), values.end());
        x_ = to_device(device_, std::span<const Value>(rounded), "x");
        y_ = device_.allocate(x_.bytes(), "y");
    }
    return [this] { multiply(x_.as<const Value>(), y_.as<Value>()); };
}

template class Multiplier<float>;
template class Multiplier<double>;

}  // namespace workbench
