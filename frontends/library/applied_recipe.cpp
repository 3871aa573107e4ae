#include "frontends/library/applied_recipe.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/checksum.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/kernel_choice.hpp"

namespace workbench {
namespace {

/// The recipes and patterns that were verified exactly in this process.
class ExactlyVerified {
public:
    [[nodiscard]] bool has(const std::string& key) {
        const std::lock_guard turn(mutex_);
        return keys_.contains(key);
    }
    void add(const std::string& key) {
        const std::lock_guard turn(mutex_);
        keys_.insert(key);
    }

private:
    std::mutex mutex_;
    std::set<std::string> keys_;
};

ExactlyVerified& exactly_verified() {
    static ExactlyVerified all;
    return all;
}

/// Whatever the structure of the layouts depends on: values, too, if they are coded or may decide on the shares of a hybrid.
/// Empty if the kernel's code may change from one operator to the next, or if values are rounded, because their right results
/// need the layouts of integers.
template <ValueType Value>
std::string key_of(const Recipe& recipe, const CsrMatrix& matrix, const Device& device,
                   const std::vector<const KernelEntry*>& kernels) {
    Checksum sum;
    const auto add = [&sum](std::string_view text) {
        sum.add(text.data(), text.size());
        sum.add("", 1);
    };
    if (rounding_of(recipe, precision_of<Value>) != Rounding::none) return {};
    for (const RecipeLayout& layout : recipe.layouts) {
        if (layout.entry->try_out) return {};
    }
    for (const KernelEntry* kernel : kernels) {
        if (kernel->try_out.template get<Value>()) return {};
        add(kernel->name);
        add(name_of(kernel->backend));
    }
    add(resolved_recipe(recipe));
    add(device.properties().name);
    const std::array<std::int64_t, 3> sizes{matrix.rows, matrix.columns, sizeof(Value)};
    sum.add(sizes.data(), sizeof(sizes));
    sum.add(matrix.row_offsets.data(), matrix.row_offsets.size() * sizeof(Offset));
    sum.add(matrix.column_indices.data(), matrix.column_indices.size() * sizeof(Index));
    if (recipe.is_hybrid() || exact_values_of(recipe) == ExactValues::by_value) {
        sum.add(matrix.values.data(), matrix.values.size() * sizeof(double));
    }
    return sum.text();
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
        memory_ = to_device(device, order, "a permutation of vectors");
        address_ = memory_.template as<const Index>();
    } else {
        address_ = order.data();
    }
}

template <ValueType Value>
AppliedRecipe<Value>::AppliedRecipe(const Recipe& recipe, CsrMatrix matrix, const spmv_workbench::Options& options,
                                    const EngineWish& solver)
    : recipe_(recipe), kernel_asked_for_(options.kernel), has_long_rows_(has_long_rows(matrix.row_offsets)) {
    const Stopwatch watch;
    std::vector<const KernelEntry*> kernels = choose(recipe, options, solver.iterations > 0);
    check_against(recipe, matrix.rows, matrix.columns);
    facts_.rows = matrix.rows;
    facts_.columns = matrix.columns;
    facts_.nonzeros = matrix.nonzeros();
    std::optional<Oracle<Value>> oracle;
    if (options.verify) {
        key_ = key_of<Value>(recipe, matrix, *device_, kernels);
        const bool is_known = !key_.empty() && exactly_verified().has(key_);
        oracle.emplace(matrix, is_known ? std::nullopt : std::optional(exact_values_of(recipe)));
    }

    ReadyPlan<Value> plan{.device = *device_, .kernels = std::move(kernels)};
    if (oracle) plan.oracle = &*oracle;
    plan.progress = [&options](const std::string& step) {
        if (options.stop && options.stop()) throw spmv_workbench::Stopped(step + ": the caller stopped the construction");
    };
    const bool may_persist = solver.engine != SolveEngine::graph && !on_host();
    std::optional<CopyOnDevice<Value>> copy;
    const auto copy_for_engine = [&](const CsrMatrix& of) {
        if (!may_persist) return;
        copy.emplace(*device_, of);
        copy->wait();
    };
    if (recipe.prepares_on_gpu() && !on_host()) {
        plan.keeps_copy = may_persist;
        given_ = std::make_unique<CsrMatrix>(std::move(matrix));
        ready_.emplace(recipe, *given_, plan);
        if (ready_->planned() == nullptr) {
            copy_for_engine(*given_);
            given_.reset();
        }
    } else {
        copy_for_engine(matrix);
        ready_.emplace(recipe, stage_input(std::move(matrix), recipe.node_size), plan);
    }
    require_kernel(recipe);
    take_facts_of(ready_->preparation());
    const double prepared_and_verified = watch.seconds();
    prepare_orders();
    make_engine(solver, copy ? copy->matrix() : ready_->copy() != nullptr ? *ready_->copy() : CsrOnDevice<Value>());
    ready_->drop_copy();
    facts_.verified = options.verify;
    take_times(watch);
    if (!options.verify) return;
    facts_.verification_seconds = std::max(0.0, prepared_and_verified - ready_->preparation().seconds());
    if (ready_->planned() != nullptr) key_.clear();  // its integers were those of the GPU
    if (!key_.empty()) exactly_verified().add(key_);
}

template <ValueType Value>
AppliedRecipe<Value>::AppliedRecipe(const Recipe& recipe, const CsrOnDevice<Value>& matrix,
                                    const spmv_workbench::Options& options, const EngineWish& solver)
    : recipe_(recipe), kernel_asked_for_(options.kernel) {
    const Stopwatch watch;
    std::vector<const KernelEntry*> kernels = choose(recipe, options, solver.iterations > 0);
    if (on_host()) throw Unsuitable("the recipe has no kernel for the GPU");
    facts_.rows = matrix.rows;
    facts_.columns = matrix.columns;
    facts_.nonzeros = matrix.nonzeros;
    if (options.stop && options.stop()) throw spmv_workbench::Stopped("the caller stopped the construction");
    ready_.emplace(recipe, matrix, ReadyPlan<Value>{.device = *device_, .kernels = std::move(kernels)}, options.verify);
    require_kernel(recipe);
    take_facts_of(ready_->preparation());
    prepare_orders();
    make_engine(solver, matrix);
    facts_.verified = options.verify;
    take_times(watch);
}

template <ValueType Value>
void AppliedRecipe<Value>::take_times(const Stopwatch& watch) {
    facts_.seconds = watch.seconds();
    facts_.process_seconds = seconds_of_compiling_kernels() - compiled_before_;
}

template <ValueType Value>
void AppliedRecipe<Value>::make_engine(const EngineWish& solver, const CsrOnDevice<Value>& matrix) {
    const bool wanted = solver.engine == SolveEngine::persistent;
    std::string reason;
    if (on_host()) {
        reason = "a persistent kernel needs a GPU; this device is " + facts_.device_name;
    } else if (ready_->preparation().rounding) {
        reason = "the recipe rounds values";
    } else {
        const SolvedMatrix<Value> solved{.there = &matrix, .new_values = true};
        try {
            EngineChoice choice = choose_engine(solver, *ready_, solved, *device_);
            if (!choice.note.empty()) note(std::move(choice.note));
            if (!choice.persistent) return;
            persistent_ = make_persistent(*ready_, solved, *device_, solver);
            return;
        } catch (const Unsuitable& error) {
            reason = error.what();
        } catch (const MachineError& error) {  // the caller may have left little memory
            if (wanted) throw;
            reason = error.what();
        }
        if (!wanted) note("no persistent kernel: " + reason);
    }
    if (wanted) throw InputError("the engine persistent: " + reason);
}

template <ValueType Value>
void AppliedRecipe<Value>::require_kernel(const Recipe& recipe) const {
    if (ready_->kernel() != nullptr) return;
    const KernelOutcome& kernel = ready_->preparation().kernel;
    const std::string place = where(recipe) + (kernel.kernel.empty() ? "" : ", kernel " + kernel.kernel);
    const std::string text = fmt::format("{}: {}", place, kernel.reason);
    if (kernel.status == KernelOutcome::Status::unsuitable) throw InputError(text);
    throw BrokenKernel(text);
}

template <ValueType Value>
std::vector<const KernelEntry*> AppliedRecipe<Value>::choose(const Recipe& recipe, const spmv_workbench::Options& options,
                                                             bool for_solver) {
    std::vector<const KernelEntry*> kernels;
    using Where = spmv_workbench::Device;
    const std::string absence = options.device == Where::host ? "the caller chose the host" : cuda_absence_reason();
    if (options.device == Where::gpu && !absence.empty()) throw MachineError("no operator on the GPU: " + absence);
    if (absence.empty()) {
        kernels = choose_kernels(recipe, {DeviceKind::gpu, options.kernel});
        if (!kernels.empty()) {
            device_ = for_solver ? make_cuda_device_for_solver(options.stream) : make_cuda_device_on(options.stream);
        }
    }
    if (device_ == nullptr && options.device != Where::gpu) {
        kernels = choose_kernels(recipe, {DeviceKind::host, options.kernel});
        if (!kernels.empty()) device_ = make_host_device();
    }
    if (device_ == nullptr) {
        throw RecipeError(fmt::format("{}: {}{}", recipe.file.string(), no_kernel_of(recipe),
                                      absence.empty() ? "" : fmt::format("; no GPU kernels: {}", absence)));
    }
    facts_.device = device_->properties().kind == DeviceKind::gpu ? Where::gpu : Where::host;
    facts_.device_name = device_->properties().name;
    return kernels;
}

template <ValueType Value>
void AppliedRecipe<Value>::take_facts_of(const Preparation& preparation) {
    facts_.layout = preparation.layout;
    facts_.kernel = preparation.kernel.kernel;
    facts_.backend = name_of(preparation.kernel.backend);
    facts_.bytes = preparation.bytes;
    facts_.bytes_to_move = preparation.bytes_to_move;
    facts_.notes = preparation.notes;
}

template <ValueType Value>
void AppliedRecipe<Value>::prepare_orders() {
    if (const PlannedMatrix<Value>* const planned = ready_->planned(); planned == nullptr) {
        columns_to_recipe_ = Targets(*device_, column_order().new_of_old());
        columns_to_caller_ = Targets(*device_, column_order().old_of_new());
        rows_of_result_ = ready_->space().rows_of_result();
        rows_to_caller_ = Targets(*device_, rows_of_result_);
    } else if (planned->facts().reordered) {
        columns_to_recipe_ = Targets(planned->new_of_old());
        columns_to_caller_ = Targets(planned->old_of_new());
        rows_to_caller_ = Targets(planned->old_of_new());
    }
    if (columns_to_recipe_.get() != nullptr) x_ = device_->allocate(facts_.columns * sizeof(Value), "x in the recipe's order");
    if (rows_to_caller_.get() != nullptr) y_ = device_->allocate(facts_.rows * sizeof(Value), "y in the recipe's order");
}

template <ValueType Value>
void AppliedRecipe<Value>::require_own_process() const {
    if (!on_host() && getpid() != process_) {
        throw MachineError(
            "the operator is on a GPU, in another process; expected one that was made after the fork, in a process whose "
            "parent had not used the GPU");
    }
}

template <ValueType Value>
void AppliedRecipe<Value>::run(const Value* x, Value* y, VectorOrder order, bool accumulate) {
    require_own_process();
    if (order == VectorOrder::caller && columns_to_recipe_.get() != nullptr) {
        device_->scatter(x, columns_to_recipe_.get(), facts_.columns, x_.template as<Value>());
        x = x_.template as<const Value>();
    }
    const Index* const target = order == VectorOrder::caller ? rows_to_caller_.get() : nullptr;
    if (target == nullptr) {
        ready_->kernel()->run(x, y, accumulate);
        return;
    }
    ready_->kernel()->run(x, y_.template as<Value>(), false);
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
ValuePlaces<Value>& AppliedRecipe<Value>::places(std::span<const Offset> entry_order) {
    if (!places_) places_.emplace(ready_->candidate(), entry_order);
    return *places_;
}

template <ValueType Value>
void AppliedRecipe<Value>::require_on_host(const char* what) const {
    if (!is_only_there()) return;
    throw Unsuitable(
        fmt::format("{}: the matrix is in the memory of the GPU, which prepared it; expected one on the host", what));
}

template <ValueType Value>
void AppliedRecipe<Value>::require_pattern(const CsrMatrix& matrix, std::span<const Offset> entry_order) {
    require_on_host("new values with their pattern");
    workbench::require_pattern(matrix, given_ == nullptr ? places(entry_order).pattern() : *given_);
}

template <ValueType Value>
void AppliedRecipe<Value>::set_values(std::span<const Value> values, std::span<const Offset> entry_order) {
    const bool is_there = ready_->planned() != nullptr;
    if (!is_there) {
        places(entry_order).store(values);
        several_.clear();
        ready_->prepare_again(*device_);
        ++preparations_;
        if (persistent_ == nullptr) return;
    }
    std::vector<Value> ordered;
    if (!entry_order.empty()) {
        ordered.resize(entry_order.size());
        for_pieces(ordered.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) ordered[k] = values[entry_order[k]];
        });
        values = ordered;
    }
    copy_values(values);
    if (!is_there) return set_persistent_values(values_there_.template as<const Value>());
    set_values_there(values_there_.template as<const Value>());
    if (given_ == nullptr) return;
    std::copy(values.begin(), values.end(), given_->values.begin());
    several_.clear();
}

