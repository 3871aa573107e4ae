#include "pipeline/engine/ready.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/measure/product_vectors.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

namespace {

template <ValueType Value>
ReadyPlan<Value> with_kernels(const Recipe& recipe, ReadyPlan<Value> plan, std::span<const Offset> row_offsets = {}) {
    if (!plan.kernels.empty()) return plan;
    plan.filter.long_rows = plan.filter.vectors > 1 && has_long_rows(row_offsets);
    plan.kernels = choose_kernels(recipe, plan.filter);
    if (plan.kernels.empty()) throw RecipeError(fmt::format("{}: {}", recipe.name, no_kernel_of(recipe)));
    return plan;
}

/// How the device of the plan prepares the recipe. Throws LeftToHost if the host must do so.
template <ValueType Value>
DevicePlan plan_on_device(const Recipe& recipe, const ReadyPlan<Value>& plan, const std::shared_ptr<StagesOnHost>& on_host) {
    const auto of_device = device_plan_of(recipe, on_host);
    if (const auto* reason = std::get_if<std::string>(&of_device)) throw LeftToHost(*reason);
    if (plan.filter.vectors > 1) throw LeftToHost("a product has several vectors");
    const auto& device_plan = std::get<DevicePlan>(of_device);
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
        const KernelEntry& kernel = *plan.kernels[i];
        if (kernel.backend == Backend::cuda && kernel.name == device_plan.kernel_of(i)) continue;
        throw LeftToHost("the kernel " + kernel.name + " is prepared on the host");
    }
    return device_plan;
}

/// The error of storing values in a coarser precision.
RoundingError rounding_error(std::span<const double> values, Rounding to) {
    HostArray<double> changed(values.begin(), values.end());
    for (double& value : changed) value = rounded(value, to);
    return error_of_rounding(values, changed, to);
}

std::string note_on_rounding(const std::string& layout, const RoundingError& error) {
    return fmt::format("layout {}: {}", layout, error.text());
}

std::string steps_of(const PlannedFacts& facts) {
    std::string steps;
    for (const PlannedFacts::Step& step : facts.steps) {
        steps += fmt::format("{}{} {:.2f} ms", steps.empty() ? "" : ", ", step.what, step.seconds * 1e3);
    }
    return steps;
}

bool has_long_offsets(const CsrMatrix& matrix) { return matrix.nonzeros() > std::numeric_limits<std::int32_t>::max(); }

DeviceMemory row_offsets_on(Device& device, const CsrMatrix& matrix) {
    const std::span<const Offset> offsets(matrix.row_offsets);
    return has_long_offsets(matrix) ? to_device(device, offsets, "row offsets")
                                    : to_device_as<std::int32_t>(device, offsets, "row offsets");
}

}  // namespace

std::vector<std::string> notes_of(const PlannedFacts& facts) {
    std::vector<std::string> notes{"prepared on the GPU: " + steps_of(facts)};
    notes.insert(notes.end(), facts.notes.begin(), facts.notes.end());
    return notes;
}

template <ValueType Value>
OrdersOfDevice orders_of_device(const Recipe& recipe, const CsrMatrix& matrix, Device& device, const Clock& clock) {
    OrdersOfDevice found;
    const std::optional<DevicePlan> plan = plan_of_orders(recipe);
    if (!plan) return found;
    const Stopwatch watch(clock);
    try {
        const CopyOnDevice<Value> copy(device, matrix, {});
        const auto planned = run_plan(device, *plan, copy.matrix());
        const PlannedFacts& facts = planned->facts();
        StageChange change;
        change.order = OrderChange{.order = Permutation::from_old_of_new(planned->row_order())};
        if (!facts.partition.empty()) change.cuts = {{CutKind::partition, facts.partition}};
        change.node_size = facts.node_size;
        double others = watch.seconds();
        for (const PlannedFacts::Step& step : facts.steps) {
            if (!step.is_stage) continue;
            found.stages[found.stages.size()].seconds = step.seconds;
            others -= step.seconds;
        }
        found.stages.begin()->second.seconds += others;
        found.stages.rbegin()->second.result.change = std::move(change);
        found.notes = {fmt::format("ordered on the GPU: {}; with copies {:.2f} ms", steps_of(facts), watch.seconds() * 1e3)};
        found.notes.insert(found.notes.end(), facts.notes.begin(), facts.notes.end());
    } catch (const Unsuitable& reason) {
        found.lost_seconds = watch.seconds();
        found.notes = {fmt::format("ordered on the host, because the GPU declined after {:.2f} ms: {}",
                                   found.lost_seconds * 1e3, reason.what())};
    }
    return found;
}

