// Several vectors, the transpose, and y = alpha A x + beta y.
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/matrix/battery.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using spmv_workbench::CsrView;
using spmv_workbench::Operator;
using spmv_workbench::Options;
using spmv_workbench::Recipe;
using spmv_workbench::Triangle;

/// The battery with integers as values, so that sums are exact.
std::vector<NamedMatrix> integer_matrices() {
    std::vector<NamedMatrix> matrices = battery();
    for (NamedMatrix& named : matrices) {
        for (std::size_t i = 0; i < named.matrix.values.size(); ++i) {
            named.matrix.values[i] = static_cast<double>(i * 7 % 19) - 9;
        }
    }
    return matrices;
}

std::vector<double> integers(std::size_t size) {
    std::vector<double> numbers(size);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = static_cast<double>(i * 31 % 101) - 50;
    return numbers;
}

Operator<double> operator_of(const Recipe& recipe, const CsrMatrix& matrix) {
    return {recipe, CsrView<double>(matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values),
            Options{.device = spmv_workbench::Device::host, .triangle = Triangle::as_given}};
}

/// The product that a caller without an operator computes.
std::vector<double> product(const CsrMatrix& matrix, const std::vector<double>& x, std::size_t vectors) {
    std::vector<double> y(static_cast<std::size_t>(matrix.rows) * vectors);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            for (std::size_t j = 0; j < vectors; ++j) {
                y[static_cast<std::size_t>(row) * vectors + j] +=
                    matrix.values[i] * x[static_cast<std::size_t>(matrix.column_indices[i]) * vectors + j];
            }
        }
    }
    return y;
}

const std::vector<std::string>& recipe_names() {
    static const std::vector<std::string> names{"csr", "sell16", "row_sort_csr", "coo"};
    return names;
}

Recipe recipe_named(const std::string& name) {
    if (name == "row_sort_csr") {  // rows and columns have different orders
        return Recipe::from_text("[recipe]\nname = \"rows\"\n[[stage]]\nuse = \"row_sort\"\n[layout]\nuse = \"csr\"\n");
    }
    return Recipe::from_text("[recipe]\nname = \"one\"\n[layout]\nuse = \"" + (name == "sell16" ? "sell" : name) + "\"\n");
}

}  // namespace

TEST_CASE("an operator multiplies several vectors, and adds to them") {
    for (const std::string& name : recipe_names()) {
        for (const NamedMatrix& named : integer_matrices()) {
            CAPTURE(name);
            CAPTURE(named.name);
            const CsrMatrix& matrix = named.matrix;
            if (name == "row_sort_csr" && !matrix.square()) continue;
            Operator<double> a = operator_of(recipe_named(name), matrix);
            for (const std::size_t vectors : {1, 2, 3, 8}) {
                const std::vector<double> x = integers(static_cast<std::size_t>(matrix.columns) * vectors);
                const std::vector<double> expected = product(matrix, x, vectors);
                std::vector<double> y(expected.size(), std::numeric_limits<double>::quiet_NaN());
                a.multiply(x, y, static_cast<std::int32_t>(vectors));
                CHECK(y == expected);
                a.multiply_add(x, y, static_cast<std::int32_t>(vectors));
                for (std::size_t i = 0; i < y.size(); ++i) y[i] -= expected[i];
                CHECK(y == expected);
            }
        }
    }
}

TEST_CASE("the transpose of an operator multiplies with A^T") {
    for (const std::string& name : recipe_names()) {
        for (const NamedMatrix& named : integer_matrices()) {
            CAPTURE(name);
            CAPTURE(named.name);
            const CsrMatrix& matrix = named.matrix;
            if (name == "row_sort_csr" && !matrix.square()) continue;
            Operator<double> a = operator_of(recipe_named(name), matrix).transposed();
            CHECK(a.facts().rows == matrix.columns);
            CHECK(a.facts().columns == matrix.rows);
            const std::vector<double> x = integers(matrix.rows);
            std::vector<double> y(matrix.columns);
            a.multiply(x, y);
            CHECK(y == product(transpose(matrix), x, 1));
        }
    }
}

TEST_CASE("y = alpha A x + beta y, and with beta = 0 y is not read") {
    const NamedMatrix named = integer_matrices().back();
    const CsrMatrix& matrix = named.matrix;
    Operator<double> a = operator_of(recipe_named("csr"), matrix);
    const std::vector<double> x = integers(matrix.columns);
    const std::vector<double> ax = product(matrix, x, 1);
    for (const double alpha : {1.0, 2.0, -0.5, 0.0}) {
        for (const double beta : {0.0, 1.0, -2.0}) {
            std::vector<double> y =
                beta == 0 ? std::vector<double>(ax.size(), std::numeric_limits<double>::quiet_NaN()) : integers(ax.size());
            std::vector<double> expected(ax.size());
            for (std::size_t i = 0; i < ax.size(); ++i) expected[i] = alpha * ax[i] + (beta == 0 ? 0 : beta * y[i]);
            a.multiply(alpha, x, beta, y);
            CHECK(y == expected);
        }
    }
}

TEST_CASE("new values reach kernels for several vectors") {
    CsrMatrix matrix = integer_matrices().back().matrix;
    Operator<double> a = operator_of(recipe_named("sell16"), matrix);
    const std::vector<double> x = integers(static_cast<std::size_t>(matrix.columns) * 4);
    std::vector<double> y(static_cast<std::size_t>(matrix.rows) * 4);
    a.multiply(x, y, 4);
    for (double& value : matrix.values) value *= 3;
    a.set_values(matrix.values);
    a.multiply(x, y, 4);
    CHECK(y == product(matrix, x, 4));
}

TEST_CASE("wrong numbers and sizes of vectors are refused") {
    const CsrMatrix matrix = integer_matrices().back().matrix;
    Operator<double> a = operator_of(recipe_named("csr"), matrix);
    std::vector<double> x(static_cast<std::size_t>(matrix.columns) * 2);
    std::vector<double> y(static_cast<std::size_t>(matrix.rows) * 2);
    CHECK(message_of<std::invalid_argument>([&] { a.multiply(x, y, 0); }) == "found 0 vectors; expected 1 to 64");
    CHECK(message_of<std::invalid_argument>([&] { a.multiply(x, y, 65); }) == "found 65 vectors; expected 1 to 64");
    CHECK_THROWS_AS(a.multiply(x, y, 3), std::invalid_argument);
    CHECK_THROWS_AS(a.multiply(x, spmv_workbench::ArrayView<double>(x.data(), x.size()), 2), std::invalid_argument);
}

}  // namespace workbench
