// Verification: integers that reveal every misplaced entry, and bounds on rounding errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/measure/candidate.hpp"
#include "pipeline/measure/checked_product.hpp"
#include "pipeline/measure/verification.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// Keeps x and y as they are before a product, which it does not compute.
struct SeenVectors final : Kernel<double> {
    std::vector<double> x;
    std::vector<double> y;

    SeenVectors(std::size_t columns, std::size_t rows) : x(columns), y(rows) {}
    void run(const double* x_there, double* y_there, bool) override {
        std::copy_n(x_there, x.size(), x.begin());
        std::copy_n(y_there, y.size(), y.begin());
    }
};

}  // namespace

TEST_CASE("before a sample some elements of x that the matrix reads get new values, and some of y are cleared") {
    // Column 0 is not read. x is stored with the last column first.
    const CsrMatrix matrix = csr_from_entries(3, 5, std::vector<Entry>{{0, 1, 1}, {1, 2, 1}, {1, 4, 1}, {2, 3, 1}});
    const auto device = make_host_device();
    for (const int vectors : {1, 2}) {
        const auto space = std::make_shared<const ProductSpace>(Permutation::from_old_of_new({0, 1, 2}),
                                                                Permutation::from_old_of_new({4, 3, 2, 1, 0}), vectors);
        VectorsOfProduct<double> own(space, *device);
        own.set_x([](Index, int) { return 7.0; });
        own.set_y([](Index, int) { return 7.0; });
        const auto seen = std::make_shared<SeenVectors>(5 * vectors, 3 * vectors);
        CheckedProduct<double> product(std::move(own), seen, std::make_shared<const CsrMatrix>(matrix), *device);
        const Contender contender = product.contender("", 0);
        contender.work();
        std::vector<double> before = seen->x;
        std::set<std::size_t> changed;
        for (int sample = 0; sample < 50; ++sample) {
            contender.change_operands();
            contender.work();
            CHECK(seen->x != before);
            for (std::size_t i = 0; i < before.size(); ++i) {
                if (seen->x[i] == before[i]) continue;
                changed.insert(i);
                CHECK(seen->x[i] != 0);
            }
            CHECK(std::ranges::any_of(seen->y, [](double element) { return std::isnan(element); }));
            before = seen->x;
        }
        CHECK(changed.size() == 4 * vectors);
        CHECK(*changed.rbegin() < 4 * vectors);  // not column 0, whose elements are the last
    }
}

TEST_CASE("the integers of the exact problem are exact and distinguish all columns") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        const ExactProblem problem(matrix);
        CAPTURE(named.name);
        CHECK(problem.vector_count() >= 2);
        const auto products = problem.products(matrix);
        CHECK(std::ssize(products) == problem.vector_count());
        for (const auto& product : products) {
            for (const double sum : product) CHECK(sum + 255 < 16777216.0);
        }
        for (Index row = 0; row < std::min(matrix.rows, 20); ++row) {
            double sum = 0;
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                const Index column = matrix.column_indices[k];
                sum += problem.value(row, column, matrix.values[k]) * problem.x(1, column);
            }
            CHECK(products[1][row] == sum);
        }
        std::set<std::vector<double>> seen;
        for (Index column = 0; column < matrix.columns; ++column) {
            std::vector<double> digits;
            for (int vector = 0; vector < problem.vector_count(); ++vector) digits.push_back(problem.x(vector, column));
            CHECK(seen.insert(digits).second);
            CHECK(*std::min_element(digits.begin(), digits.end()) >= 1);
        }
    }
}

TEST_CASE("the integers of the exact problem distinguish all rows") {
    // All rows are equal except for their values.
    std::vector<Entry> entries;
    for (Index row = 0; row < 50; ++row) entries.insert(entries.end(), {{row, 3, 1}, {row, 7, 1}, {row, 20, 1}});
    const CsrMatrix matrix = csr_from_entries(50, 30, entries);
    const ExactProblem problem(matrix);
    std::set<std::vector<double>> seen;
    for (Index row = 0; row < 50; ++row) {
        CHECK(seen.insert({problem.value(row, 3, 1), problem.value(row, 7, 1), problem.value(row, 20, 1)}).second);
    }
}

