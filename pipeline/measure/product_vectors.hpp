// x and y of one product on a device.
#pragma once

#include <Kokkos_Core.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/contract/kernel.hpp"
#include "pipeline/measure/candidate.hpp"
#include "pipeline/measure/verification.hpp"

namespace workbench {

/// x and y in the orders of a product, which the caller sets and gets in those of the input.
template <ValueType Value>
class VectorsOfProduct {
public:
    VectorsOfProduct(std::shared_ptr<const ProductSpace> space, Device& device)
        : space_(std::move(space)),
          device_(&device),
          x_(device.allocate(space_->column_order.size() * sizeof(Value), "x")),
          y_(device.allocate(space_->row_order.size() * sizeof(Value), "y")),
          rows_of_y_(space_->rows_of_result()) {}

    /// at(column): the element of x.
    template <typename At>
    void set_x(At at) {
        const Permutation& order = space_->column_order;
        set(x_, static_cast<std::size_t>(order.size()), [&](Index i) { return static_cast<Value>(at(order.old_of_new(i))); });
    }

    /// at(row): the element of y before a run.
    template <typename At>
    void set_y(At at) {
        set(y_, rows_of_y_.size(), [&](Index i) { return at(rows_of_y_[i]); });
    }

    void exchange_x(DeviceMemory& other) { std::swap(x_, other); }

    void run(Kernel<Value>& kernel, bool accumulate) { kernel.run(x(), y(), accumulate); }

    [[nodiscard]] Value* x() const { return x_.template as<Value>(); }
    [[nodiscard]] Value* y() const { return y_.template as<Value>(); }
    [[nodiscard]] const ProductSpace& space() const { return *space_; }

    /// The elements of a vector on the device that is in the order of x, or of y.
    [[nodiscard]] std::vector<double> x_of_input(const Value* x) const {
        const std::vector<Value> there = download(x, space_->column_order.size());
        std::vector<double> back(there.size());
        for (std::size_t i = 0; i < back.size(); ++i) back[space_->column_order.old_of_new(static_cast<Index>(i))] = there[i];
        return back;
    }
    [[nodiscard]] std::vector<Value> y_of_input(const Value* y) const {
        std::vector<Value> back(rows_of_y_.size());
        std::vector<Value> copy;
        if (!is_on_host()) {
            copy = download(y, space_->row_order.size());
            y = copy.data();
        }
        for_each(back.size(), [&](Index i) { back[rows_of_y_[i]] = y[i]; });
        return back;
    }
    [[nodiscard]] std::vector<Value> y_of_input() const { return y_of_input(y()); }

private:
    [[nodiscard]] bool is_on_host() const { return device_->properties().kind == DeviceKind::host; }

    /// body(i) for i in [0, size), on all cores of the host.
    template <typename Body>
    static void for_each(std::size_t size, const Body& body) {
        using Elements = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
        Kokkos::parallel_for("vector", Elements(0, static_cast<Index>(size)), body);
    }

    /// Sets the elements of a vector on the device to at(i).
    template <typename At>
    void set(DeviceMemory& vector, std::size_t size, const At& at) {
        std::vector<Value> copy(is_on_host() ? 0 : size);
        auto* const elements = is_on_host() ? vector.template as<Value>() : copy.data();
        for_each(size, [&](Index i) { elements[i] = at(i); });
        if (!is_on_host()) device_->upload(std::as_bytes(std::span(copy)), vector);
    }

    [[nodiscard]] std::vector<Value> download(const Value* from, Index count) const {
        std::vector<Value> there(count);
        const DeviceMemory memory(const_cast<Value*>(from), there.size() * sizeof(Value), [](void*) {});
        device_->download(memory, std::as_writable_bytes(std::span(there)));
        return there;
    }

    std::shared_ptr<const ProductSpace> space_;
    Device* device_;
    DeviceMemory x_;
    DeviceMemory y_;
    std::vector<Index> rows_of_y_;  // of the input
};

}  // namespace workbench