template <ValueType Value>
CopyOnDevice<Value>::CopyOnDevice(Device& device, const CsrMatrix& matrix, std::span<const double> values)
    : offsets_(row_offsets_on(device, matrix)),
      columns_(to_device(device, std::span<const Index>(matrix.column_indices), "columns")),
      values_(device.allocate(values.size() * sizeof(Value), "values")),
      coming_(device.begin_upload(values_.bytes(), converted<Value>(values), values_)),
      matrix_{.rows = matrix.rows,
              .columns = matrix.columns,
              .nonzeros = matrix.nonzeros(),
              .row_offsets = offsets_.address(),
              .long_offsets = has_long_offsets(matrix),
              .column_indices = columns_.as<const Index>(),
              .values = values_.template as<const Value>(),
              .values_coming = coming_.get()} {}

template <ValueType Value>
void CopyOnDevice<Value>::upload(Device& device, std::span<const double> values, DeviceMemory& to) {
    device.upload_pieces(values.size() * sizeof(Value), converted<Value>(values), to);
}

template <ValueType Value>
void CopyOnDevice<Value>::wait() {
    if (coming_ == nullptr) return;
    coming_->wait();
    coming_.reset();
    matrix_.values_coming = nullptr;
}

template <ValueType Value>
Ready<Value>::Ready(const Recipe& recipe, StagedMatrix matrix, const ReadyPlan<Value>& plan) {
    const ReadyPlan<Value> complete = with_kernels(recipe, plan, matrix.matrix.row_offsets);
    prepare_on_host(recipe, std::move(matrix), complete, {});
}

template <ValueType Value>
Ready<Value>::Ready(const Recipe& recipe, const CsrMatrix& matrix, const ReadyPlan<Value>& plan) {
    const ReadyPlan<Value> complete = with_kernels(recipe, plan, matrix.row_offsets);
    check_against(recipe, matrix.rows, matrix.columns);
    std::string declined;
    double seconds_there = 0;
    OrdersOfDevice found_there;
    if (recipe.prepares_on_gpu() && complete.device.properties().kind == DeviceKind::gpu) {
        std::optional<Stopwatch> begun;
        try {
            (void)plan_on_device(recipe, complete, {});
            begun.emplace(complete.clock);
            on_host_ = std::make_shared<StagesOnHost>(complete.keeping, complete.clock, complete.progress);
            copy_and_prepare(recipe, matrix, complete);
        } catch (const Unsuitable& reason) {
            declined = "prepared on the host";
            if (begun) {
                seconds_there = begun->seconds();
                for (const auto& [stage, found] : on_host_->found()) {
                    if (!found.kept_seconds) seconds_there -= found.seconds;
                }
                declined += fmt::format(", because the GPU declined after {:.2f} ms", seconds_there * 1e3);
            }
            declined += fmt::format(": {}", reason.what());
            if (complete.only_on_device && begun) throw Unsuitable(declined);
            if (complete.only_on_device) throw LeftToHost(declined);
            if (!begun) {
                found_there = orders_of_device<Value>(recipe, matrix, complete.device, complete.clock);
                seconds_there = found_there.lost_seconds;
            } else {
                found_there.stages = on_host_->found();
            }
        }
    }
    if (planned_ == nullptr) {
        prepare_on_host(recipe, stage_copy(matrix, recipe.node_size), complete, found_there.stages);
        preparation_.copy_seconds += seconds_there;
        if (!declined.empty()) preparation_.notes.push_back(declined);
        std::ranges::move(found_there.notes, std::back_inserter(preparation_.notes));
    }
    if (kernel_ != nullptr && complete.product != nullptr) check(*complete.product, complete.device);
}

template <ValueType Value>
Ready<Value>::Ready(const Recipe& recipe, const CsrOnDevice<Value>& matrix, const ReadyPlan<Value>& plan, bool verify) {
    prepare_on_device(recipe, matrix, {}, with_kernels(recipe, plan), verify);
}