TEST_CASE("the integers of a symmetric matrix are symmetric, those of others are not") {
    const auto values = [](double above, double below) {
        const CsrMatrix matrix = csr_from_entries(3, 3, std::vector<Entry>{{0, 2, above}, {1, 1, 4}, {2, 0, below}});
        const ExactProblem problem(matrix);
        return problem.value(0, 2, 1) == problem.value(2, 0, 1);
    };
    CHECK(values(0.3, 0.3));
    CHECK_FALSE(values(0.3, 0.30000000000000004));
    CHECK_FALSE(values(0.0, -0.0));
    // An entry without a mirror image, and a matrix that is not square.
    const CsrMatrix lone = csr_from_entries(3, 3, std::vector<Entry>{{0, 2, 1}, {1, 2, 1}, {2, 0, 1}});
    CHECK(ExactProblem(lone).value(0, 2, 1) != ExactProblem(lone).value(2, 0, 1));
    const CsrMatrix wide = csr_from_entries(2, 3, std::vector<Entry>{{0, 1, 1}, {1, 0, 1}});
    CHECK(ExactProblem(wide).value(0, 1, 1) != ExactProblem(wide).value(1, 0, 1));
}

TEST_CASE("a long row requires small integers, and a row that is too long is refused") {
    CsrMatrix wide;
    wide.rows = 1;
    wide.columns = 1 << 23;
    wide.row_offsets = {0, 1 << 22};
    wide.column_indices.resize(1 << 22);
    wide.values.assign(1 << 22, 1.0);
    for (Index i = 0; i < (1 << 22); ++i) wide.column_indices[i] = i;
    const ExactProblem problem(wide);
    CHECK(problem.products(wide)[0][0] + 255 < 16777216.0);
    CHECK(problem.vector_count() >= 14);

    wide.row_offsets = {0, 1 << 23};
    CHECK_THROWS_AS(ExactProblem{wide}, Unsuitable);
}

TEST_CASE("the refusal of a long row names the longest row that is exact") {
    const auto refusal = [](Offset longest) {
        return message_of<Unsuitable>([&] { const ExactProblem problem(false, longest, 1 << 24); });
    };
    const std::string refused = refusal(Offset{1} << 24);
    const std::string before = "for at most ";
    const std::size_t at = refused.find(before);
    REQUIRE(at != std::string::npos);
    const Offset most = std::stoll(refused.substr(at + before.size()));
    CHECK_NOTHROW(ExactProblem(false, most, 1 << 24));
    CHECK(refusal(most + 1).starts_with(fmt::format("a row of {} nonzeros: ", most + 1)));
}

