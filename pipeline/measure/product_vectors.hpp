// x and y of one product on a device, or of one with several vectors.
#pragma once

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
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

    /// Fills y with the NaN that no run may keep.
    void clear_y() { device_->fill(y(), unwritten_byte, elements_of_y() * sizeof(Value)); }

    /// Elements in memory of the device: those themselves if it is the host, otherwise a copy.
    class OnHost {
    public:
        OnHost(const VectorsOfProduct& vectors, const Value* there, std::size_t count) : data_(there) {
            if (vectors.is_on_host()) return;
            copy_ = unwritten_array<Value>(count);
            copy_from_device(*vectors.device_, there, std::span<Value>(copy_));
            data_ = copy_.data();
        }
        [[nodiscard]] const Value* data() const { return data_; }

    private:
        HostArray<Value> copy_;
        const Value* data_;
    };

    /// Compares y with compare(y of the input, number of the vector), vector by vector. Of several that are right, the result
    /// has the largest error.
    template <typename Compare>
    [[nodiscard]] Comparison compare_each(const Compare& compare) const {
        return compare_each(OnHost(*this, y(), elements_of_y()).data(), compare);
    }

    /// Checks that each element of y equals expected(row of the input, vector) bit for bit.
    template <typename Expected>
    [[nodiscard]] Comparison compare_exactly(const Expected& expected) const {
        const OnHost there(*this, y(), elements_of_y());
        Index wrong_rows = 0;
        Kokkos::parallel_reduce(
            "compare", Rows(0, static_cast<Index>(rows_of_y_.size())),
            [&](Index i, Index& wrong) {
                const Value* const elements = there.data() + Offset{i} * count();
                int right = 0;
                for (int vector = 0; vector < count(); ++vector) {
                    right += is_exactly(elements[vector], expected(rows_of_y_[i], vector)) ? 1 : 0;
                }
                wrong += right == count() ? 0 : 1;
            },
            wrong_rows);
        if (wrong_rows == 0) return {};
        return compare_each(there.data(), [&](const std::vector<Value>& y_of_input, int vector) {
            std::vector<double> of_vector(y_of_input.size());
            for_each(static_cast<Index>(of_vector.size()), [&](Index row) { of_vector[row] = expected(row, vector); });
            return workbench::compare_exactly(y_of_input, of_vector);
        });
    }

    /// Checks y, on the device, against the products of a matrix in the order of the input with all x within bounds. x is on
    /// the host; place_of_column: the row of each column in x; empty: the order of the input. All vectors are compared in one
    /// pass over the matrix, and one after another only if that pass does not find each row right.
    [[nodiscard]] Comparison compare_within(const CsrMatrix& matrix, const Value* x, std::span<const Index> place_of_column,
                                            const Value* y) const {
        const OnHost there(*this, y, elements_of_y());
        const std::optional<double> error = error_of_several<Value>(
            matrix,
            {.vectors = count(), .x = x, .y = there.data(), .place_of_column = place_of_column, .row_of_place = rows_of_y_});
        if (error) return {true, *error, ""};
        std::vector<double> x_of_vector(matrix.columns);
        return compare_each(there.data(), [&](const std::vector<Value>& y_of_input, int vector) {
            for_each(matrix.columns, [&](Index column) {
                const Index place = place_of_column.empty() ? column : place_of_column[column];
                x_of_vector[column] = x[Offset{place} * count() + vector];
            });
            return workbench::compare_within(y_of_input, reference_in_range(matrix, x_of_vector));
        });
    }

private:
    using Rows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

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
        Kokkos::parallel_for("vector", Rows(0, size), body);
    }

    /// Sets row i of a vector, or of several, on the device to at(i, vector).
    template <typename At>
    void set(DeviceMemory& memory, Index size, const At& at) {
        HostArray<Value> copy = unwritten_array<Value>(is_on_host() ? 0 : static_cast<std::size_t>(size) * count());
        auto* const elements = is_on_host() ? memory.template as<Value>() : copy.data();
        for_each(size, [&](Index i) {
            for (int vector = 0; vector < count(); ++vector) elements[Offset{i} * count() + vector] = at(i, vector);
        });
        if (!is_on_host()) device_->upload(std::as_bytes(std::span(copy)), memory);
    }

    template <typename Compare>
    [[nodiscard]] Comparison compare_each(const Value* y, const Compare& compare) const {
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

    /// In a solve that leaves the range of numbers, sums depend on their order, but all rows are written.
    [[nodiscard]] static BoundedReference reference_in_range(const CsrMatrix& matrix, const std::vector<double>& x) {
        const double most = std::sqrt(static_cast<double>(std::numeric_limits<Value>::max()));
        if (std::all_of(x.begin(), x.end(), [most](double element) { return std::abs(element) <= most; })) {
            return bounded_reference<Value>(matrix, x);
        }
        const auto rows = static_cast<std::size_t>(matrix.rows);
        return {std::vector<double>(rows), std::vector<double>(rows, std::numeric_limits<double>::infinity())};
    }

    std::shared_ptr<const ProductSpace> space_;
    Device* device_;
    DeviceMemory x_;
    DeviceMemory y_;
    std::vector<Index> rows_of_y_;  // of the input
};

}  // namespace workbench
