// Systems whose numbers are near the ends of f64 and f32: they are solved, or refused with the figure.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

struct Numbers {
    KrylovMethod method = KrylovMethod::cg;
    bool jacobi = false;
    double matrix = 1;
    double b = 1;
    Precision precision = Precision::f64;
};

/// The baseline's solve of a Laplacian with these magnitudes.
SolveOutcome solve_of(const Numbers& numbers) {
    CsrMatrix matrix = scaled_laplacian(8, 0);
    for (double& value : matrix.values) value *= numbers.matrix;
    const auto host = make_host_device();
    SolveReport report;
    report.precision = numbers.precision;
    report.options.method = numbers.method;
    report.options.jacobi = numbers.jacobi;
    report.options.tolerance = numbers.precision == Precision::f32 ? 1e-4 : 1e-8;
    report.options.timing = {CacheState::warm, 1, 0, 0};
    std::vector<double> b = right_hand_side(matrix.rows);
    for (double& value : b) value *= numbers.b;
    const SolvePlan plan{matrix, b, catalogue(), *host, {Backend::kokkos, Backend::eigen}};
    solve_recipes(plan, {}, report);
    return report.outcomes.at(0);
}

std::string refusal_of(const Numbers& numbers) {
    return message_of<InputError>([&] { (void)solve_of(numbers); });
}

}  // namespace

TEST_CASE("a system that is scaled within the range of f64 has the scaled solution") {
    constexpr KrylovMethod cg = KrylovMethod::cg;
    constexpr KrylovMethod bicgstab = KrylovMethod::bicgstab;
    for (const Numbers& numbers :
         {Numbers{cg, false, 1, 0x1p-450}, Numbers{cg, false, 1, 0x1p450}, Numbers{bicgstab, false, 1, 0x1p-450},
          Numbers{bicgstab, false, 1, 0x1p450}, Numbers{cg, false, 0x1p-664, 1}, Numbers{cg, true, 0x1p664, 1},
          Numbers{bicgstab, true, 0x1p-664, 1}, Numbers{bicgstab, false, 0x1p-400, 1}}) {
        CAPTURE(numbers.matrix);
        CAPTURE(numbers.b);
        const SolveOutcome plain = solve_of({numbers.method, numbers.jacobi});
        const SolveOutcome scaled = solve_of(numbers);
        CHECK(scaled.solved());
        CHECK(scaled.iterations == plain.iterations);
        CHECK(scaled.true_residual == plain.true_residual);
        std::vector<double> expected = plain.x;
        for (double& value : expected) value *= numbers.b / numbers.matrix;
        CHECK(scaled.x == expected);
    }
}

TEST_CASE("a system beyond the range of f64 is refused with the figure") {
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        CHECK(refusal_of({method, false, 1, 1e-170}).starts_with("the square of the residual would be about 1e-3"));
        CHECK(refusal_of({method, false, 1, 1e-310}).starts_with("the square of the residual would be about 1e-6"));
        CHECK(refusal_of({method, false, 1, 1e160}).starts_with("the square of the residual would be about 1e32"));
        CHECK(refusal_of({method, true, 1e-312, 1}) != "");
    }
    for (const double matrix : {1e-200, 1e200}) {
        CHECK(refusal_of({KrylovMethod::bicgstab, false, matrix, 1}).starts_with("the square of A r would be about 1e"));
    }
}

TEST_CASE("a system beyond the range of f32 is refused with the figure") {
    const auto refusal = [](double matrix, double b) {
        return refusal_of({KrylovMethod::cg, false, matrix, b, Precision::f32});
    };
    CHECK(refusal(1e-50, 1).starts_with("the matrix would be about 1e-"));
    CHECK(refusal(1, 1e-50).starts_with("b would be about 1e-50, outside of f32"));
    CHECK(refusal(1, 1e50).starts_with("b would be about 1e5"));
    CHECK(solve_of({KrylovMethod::cg, false, 1e-15, 1e-15, Precision::f32}).solved());
}

}  // namespace workbench
