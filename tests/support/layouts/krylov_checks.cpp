#include "support/layouts/krylov_checks.hpp"

#include <doctest/doctest.h>

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/contract/solvers.hpp"
#include "core/matrix/permutation.hpp"
#include "support/eigen.hpp"
#include "support/layouts/krylov_problems.hpp"

namespace workbench {
namespace {

template <typename Value>
std::unique_ptr<Krylov<Value>> begin(Device& device, const KrylovPlan& plan, const std::vector<double>& b,
                                     const std::vector<Value>& inverse = {}) {
    const std::vector<Value> rounded(b.begin(), b.end());
    auto krylov = make_krylov<Value>(device, plan, rounded, inverse);
    REQUIRE(krylov != nullptr);
    return krylov;
}

struct Expected {
    std::int64_t iterations;
    Eigen::VectorXd x;
};

template <typename Solver>
Expected solve_with(const EigenMatrix& matrix, const std::vector<double>& b, double tolerance) {
    Solver solver;
    solver.setTolerance(tolerance);
    solver.compute(matrix);
    const Eigen::VectorXd x = solver.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b)));
    REQUIRE(solver.info() == Eigen::Success);
    return {solver.iterations(), x};
}

Expected eigen_solution(const CsrMatrix& matrix, KrylovMethod method, bool jacobi, const std::vector<double>& b,
                        double tolerance) {
    using None = Eigen::IdentityPreconditioner;
    using Jacobi = Eigen::DiagonalPreconditioner<double>;
    constexpr auto both = Eigen::Lower | Eigen::Upper;
    const EigenMatrix eigen = to_eigen(matrix);
    if (method == KrylovMethod::cg) {
        // Eigen does not count the iteration that converges.
        Expected found = jacobi ? solve_with<Eigen::ConjugateGradient<EigenMatrix, both, Jacobi>>(eigen, b, tolerance)
                                : solve_with<Eigen::ConjugateGradient<EigenMatrix, both, None>>(eigen, b, tolerance);
        ++found.iterations;
        return found;
    }
    return jacobi ? solve_with<Eigen::BiCGSTAB<EigenMatrix, Jacobi>>(eigen, b, tolerance)
                  : solve_with<Eigen::BiCGSTAB<EigenMatrix, None>>(eigen, b, tolerance);
}

template <typename Value>
void check_one_solve(Device& device, KrylovMethod method, bool jacobi) {
    const bool single = sizeof(Value) == 4;
    const double tolerance = single ? 1e-4 : 1e-9;
    const CsrMatrix matrix = scaled_laplacian(40, method == KrylovMethod::cg ? 0 : 0.3);
    const std::vector<double> b = right_hand_side(matrix.rows);
    const Expected expected = eigen_solution(matrix, method, jacobi, b, tolerance);
    const auto krylov = begin<Value>(device, {method, tolerance * norm_of(b), 1000}, b,
                                     jacobi ? inverse_diagonal<Value>(matrix) : std::vector<Value>());
    BaselineProduct<Value> multiplier(matrix, device);
    krylov->use(multiplier.product());
    krylov->launch(1000);
    const KrylovProgress progress = krylov->wait();
    CAPTURE(jacobi);
    CHECK(progress.state == KrylovState::converged);
    // Rounding determines when the residual falls below the threshold; that of BiCGStab rises and falls.
    const bool cg = method == KrylovMethod::cg;
    const std::int64_t off = 1 + expected.iterations / (cg && !single ? 50 : cg || !single ? 10 : 7);
    CHECK_GE(progress.iterations, expected.iterations - off);
    CHECK_LE(progress.iterations, expected.iterations + off);
    CHECK_LT(progress.residual, tolerance * norm_of(b));
    const std::vector<Value> x = krylov->x();
    const Eigen::VectorXd mine =
        Eigen::Map<const Eigen::Matrix<Value, Eigen::Dynamic, 1>>(x.data(), std::ssize(x)).template cast<double>();
    CHECK_LT((mine - expected.x).norm(), 1e3 * tolerance * expected.x.norm());
    const Eigen::VectorXd residual = Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b)) - to_eigen(matrix) * mine;
    CHECK_LT(residual.norm(), (single ? 5 : 1.01) * tolerance * norm_of(b));
    const std::vector<double> history = krylov->history();
    REQUIRE(std::ssize(history) == progress.iterations + 1);
    CHECK(history.front() == doctest::Approx(norm_of(b)).epsilon(1e-6));
    CHECK_EQ(history.back(), progress.residual);
    CHECK_GE(history[history.size() - 2], tolerance * norm_of(b));
}

}  // namespace

