// What an operator takes for its matrix: one triangle of a matrix, and values that belong to its pattern.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spmv_workbench/spmv_workbench.hpp>

#include "core/matrix/battery.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "support/message_of.hpp"
#include "support/operator_checks.hpp"

namespace workbench {
namespace {

using spmv_workbench::CsrView;
using spmv_workbench::MatrixError;
using spmv_workbench::Operator;
using spmv_workbench::Options;
using spmv_workbench::Triangle;

/// Recipes that keep the order of the matrix, permute it, and store symmetric pairs once.
const std::vector<std::string> orders_and_halves{
    "[layout]\nuse = 'csr'\n",
    "[[stage]]\nuse = 'random_order'\n[layout]\nuse = 'sell'\n",
    "[[stage]]\nuse = 'metis_partition'\nparts = 3\n[layout]\nuse = 'halo'\nwarps = 4\npiece = 3\nslots_per_nonzero = 1000\n",
};

Options options_with(Triangle triangle) {
    Options options;
    options.device = spmv_workbench::Device::host;
    options.triangle = triangle;
    return options;
}

/// The entries (row, column) for which `is_kept` is true.
template <typename IsKept>
CsrMatrix part_of(const CsrMatrix& matrix, const IsKept& is_kept) {
    std::vector<Entry> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if (is_kept(row, matrix.column_indices[k])) entries.push_back({row, matrix.column_indices[k], matrix.values[k]});
        }
    }
    return csr_from_entries(matrix.rows, matrix.columns, entries);
}

/// A square matrix of small integers plus its transpose.
CsrMatrix symmetric_sum(const CsrMatrix& matrix, int seed) {
    std::vector<Entry> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) {
            const double value = 1 + (row * 5 + column * 3 + seed) % 29;
            entries.push_back({row, column, value});
            entries.push_back({column, row, value});
        }
    }
    return csr_from_entries(matrix.rows, matrix.columns, entries);
}

std::vector<double> times_numbers(Operator<double>& a) {
    std::vector<double> y(static_cast<std::size_t>(a.facts().rows));
    a.multiply(numbers<double>(a.facts().columns, 4), y);
    return y;
}

std::vector<double> times_numbers(const CsrMatrix& matrix) {
    return expected(matrix, numbers<double>(matrix.columns, 4), std::vector<double>(static_cast<std::size_t>(matrix.rows)));
}

/// The message about a matrix that cannot be made an operator.
std::string refusal_of_triangle(const CsrMatrix& matrix, Triangle triangle) {
    return message_of<MatrixError>([&] {
        Operator<double>(spmv_workbench::Recipe::from_text(orders_and_halves[0]), Arrays<double>(matrix).view(),
                         options_with(triangle));
    });
}

CsrMatrix entries_in(Index rows, Index columns, std::vector<Entry> entries) { return csr_from_entries(rows, columns, entries); }

}  // namespace

TEST_CASE("half of a symmetric matrix is completed, and takes new values of the half") {
    int made = 0;
    for (const std::string& text : orders_and_halves) {
        for (const NamedMatrix& each : battery()) {
            if (!each.matrix.square()) continue;
            CAPTURE(text);
            CAPTURE(each.name);
            const CsrMatrix whole = symmetric_sum(each.matrix, 0);
            const CsrMatrix other = symmetric_sum(each.matrix, 7);
            for (const bool is_lower : {true, false}) {
                const auto is_kept = [&](Index row, Index column) { return is_lower ? column <= row : column >= row; };
                try {
                    const Arrays<double> half(part_of(whole, is_kept));
                    Operator<double> a(spmv_workbench::Recipe::from_text(text), half.view(), options_with(Triangle::symmetric));
                    CHECK(a.facts().nonzeros == whole.nonzeros());
                    CHECK(times_numbers(a) == times_numbers(whole));
                    a.set_values(Arrays<double>(part_of(other, is_kept)).values);
                    CHECK(times_numbers(a) == times_numbers(other));
                    a.set_values(Arrays<double>(part_of(whole, is_kept), 8).view());
                    CHECK(times_numbers(a) == times_numbers(whole));
                    ++made;
                } catch (const MatrixError& unsuitable) {
                    CHECK_MESSAGE(std::string(unsuitable.what()).find("layout") != std::string::npos, unsuitable.what());
                }
            }
        }
    }
    CHECK(made > 60);
}

TEST_CASE("arrays on a device are views of an address and a size") {
    double value = 0;
    const auto array = spmv_workbench::on_device(&value, 5);
    CHECK(array.address() == &value);
    CHECK(array.size() == 5);
    const spmv_workbench::DeviceArray<const double> same = array;
    CHECK((same.address() == &value && same.size() == 5));
}

