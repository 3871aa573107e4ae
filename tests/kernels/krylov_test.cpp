// Solves on the host.
#include <doctest/doctest.h>

#include <cmath>

#include "core/contract/solvers.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/krylov/steps.hpp"
#include "support/layouts/krylov_checks.hpp"
#include "support/layouts/krylov_problems.hpp"

namespace workbench {
namespace {

double product_of(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Conjugate gradients with the sums of an iteration taken together, as persistent kernels do them.
krylov::Scalars solve_with_one_wait(const CsrMatrix& matrix, const std::vector<double>& b, const std::vector<double>& diagonal,
                                    double tolerance, std::vector<double>& x) {
    krylov::Scalars scalars;
    scalars.stop_below = tolerance * tolerance;
    scalars.until = 2000;
    x.assign(b.size(), 0);
    std::vector<double> r = b;
    const auto preconditioned = [&](const std::vector<double>& v) {
        std::vector<double> result = v;
        for (std::size_t i = 0; i < v.size(); ++i) result[i] *= diagonal[i];
        return result;
    };
    std::vector<double> p = preconditioned(r);
    krylov::CgStep::take_residual(scalars, product_of(r, r), product_of(r, p));
    while (scalars.goes_on()) {
        std::vector<double> q(b.size());
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                q[row] += matrix.values[k] * p[matrix.column_indices[k]];
            }
        }
        krylov::CgStep::finish(scalars, {.residual = product_of(r, r),
                                         .rho = product_of(r, preconditioned(r)),
                                         .length = product_of(p, q),
                                         .image = product_of(q, preconditioned(q))});
        if (scalars.state != KrylovState::running) break;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] += scalars.alpha * p[i];
            r[i] -= scalars.alpha * q[i];
            p[i] = diagonal[i] * r[i] + scalars.beta * p[i];
        }
    }
    return scalars;
}

}  // namespace

TEST_CASE("conjugate gradients with a predicted r.Mr take as many iterations as without prediction") {
    const auto host = make_host_device();
    for (const bool jacobi : {false, true}) {
        CAPTURE(jacobi);
        const CsrMatrix matrix = scaled_laplacian(40, 0);
        const std::vector<double> b = right_hand_side(matrix.rows);
        std::vector<double> diagonal = inverse_diagonal<double>(matrix);
        if (!jacobi) diagonal.assign(b.size(), 1);
        const double tolerance = 1e-10 * norm_of(b);
        std::vector<double> x;
        const krylov::Scalars found = solve_with_one_wait(matrix, b, diagonal, tolerance, x);
        CHECK(found.state == KrylovState::converged);

        const auto expected = make_krylov<double>(*host, {KrylovMethod::cg, tolerance, 2000}, b, diagonal);
        BaselineProduct<double> multiplier(matrix, *host);
        expected->use(multiplier.product());
        expected->launch(2000);
        CHECK(std::abs(expected->wait().iterations - found.iterations) <= 1 + found.iterations / 50);
        const std::vector<double> of_host = expected->x();
        for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(x[i] == doctest::Approx(of_host[i]).epsilon(1e-6));
    }
}

TEST_CASE("how a solve with one wait ends") {
    const auto end_of = [](const krylov::CgStep::Totals& totals) {
        krylov::Scalars scalars;
        scalars.stop_below = 1e-6;
        scalars.until = 10;
        krylov::CgStep::finish(scalars, totals);
        return scalars;
    };
    const krylov::Scalars step = end_of({.residual = 4, .rho = 2, .length = 1, .image = 1.25});
    CHECK(step.state == KrylovState::running);
    CHECK(step.iterations == 1);
    CHECK(step.alpha == 2);
    CHECK(step.beta == 1.5);  // (alpha^2 q.Mq - r.Mr) / r.Mr
    CHECK(end_of({.residual = 4, .rho = 2, .length = 1, .image = 0.25}).beta == 0);
    CHECK(end_of({.residual = 1e-7, .rho = 2, .length = 1, .image = 1}).state == KrylovState::converged);
    CHECK(end_of({.residual = 1e-7, .rho = 2, .length = 1, .image = 1}).iterations == 0);
    CHECK(end_of({.residual = 4, .rho = -2, .length = 1, .image = 1}).state == KrylovState::indefinite);
    CHECK(end_of({.residual = 4, .rho = std::nan(""), .length = 1, .image = 1}).state == KrylovState::breakdown);
    CHECK(end_of({.residual = 4, .rho = 2, .length = -3, .image = 1}).divisor == -3);
    CHECK(end_of({.residual = 4, .rho = 2, .length = 0, .image = 1}).state == KrylovState::indefinite);
    CHECK(end_of({.residual = std::nan(""), .rho = 2, .length = 1, .image = 1}).state == KrylovState::breakdown);
    CHECK(end_of({.residual = 4, .rho = 2, .length = INFINITY, .image = 1}).state == KrylovState::breakdown);
}

TEST_CASE("a preconditioner that is not positive definite ends a solve before its first iteration") {
    krylov::Scalars begun;
    krylov::Sums sums;
    sums.first = 4;    // r.r
    sums.second = -2;  // r.Mr
    krylov::CgBegin::finish(begun, sums);
    CHECK(begun.state == KrylovState::indefinite);
    CHECK(begun.divisor == -2);
    for (const double none : {NAN, -INFINITY}) {
        krylov::Scalars scalars;
        sums.second = none;
        krylov::CgBegin::finish(scalars, sums);
        CHECK(scalars.state == KrylovState::breakdown);
        scalars = {};
        scalars.rho = 1;
        krylov::CgUpdate::finish(scalars, sums);
        CHECK(scalars.state == KrylovState::breakdown);
    }
}

TEST_CASE("several right-hand sides on the host give what each gives alone, bit for bit") {
    const auto host = make_host_device();
    check_several_right_sides(*host, Precision::f32, true);
    check_several_right_sides(*host, Precision::f64, true);
    check_beginnings_of_several(*host);
}

TEST_CASE("solves on the host agree with Eigen") {
    const auto host = make_host_device();
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        for (const Precision precision : {Precision::f32, Precision::f64}) {
            CAPTURE(name_of(method));
            CAPTURE(name_of(precision));
            check_solves_like_eigen(*host, method, precision);
        }
        check_limits_and_restarts(*host, method);
        check_reordering(*host, method);
    }
    check_ends_without_convergence(*host);
}

TEST_CASE("iterations on the host with products of the caller") {
    const auto host = make_host_device();
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        CAPTURE(name_of(precision));
        check_iterations_apart(*host, precision);
    }
}

}  // namespace workbench