template <ValueType Value>
void AppliedRecipe<Value>::copy_values(std::span<const Value> values) {
    if (values_there_.bytes() == 0) values_there_ = device_->allocate(values.size_bytes(), "new values");
    device_->upload(std::as_bytes(values), values_there_);
}

template <ValueType Value>
void AppliedRecipe<Value>::set_values_there(const Value* values) {
    planned().set_values(values);
    if (persistent_ != nullptr) set_persistent_values(values);
}

template <ValueType Value>
void AppliedRecipe<Value>::set_persistent_values(const Value* values_there) {
    try {
        persistent_->set_values(values_there);
        persistent_has_values_ = true;
    } catch (const Unsuitable&) {
        persistent_has_values_ = false;
    }
}

template <ValueType Value>
template <typename Visit>
void AppliedRecipe<Value>::for_each_entry(const Visit& visit) const {
    if (given_ != nullptr) {
        for (Index row = 0; row < given_->rows; ++row) {
            for (Offset k = given_->row_offsets[row]; k < given_->row_offsets[row + 1]; ++k) {
                visit(row, given_->column_indices[k], given_->values[k]);
            }
        }
        return;
    }
    for (const auto& share : ready_->candidate().shares) {
        const std::vector<LayoutField> fields = share.layout.real->fields();
        const std::vector<Index>& rows = share.layout.rows;
        share.layout.real->for_each_slot([&](const Slot& slot) {
            if (slot.nonzero < 0) return;
            visit(row_order().old_of_new(rows.empty() ? slot.row : rows[slot.row]), column_order().old_of_new(slot.column),
                  value_at(fields[slot.array], slot.index));
        });
    }
}