template <ValueType Value>
void Ready<Value>::prepare_on_host(const Recipe& recipe, StagedMatrix matrix, const ReadyPlan<Value>& plan,
                                   const KnownResults& known) {
    preparation_.recipe = recipe.name;
    preparation_.layout = name_of_layouts(recipe);
    preparation_.notes = recipe.notes;
    const auto report = [&](const std::string& stage) {
        if (plan.progress) plan.progress(recipe.name + ": " + stage);
    };
    StagedMatrix staged = std::move(matrix);
    const DeviceProperties& device = plan.device.properties();
    RunObserver observer;
    observer.progress = report;
    const AppliedStages applied = apply_stages(
        recipe, staged, stage_context(recipe, precision_of<Value>, device.kind == DeviceKind::gpu ? &device : nullptr),
        observer, plan.clock, plan.keeping, known);
    preparation_.stage_seconds = applied.seconds;
    KeptParts kept;
    for (const StageOutcome& stage : applied.outcomes) {
        for (const auto& [what, text] : stage.notes) {
            preparation_.notes.push_back(fmt::format("{}: {}: {}", stage.id, what, text));
        }
        kept.add(stage.id, stage.kept_seconds);
    }
    candidate_.space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order, plan.filter.vectors);
    const Cuts* parts = staged.find_cuts(CutKind::partition);
    if (parts != nullptr && staged.row_order == staged.column_order) partition_ = parts->boundaries;
    try {
        make_ready(recipe, staged, applied.keeping, kept, plan);
    } catch (const Unsuitable& reason) {
        preparation_.kernel.status = KernelOutcome::Status::unsuitable;
        preparation_.kernel.reason = reason.what();
        kernel_.reset();
    } catch (const BrokenKernel& reason) {
        preparation_.kernel.status = KernelOutcome::Status::wrong;
        preparation_.kernel.reason = reason.what();
    }
    if (std::string note = kept.note(); !note.empty()) preparation_.notes.push_back(std::move(note));
    preparation_.kernel.layout = preparation_.layout;
    preparation_.copy_seconds = preparation_.kernel.prepare_seconds;
    for (auto& share : candidate_.shares) share.layout.exact.reset();
    if (plan.oracle == nullptr) candidate_.rounded.reset();
}

template <ValueType Value>
void Ready<Value>::copy_and_prepare(const Recipe& recipe, const CsrMatrix& matrix, const ReadyPlan<Value>& plan) {
    if (plan.progress) plan.progress(recipe.name + ": copying the matrix to the GPU");
    const Stopwatch watch(plan.clock);
    auto copy = std::make_unique<CopyOnDevice<Value>>(plan.device, matrix);
    const double copy_seconds = watch.seconds();  // the rest is that of planned_->facts().waited_seconds
    prepare_on_device(recipe, copy->matrix(), matrix.values, plan, plan.oracle != nullptr);
    copy->wait();
    preparation_.copy_seconds += copy_seconds;
    if (plan.keeps_copy) copy_ = std::move(copy);
    if (!preparation_.rounding || plan.oracle == nullptr) return;
    CsrMatrix changed = matrix;
    for (double& value : changed.values) value = rounded(value, preparation_.rounding->to);
    candidate_.rounded = std::make_shared<const CsrMatrix>(std::move(changed));
}

