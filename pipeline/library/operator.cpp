#include <span>
#include <utility>

#include "pipeline/library/applied_recipe.hpp"
#include "pipeline/library/caller_errors.hpp"
#include "pipeline/library/checked_matrix.hpp"
#include "pipeline/library/checked_recipe.hpp"

namespace spmv_workbench {
namespace {

using workbench::for_caller;
using workbench::VectorOrder;

constexpr auto caller = VectorOrder::of_caller;
constexpr auto recipe = VectorOrder::of_recipe;

void check_vectors(const OperatorFacts& facts, const void* x, std::size_t size_of_x, const void* y, std::size_t size_of_y,
                   std::size_t value_bytes) {
    workbench::require_size("x", size_of_x, static_cast<std::size_t>(facts.columns));
    workbench::require_size("y", size_of_y, static_cast<std::size_t>(facts.rows));
    workbench::require_apart(x, size_of_x * value_bytes, y, size_of_y * value_bytes);
}

void require_no_parallel_region() {
    if (workbench::in_parallel_region()) {
        throw std::invalid_argument("an operator cannot be constructed in a parallel region of OpenMP");
    }
}

void require_gpu(const OperatorFacts& facts) {
    if (facts.device != Device::gpu) throw std::invalid_argument("a GPU array was passed to an operator on the host");
}

}  // namespace

template <typename Value>
class __attribute__((visibility("hidden"))) Operator<Value>::Applied {
public:
    Applied(Recipe recipe, const CsrView<Value>& matrix, const Options& options)
        : recipe_(std::move(recipe)), applied_(recipe_.checked_->recipe, workbench::checked_matrix(matrix), options) {}

    [[nodiscard]] const workbench::AppliedRecipe<Value>& applied() const { return applied_; }

    void run(ArrayView<const Value> x, ArrayView<Value> y, VectorOrder order, bool accumulate) {
        check_vectors(applied_.facts(), x.data(), x.size(), y.data(), y.size(), sizeof(Value));
        for_caller(
            [&] { applied_.run_from_host(std::span(x.data(), x.size()), std::span(y.data(), y.size()), order, accumulate); });
    }

    void run(DeviceArray<const Value> x, DeviceArray<Value> y, VectorOrder order, bool accumulate) {
        require_gpu(applied_.facts());
        check_vectors(applied_.facts(), x.address(), x.size(), y.address(), y.size(), sizeof(Value));
        for_caller([&] { applied_.run(x.address(), y.address(), order, accumulate); });
    }

    /// Permutes on the host even if the operator is on a GPU, as that costs no more than copying there and back.
    void bring_to(VectorOrder order, ArrayView<const Value> from, ArrayView<Value> to) const {
        check_order(from.data(), from.size(), to.data(), to.size());
        const workbench::Permutation& columns = applied_.column_order();
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto caller = static_cast<std::size_t>(columns.old_of_new(static_cast<std::int32_t>(i)));
            if (order == VectorOrder::of_recipe) {
                to[i] = from[caller];
            } else {
                to[caller] = from[i];
            }
        }
    }

    void bring_to(VectorOrder order, DeviceArray<const Value> from, DeviceArray<Value> to) {
        require_gpu(applied_.facts());
        check_order(from.address(), from.size(), to.address(), to.size());
        for_caller([&] { applied_.bring_to(order, from.address(), to.address()); });
    }

private:
    void check_order(const void* from, std::size_t size, const void* to, std::size_t size_of_result) const {
        const auto columns = static_cast<std::size_t>(applied_.facts().columns);
        workbench::require_size("the vector", size, columns);
        workbench::require_size("the reordered vector", size_of_result, columns);
        workbench::require_apart(from, size * sizeof(Value), to, size_of_result * sizeof(Value));
    }

    Recipe recipe_;  // declared first, as applied_ refers to it
    workbench::AppliedRecipe<Value> applied_;
};

template <typename Value>
Operator<Value>::Operator(const Recipe& recipe, const CsrView<Value>& matrix, const Options& options)
    : applied_((require_no_parallel_region(), for_caller([&] {
                    // Serialised, as Kokkos and the libraries loaded here may not be thread-safe.
                    const auto kokkos = workbench::running_kokkos();
                    const workbench::KokkosTurn turn;
                    return std::make_unique<Applied>(recipe, matrix, options);
                }))) {}

template <typename Value>
Operator<Value>::~Operator() = default;
template <typename Value>
Operator<Value>::Operator(Operator&& other) noexcept = default;
template <typename Value>
Operator<Value>& Operator<Value>::operator=(Operator&& other) noexcept = default;

template <typename Value>
void Operator<Value>::multiply(ArrayView<const Value> x, ArrayView<Value> y) {
    applied_->run(x, y, caller, false);
}
template <typename Value>
void Operator<Value>::multiply(DeviceArray<const Value> x, DeviceArray<Value> y) {
    applied_->run(x, y, caller, false);
}
template <typename Value>
void Operator<Value>::multiply_add(ArrayView<const Value> x, ArrayView<Value> y) {
    applied_->run(x, y, caller, true);
}
template <typename Value>
void Operator<Value>::multiply_add(DeviceArray<const Value> x, DeviceArray<Value> y) {
    applied_->run(x, y, caller, true);
}
template <typename Value>
void Operator<Value>::multiply_in_recipe_order(ArrayView<const Value> x, ArrayView<Value> y) {
    applied_->run(x, y, recipe, false);
}
template <typename Value>
void Operator<Value>::multiply_in_recipe_order(DeviceArray<const Value> x, DeviceArray<Value> y) {
    applied_->run(x, y, recipe, false);
}
template <typename Value>
void Operator<Value>::multiply_add_in_recipe_order(ArrayView<const Value> x, ArrayView<Value> y) {
    applied_->run(x, y, recipe, true);
}
template <typename Value>
void Operator<Value>::multiply_add_in_recipe_order(DeviceArray<const Value> x, DeviceArray<Value> y) {
    applied_->run(x, y, recipe, true);
}

template <typename Value>
void Operator<Value>::to_recipe_order(ArrayView<const Value> from, ArrayView<Value> to) const {
    applied_->bring_to(recipe, from, to);
}
template <typename Value>
void Operator<Value>::to_recipe_order(DeviceArray<const Value> from, DeviceArray<Value> to) const {
    applied_->bring_to(recipe, from, to);
}
template <typename Value>
void Operator<Value>::from_recipe_order(ArrayView<const Value> from, ArrayView<Value> to) const {
    applied_->bring_to(caller, from, to);
}
template <typename Value>
void Operator<Value>::from_recipe_order(DeviceArray<const Value> from, DeviceArray<Value> to) const {
    applied_->bring_to(caller, from, to);
}

template <typename Value>
ArrayView<const std::int32_t> Operator<Value>::row_order() const {
    return applied_->applied().row_order().old_of_new();
}
template <typename Value>
ArrayView<const std::int32_t> Operator<Value>::column_order() const {
    return applied_->applied().column_order().old_of_new();
}

template <typename Value>
const OperatorFacts& Operator<Value>::facts() const {
    return applied_->applied().facts();
}

template class Operator<float>;
template class Operator<double>;

}  // namespace spmv_workbench