template <ValueType Value>
std::vector<Value> AppliedRecipe<Value>::diagonal() const {
    require_on_host("the diagonal");
    std::vector<Value> diagonal(static_cast<std::size_t>(std::min(facts_.rows, facts_.columns)));
    for_each_entry([&](Index row, Index column, double value) {
        if (row == column) diagonal[row] = static_cast<Value>(value);
    });
    return diagonal;
}

template <ValueType Value>
std::shared_ptr<SeveralVectors<Value>> AppliedRecipe<Value>::several(int vectors) {
    require_own_process();
    require_on_host("several vectors");
    std::shared_ptr<SeveralVectors<Value>>& known = several_[vectors];
    if (known != nullptr) return known;
    std::optional<Ready<Value>> layouts;
    if (given_ != nullptr) {
        const ReadyPlan<Value> plan{
            .device = *device_,
            .kernels = choose_kernels(recipe_, {.kind = device_->properties().kind, .only = kernel_asked_for_})};
        layouts.emplace(recipe_, stage_copy(*given_, recipe_.node_size), plan);
    }
    Candidate<Value> candidate = (layouts ? *layouts : *ready_).candidate();
    const KernelFilter filter{
        .kind = device_->properties().kind, .only = kernel_asked_for_, .vectors = vectors, .long_rows = has_long_rows_};
    const std::vector<const KernelEntry*> kernels = choose_kernels(recipe_, filter);
    for (std::size_t i = 0; i < candidate.shares.size(); ++i) candidate.shares[i].kernel = kernels[i];
    auto made = std::make_shared<SeveralVectors<Value>>(candidate, vectors, *device_);
    const std::string key = key_.empty() ? "" : fmt::format("{}, {} vectors", key_, vectors);
    const bool is_verified = key.empty() ? verified_.contains(vectors) : exactly_verified().has(key);
    if (facts_.verified && !is_verified) {
        verify(*made, vectors);
        verified_.insert(vectors);
        if (!key.empty()) exactly_verified().add(key);
    }
    known = std::move(made);
    return known;
}