void check_solves_like_eigen(Device& device, KrylovMethod method, Precision precision) {
    for (const bool jacobi : {false, true}) {
        if (precision == Precision::f32) {
            check_one_solve<float>(device, method, jacobi);
        } else {
            check_one_solve<double>(device, method, jacobi);
        }
    }
}

void check_limits_and_restarts(Device& device, KrylovMethod method) {
    const CsrMatrix matrix = scaled_laplacian(30, method == KrylovMethod::cg ? 0 : 0.2);
    const std::vector<double> b = right_hand_side(matrix.rows);
    const KrylovPlan plan{method, 1e-8 * norm_of(b), 300};
    const std::vector<double> inverse = inverse_diagonal<double>(matrix);
    BaselineProduct<double> multiplier(matrix, device);
    const auto whole = begin<double>(device, plan, b, inverse);
    whole->use(multiplier.product());
    whole->launch(300);
    const KrylovProgress at_once = whole->wait();
    REQUIRE(at_once.state == KrylovState::converged);

    // A solve in several launches is bit-identical.
    const auto pieces = begin<double>(device, plan, b, inverse);
    pieces->use(multiplier.product());
    pieces->launch(0);
    CHECK_EQ(pieces->wait().iterations, 0);
    pieces->launch(3);
    CHECK_EQ(pieces->wait().iterations, 3);
    CHECK(pieces->wait().state == KrylovState::running);
    for (int i = 0; i < 100; ++i) pieces->launch(4);
    CHECK_EQ(pieces->wait().iterations, at_once.iterations);
    CHECK(pieces->wait().state == KrylovState::converged);
    CHECK(pieces->x() == whole->x());
    CHECK(pieces->history() == whole->history());

    // The limit applies to all launches together.
    const auto limited = begin<double>(device, {method, plan.stop_below, 5}, b, inverse);
    limited->use(multiplier.product());
    for (int i = 0; i < 4; ++i) limited->launch(3);
    CHECK_EQ(limited->wait().iterations, 5);
    CHECK(limited->wait().state == KrylovState::running);
    CHECK_EQ(limited->history().size(), 6);

    // A restart continues from the current x.
    const auto again = begin<double>(device, plan, b, inverse);
    again->use(multiplier.product());
    again->launch(10);
    const double before = again->wait().residual;
    again->restart();
    CHECK_EQ(again->wait().iterations, 10);
    CHECK(again->wait().residual == doctest::Approx(before).epsilon(1e-6));
    again->launch(300);
    CHECK(again->wait().state == KrylovState::converged);
    CHECK_GT(again->wait().iterations, 10);
}

