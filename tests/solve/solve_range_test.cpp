#include "pipeline/solving/solve_range.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace workbench {
namespace {

/// Three unknowns with b = (b, b, b) and a matrix of this magnitude.
SolveRange range_of(double b, double matrix, KrylovMethod method = KrylovMethod::cg, bool jacobi = false,
                    Precision precision = Precision::f64) {
    return {method, jacobi, 1e-8, precision, std::sqrt(3.0) * b, b, matrix};
}

bool fits(const SolveRange& range) { return reason_against(range).empty(); }

double safe_norm(std::span<const double> vector) { return norm_of(vector); }

}  // namespace

TEST_CASE("norms neither underflow nor overflow, and are those of plain sums elsewhere") {
    for (const double scale : {1e-320, 1e-300, 1e-170, 1e-3, 1.0, 1e160, 1e307}) {
        CAPTURE(scale);
        CHECK(safe_norm(std::vector{3 * scale, 0.0, -4 * scale}) / scale == doctest::Approx(5).epsilon(1e-3));
    }
    CHECK(safe_norm({}) == 0);
    CHECK(safe_norm(std::vector{0.0, -0.0}) == 0);
    CHECK(std::isinf(safe_norm(std::vector{1.0, std::numeric_limits<double>::infinity()})));
    CHECK(std::isnan(safe_norm(std::vector{1.0, std::numeric_limits<double>::quiet_NaN(), 2.0})));
    std::vector<double> numbers;
    double sum = 0;
    for (int i = 0; i < 1000; ++i) {
        numbers.push_back(1e3 * std::sin(i * 0.7) / (1 + i));
        sum += numbers.back() * numbers.back();
    }
    CHECK(safe_norm(numbers) == std::sqrt(sum));
}

TEST_CASE("the range of a solve: squares of residuals down to the tolerance") {
    CHECK(fits(range_of(0, 1)));
    CHECK(fits(range_of(1, 1)));
    CHECK(fits(range_of(1, 0)));
    CHECK(fits(range_of(1, std::numeric_limits<double>::infinity())));
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        for (const double b : {1e-140, 1e140}) CHECK(fits(range_of(b, 2, method)));
        for (const double b : {4e-324, 1e-320, 1e-170, 1e-150, 1e160, 1e308}) CHECK_FALSE(fits(range_of(b, 2, method)));
    }
    CHECK(reason_against(range_of(1e-170, 2)) ==
          "the square of the residual would be about 1e-356, outside of f64 (2.23e-308 to 1.8e+308): |b| is 1.73e-170, the "
          "largest value of the matrix 2, the tolerance 1e-08; multiply b, or the matrix and b, by a power of 2");
    // Residuals below rounding errors do not count.
    SolveRange strict = range_of(1e-130, 1);
    strict.tolerance = 0;
    CHECK(fits(strict));
}

TEST_CASE("the range of a solve: the matrix") {
    for (const double matrix : {1e-200, 1e200}) {
        CAPTURE(matrix);
        CHECK(fits(range_of(1, matrix)));
        CHECK(fits(range_of(1, matrix, KrylovMethod::cg, true)));
        CHECK(fits(range_of(1, matrix, KrylovMethod::bicgstab, true)));
        CHECK(reason_against(range_of(1, matrix, KrylovMethod::bicgstab)).starts_with("the square of A r would be about 1e"));
    }
    CHECK(reason_against(range_of(1e-100, 1e-200)).starts_with("p.Ap would be about 1e-"));
    CHECK(reason_against(range_of(1e-100, 1e200, KrylovMethod::cg, true)).starts_with("r.Mr would be about 1e-"));
    CHECK(reason_against(range_of(1e-5, 1e-310, KrylovMethod::bicgstab, true)).starts_with("the matrix would be about 1e-310"));
    CHECK(reason_against(range_of(1e120, 1e-200)).starts_with("x would be about 1e320"));
    CHECK(fits(range_of(1, 1e145, KrylovMethod::bicgstab)));
}

TEST_CASE("the range of a solve: values in f32") {
    const auto reason = [](double b, double matrix, bool jacobi = false) {
        return reason_against(range_of(b, matrix, KrylovMethod::cg, jacobi, Precision::f32));
    };
    for (const double number : {1e-15, 1.0, 1e15}) CHECK(reason(number, number).empty());
    CHECK(reason(1e-50, 1).starts_with("b would be about 1e-50, outside of f32 (1.18e-38 to 3.4e+38)"));
    CHECK(reason(1e50, 1).starts_with("b would be about 1e50"));
    CHECK(reason(1, 1e-50).starts_with("the matrix would be about 1e-50"));
    CHECK(reason(1, 1e-50).ends_with("by a power of 2, or use f64"));
    CHECK(reason(1e30, 1e30).starts_with("A b would be about 1e60"));
    CHECK(reason(1e30, 1e-30).starts_with("x would be about 1e60"));
    CHECK(reason(1e-30, 1e30, true).starts_with("x would be about 1e-"));
}

}  // namespace workbench
