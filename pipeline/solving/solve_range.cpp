#include "pipeline/solving/solve_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

namespace workbench {
namespace {

/// Powers of 10 between which a number of the solve is expected.
struct Estimate {
    std::string_view number;
    double least = 0;
    double most = 0;
    Precision precision = Precision::f64;
};

struct NormalRange {
    double least = 0;  // normalised
    double most = 0;
};

template <ValueType Value>
constexpr NormalRange normal_range_of = {std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max()};

NormalRange normal_range(Precision precision) {
    return precision == Precision::f32 ? normal_range_of<float> : normal_range_of<double>;
}

std::vector<Estimate> estimates(const SolveRange& range) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const double norm = std::log10(std::isfinite(range.norm_of_b) ? range.norm_of_b : range.largest_of_b);
    const double end = norm + std::log10(std::max(range.tolerance, epsilon));  // residuals below rounding errors do not count
    const double b = std::log10(range.largest_of_b);
    std::vector<Estimate> all{{"the square of the residual", 2 * end, 2 * norm, Precision::f64}, {"b", b, b, range.precision}};
    if (!(range.largest_of_matrix > 0)) return all;
    const double matrix = std::log10(range.largest_of_matrix);
    if (range.method == KrylovMethod::cg) {
        const double factor = range.jacobi ? -matrix : matrix;
        all.push_back({range.jacobi ? "r.Mr" : "p.Ap", 2 * end + factor, 2 * norm + factor, Precision::f64});
    } else if (!range.jacobi) {
        all.push_back({"the square of A r", 2 * end + 2 * matrix, 2 * norm + 2 * matrix, Precision::f64});
    }
    all.push_back({"the matrix", matrix, matrix, range.precision});
    if (range.jacobi) {
        all.push_back({"the inverse of the diagonal", -matrix, -matrix, range.precision});
    } else {
        all.push_back({"A b", b + matrix, b + matrix, range.precision});
    }
    // Elements of x may lose digits below the normalised numbers.
    const double lost = range.precision == Precision::f32 ? std::numeric_limits<float>::epsilon() : epsilon;
    all.push_back({"x", b - matrix - std::log10(lost), b - matrix, range.precision});
    return all;
}

}  // namespace

std::string reason_against(const SolveRange& range) {
    if (!(range.largest_of_b > 0)) return "";
    // Values above the range of f32 are refused where they are stored, with their count.
    if (range.largest_of_matrix > normal_range(range.precision).most) return "";
    for (const Estimate& one : estimates(range)) {
        const NormalRange within = normal_range(one.precision);
        const bool small = one.least < std::log10(within.least);
        if (!small && one.most <= std::log10(within.most)) continue;
        std::ostringstream text;
        text.precision(3);
        text << one.number << " would be about 1e" << std::lround(small ? one.least : one.most) << ", outside of "
             << name_of(one.precision) << " (" << within.least << " to " << within.most << "): |b| is " << range.norm_of_b;
        if (range.largest_of_matrix > 0) text << ", the largest value of the matrix " << range.largest_of_matrix;
        text << ", the tolerance " << range.tolerance << "; multiply b, or the matrix and b, by a power of 2";
        if (one.precision == Precision::f32) text << ", or use f64";
        return text.str();
    }
    return "";
}

double largest_magnitude(std::span<const double> vector) {
    double largest = 0;
    for (const double value : vector) largest = std::max(largest, std::abs(value));
    return largest;
}

double scale_for_squares(double largest) {
    if (!(largest > 0) || !std::isfinite(largest)) return 1;
    constexpr int most = 1000;  // the scale and its inverse are normalised numbers
    return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -most, most));
}

double norm_of(std::span<const double> vector) {
    const double scale = scale_for_squares(largest_magnitude(vector));
    double sum = 0;
    for (const double value : vector) sum += value * scale * (value * scale);
    return std::sqrt(sum) / scale;
}

}  // namespace workbench