void check_reordering(Device& device, KrylovMethod method) {
    const CsrMatrix matrix = scaled_laplacian(25, method == KrylovMethod::cg ? 0 : 0.2);
    const std::vector<double> b = right_hand_side(matrix.rows);
    std::vector<Index> old_of_new(matrix.rows);
    for (Index i = 0; i < matrix.rows; ++i) old_of_new[i] = static_cast<Index>((std::int64_t{i} * 7 + 3) % matrix.rows);
    const Permutation order = Permutation::from_old_of_new(old_of_new);
    const CsrMatrix permuted = permute(matrix, order, order);
    BaselineProduct<double> multiplier(matrix, device);
    BaselineProduct<double> other(permuted, device);
    for (const bool jacobi : {false, true}) {
        CAPTURE(jacobi);
        const std::vector<double> inverse = jacobi ? inverse_diagonal<double>(matrix) : std::vector<double>();
        const KrylovPlan plan{method, 1e-10 * norm_of(b), 500};
        const auto plain = begin<double>(device, plan, b, inverse);
        plain->use(multiplier.product());
        plain->launch(500);
        const auto moved = begin<double>(device, plan, b, inverse);
        moved->use(multiplier.product());
        moved->launch(11);
        (void)moved->wait();
        const DeviceMemory target = to_device(device, order.new_of_old(), "an order");
        moved->reorder(target.as<const Index>());
        moved->use(other.product());
        moved->launch(500);
        CHECK(moved->wait().state == KrylovState::converged);
        // The two solves differ by rounding only.
        CHECK_LE(std::abs(moved->wait().iterations - plain->wait().iterations),
                 1 + plain->wait().iterations / (method == KrylovMethod::cg ? 50 : 8));
        const std::vector<double> expected = plain->x();
        const std::vector<double> found = moved->x();
        double difference = 0;
        for (Index i = 0; i < matrix.rows; ++i) {
            difference = std::max(difference, std::abs(found[order.new_of_old(i)] - expected[i]));
        }
        CHECK_LT(difference, 1e-6);
    }
}

namespace {

template <typename Value>
struct Apart {
    Apart(const CsrMatrix& matrix, Device& device, const KrylovPlan& plan, const std::vector<double>& b)
        : device(device), multiplier(matrix, device), product(multiplier.product()), krylov(begin<Value>(device, plan, b)) {}

    void iterate() {
        const KrylovOperands<Value> operands = krylov->operands();
        (void)device.time([&] { product(operands.x, operands.y); });
        krylov->rest_of_iteration();
    }

    Device& device;
    BaselineProduct<Value> multiplier;
    KrylovProduct<Value> product;
    std::unique_ptr<Krylov<Value>> krylov;
};

template <typename Value>
void check_iterations_of(Device& device) {
    const CsrMatrix matrix = scaled_laplacian(20, 0);
    const std::vector<double> b = right_hand_side(matrix.rows);
    const KrylovPlan plan{KrylovMethod::cg, 1e-4 * norm_of(b), 1000};
    Apart<Value> whole(matrix, device, plan, b);
    whole.krylov->use(whole.product);
    whole.krylov->launch(1000);
    const std::int64_t iterations = whole.krylov->wait().iterations;
    const std::vector<double> history = whole.krylov->history();
    REQUIRE(iterations > 10);

    // The same solve, bit for bit, up to its last iteration; then it restarts and repeats the same iterations.
    Apart<Value> apart(matrix, device, plan, b);
    for (int time = 0; time < 2; ++time) {
        CHECK_EQ(apart.krylov->wait().iterations, 0);
        CHECK(apart.krylov->x() == std::vector<Value>(b.size()));
        for (std::int64_t i = 1; i < iterations; ++i) {
            apart.iterate();
            CHECK_EQ(apart.krylov->wait().residual, history[i]);
        }
        apart.iterate();
    }
    CHECK_EQ(apart.krylov->wait().residual, history.front());

    // The limit also ends a solve.
    Apart<Value> limited(matrix, device, {KrylovMethod::cg, 0, 4}, b);
    for (const std::int64_t count : {1, 2, 3, 0, 1}) {
        limited.iterate();
        CHECK_EQ(limited.krylov->wait().iterations, count);
    }

    // p.Ap < 0 in each iteration does not end the solve: A = -1 takes one iteration to the right x, two different eigenvalues
    // take two.
    for (const double second : {-1.0, -2.0}) {
        const CsrMatrix negative = square_of(2, {{0, 0, -1}, {1, 1, second}});
        Apart<Value> goes_on(negative, device, {KrylovMethod::cg, 0.01, 50}, {3, 4});
        goes_on.iterate();
        const std::vector<Value> x = goes_on.krylov->x();
        CHECK_EQ(goes_on.krylov->wait().iterations, second == -1 ? 0 : 1);
        if (second == -2) CHECK(static_cast<double>(x[0]) == doctest::Approx(3.0 * 25 / (-9 - 32)));
        goes_on.iterate();
        CHECK_EQ(goes_on.krylov->wait().iterations, 0);
    }

    // A solve that is no longer finite restarts.
    const CsrMatrix singular = square_of(2, {{0, 0, 1}});
    Apart<Value> broken(singular, device, {KrylovMethod::cg, 1e-12, 50}, {0, 1});
    for (int i = 0; i < 3; ++i) {
        broken.iterate();
        CHECK_EQ(broken.krylov->wait().iterations, 0);
        CHECK_EQ(broken.krylov->wait().residual, 1);
    }
    // A solve without work.
    Apart<Value> nothing(singular, device, {KrylovMethod::cg, 1e-12, 50}, {0, 0});
    nothing.iterate();
    CHECK_EQ(nothing.krylov->wait().iterations, 0);
}

}  // namespace

