#include "pipeline/library/applied_recipe.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/device/cuda_device.hpp"
#include "kernels/common/device/host_device.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/run/build.hpp"
#include "pipeline/run/chain.hpp"
#include "pipeline/run/kernel_choice.hpp"

namespace workbench {
namespace {

std::int64_t bytes_of(const LayoutOutcome& layout) {
    std::int64_t bytes = 0;
    for (const LayoutOutcome::Array& array : layout.footprint) bytes += static_cast<std::int64_t>(array.bytes);
    return bytes;
}

std::string where(const Recipe& recipe) {
    return fmt::format("{}: layout {}", recipe.line_of(recipe.layouts.front().place), name_of_layouts(recipe));
}

}  // namespace

template <ValueType Value>
AppliedRecipe<Value>::Targets::Targets(Device& device, std::span<const Index> order) {
    Index i = 0;
    if (std::all_of(order.begin(), order.end(), [&i](Index target) { return target == i++; })) return;
    if (device.properties().kind == DeviceKind::gpu) {
        memory_ = to_device(device, order, "an order of vectors");
        address_ = memory_.template as<const Index>();
    } else {
        address_ = order.data();
    }
}

template <ValueType Value>
AppliedRecipe<Value>::AppliedRecipe(const Recipe& recipe, CsrMatrix matrix, const spmv_workbench::Options& options) {
    const Stopwatch watch;
    choose(recipe, options);
    check_against(recipe, matrix.rows, matrix.columns);
    facts_.rows = matrix.rows;
    facts_.columns = matrix.columns;
    facts_.nonzeros = matrix.nonzeros();
    facts_.notes = recipe.notes;
    std::optional<Oracle<Value>> oracle;
    if (options.verify) oracle.emplace(matrix);

    StagedMatrix staged = stage_input(std::move(matrix), recipe.node_size);
    const DeviceProperties* const gpu = on_host() ? nullptr : &device_->properties();
    std::vector<std::string> notes = apply_stages(recipe, staged, stage_context(recipe, precision_of<Value>, gpu));
    std::move(notes.begin(), notes.end(), std::back_inserter(facts_.notes));
    row_order_ = staged.row_order;
    column_order_ = staged.column_order;
    space_.emplace(row_order_, column_order_);

    const Candidate<Value> candidate = build(recipe, staged, oracle ? &oracle->exact : nullptr);
    prepare(recipe, candidate, oracle ? &*oracle : nullptr);
    whole_.exact.reset();
    for (BuiltShare<Value>& share : shares_) share.built.exact.reset();
    prepare_orders();
    facts_.verified = options.verify;
    facts_.seconds = watch.seconds();
}

/// The device, and a kernel for each layout.
template <ValueType Value>
void AppliedRecipe<Value>::choose(const Recipe& recipe, const spmv_workbench::Options& options) {
    using Where = spmv_workbench::Device;
    const std::string absence = options.device == Where::host ? "the host was asked for" : cuda_absence_reason();
    if (options.device == Where::gpu && !absence.empty()) throw MachineError("an operator on the GPU: " + absence);
    if (absence.empty()) {
        chosen_ = choose_kernels(recipe, {DeviceKind::gpu, options.kernel});
        if (!chosen_.empty()) device_ = make_cuda_device_on(options.stream);
    }
    if (device_ == nullptr && options.device != Where::gpu) {
        chosen_ = choose_kernels(recipe, {DeviceKind::host, options.kernel});
        if (!chosen_.empty()) device_ = make_host_device();
    }
    if (device_ == nullptr) {
        throw RecipeError(fmt::format("{}: {}{}", recipe.file.string(), no_kernel_of(recipe),
                                      absence.empty() ? "" : fmt::format("; no GPU kernels: {}", absence)));
    }
    facts_.device = device_->properties().kind == DeviceKind::gpu ? Where::gpu : Where::host;
    facts_.device_name = device_->properties().name;
    facts_.layout = name_of_layouts(recipe);
}

/// Fills whole_ or shares_.
template <ValueType Value>
Candidate<Value> AppliedRecipe<Value>::build(const Recipe& recipe, StagedMatrix& staged, const ExactProblem* problem) {
    try {
        if (!recipe.is_hybrid()) {
            const RecipeLayout& choice = recipe.layouts.front();
            LayoutOutcome layout = outcome_of(*choice.entry, choice.parameters, precision_of<Value>);
            whole_ = build_twice<Value>(*choice.entry, choice.parameters, staged,
                                        problem == nullptr ? nullptr : exact_values(*problem, staged), {}, layout);
            facts_.bytes = bytes_of(layout);
            return candidate_of(*chosen_.front(), whole_.exact.get(), *whole_.real);
        }
        shares_ = build_shares<Value>(recipe, staged, problem, {}, [](const std::string&) {});
        const LayoutOutcome layout = outcome_of_whole(recipe, shares_);
        if (!layout.unsuitable.empty()) throw Unsuitable(layout.unsuitable);
        facts_.bytes = bytes_of(layout);
        return candidate_of<Value>(std::span<const BuiltShare<Value>>(shares_), std::span<const KernelEntry* const>(chosen_),
                                   staged.matrix, recipe.side_by_side);
    } catch (const Unsuitable& reason) {
        throw InputError(fmt::format("{}: {}", where(recipe), reason.what()));
    }
}

/// `oracle` null: not verified.
template <ValueType Value>
void AppliedRecipe<Value>::prepare(const Recipe& recipe, const Candidate<Value>& candidate, const Oracle<Value>* oracle) {
    facts_.kernel = candidate.kernel;
    facts_.backend = name_of(candidate.backend);
    const std::string place = fmt::format("{}, kernel {}", where(recipe), candidate.kernel);
    try {
        if (oracle != nullptr) {
            VerifiedKernel<Value> verified = verify_candidate(candidate, *space_, *oracle, *device_, {});
            if (verified.outcome.status == KernelOutcome::Status::unsuitable) throw Unsuitable(verified.outcome.reason);
            if (verified.kernel == nullptr) throw BrokenKernel(verified.outcome.reason);
            kernel_ = std::move(verified.kernel);
        } else {
            if (candidate.try_out) candidate.try_out(*device_);
            kernel_ = candidate.real(*device_);
        }
    } catch (const Unsuitable& reason) {
        throw InputError(fmt::format("{}: {}", place, reason.what()));
    } catch (const BrokenKernel& reason) {
        throw BrokenKernel(fmt::format("{}: {}", place, reason.what()));
    }
    facts_.bytes_to_move = kernel_->own_bytes_to_move().value_or(candidate.bytes_to_move);
}

template <ValueType Value>
void AppliedRecipe<Value>::prepare_orders() {
    columns_to_recipe_ = Targets(*device_, column_order_.new_of_old());
    columns_to_caller_ = Targets(*device_, column_order_.old_of_new());
    rows_to_caller_ = Targets(*device_, row_order_.old_of_new());
    rows_to_recipe_ = Targets(*device_, space_->target);
    if (columns_to_recipe_.get() != nullptr) x_ = device_->allocate(facts_.columns * sizeof(Value), "x in the recipe's order");
    if (rows_to_caller_.get() != nullptr || rows_to_recipe_.get() != nullptr) {
        y_ = device_->allocate(facts_.rows * sizeof(Value), "y in the recipe's order");
    }
}

template <ValueType Value>
void AppliedRecipe<Value>::run(const Value* x, Value* y, VectorOrder order, bool accumulate) {
    if (order == VectorOrder::of_caller && columns_to_recipe_.get() != nullptr) {
        device_->scatter(x, columns_to_recipe_.get(), facts_.columns, x_.template as<Value>());
        x = x_.template as<const Value>();
    }
    const Index* const target = order == VectorOrder::of_caller ? rows_to_caller_.get() : rows_to_recipe_.get();
    if (target == nullptr) {
        kernel_->run(x, y, accumulate);
        return;
    }
    kernel_->run(x, y_.template as<Value>(), false);
    if (accumulate) {
        device_->scatter_add(y_.template as<const Value>(), target, facts_.rows, y);
    } else {
        device_->scatter(y_.template as<const Value>(), target, facts_.rows, y);
    }
}

template <ValueType Value>
void AppliedRecipe<Value>::run_from_host(std::span<const Value> x, std::span<Value> y, VectorOrder order, bool accumulate) {
    if (on_host()) {
        const KokkosTurn turn;
        run(x.data(), y.data(), order, accumulate);
        return;
    }
    if (x_from_host_.bytes() == 0) x_from_host_ = device_->allocate(x.size_bytes(), "x of the host");
    if (y_from_host_.bytes() == 0) y_from_host_ = device_->allocate(y.size_bytes(), "y of the host");
    device_->upload(std::as_bytes(x), x_from_host_);
    if (accumulate) device_->upload(std::as_bytes(y), y_from_host_);
    run(x_from_host_.template as<const Value>(), y_from_host_.template as<Value>(), order, accumulate);
    device_->download(y_from_host_, std::as_writable_bytes(y));
}

template <ValueType Value>
void AppliedRecipe<Value>::bring_to(VectorOrder order, const Value* from, Value* to) {
    const Index* target = order == VectorOrder::of_recipe ? columns_to_recipe_.get() : columns_to_caller_.get();
    if (target == nullptr) {
        if (columns_stay_.bytes() == 0) columns_stay_ = to_device(*device_, column_order_.old_of_new(), "an order of vectors");
        target = columns_stay_.template as<const Index>();
    }
    device_->scatter(from, target, facts_.columns, to);
}

template class AppliedRecipe<float>;
template class AppliedRecipe<double>;

}  // namespace workbench