TEST_CASE("a matrix with entries on one side of the diagonal needs the option") {
    const CsrMatrix lower = entries_in(3, 3, {{0, 0, 1}, {2, 0, 3}, {2, 2, 4}});
    const std::string rest =
        " it; expected the option triangle: symmetric (this is half of a symmetric matrix) or as_given (it is triangular)";
    CHECK(refusal_of_triangle(lower, Triangle::refused) == "the matrix: all entries are on the diagonal or below" + rest);
    CHECK(refusal_of_triangle(transpose(lower), Triangle::refused) ==
          "the matrix: all entries are on the diagonal or above" + rest);
    CHECK(refusal_of_triangle(lower, Triangle::as_given) == "nothing was thrown");
    for (const Triangle any : {Triangle::refused, Triangle::symmetric, Triangle::as_given}) {
        CHECK(refusal_of_triangle(entries_in(3, 3, {{0, 0, 1}, {2, 2, 4}}), any) == "nothing was thrown");
        CHECK(refusal_of_triangle(entries_in(3, 3, {}), any) == "nothing was thrown");
    }
    CHECK(refusal_of_triangle(entries_in(3, 4, {{2, 0, 3}}), Triangle::refused) == "nothing was thrown");
    CHECK(refusal_of_triangle(entries_in(3, 4, {{2, 0, 3}}), Triangle::symmetric) ==
          "the matrix: 3 rows and 4 columns; expected half of a symmetric matrix");
    CHECK(refusal_of_triangle(entries_in(3, 3, {{1, 2, 3}, {2, 1, 3}}), Triangle::symmetric) ==
          "the matrix: row 2 has an entry before the diagonal and row 1 one after it; expected half of a symmetric matrix");
}

TEST_CASE("new values of a matrix with another pattern are refused, and the operator keeps its values") {
    const CsrMatrix matrix = entries_in(3, 4, {{0, 1, 2}, {1, 0, 3}, {1, 3, 4}, {2, 2, 5}});
    for (const std::string& text : {orders_and_halves[0], std::string("[layout]\nuse = 'sell'\nslice_height = 2\n")}) {
        Operator<double> a(spmv_workbench::Recipe::from_text(text), Arrays<double>(matrix).view(),
                           options_with(Triangle::refused));
        const auto said = [&](const CsrMatrix& other) {
            const std::string message = message_of<MatrixError>([&] { a.set_values(Arrays<double>(other).view()); });
            CHECK(times_numbers(a) == times_numbers(matrix));
            return message;
        };
        const std::string rest = "; expected the pattern of the matrix that the operator was made of";
        CHECK(said(entries_in(3, 4, {{0, 1, 2}, {1, 1, 3}, {1, 3, 4}, {2, 2, 5}})) ==
              "new values: row 1 has no entry in column 0" + rest);
        CHECK(said(entries_in(3, 4, {{0, 1, 2}, {1, 0, 3}, {1, 2, 4}, {2, 2, 5}})) ==
              "new values: row 1 has an entry in column 2" + rest);
        CHECK(said(entries_in(3, 4, {{0, 1, 2}, {0, 2, 2}, {1, 0, 3}, {2, 2, 5}})) ==
              "new values: row 0 has an entry in column 2" + rest);
        CHECK(said(entries_in(3, 4, {{0, 1, 2}, {1, 0, 3}, {1, 3, 4}})) == "new values: row 2 has no entry in column 2" + rest);
        CHECK(said(entries_in(4, 4, {})) == "new values: the matrix has 4 rows and 4 columns; expected 3 and 4");
    }
}

TEST_CASE("new values of two entries that a layout stores once must be equal, or the operator keeps its values") {
    const CsrMatrix matrix = entries_in(2, 2, {{0, 0, 4}, {0, 1, 3}, {1, 0, 3}, {1, 1, 4}});
    Operator<double> a(spmv_workbench::Recipe::from_text("[layout]\nuse = 'halo'\nparts = 1\n"), Arrays<double>(matrix).view(),
                       options_with(Triangle::refused));
    const CsrMatrix other = entries_in(2, 2, {{0, 0, 4}, {0, 1, 5}, {1, 0, 6}, {1, 1, 4}});
    const Arrays<double> given(other);
    const auto place = [&](double value) { return std::ranges::find(given.values, value) - given.values.begin(); };
    const std::string said = message_of<MatrixError>([&] { a.set_values(given.view()); });
    CAPTURE(said);
    CHECK(said.find(
              fmt::format("stores entries {} and {} of the matrix once, as they mirror each other, but their values 5 and 6 "
                          "differ",
                          place(5), place(6))) != std::string::npos);
    CHECK(times_numbers(a) == times_numbers(matrix));
}

}  // namespace workbench
