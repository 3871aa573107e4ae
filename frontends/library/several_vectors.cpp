#include "frontends/library/several_vectors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace workbench {
namespace {

/// The place of each element of several vectors whose rows move to `order`. Empty if none moves.
DeviceMemory places_of(std::span<const Index> order, int vectors, Device& device) {
    Index number = 0;
    if (std::all_of(order.begin(), order.end(), [&number](Index row) { return row == number++; })) return {};
    const std::vector<Index> places = elements_of(order, vectors);
    return to_device(device, std::span<const Index>(places), "a permutation of several vectors");
}

template <ValueType Value>
Candidate<Value> for_several(Candidate<Value> candidate, int vectors) {
    candidate.space = std::make_shared<const ProductSpace>(candidate.space->row_order, candidate.space->column_order, vectors);
    return candidate;
}

}  // namespace

template <ValueType Value>
SeveralVectors<Value>::SeveralVectors(const Candidate<Value>& candidate, int vectors, Device& device)
    : device_(device), candidate_(for_several(candidate, vectors)), kernel_(candidate_.prepare(Values::real, device)) {
    const ProductSpace& one = *candidate.space;
    elements_of_x_ = one.column_order.size() * vectors;
    elements_of_y_ = one.row_order.size() * vectors;
    x_to_recipe_ = places_of(one.column_order.new_of_old(), vectors, device);
    y_to_caller_ = places_of(one.rows_of_result(), vectors, device);
    if (x_to_recipe_.bytes() > 0) x_ = device.allocate(elements_of_x_ * sizeof(Value), "X in the recipe's order");
    if (y_to_caller_.bytes() > 0) y_ = device.allocate(elements_of_y_ * sizeof(Value), "Y in the recipe's order");
}

template <ValueType Value>
void SeveralVectors<Value>::run(const Value* x, Value* y, bool accumulate) {
    if (x_to_recipe_.bytes() > 0) {
        device_.scatter(x, x_to_recipe_.as<const Index>(), elements_of_x_, x_.as<Value>());
        x = x_.as<const Value>();
    }
    if (y_to_caller_.bytes() == 0) return kernel_->run(x, y, accumulate);
    kernel_->run(x, y_.as<Value>(), false);
    if (accumulate) {
        device_.scatter_add(y_.as<const Value>(), y_to_caller_.as<const Index>(), elements_of_y_, y);
    } else {
        device_.scatter(y_.as<const Value>(), y_to_caller_.as<const Index>(), elements_of_y_, y);
    }
}

template <ValueType Value>
void SeveralVectors<Value>::permute(const Value* from, Value* to, bool to_recipe) {
    const DeviceMemory* places = to_recipe ? &x_to_recipe_ : &y_to_caller_;
    if (places->bytes() == 0) {
        if (identity_.bytes() == 0) {
            identity_ = to_device(device_, Permutation::identity(elements_of_x_).old_of_new(), "the order of several vectors");
        }
        places = &identity_;
    }
    device_.scatter(from, places->as<const Index>(), elements_of_x_, to);
}

template <ValueType Value>
void SeveralVectors<Value>::run_from_host(std::span<const Value> x, std::span<Value> y, bool accumulate) {
    if (device_.properties().kind == DeviceKind::host) return run(x.data(), y.data(), accumulate);
    if (x_from_host_.bytes() == 0) x_from_host_ = device_.allocate(x.size_bytes(), "X of the host");
    if (y_from_host_.bytes() == 0) y_from_host_ = device_.allocate(y.size_bytes(), "Y of the host");
    device_.upload(std::as_bytes(x), x_from_host_);
    if (accumulate) device_.upload(std::as_bytes(y), y_from_host_);
    run(x_from_host_.as<const Value>(), y_from_host_.as<Value>(), accumulate);
    device_.download(y_from_host_, std::as_writable_bytes(y));
}

template class SeveralVectors<float>;
template class SeveralVectors<double>;

}  // namespace workbench