void check_iterations_apart(Device& device, Precision precision) {
    if (precision == Precision::f32) {
        check_iterations_of<float>(device);
    } else {
        check_iterations_of<double>(device);
    }
}

void check_ends_without_convergence(Device& device) {
    const auto end_of = [&](const CsrMatrix& matrix, KrylovMethod method, std::vector<double> b,
                            const std::vector<double>& inverse = {}) {
        const auto krylov = begin<double>(device, {method, 1e-12, 50}, b, inverse);
        BaselineProduct<double> multiplier(matrix, device);
        krylov->use(multiplier.product());
        krylov->launch(50);
        return krylov->wait();
    };
    const CsrMatrix indefinite = square_of(3, {{0, 0, 1}, {1, 1, -2}, {2, 2, 1}});
    const KrylovProgress negative = end_of(indefinite, KrylovMethod::cg, {1, 2, 1});
    CHECK(negative.state == KrylovState::indefinite);
    CHECK_EQ(negative.divisor, 1 - 8 + 1);  // p.Ap with p = b
    CHECK_EQ(negative.iterations, 0);
    CHECK(end_of(indefinite, KrylovMethod::bicgstab, {3, 1, 2}).state == KrylovState::converged);
    // An indefinite preconditioner: r.Mr = 1 - 2 + 1 - ...
    CHECK(end_of(indefinite, KrylovMethod::cg, {1, 2, 1}, {1, -0.5, 1}).state == KrylovState::indefinite);
    // A singular matrix, and a b outside of its range.
    const CsrMatrix singular = square_of(2, {{0, 0, 1}});
    CHECK(end_of(singular, KrylovMethod::cg, {0, 1}).state == KrylovState::indefinite);
    CHECK(end_of(singular, KrylovMethod::bicgstab, {0, 1}).state == KrylovState::breakdown);
    // shadow.Ap = 0 in the first iteration.
    const CsrMatrix skew = square_of(2, {{0, 1, 1}, {1, 0, -1}});
    const KrylovProgress broken = end_of(skew, KrylovMethod::bicgstab, {1, 1});
    CHECK(broken.state == KrylovState::breakdown);
    CHECK_EQ(broken.divisor, 0);
    CHECK_EQ(broken.iterations, 0);
    // Solves without work, and impossible ones.
    const CsrMatrix identity = square_of(2, {{0, 0, 1}, {1, 1, 1}});
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        const KrylovProgress nothing = end_of(identity, method, {0, 0});
        CHECK(nothing.state == KrylovState::converged);
        CHECK_EQ(nothing.iterations, 0);
        CHECK(end_of(identity, method, {1, std::nan("")}).state == KrylovState::breakdown);
        CHECK_EQ(end_of(identity, method, {3, 4}).iterations, 1);
    }
}

}  // namespace workbench