template <ValueType Value>
void AppliedRecipe<Value>::verify(SeveralVectors<Value>& several, int vectors) const {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(facts_.nonzeros));
    for_each_entry([&](Index row, Index column, double value) { entries.push_back({row, column, value}); });
    const CsrMatrix matrix = csr_from_entries(facts_.rows, facts_.columns, entries);
    std::vector<std::vector<double>> columns;
    std::vector<Value> x(static_cast<std::size_t>(facts_.columns) * vectors);
    for (int j = 0; j < vectors; ++j) {
        columns.push_back(real_vector(facts_.columns, static_cast<std::uint32_t>(j + 1)));
        for (Index i = 0; i < facts_.columns; ++i) x[std::size_t(i) * vectors + j] = static_cast<Value>(columns[j][i]);
    }
    std::vector<Value> y(static_cast<std::size_t>(facts_.rows) * vectors, unwritten<Value>());
    std::vector<Value> one(facts_.rows);
    for (const bool accumulate : {false, true}) {
        several.run_from_host(x, y, accumulate);
        const int times = accumulate ? 2 : 1;
        if (error_of_several<Value>(matrix, {.vectors = vectors, .x = x.data(), .y = y.data(), .times = times})) continue;
        for (int j = 0; j < vectors; ++j) {
            BoundedReference reference = bounded_reference<Value>(matrix, columns[j]);
            for (Index row = 0; row < facts_.rows; ++row) {
                one[row] = y[std::size_t(row) * vectors + j];
                reference.r[row] *= times;
                reference.bound[row] *= 2 * times - 1;
            }
            const Comparison found = compare_within(one, reference);
            if (found.right) continue;
            throw BrokenKernel(fmt::format("{}: vector {} of {}: {}", where(recipe_), j + 1, vectors, found.first_wrong));
        }
    }
}

template <ValueType Value>
CsrMatrix AppliedRecipe<Value>::transposed() const {
    require_on_host("the transpose");
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(facts_.nonzeros));
    for_each_entry([&](Index row, Index column, double value) { entries.push_back({column, row, value}); });
    return csr_from_entries(facts_.columns, facts_.rows, entries);
}

template <ValueType Value>
void AppliedRecipe<Value>::permute(const Value* from, Value* to, VectorOrder order) {
    const Index* const target = order == VectorOrder::recipe ? columns_to_recipe_.get() : columns_to_caller_.get();
    device_->scatter(from, target, facts_.columns, to);
}

template <ValueType Value>
void AppliedRecipe<Value>::copy(const Value* from, Value* to) {
    device_->scatter(from, nullptr, facts_.columns, to);
}

template class AppliedRecipe<float>;
template class AppliedRecipe<double>;

}  // namespace workbench