template <ValueType Value>
void Ready<Value>::prepare_on_device(const Recipe& recipe, const CsrOnDevice<Value>& matrix, std::span<const double> values,
                                     const ReadyPlan<Value>& plan, bool verify) {
    const Rounding rounding = rounding_of(recipe, precision_of<Value>);
    if (on_host_ == nullptr) on_host_ = std::make_shared<StagesOnHost>(plan.keeping, plan.clock, plan.progress);
    const DevicePlan device_plan = plan_on_device(recipe, plan, on_host_);
    if (plan.progress) plan.progress(recipe.name + ": preparation on the GPU");
    std::shared_ptr<PlannedMatrix<Value>> planned = run_plan(plan.device, device_plan, matrix);
    if (plan.also_in_full && rounding != Rounding::none) {
        try {
            planned_in_full_ = run_plan(plan.device, plan_on_device(in_full(recipe), plan, on_host_), matrix);
        } catch (const Unsuitable& reason) {
            throw Unsuitable(std::string("values in full: ") + reason.what());
        }
    }
    planned_ = std::move(planned);
    const PlannedFacts& facts = planned_->facts();
    if (!facts.rows_apart) partition_ = facts.partition;
    preparation_.recipe = recipe.name;
    preparation_.layout = name_of_layouts(recipe);
    preparation_.notes = recipe.notes;
    preparation_.bytes = facts.bytes;
    preparation_.bytes_to_move = planned_->kernel().own_bytes_to_move().value_or(
        facts.bytes + static_cast<std::int64_t>(sizeof(Value)) * (matrix.rows + matrix.columns));
    if (facts.rows_apart && !recipe.is_hybrid()) {  // a hybrid counts the rows of its shares
        preparation_.bytes_to_move += Offset{matrix.rows} * static_cast<Offset>(sizeof(Index));
    }
    preparation_.stage_seconds = facts.seconds(true);
    preparation_.build_seconds = facts.seconds(false);
    preparation_.copy_seconds = facts.waited_seconds;
    for (std::string& note : notes_of(facts)) preparation_.notes.push_back(std::move(note));
    if (std::string note = on_host_->note(); !note.empty()) preparation_.notes.push_back(std::move(note));
    if (rounding != Rounding::none) note_rounding(matrix, values, rounding, plan.device);
    KernelOutcome& outcome = preparation_.kernel;
    outcome.layout = preparation_.layout;
    outcome.kernel = names_of(plan.kernels);
    outcome.backend = plan.kernels.front()->backend;
    outcome.precision = precision_of<Value>;
    if (verify) outcome.reason = planned_->difference(matrix);
    if (planned_in_full_ != nullptr) {
        const PlannedFacts& full = planned_in_full_->facts();
        preparation_.build_seconds += full.seconds(true) + full.seconds(false);
        preparation_.bytes_in_full = full.bytes;
        const std::string difference = verify ? planned_in_full_->difference(matrix) : "";
        if (!difference.empty()) outcome.reason = "values in full: " + difference;
        kernel_in_full_ = std::shared_ptr<Kernel<Value>>(planned_in_full_, &planned_in_full_->kernel());
    }
    outcome.status = outcome.reason.empty() ? KernelOutcome::Status::measured : KernelOutcome::Status::wrong;
    if (outcome.verified()) kernel_ = std::shared_ptr<Kernel<Value>>(planned_, &planned_->kernel());
}

template <ValueType Value>
void Ready<Value>::note_rounding(const CsrOnDevice<Value>& matrix, std::span<const double> values, Rounding to,
                                 Device& device) {
    std::vector<double> of_device;
    if (values.empty() && matrix.nonzeros > 0) {
        std::vector<Value> copied(static_cast<std::size_t>(matrix.nonzeros));
        copy_from_device(device, matrix.values, std::span<Value>(copied));
        of_device.assign(copied.begin(), copied.end());
        values = of_device;
    }
    preparation_.rounding = rounding_error(values, to);
    preparation_.notes.push_back(note_on_rounding(preparation_.layout, *preparation_.rounding));
}

template <ValueType Value>
std::shared_ptr<Kernel<Value>> Ready<Value>::kernel_with(std::span<const double> values, const Recipe& recipe, Device& device) {
    copy_->upload_values(device, values);
    std::shared_ptr<PlannedMatrix<Value>> with = planned_;
    try {
        with->set_values(copy_->matrix().values);
    } catch (const Unsuitable&) {
        with = run_plan(device, std::get<DevicePlan>(device_plan_of(recipe, on_host_)), copy_->matrix());
    }
    return std::shared_ptr<Kernel<Value>>(with, &with->kernel());
}

template <ValueType Value>
double Ready<Value>::new_values_seconds(const CsrMatrix& matrix, Device& device, const Clock& clock) {
    if (planned_ == nullptr) return preparation_.build_seconds + preparation_.copy_seconds;
    DeviceMemory values = device.allocate(matrix.values.size() * sizeof(Value), "new values");
    const Stopwatch watch(clock);
    CopyOnDevice<Value>::upload(device, matrix.values, values);
    (void)device.time([&] {
        planned_->set_values(values.template as<const Value>());
        if (planned_in_full_ != nullptr) planned_in_full_->set_values(values.template as<const Value>());
    });
    return watch.seconds();
}

template <ValueType Value>
const ProductSpace& Ready<Value>::space() const {
    if (candidate_.space == nullptr) {
        candidate_.space = std::make_shared<const ProductSpace>(Permutation::from_old_of_new(planned_->row_order()),
                                                                Permutation::from_old_of_new(planned_->column_order()));
    }
    return *candidate_.space;
}

