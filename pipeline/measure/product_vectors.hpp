// x and y of one product on a device, or of one with several vectors.
#pragma once

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <algorithm>
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
          x_(device.allocate(elements_of_x() * sizeof(Value), "x")),
          y_(device.allocate(elements_of_y() * sizeof(Value), "y")),
          rows_of_y_(space_->rows_of_result()) {}

    /// at(column, vector) or, of a space with one vector, at(column): the element of x.
    template <typename At>
    void set_x(At at) {
        const Permutation& order = space_->column_order;
        set(x_, order.size(),
            [&](Index i, int vector) { return static_cast<Value>(element(at, order.old_of_new(i), vector)); });
    }

    /// at(row, vector) or at(row): the element of y before a run.
    template <typename At>
    void set_y(At at) {
        set(y_, static_cast<Index>(rows_of_y_.size()), [&](Index i, int vector) { return element(at, rows_of_y_[i], vector); });
    }

    void exchange_x(DeviceMemory& other) { std::swap(x_, other); }

    void run(Kernel<Value>& kernel, bool accumulate) { kernel.run(x(), y(), accumulate); }

    [[nodiscard]] Value* x() const { return x_.template as<Value>(); }
    [[nodiscard]] Value* y() const { return y_.template as<Value>(); }
    [[nodiscard]] const ProductSpace& space() const { return *space_; }
    [[nodiscard]] int count() const { return space_->vectors; }
    /// Elements of all x, and of all y.
    [[nodiscard]] std::size_t elements_of_x() const { return elements(space_->column_order); }
    [[nodiscard]] std::size_t elements_of_y() const { return elements(space_->row_order); }

    /// The elements of x on the device that are in the order of x, vector by vector.
    [[nodiscard]] std::vector<std::vector<double>> x_of_input(const Value* x) const {
        const std::vector<Value> there = download(x, elements_of_x());
        std::vector<std::vector<double>> back(count(), std::vector<double>(space_->column_order.size()));
        for (std::size_t i = 0; i < there.size(); ++i) {
            const auto column = space_->column_order.old_of_new(static_cast<Index>(i / count()));
            back[i % count()][column] = there[i];
        }
        return back;
    }
    /// Compares y on the device, in the order of y, with compare(y of the input, number of the vector), vector by vector. Of
    /// several that are right, the result has the largest error.
    template <typename Compare>
    [[nodiscard]] Comparison compare_y(const Value* y, const Compare& compare) const {
        std::vector<Value> copy;
        if (!is_on_host()) {
            copy = download(y, elements_of_y());
            y = copy.data();
        }
        Comparison worst;
        std::vector<Value> back(rows_of_y_.size());
        for (int vector = 0; vector < count(); ++vector) {
            for_each(static_cast<Index>(back.size()), [&](Index i) { back[rows_of_y_[i]] = y[Offset{i} * count() + vector]; });
            Comparison found = compare(back, vector);
            if (count() > 1 && !found.right) found.first_wrong = fmt::format("vector {}: {}", vector + 1, found.first_wrong);
            if (!found.right) return found;
            worst.error_over_bound = std::max(worst.error_over_bound, found.error_over_bound);
        }
        return worst;
    }
    template <typename Compare>
    [[nodiscard]] Comparison compare_y(const Compare& compare) const {
        return compare_y(y(), compare);
    }

private:
    [[nodiscard]] bool is_on_host() const { return device_->properties().kind == DeviceKind::host; }
    [[nodiscard]] std::size_t elements(const Permutation& order) const {
        return static_cast<std::size_t>(order.size()) * space_->vectors;
    }
    [[nodiscard]] static auto element(auto& at, Index i, int vector) {
        if constexpr (requires { at(i, vector); }) {
            return at(i, vector);
        } else {
            return at(i);
        }
    }

    /// body(i) for i in [0, size), on all cores of the host.
    template <typename Body>
    static void for_each(Index size, const Body& body) {
        using Elements = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
        Kokkos::parallel_for("vector", Elements(0, size), body);
    }

    /// Sets row i of a vector, or of several, on the device to at(i, vector).
    template <typename At>
    void set(DeviceMemory& memory, Index size, const At& at) {
        std::vector<Value> copy(is_on_host() ? 0 : static_cast<std::size_t>(size) * count());
        auto* const elements = is_on_host() ? memory.template as<Value>() : copy.data();
        for_each(size, [&](Index i) {
            for (int vector = 0; vector < count(); ++vector) elements[Offset{i} * count() + vector] = at(i, vector);
        });
        if (!is_on_host()) device_->upload(std::as_bytes(std::span(copy)), memory);
    }

    [[nodiscard]] std::vector<Value> download(const Value* from, std::size_t count) const {
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
