#include "studies/solve/multiplier.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "core/contract/solvers.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/recipe/rounding_of_recipe.hpp"

namespace workbench {
namespace {

template <ValueType Value>
ReadyPlan<Value> ready_plan(const Recipe& recipe, const MultiplierPlan<Value>& plan) {
    if (plan.product != nullptr && rounding_of(recipe, precision_of<Value>) != Rounding::none) {
        throw RecipeError(fmt::format("{}: rounds values, which a tuned solve does not refine", recipe.name));
    }
    std::vector<const KernelEntry*> kernels = choose_kernels(recipe, plan.filter);
    if (kernels.empty()) throw RecipeError(fmt::format("{}: {}", recipe.name, no_kernel_of(recipe)));
    return {.device = plan.device,
            .kernels = std::move(kernels),
            .oracle = plan.oracle,
            .progress = plan.progress,
            .clock = plan.clock,
            .keeping = plan.keeping,
            .also_in_full = plan.also_in_full};
}

StagedMatrix begin(const Recipe& recipe, const CsrMatrix& input, Preparer* preparer) {
    check_against(recipe, input.rows, input.columns);
    return stage_copy(input, recipe.node_size, preparer);
}

}  // namespace

template <ValueType Value>
Multiplier<Value>::Multiplier(const Recipe& recipe, const MultiplierPlan<Value>& plan)
    : input_(plan.input), device_(plan.device), clock_(plan.clock) {
    const Stopwatch watch(clock_);
    const std::string declined = plan.preparer == nullptr ? "" : prepare_on_device(recipe, plan);
    const double seconds_there = watch.seconds();
    if (recipe_ == nullptr) {
        recipe_ =
            std::make_unique<ReadyRecipe<Value>>(recipe, begin(recipe, plan.input, plan.preparer), ready_plan(recipe, plan));
        if (!declined.empty()) recipe_->add_attempt_on_device(seconds_there, declined);
    }
    if (!ready()) return;
    if (plan.oracle == nullptr && plan.product != nullptr) check(*plan.product);
}

template <ValueType Value>
std::string Multiplier<Value>::prepare_on_device(const Recipe& recipe, const MultiplierPlan<Value>& plan) {
    if (device_.properties().kind != DeviceKind::gpu || !sliced_request(recipe)) return "";
    check_against(recipe, input_.rows, input_.columns);
    if (plan.progress) plan.progress(recipe.name + ": copying the matrix to the GPU");
    const Stopwatch watch(clock_);
    try {
        const DeviceMemory offsets = to_device(device_, std::span<const Offset>(input_.row_offsets), "row offsets");
        const DeviceMemory columns = to_device(device_, std::span<const Index>(input_.column_indices), "columns");
        DeviceMemory values;
        if constexpr (std::is_same_v<Value, double>) {
            values = to_device(device_, std::span<const double>(input_.values), "values");
        } else {
            const std::vector<Value> rounded(input_.values.begin(), input_.values.end());
            values = to_device(device_, std::span<const Value>(rounded), "values");
        }
        const double copy_seconds = watch.seconds();
        const CsrOnDevice<Value> matrix{.rows = input_.rows,
                                        .columns = input_.columns,
                                        .nonzeros = input_.nonzeros(),
                                        .row_offsets = offsets.as<const Offset>(),
                                        .column_indices = columns.as<const Index>(),
                                        .values = values.template as<const Value>()};
        recipe_ = std::make_unique<ReadyRecipe<Value>>(recipe, matrix, ready_plan(recipe, plan), plan.oracle != nullptr);
        recipe_->add_copy(copy_seconds);
        return "";
    } catch (const LeftToHost& reason) {
        return reason.what();
    }
}

template <ValueType Value>
void Multiplier<Value>::check(const OneProduct<Value>& product) {
    std::vector<Value> vector(product.x.size());
    for (Index i = 0; i < order().size(); ++i) vector[i] = static_cast<Value>(product.x[order().old_of_new(i)]);
    const DeviceMemory x = to_device(device_, std::span<const Value>(vector), "x");
    std::fill(vector.begin(), vector.end(), unwritten<Value>());
    DeviceMemory y = to_device(device_, std::span<const Value>(vector), "y");
    (void)device_.time([&] { multiply(x.as<const Value>(), y.as<Value>()); });
    device_.download(y, std::as_writable_bytes(std::span(vector)));
    std::vector<Value> in_input_order(vector.size());
    for (Index i = 0; i < order().size(); ++i) in_input_order[order().old_of_new(i)] = vector[i];
    const Comparison found = compare_within(in_input_order, product.reference);
    if (!found.right) recipe_->give_up(found.first_wrong);
}

template <ValueType Value>
void Multiplier<Value>::multiply(const Value* x, Value* y) {
    recipe_->kernel()->run(x, y, false);
}

template <ValueType Value>
void Multiplier<Value>::multiply_in_full(const Value* x, Value* y) {
    recipe_->kernel_in_full()->run(x, y, false);
}

template <ValueType Value>
PersistentSolver<Value>& Multiplier<Value>::persistent(KrylovMethod method, bool preconditioned) {
    if (persistent_ == nullptr && reason_against_persistent_.empty()) {
        const Stopwatch watch(clock_);
        try {
            persistent_ = make_persistent(method, preconditioned);
        } catch (const Unsuitable& reason) {
            reason_against_persistent_ = reason.what();
        }
        persistent_seconds_ = watch.seconds();
    }
    if (persistent_ == nullptr) throw Unsuitable(reason_against_persistent_);
    return *persistent_;
}

template <ValueType Value>
std::unique_ptr<PersistentSolver<Value>> Multiplier<Value>::make_persistent(KrylovMethod method, bool preconditioned) {
    // Before the matrix is permuted, which takes long if it is large.
    const DeviceProperties& device = device_.properties();
    const std::size_t vector = static_cast<std::size_t>(input_.rows) * sizeof(Value);
    const std::size_t shared_memory = static_cast<std::size_t>(device.processors) * device.shared_memory_per_block;
    if (device.kind == DeviceKind::gpu && vector > shared_memory) {
        throw Unsuitable(fmt::format("a vector has {} bytes, and the shared memory of all multiprocessors of {} has {}", vector,
                                     device.name, shared_memory));
    }
    const auto make = [&](const CsrMatrix& matrix) {
        return make_persistent_solver<Value>(
            device_, {.matrix = matrix, .cuts = recipe_->partition(), .method = method, .preconditioned = preconditioned});
    };
    if (order().is_identity() && !rounds()) return make(input_);
    CsrMatrix matrix = order().is_identity() ? input_ : permute(input_, order(), order());
    if (rounds()) {
        const Rounding rounding = preparation().rounding.value().to;
        std::transform(matrix.values.begin(), matrix.values.end(), matrix.values.begin(),
                       [&](double value) { return rounded(value, rounding); });
    }
    return make(matrix);
}

template <ValueType Value>
std::function<void()> Multiplier<Value>::product() {
    if (x_.bytes() == 0) {
        const std::vector<double> values = real_vector(order().size(), 1);
        const std::vector<Value> rounded(values.begin(), values.end());
        x_ = to_device(device_, std::span<const Value>(rounded), "x");
        y_ = device_.allocate(x_.bytes(), "y");
    }
    return [this] { multiply(x_.as<const Value>(), y_.as<Value>()); };
}

template class Multiplier<float>;
template class Multiplier<double>;

}  // namespace workbench