TEST_CASE("bounded comparison") {
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const CsrMatrix matrix =
        csr_from_entries(4, 2, std::vector<Entry>{{0, 0, 1.5}, {0, 1, 2.0}, {1, 0, infinity}, {2, 0, nan}});
    const BoundedReference reference = bounded_reference<double>(matrix, {1.0, -1.0});
    CHECK(reference.r[0] == -0.5);
    CHECK(reference.bound[0] == 8 * 3 * std::numeric_limits<double>::epsilon() * 3.5 + 2 * std::numeric_limits<double>::min());
    CHECK(compare_within<double>({-0.5, infinity, nan, 0.0}, reference).right);
    CHECK(!compare_within<double>({-0.5, -infinity, nan, 0.0}, reference).right);
    CHECK(!compare_within<double>({-0.5, infinity, 1.0, 0.0}, reference).right);
    CHECK(!compare_within<double>({-0.5, infinity, nan, 1e-300}, reference).right);
    CHECK(!compare_within<double>({nan, infinity, nan, 0.0}, reference).right);
    const Comparison unwritten_nan = compare_within<double>({-0.5, infinity, unwritten<double>(), 0.0}, reference);
    CHECK(unwritten_nan.first_wrong == "row 2 was never written");
    const double just_off = -0.5 + reference.bound[0] / 2;
    CHECK(compare_within<double>({just_off, infinity, nan, 0.0}, reference).error_over_bound == doctest::Approx(0.5));
    const BoundedReference quarter{.r = {1}, .bound = {0.25}};
    for (const double error : {0.25, -0.25}) {
        CHECK(compare_within<double>({1 + error}, quarter).right);
        CHECK(compare_within<double>({1 + error}, quarter).error_over_bound == 1);
    }
    CHECK(!compare_within<double>({std::nextafter(1.25, 2)}, quarter).right);
    CHECK(compare_within<double>({1.5}, quarter).first_wrong == "row 0: |1.5 - 1| = 0.5 exceeds the bound 0.25");
}

TEST_CASE_TEMPLATE("several products are judged in one pass as each of them alone", Value, float, double) {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        for (const int vectors : {1, 3, 8}) {
            // x in the reverse order of the columns, y in that of the rows.
            std::vector<Index> places(matrix.columns);
            std::vector<Index> rows(matrix.rows);
            for (Index i = 0; i < matrix.columns; ++i) places[i] = matrix.columns - 1 - i;
            for (Index i = 0; i < matrix.rows; ++i) rows[i] = matrix.rows - 1 - i;
            std::vector<Value> x(std::size_t(matrix.columns) * vectors);
            std::vector<Value> y(std::size_t(matrix.rows) * vectors);
            std::vector<BoundedReference> references;
            double largest = 0;
            bool all_are_finite = true;
            for (int j = 0; j < vectors; ++j) {
                const std::vector<double> one = real_vector(matrix.columns, static_cast<std::uint32_t>(j + 1));
                for (Index i = 0; i < matrix.columns; ++i) x[std::size_t(places[i]) * vectors + j] = static_cast<Value>(one[i]);
                references.push_back(bounded_reference<Value>(matrix, one));
                std::vector<Value> alone(matrix.rows);
                for (Index row = 0; row < matrix.rows; ++row) {
                    alone[row] = static_cast<Value>(references[j].r[row] + references[j].bound[row] / (3 + j));
                    y[std::size_t(matrix.rows - 1 - row) * vectors + j] = alone[row];
                    all_are_finite = all_are_finite && std::isfinite(references[j].r[row] + references[j].bound[row]);
                }
                largest = std::max(largest, compare_within(alone, references[j]).error_over_bound);
            }
            SeveralProducts<Value> products{
                .vectors = vectors, .x = x.data(), .y = y.data(), .place_of_column = places, .row_of_place = rows};
            const std::optional<double> found = error_of_several(matrix, products);
            CHECK(found.has_value() == all_are_finite);
            if (!found) continue;
            CHECK(*found == largest);
            for (std::size_t i = 0; i < y.size(); ++i) {
                const double bound = references[i % vectors].bound[rows[i / vectors]];
                const double r = references[i % vectors].r[rows[i / vectors]];
                const Value right = y[i];
                for (const Value wrong : {static_cast<Value>(r + 1.5 * bound + 1e-30), unwritten<Value>()}) {
                    y[i] = wrong;
                    CHECK(!error_of_several(matrix, products));
                }
                y[i] = right;
                if (i > 64) break;
            }
            for (std::size_t i = 0; i < y.size(); ++i)
                y[i] = static_cast<Value>(2 * references[i % vectors].r[rows[i / vectors]]);
            products.times = 2;
            CHECK(error_of_several(matrix, products).has_value());
            products.times = 1;
            if (matrix.nonzeros() > 0) CHECK(!error_of_several(matrix, products));
        }
    }
}

}  // namespace workbench
