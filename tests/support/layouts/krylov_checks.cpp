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
std::unique_ptr<KrylovByProducts<Value>> begin(Device& device, const KrylovPlan& plan, const std::vector<double>& b,
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

/// b j of `count`, one of which is 0, and one of which ends after an iteration: a multiple of the image of a unit vector.
std::vector<double> one_of_several(const CsrMatrix& matrix, int j) {
    std::vector<double> b = right_hand_side(matrix.rows);
    for (Index i = 0; i < matrix.rows; ++i) b[i] = j == 1 ? 0 : b[i] + (i * (j + 3)) % 11;
    return b;
}

template <typename Value>
std::vector<Value> column_of(const std::vector<Value>& all, int count, int j) {
    std::vector<Value> column(all.size() / count);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = all[i * count + j];
    return column;
}

template <typename Value>
class Several {
public:
    Several(const CsrMatrix& matrix, Device& device, int count, bool jacobi, std::int64_t most_iterations)
        : device_(device), product_(matrix, device, count), elements_(static_cast<std::size_t>(matrix.rows) * count) {
        krylov = make_several_krylov<Value>(device, {matrix.rows, count, most_iterations, jacobi});
        REQUIRE(krylov != nullptr);
        REQUIRE(krylov->count() == count);
        krylov->use(product_.product());
        std::vector<Value> b(elements_);
        std::vector<Value> diagonal(elements_);
        const std::vector<Value> inverse = inverse_diagonal<Value>(matrix);
        for (int j = 0; j < count; ++j) {
            const std::vector<double> one = one_of_several(matrix, j);
            for (Index i = 0; i < matrix.rows; ++i) {
                b[i * count + j] = static_cast<Value>(one[i]);
                diagonal[i * count + j] = inverse[i];
            }
        }
        write(b, krylov->right_hand_sides());
        REQUIRE((krylov->inverse_diagonal() != nullptr) == jacobi);
        if (jacobi) write(diagonal, krylov->inverse_diagonal());
    }

    [[nodiscard]] std::vector<Value> x() const {
        std::vector<Value> all(elements_);
        copy_from_device(device_, static_cast<const Value*>(krylov->solutions()), std::span(all));
        return all;
    }
    void write(const std::vector<Value>& from, Value* to) const {
        DeviceMemory there(to, from.size() * sizeof(Value), [](void*) {});
        device_.upload(std::as_bytes(std::span(from)), there);
    }

    std::unique_ptr<SeveralKrylov<Value>> krylov;

private:
    Device& device_;
    BaselineProduct<Value> product_;
    std::size_t elements_;
};

template <typename Value>
void check_together_and_alone(Device& device, int count, bool jacobi, bool same_bits) {
    CAPTURE(count);
    CAPTURE(jacobi);
    constexpr double tolerance = sizeof(Value) == 4 ? 1e-4 : 1e-9;
    const CsrMatrix matrix = scaled_laplacian(33, 0);
    Several<Value> several(matrix, device, count, jacobi, 1000);
    const std::vector<double> norms = several.krylov->begin_again(tolerance);
    several.krylov->launch(1000);
    const std::vector<KrylovProgress> progress = several.krylov->wait();
    const std::vector<Value> all = several.x();
    BaselineProduct<Value> multiplier(matrix, device);
    for (int j = 0; j < count; ++j) {
        CAPTURE(j);
        const std::vector<double> b = one_of_several(matrix, j);
        const auto alone = begin<Value>(device, {KrylovMethod::cg, tolerance * norm_of(b), 1000}, b,
                                        jacobi ? inverse_diagonal<Value>(matrix) : std::vector<Value>());
        alone->use(multiplier.product());
        CHECK(norms[j] == doctest::Approx(alone->begin_again(tolerance)).epsilon(1e-12));
        alone->launch(1000);
        const KrylovProgress expected = alone->wait();
        CHECK(progress[j].state == KrylovState::converged);
        const std::int64_t off = same_bits ? 0 : 1 + expected.iterations / 20;
        CHECK(std::abs(progress[j].iterations - expected.iterations) <= off);
        const std::vector<double> history = several.krylov->history(j);
        REQUIRE(std::ssize(history) == progress[j].iterations + 1);
        CHECK_EQ(history.back(), progress[j].residual);
        const std::vector<Value> x = column_of(all, count, j);
        if (same_bits) {
            CHECK(x == alone->x());
            CHECK(history == alone->history());
        }
        const std::vector<double> wide(x.begin(), x.end());
        const auto b_of_eigen = Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b));
        const Eigen::VectorXd residual =
            b_of_eigen - to_eigen(matrix) * Eigen::Map<const Eigen::VectorXd>(wide.data(), std::ssize(wide));
        CHECK_LE(residual.norm(), (sizeof(Value) == 4 ? 5 : 1.01) * tolerance * norm_of(b));
    }
    CHECK(progress[count > 1 ? 1 : 0].iterations == 0);  // b is 0
}

