#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "frontends/library/applied.hpp"
#include "frontends/library/caller_errors.hpp"
#include "frontends/library/loaded_once.hpp"
#include "kernels/device/host_loops.hpp"

namespace spmv_workbench {
namespace {

using workbench::for_caller;

void check_vectors(const OperatorFacts& facts, const void* x, std::size_t size_of_x, const void* y, std::size_t size_of_y,
                   std::size_t value_bytes, std::int32_t vectors = 1) {
    workbench::require_vectors(vectors);
    const auto count = static_cast<std::size_t>(vectors);
    workbench::require_size("x", size_of_x, static_cast<std::size_t>(facts.columns) * count);
    workbench::require_size("y", size_of_y, static_cast<std::size_t>(facts.rows) * count);
    workbench::require_apart(x, size_of_x * value_bytes, y, size_of_y * value_bytes);
}

void check_order(const OperatorFacts& facts, const void* from, std::size_t size, const void* to, std::size_t size_of_result,
                 std::size_t value_bytes) {
    const auto columns = static_cast<std::size_t>(facts.columns);
    workbench::require_size("the vector", size, columns);
    workbench::require_size("the reordered vector", size_of_result, columns);
    workbench::require_apart(from, size * value_bytes, to, size_of_result * value_bytes);
}

void require_gpu(const OperatorFacts& facts) {
    if (facts.device != Device::gpu) throw std::invalid_argument("a GPU array was passed to an operator on the host");
}

}  // namespace

template <typename Value>
template <typename Matrix>
std::unique_ptr<typename Operator<Value>::Applied> Operator<Value>::Applied::make_loaded(
    const std::shared_ptr<const Recipe::Checked>& from, const Matrix& matrix, const Options& options) {
    const double seconds = workbench::load_once<Value>(from->recipe, matrix, options, "operator", [&](const Matrix& part) {
        (void)workbench::make_applied<Applied>(from, part, workbench::for_leading_part(options));
    });
    auto applied = workbench::make_applied<Applied>(from, matrix, options);
    applied->recipe->add_process_seconds(seconds);
    return applied;
}

template <typename Value>
Operator<Value>::Operator() noexcept = default;

template <typename Value>
Operator<Value>::Operator(const Recipe& recipe, const CsrView<Value>& matrix, const Options& options)
    : applied_(Applied::make_loaded(recipe.checked_, matrix, options)) {}

template <typename Value>
Operator<Value>::Operator(const Recipe& recipe, const DeviceCsrView<Value>& matrix, const Options& options)
    : applied_(Applied::make_loaded(recipe.checked_, matrix, options)) {}

template <typename Value>
Operator<Value>::~Operator() = default;
template <typename Value>
Operator<Value>::Operator(Operator&& other) noexcept = default;
template <typename Value>
Operator<Value>& Operator<Value>::operator=(Operator&& other) noexcept = default;

template <typename Value>
typename Operator<Value>::Applied& Operator<Value>::applied() const {
    if (applied_ == nullptr)
        throw std::invalid_argument("the operator was moved from; expected one that was made or assigned to");
    return *applied_;
}

template <typename Value>
void Operator<Value>::run(ArrayView<const Value> x, ArrayView<Value> y, VectorOrder order, bool accumulate) {
    check_vectors(facts(), x.data(), x.size(), y.data(), y.size(), sizeof(Value));
    for_caller([&] {
        applied().recipe->run_from_host(std::span(x.data(), x.size()), std::span(y.data(), y.size()), order, accumulate);
    });
}

template <typename Value>
void Operator<Value>::run(DeviceArray<const Value> x, DeviceArray<Value> y, VectorOrder order, bool accumulate) {
    require_gpu(facts());
    check_vectors(facts(), x.address(), x.size(), y.address(), y.size(), sizeof(Value));
    for_caller([&] { applied().recipe->run(x.address(), y.address(), order, accumulate); });
}

template <typename Value>
void Operator<Value>::run(ArrayView<const Value> x, ArrayView<Value> y, std::int32_t vectors, bool accumulate) {
    if (vectors == 1) return run(x, y, VectorOrder::caller, accumulate);
    check_vectors(facts(), x.data(), x.size(), y.data(), y.size(), sizeof(Value), vectors);
    for_caller([&] {
        const workbench::KokkosTurn turn;
        applied().recipe->several(vectors)->run_from_host(std::span(x.data(), x.size()), std::span(y.data(), y.size()),
                                                          accumulate);
    });
}

template <typename Value>
void Operator<Value>::run(DeviceArray<const Value> x, DeviceArray<Value> y, std::int32_t vectors, bool accumulate) {
    if (vectors == 1) return run(x, y, VectorOrder::caller, accumulate);
    require_gpu(facts());
    check_vectors(facts(), x.address(), x.size(), y.address(), y.size(), sizeof(Value), vectors);
    for_caller([&] {
        const workbench::KokkosTurn turn;
        applied().recipe->several(vectors)->run(x.address(), y.address(), accumulate);
    });
}

template <typename Value>
void Operator<Value>::multiply(Value alpha, ArrayView<const Value> x, Value beta, ArrayView<Value> y) {
    if (alpha == 1 && (beta == 0 || beta == 1)) return run(x, y, VectorOrder::caller, beta == 1);
    check_vectors(facts(), x.data(), x.size(), y.data(), y.size(), sizeof(Value));
    std::vector<Value>& product = applied().product;
    product.resize(y.size());
    run(x, product, VectorOrder::caller, false);
    for_caller([&] {
        const workbench::KokkosTurn turn;
        workbench::for_each_in_parallel(static_cast<std::int64_t>(y.size()), 4096, [&](std::int64_t row) {
            const Value scaled = alpha * product[row];
            y[row] = beta == 0 ? scaled : scaled + beta * y[row];
        });
    });
}

template <typename Value>
Operator<Value> Operator<Value>::transposed() const {
    const Applied& own = applied();
    const workbench::CsrMatrix matrix = for_caller([&] { return own.recipe->transposed(); });
    const std::vector<Value> values(matrix.values.begin(), matrix.values.end());
    Options options = own.options;
    options.triangle = Triangle::as_given;
    Operator transposed;
    transposed.applied_ = workbench::make_applied<Applied>(
        own.checked, CsrView<Value>(matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, values), options);
    return transposed;
}

template <typename Value>
void Operator<Value>::set_values(DeviceArray<const Value> values) {
    require_gpu(facts());
    workbench::require_size("values", values.size(), applied().entries);
    if (applied().recipe->is_only_there()) {
        return for_caller([&] { applied().recipe->set_values_there(values.address()); });
    }
    std::vector<Value> copy(values.size());
    for_caller([&] { workbench::copy_from_device(applied().recipe->device(), values.address(), std::span(copy)); });
    set_values(copy);
}

template <typename Value>
void Operator<Value>::set_values(ArrayView<const Value> values) {
    workbench::require_size("values", values.size(), applied().entries);
    workbench::require_no_parallel_region();
    for_caller([&] {
        const workbench::KokkosTurn turn;
        applied().set_values(values);
    });
}

template <typename Value>
void Operator<Value>::set_values(const CsrView<Value>& matrix) {
    Applied& own = applied();
    workbench::require_no_parallel_region();
    for_caller([&] {
        const workbench::KokkosTurn turn;
        own.set_values(matrix);
    });
}

/// Permutes on the host even if the operator is on a GPU, as that costs no more than copying there and back.
template <typename Value>
void Operator<Value>::permute(ArrayView<const Value> from, ArrayView<Value> to, VectorOrder order) const {
    check_order(facts(), from.data(), from.size(), to.data(), to.size(), sizeof(Value));
    const ArrayView<const std::int32_t> caller_of_recipe = column_order();
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto caller = static_cast<std::size_t>(caller_of_recipe[i]);
        if (order == VectorOrder::recipe) {
            to[i] = from[caller];
        } else {
            to[caller] = from[i];
        }
    }
}

template <typename Value>
void Operator<Value>::permute(DeviceArray<const Value> from, DeviceArray<Value> to, VectorOrder order) const {
    require_gpu(facts());
    check_order(facts(), from.address(), from.size(), to.address(), to.size(), sizeof(Value));
    for_caller([&] { applied().recipe->permute(from.address(), to.address(), order); });
}

template <typename Value>
ArrayView<const std::int32_t> Operator<Value>::row_order() const {
    return applied().recipe->row_order().old_of_new();
}
template <typename Value>
ArrayView<const std::int32_t> Operator<Value>::column_order() const {
    return applied().recipe->column_order().old_of_new();
}

template <typename Value>
std::vector<Value> Operator<Value>::diagonal() const {
    return for_caller([&] { return applied().recipe->diagonal(); });
}

template <typename Value>
const OperatorFacts& Operator<Value>::facts() const {
    return applied().recipe->facts();
}

template class Operator<float>;
template class Operator<double>;

}  // namespace spmv_workbench
