#include "studies/solve/multiplier.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/solve_engine.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {
namespace {

template <ValueType Value>
const ReadyPlan<Value>& checked(const Recipe& recipe, const ReadyPlan<Value>& plan) {
    const bool is_tuned = plan.product != nullptr;
    if ((is_tuned || plan.filter.vectors > 1) && rounding_of(recipe, precision_of<Value>) != Rounding::none) {
        throw RecipeError(fmt::format("{}: rounds values, which {} does not refine", recipe.name,
                                      is_tuned ? "a tuned solve" : "a solve with several right-hand sides"));
    }
    return plan;
}

KernelFilter for_one_vector(KernelFilter filter) {
    filter.vectors = 1;
    return filter;
}

}  // namespace

template <ValueType Value>
Multiplier<Value>::Multiplier(const Recipe& recipe, const CsrMatrix& input, const ReadyPlan<Value>& plan)
    : input_(input),
      device_(plan.device),
      kernels_of_one_(choose_kernels(recipe, for_one_vector(plan.filter))),
      ready_(recipe, input, checked(recipe, plan)) {}

template <ValueType Value>
void Multiplier<Value>::multiply(const Value* x, Value* y) {
    ready_.kernel()->run(x, y, false);
}

template <ValueType Value>
void Multiplier<Value>::multiply_one(const Value* x, Value* y) {
    (kernel_of_one_ == nullptr ? *ready_.kernel() : *kernel_of_one_).run(x, y, false);
}

template <ValueType Value>
std::string Multiplier<Value>::prepare_one() {
    if (planned() != nullptr || ready_.space().vectors == 1) return preparation().kernel.kernel;
    if (kernel_of_one_ == nullptr) {
        one_ = ready_.candidate();
        one_.space = std::make_shared<const ProductSpace>(ready_.space().row_order, ready_.space().column_order);
        for (std::size_t i = 0; i < one_.shares.size(); ++i) one_.shares[i].kernel = kernels_of_one_[i];
        kernel_of_one_ = one_.prepare(Values::real, device_);
    }
    return one_.kernel();
}

template <ValueType Value>
void Multiplier<Value>::multiply_in_full(const Value* x, Value* y) {
    ready_.kernel_in_full()->run(x, y, false);
}

template <ValueType Value>
double Multiplier<Value>::new_values_seconds(const Clock& clock) {
    if (persistent_ == nullptr) return ready_.new_values_seconds(input_, device_, clock);
    const double of_layout = planned() == nullptr ? 0 : ready_.new_values_seconds(input_, device_, clock);
    DeviceMemory uploaded;
    if (ready_.copy() == nullptr) uploaded = device_.allocate(input_.values.size() * sizeof(Value), "new values");
    const Stopwatch watch(clock);
    if (ready_.copy() == nullptr) CopyOnDevice<Value>::upload(device_, input_.values, uploaded);
    const Value* const values = ready_.copy() == nullptr ? uploaded.template as<const Value>() : ready_.copy()->values;
    persistent_->set_values(values);  // may wait for the device, which timed work must not do
    (void)device_.time([] {});
    return of_layout + watch.seconds();
}

template <ValueType Value>
PersistentSolver<Value>& Multiplier<Value>::persistent(const EngineWish& wish) {
    if (persistent_ == nullptr && reason_against_persistent_.empty()) {
        try {
            persistent_ = make_persistent(ready_, solved(), device_, wish);
        } catch (const Unsuitable& reason) {
            reason_against_persistent_ = reason.what();
        }
    }
    if (persistent_ == nullptr) throw Unsuitable(reason_against_persistent_);
    return *persistent_;
}

template <ValueType Value>
std::unique_ptr<CheckedProduct<Value>> Multiplier<Value>::checked_product() {
    (void)ready_.space();  // of a matrix that a device prepared, it is made at the first call
    VectorsOfProduct<Value> vectors(ready_.candidate().space, device_);
    vectors.set_x([](Index column, int vector) { return real_element(column, static_cast<std::uint32_t>(vector + 1)); });
    const std::shared_ptr<void> not_owned;
    const std::shared_ptr<Kernel<Value>> kernel(not_owned, ready_.kernel());
    const std::shared_ptr<const CsrMatrix> input(not_owned, &input_);
    const std::shared_ptr<const CsrMatrix>& rounded = ready_.candidate().rounded;
    return std::make_unique<CheckedProduct<Value>>(std::move(vectors), kernel, rounded == nullptr ? input : rounded, device_);
}

template class Multiplier<float>;
template class Multiplier<double>;

}  // namespace workbench