void check_several_in_pieces(Device& device, bool same_bits) {
    constexpr int count = 3;
    const CsrMatrix matrix = scaled_laplacian(30, 0);
    Several<double> whole(matrix, device, count, false, 300);
    (void)whole.krylov->begin_again(1e-8);
    whole.krylov->launch(300);
    const std::vector<double> expected = whole.x();

    Several<double> pieces(matrix, device, count, false, 300);
    (void)pieces.krylov->begin_again(1e-8);
    while (pieces.krylov->wait()[0].state == KrylovState::running) pieces.krylov->launch(7);
    while (pieces.krylov->wait()[2].state == KrylovState::running) pieces.krylov->launch(7);
    if (same_bits) CHECK(pieces.x() == expected);

    // Another solve with the same solver, of which one is stopped, one restarted, and all begin from another X.
    (void)pieces.krylov->begin_again(1e-8);
    pieces.krylov->launch(5);
    CHECK(pieces.krylov->wait()[0].iterations == 5);
    pieces.krylov->stop(0);
    const std::vector<double> stopped = column_of(pieces.x(), count, 0);
    const std::vector<int> restarted{2};
    const double before = pieces.krylov->wait()[2].residual;
    pieces.krylov->restart(restarted);
    CHECK(pieces.krylov->wait()[2].residual == doctest::Approx(before).epsilon(1e-9));
    pieces.krylov->launch(1000);
    const std::vector<KrylovProgress> progress = pieces.krylov->wait();
    CHECK(progress[0].iterations == 5);
    CHECK(column_of(pieces.x(), count, 0) == stopped);
    CHECK(progress[2].state == KrylovState::converged);

    // The most iterations end a launch.
    Several<double> limited(matrix, device, count, false, 4);
    (void)limited.krylov->begin_again(1e-8);
    limited.krylov->launch(1000);
    CHECK(limited.krylov->wait()[0].iterations == 4);
    CHECK(limited.krylov->wait()[0].state == KrylovState::running);
    const auto vectors = limited.krylov->vector_bytes();
    CHECK(vectors == 11 * 8 * 900 * count);

    // A matrix that is not positive definite ends those that notice.
    const CsrMatrix indefinite = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, -1}});
    Several<double> two(indefinite, device, 2, false, 10);
    two.write({1, 0, 0, 1}, two.krylov->right_hand_sides());
    (void)two.krylov->begin_again(1e-8);
    two.krylov->launch(10);
    CHECK(two.krylov->wait()[0].state == KrylovState::converged);
    CHECK(two.krylov->wait()[1].state == KrylovState::indefinite);
    CHECK(two.x() == std::vector<double>{1, 0, 0, 0});
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

void check_several_right_sides(Device& device, Precision precision, bool same_bits) {
    for (const int count : {2, 3, 8, 17, 64}) {
        for (const bool jacobi : {false, true}) {
            if (precision == Precision::f32) {
                check_together_and_alone<float>(device, count, jacobi, same_bits);
            } else {
                check_together_and_alone<double>(device, count, jacobi, same_bits);
            }
        }
    }
    if (precision == Precision::f64) check_several_in_pieces(device, same_bits);
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
    std::unique_ptr<KrylovByProducts<Value>> krylov;
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

void check_beginnings_of_several(Device& device) {
    const CsrMatrix matrix = scaled_laplacian(33, 0);
    for (const int count : {2, 3, 17, 64}) {
        Several<double> several(matrix, device, count, true, 10);
        const std::vector<double> norms = several.krylov->begin_again(1e-30);
        const std::vector<int> restarted = count == 2 ? std::vector<int>{0} : std::vector<int>{0, count - 1};
        several.krylov->restart(restarted);
        const std::vector<KrylovProgress> progress = several.krylov->wait();
        for (const int j : restarted) {
            CHECK(norms[j] == doctest::Approx(norm_of(one_of_several(matrix, j))).epsilon(1e-12));
            CHECK(progress[j].state == KrylovState::running);
            CHECK(progress[j].residual == doctest::Approx(norms[j]).epsilon(1e-12));  // X is 0
        }
        CHECK(norms[1] == 0);
        CHECK(progress[1].state == KrylovState::converged);
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
        CHECK(end_of(identity, method, {1, 2}, {1, std::nan("")}).state == KrylovState::breakdown);
        CHECK_EQ(end_of(identity, method, {3, 4}).iterations, 1);
    }
}

}  // namespace workbench
