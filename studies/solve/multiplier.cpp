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
            device_, {.matrix = matrix, .cuts = ready_.partition(), .method = method, .preconditioned = preconditioned});
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
