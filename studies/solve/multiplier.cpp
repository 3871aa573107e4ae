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
#include "pipeline/recipe/recipe.hpp"

namespace workbench {
namespace {

template <ValueType Value>
const ReadyPlan<Value>& checked(const Recipe& recipe, const ReadyPlan<Value>& plan) {
    if (plan.product != nullptr && rounding_of(recipe, precision_of<Value>) != Rounding::none) {
        throw RecipeError(fmt::format("{}: rounds values, which a tuned solve does not refine", recipe.name));
    }
    return plan;
}

}  // namespace

template <ValueType Value>
Multiplier<Value>::Multiplier(const Recipe& recipe, const CsrMatrix& input, const ReadyPlan<Value>& plan)
    : input_(input), device_(plan.device), ready_(recipe, input, checked(recipe, plan)) {}

template <ValueType Value>
void Multiplier<Value>::multiply(const Value* x, Value* y) {
    ready_.kernel()->run(x, y, false);
}

template <ValueType Value>
void Multiplier<Value>::multiply_in_full(const Value* x, Value* y) {
    ready_.kernel_in_full()->run(x, y, false);
}

template <ValueType Value>
PersistentSolver<Value>& Multiplier<Value>::persistent(KrylovMethod method, bool preconditioned) {
    if (persistent_ == nullptr && reason_against_persistent_.empty()) {
        try {
            persistent_ = make_persistent(method, preconditioned);
        } catch (const Unsuitable& reason) {
            reason_against_persistent_ = reason.what();
        }
    }
    if (persistent_ == nullptr) throw Unsuitable(reason_against_persistent_);
    return *persistent_;
}

template <ValueType Value>
std::unique_ptr<PersistentSolver<Value>> Multiplier<Value>::make_persistent(KrylovMethod method, bool preconditioned) {
    // Before the matrix is copied.
    const DeviceProperties& device = device_.properties();
    const std::size_t vector = static_cast<std::size_t>(input_.rows) * sizeof(Value);
    const std::size_t shared_memory = static_cast<std::size_t>(device.processors) * device.shared_memory_per_block;
    if (device.kind == DeviceKind::gpu && vector > shared_memory) {
        throw Unsuitable(fmt::format("a vector has {} bytes, and the shared memory of all multiprocessors of {} has {}", vector,
                                     device.name, shared_memory));
    }
    DeviceMemory order_there;
    const Index* old_of_new = nullptr;
    if (planned() != nullptr) {
        if (planned()->facts().reordered) old_of_new = planned()->old_of_new();
    } else if (!order().is_identity()) {
        order_there = to_device(device_, order().old_of_new(), "the order of a persistent solve");
        old_of_new = order_there.as<const Index>();
    }
    const CsrOnDevice<double>* there = nullptr;
    if constexpr (std::is_same_v<Value, double>) there = rounds() ? nullptr : ready_.copy();
    const auto make = [&](const CsrMatrix& matrix) {
        return make_persistent_solver<Value>(device_, {.matrix = matrix,
                                                       .there = there,
                                                       .old_of_new = old_of_new,
                                                       .cuts = ready_.partition(),
                                                       .method = method,
                                                       .preconditioned = preconditioned});
    };
    if (!rounds()) return make(input_);
    CsrMatrix matrix = input_;
    const Rounding rounding = preparation().rounding.value().to;
    std::transform(matrix.values.begin(), matrix.values.end(), matrix.values.begin(),
                   [&](double value) { return rounded(value, rounding); });
    return make(matrix);
}

template <ValueType Value>
std::unique_ptr<CheckedProduct<Value>> Multiplier<Value>::checked_product() {
    (void)ready_.space();  // of a matrix that a device prepared, it is made at the first call
    VectorsOfProduct<Value> vectors(ready_.candidate().space, device_);
    vectors.set_x([](Index column) { return real_element(column, 1); });
    const std::shared_ptr<void> not_owned;
    const std::shared_ptr<Kernel<Value>> kernel(not_owned, ready_.kernel());
    const std::shared_ptr<const CsrMatrix> input(not_owned, &input_);
    const std::shared_ptr<const CsrMatrix>& rounded = ready_.candidate().rounded;
    return std::make_unique<CheckedProduct<Value>>(std::move(vectors), kernel, rounded == nullptr ? input : rounded, device_);
}

template class Multiplier<float>;
template class Multiplier<double>;

}  // namespace workbench