template <ValueType Value>
void Ready<Value>::make_ready(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping, KeptParts& kept,
                              const ReadyPlan<Value>& plan) {
    const auto report = [&](const std::string& step) {
        if (plan.progress) plan.progress(recipe.name + ": " + step);
    };
    report("layout " + preparation_.layout);
    const DeviceProperties& device = plan.device.properties();
    const BuildOptions options{.exact = plan.oracle == nullptr ? plan.exact : plan.oracle->exact_problems(),
                               .clock = plan.clock,
                               .keeping = keeping,
                               .device = device.kind == DeviceKind::gpu ? &device : nullptr};
    const BuiltLayouts<Value> built = build_layouts<Value>(recipe, staged, options);
    note(built.outcome, kept);
    if (!built.outcome.unsuitable.empty()) throw Unsuitable(built.outcome.unsuitable);
    candidate_ = built.candidate(plan.kernels, candidate_.space, recipe.side_by_side);
    report("kernel " + candidate_.kernel());
    preparation_.kernel.kernel = candidate_.kernel();
    preparation_.kernel.backend = candidate_.backend();
    VerifiedKernel<Value> found = verified(candidate_, plan);
    preparation_.kernel = std::move(found.outcome);
    kernel_ = std::move(found.kernel);
    if (kernel_ == nullptr) return;
    preparation_.bytes_to_move = candidate_.bytes_to_move(*kernel_);
    if (plan.also_in_full && preparation_.rounding) make_ready_in_full(recipe, staged, options, plan);
}

template <ValueType Value>
void Ready<Value>::make_ready_in_full(const Recipe& recipe, StagedMatrix& staged, const BuildOptions& options,
                                      const ReadyPlan<Value>& plan) {
    const BuiltLayouts<Value> built = build_layouts<Value>(in_full(recipe), staged, options);
    preparation_.build_seconds += built.outcome.seconds;
    preparation_.bytes_in_full = static_cast<std::int64_t>(built.outcome.bytes());
    if (!built.outcome.unsuitable.empty()) throw Unsuitable("values in full: " + built.outcome.unsuitable);
    candidate_in_full_ = built.candidate(plan.kernels, candidate_.space, recipe.side_by_side);
    VerifiedKernel<Value> found = verified(candidate_in_full_, plan);
    for (auto& share : candidate_in_full_.shares) share.layout.exact.reset();
    preparation_.kernel.prepare_seconds += found.outcome.prepare_seconds;
    kernel_in_full_ = std::move(found.kernel);
    if (kernel_in_full_ != nullptr) return;
    preparation_.kernel.status = found.outcome.status;
    preparation_.kernel.reason = "values in full: " + found.outcome.reason;
    kernel_.reset();
}

template <ValueType Value>
VerifiedKernel<Value> Ready<Value>::verified(const Candidate<Value>& candidate, const ReadyPlan<Value>& plan) const {
    return plan.verify ? plan.verify(candidate) : Verifier<Value>{plan.device, plan.oracle, plan.clock}.verify(candidate);
}

template <ValueType Value>
void Ready<Value>::note(const LayoutOutcome& layout, KeptParts& kept) {
    preparation_.build_seconds = layout.seconds;
    preparation_.bytes = static_cast<std::int64_t>(layout.bytes());
    preparation_.rounding = layout.rounding;
    if (layout.rounding) preparation_.notes.push_back(note_on_rounding(layout.name, *layout.rounding));
    kept.add("layout " + layout.name, layout.kept_seconds);
}

template <ValueType Value>
void Ready<Value>::check(const OneProduct<Value>& product, Device& device) {
    (void)space();  // copied to the host
    VectorsOfProduct<Value> vectors(candidate_.space, device);
    vectors.set_x([&](Index column) { return product.x[column]; });
    vectors.clear_y();
    (void)device.time([&] { vectors.run(*kernel_, false); });
    const Comparison found = vectors.compare_each([&](const auto& y, int) { return compare_within(y, product.reference); });
    if (found.right) return;
    preparation_.kernel.status = KernelOutcome::Status::wrong;
    preparation_.kernel.reason = found.first_wrong;
    kernel_.reset();
}

template OrdersOfDevice orders_of_device<float>(const Recipe&, const CsrMatrix&, Device&, const Clock&);
template OrdersOfDevice orders_of_device<double>(const Recipe&, const CsrMatrix&, Device&, const Clock&);
template class CopyOnDevice<float>;
template class CopyOnDevice<double>;
template class Ready<float>;
template class Ready<double>;

}  // namespace workbench
