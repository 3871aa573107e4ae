// Checks of the library's operators with matrices in the form of a caller.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/matrix/csr_matrix.hpp"
#include "support/eigen.hpp"

namespace workbench {

/// The CSR arrays of a caller: the columns of each row are in no order.
template <typename Value>
struct Arrays {
    explicit Arrays(const CsrMatrix& matrix, unsigned seed = 7)
        : rows(matrix.rows), columns(matrix.columns), row_offsets(matrix.row_offsets) {
        std::mt19937 random(seed);
        for (Index row = 0; row < rows; ++row) {
            std::vector<Offset> places(static_cast<std::size_t>(matrix.row_length(row)));
            std::iota(places.begin(), places.end(), matrix.row_offsets[row]);
            std::shuffle(places.begin(), places.end(), random);
            for (const Offset place : places) {
                column_indices.push_back(matrix.column_indices[place]);
                values.push_back(static_cast<Value>(matrix.values[place]));
            }
        }
    }
    [[nodiscard]] spmv_workbench::CsrView<Value> view() const { return {rows, columns, row_offsets, column_indices, values}; }

    Index rows;
    Index columns;
    HostArray<std::int64_t> row_offsets;
    std::vector<std::int32_t> column_indices;
    std::vector<Value> values;
};

template <typename Value>
[[nodiscard]] std::vector<Value> numbers(Index count, int seed) {
    std::vector<Value> all(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) all[i] = static_cast<Value>((i * 37 + seed * 11) % 16) / 8 - 1;
    return all;
}

/// start + A x in f64, computed by Eigen.
template <typename Value>
[[nodiscard]] std::vector<double> expected(const CsrMatrix& matrix, const std::vector<Value>& x,
                                           const std::vector<Value>& start) {
    CsrMatrix rounded = matrix;
    for (double& value : rounded.values) value = static_cast<double>(static_cast<Value>(value));
    const Eigen::VectorXd x_vector = Eigen::Map<const Eigen::VectorX<Value>>(x.data(), matrix.columns).template cast<double>();
    Eigen::VectorXd y = to_eigen(rounded) * x_vector;
    y += Eigen::Map<const Eigen::VectorX<Value>>(start.data(), matrix.rows).template cast<double>();
    return {y.data(), y.data() + y.size()};
}

template <typename Value>
[[nodiscard]] bool close(const std::vector<Value>& found, const std::vector<double>& right, const CsrMatrix& matrix) {
    double scale = 1;
    for (const double value : matrix.values) scale = std::max(scale, std::abs(value));
    const double bound = 1e-1 * scale * std::max<double>(1, matrix.columns) * (std::is_same_v<Value, float> ? 1e-5 : 1e-13);
    for (std::size_t row = 0; row < right.size(); ++row) {
        if (!(std::abs(static_cast<double>(found[row]) - right[row]) <= bound)) return false;
    }
    return found.size() == right.size();
}

/// The calls of an operator, with vectors on the host; the calls may copy them to another memory.
template <typename Value>
struct OperatorCalls {
    using Call = std::function<void(const std::vector<Value>&, std::vector<Value>&)>;
    Call multiply;
    Call multiply_add;
    Call multiply_there;  // in the recipe's order
    Call multiply_add_there;
    Call go_there;
    Call come_back;
};

/// Checks that all calls give Eigen's results.
template <typename Value>
void check_operator(const spmv_workbench::Operator<Value>& a, const CsrMatrix& matrix, const OperatorCalls<Value>& calls) {
    const auto x = numbers<Value>(matrix.columns, 1);
    const auto start = numbers<Value>(matrix.rows, 2);
    const std::vector<Value> unwritten(start.size(), std::numeric_limits<Value>::quiet_NaN());
    const std::vector<double> product = expected(matrix, x, std::vector<Value>(start.size(), 0));
    const std::vector<double> sum = expected(matrix, x, start);
    std::vector<Value> y = unwritten;
    calls.multiply(x, y);
    CHECK(close(y, product, matrix));
    y = start;
    calls.multiply_add(x, y);
    CHECK(close(y, sum, matrix));

    // In the recipe's order: x is permuted, multiplied in this order, and y is permuted back.
    std::vector<Value> x_there(x.size());
    calls.go_there(x, x_there);
    std::vector<Value> as_said;
    for (const std::int32_t column : a.column_order()) as_said.push_back(x[column]);
    CHECK(x_there == as_said);
    std::vector<Value> there_and_back(x.size());
    calls.come_back(x_there, there_and_back);
    CHECK(there_and_back == x);
    const auto back = [&](const std::vector<Value>& vector) {
        std::vector<Value> result = vector;
        if (matrix.square()) calls.come_back(vector, result);
        return result;
    };
    std::vector<Value> y_there = unwritten;
    calls.multiply_there(x_there, y_there);
    CHECK(close(back(y_there), product, matrix));
    y_there = start;
    if (matrix.square()) calls.go_there(start, y_there);
    calls.multiply_add_there(x_there, y_there);
    CHECK(close(back(y_there), sum, matrix));
}

}  // namespace workbench
