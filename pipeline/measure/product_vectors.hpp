// x and y of one product on a device.
#pragma once

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
        std::vector<Value> x(order.size());
        for (Index i = 0; i < order.size(); ++i) x[i] = static_cast<Value>(at(order.old_of_new(i)));
        device_->upload(std::as_bytes(std::span(x)), x_);
    }

    /// at(row): the element of y before a run.
    template <typename At>
    void set_y(At at) {
        std::vector<Value> y(rows_of_y_.size());
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = at(rows_of_y_[i]);
        device_->upload(std::as_bytes(std::span(y)), y_);
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
        const std::vector<Value> there = download(y, space_->row_order.size());
        std::vector<Value> back(there.size());
        for (std::size_t i = 0; i < back.size(); ++i) back[rows_of_y_[i]] = there[i];
        return back;
    }
    [[nodiscard]] std::vector<Value> y_of_input() const { return y_of_input(y()); }

private:
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
