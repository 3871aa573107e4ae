#include "support/layouts/across_ranks_checks.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/contract/solvers.hpp"
#include "kernels/krylov/cg_across_ranks.hpp"
#include "support/layouts/krylov_problems.hpp"

namespace workbench {
namespace {

template <typename Value>
struct Solve {
    Solve(const CsrMatrix& matrix, Device& device, Links& links, const KrylovPlan& plan, const std::vector<double>& b,
          const std::vector<Value>& inverse = {})
        : multiplier(matrix, device),
          rounded(b.begin(), b.end()),
          cg(make_cg_across_ranks<Value>(plan, rounded, inverse, device, links, multiplier.product())) {}

    CgAcrossRanks<Value>* operator->() const { return cg.get(); }

    BaselineProduct<Value> multiplier;
    std::vector<Value> rounded;
    std::unique_ptr<CgAcrossRanks<Value>> cg;
};

template <typename Value>
double distance(const std::vector<Value>& one, const std::vector<Value>& other) {
    REQUIRE_EQ(one.size(), other.size());
    double sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        sum += std::pow(static_cast<double>(one[i]) - static_cast<double>(other[i]), 2);
    return std::sqrt(sum);
}

template <typename Value>
double norm(const std::vector<Value>& x) {
    return distance(x, std::vector<Value>(x.size()));
}

/// A chain of springs with periodic stiffness, whose eigenvalues are distinct.
CsrMatrix chain(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        const double left = 1.0 + i % 5;
        const double right = 1.0 + (i + 1) % 5;
        entries.push_back({i, i, left + right + 0.01 * (1 + i % 3)});
        if (i > 0) entries.push_back({i, i - 1, -left});
        if (i + 1 < size) entries.push_back({i, i + 1, -right});
    }
    return square_of(size, entries);
}

template <typename Value>
void check_as_cg(const CsrMatrix& matrix, bool jacobi, Device& device, Links& links) {
    const bool single = sizeof(Value) == 4;
    const double tolerance = single ? 1e-4 : 1e-9;
    const std::vector<double> b = right_hand_side(matrix.rows);
    const std::vector<Value> inverse = jacobi ? inverse_diagonal<Value>(matrix) : std::vector<Value>();
    const KrylovPlan plan{KrylovMethod::cg, tolerance * norm_of(b), 2000};
    const Solve<Value> across(matrix, device, links, plan, b, inverse);
    const auto plain = make_krylov<Value>(device, plan, across.rounded, inverse);
    BaselineProduct<Value> multiplier(matrix, device);
    plain->use(multiplier.product());
    plain->launch(2000);
    across->launch(2000);
    const KrylovProgress expected = plain->wait();
    const KrylovProgress found = across->wait();
    CAPTURE(matrix.rows);
    CAPTURE(jacobi);
    CAPTURE(single);
    REQUIRE(expected.state == KrylovState::converged);
    CHECK(found.state == KrylovState::converged);
    CHECK_LE(std::abs(found.iterations - expected.iterations), 1 + expected.iterations / (single ? 10 : 50));
    CHECK_LT(found.residual, plan.stop_below);
    CHECK_LT(distance(across->x(), plain->x()), 1e3 * tolerance * norm(plain->x()));
    const std::vector<double> history = across->history();
    const std::vector<double> expected_history = plain->history();
    REQUIRE_EQ(std::ssize(history), found.iterations + 1);
    CHECK_EQ(history.back(), found.residual);
    for (std::size_t i = 0; i < std::min<std::size_t>({4, history.size(), expected_history.size()}); ++i) {
        CHECK(history[i] == doctest::Approx(expected_history[i]).epsilon(single ? 1e-4 : 1e-9));
    }
    const std::int64_t vectors = jacobi ? 13 : 11;
    CHECK_EQ(across->vector_bytes(), vectors * matrix.rows * static_cast<std::int64_t>(sizeof(Value)));

    // The same bits again, with sums in between.
    const Solve<Value> again(matrix, device, links, plan, b, inverse);
    again->sum_alone();
    again->launch(3);
    again->sum_alone();
    again->launch(2000);
    again->sum_alone();
    CHECK_EQ(again->wait().iterations, found.iterations);
    CHECK(again->x() == across->x());
    CHECK(again->history() == history);
}

}  // namespace

void check_cg_across_ranks_as_cg(Device& device, Links& links) {
    for (const bool jacobi : {false, true}) {
        for (const CsrMatrix& matrix : {scaled_laplacian(40, 0), chain(9001), square_of(1, {{0, 0, 3}})}) {
            check_as_cg<float>(matrix, jacobi, device, links);
            check_as_cg<double>(matrix, jacobi, device, links);
        }
    }
}

void check_limits_and_restarts_across_ranks(Device& device, Links& links) {
    const CsrMatrix matrix = scaled_laplacian(30, 0);
    const std::vector<double> b = right_hand_side(matrix.rows);
    const KrylovPlan plan{KrylovMethod::cg, 1e-8 * norm_of(b), 300};
    const std::vector<double> inverse = inverse_diagonal<double>(matrix);
    const Solve<double> whole(matrix, device, links, plan, b, inverse);
    whole->launch(300);
    const KrylovProgress at_once = whole->wait();
    REQUIRE(at_once.state == KrylovState::converged);

    // A solve in several launches is bit-identical.
    const Solve<double> pieces(matrix, device, links, plan, b, inverse);
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

    // The limit applies to all launches together, including restarts.
    const Solve<double> limited(matrix, device, links, {KrylovMethod::cg, plan.stop_below, 5}, b, inverse);
    for (int i = 0; i < 2; ++i) limited->launch(2);
    limited->restart();
    for (int i = 0; i < 3; ++i) limited->launch(3);
    CHECK_EQ(limited->wait().iterations, 5);
    CHECK(limited->wait().state == KrylovState::running);
    CHECK_EQ(limited->history().size(), 6);

    // A restart continues from the current x, and drops the direction.
    const Solve<double> again(matrix, device, links, plan, b, inverse);
    again->launch(10);
    const double before = again->wait().residual;
    const std::vector<double> x = again->x();
    again->restart();
    CHECK_EQ(again->wait().iterations, 10);
    CHECK(again->wait().residual == doctest::Approx(before).epsilon(1e-6));
    CHECK(again->x() == x);
    again->launch(1);
    // The step equals the first step of a solve for b - A x.
    std::vector<double> rest(x.size());
    const Eigen::VectorXd product = to_eigen(matrix) * Eigen::Map<const Eigen::VectorXd>(x.data(), std::ssize(x));
    for (std::size_t i = 0; i < x.size(); ++i) rest[i] = b[i] - product[static_cast<Eigen::Index>(i)];
    const Solve<double> fresh(matrix, device, links, plan, rest, inverse);
    fresh->launch(1);
    std::vector<double> sum = fresh->x();
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
    CHECK_LT(distance(again->x(), sum), 1e-12 * norm(sum));
    again->launch(300);
    CHECK(again->wait().state == KrylovState::converged);

    // A converged solve that restarts only removes rounding errors.
    whole->restart();
    whole->launch(300);
    CHECK(whole->wait().state == KrylovState::converged);
    CHECK_LE(whole->wait().iterations, at_once.iterations + 2);
}

void check_ends_across_ranks(Device& device, Links& links) {
    const auto compare = [&](const CsrMatrix& matrix, std::vector<double> b, const std::vector<double>& inverse = {}) {
        const KrylovPlan plan{KrylovMethod::cg, 1e-12, 50};
        const Solve<double> across(matrix, device, links, plan, b, inverse);
        across->launch(50);
        const auto plain = make_krylov<double>(device, plan, across.rounded, inverse);
        BaselineProduct<double> multiplier(matrix, device);
        plain->use(multiplier.product());
        plain->launch(50);
        CHECK(across->wait().state == plain->wait().state);
        CHECK_EQ(across->wait().iterations, plain->wait().iterations);
        return across->wait();
    };
    const CsrMatrix indefinite = square_of(3, {{0, 0, 1}, {1, 1, -2}, {2, 2, 1}});
    const KrylovProgress negative = compare(indefinite, {1, 2, 1});
    CHECK(negative.state == KrylovState::indefinite);
    CHECK_EQ(negative.divisor, 1 - 8 + 1);
    CHECK(compare(indefinite, {1, 2, 1}, {1, -0.5, 1}).state == KrylovState::indefinite);
    // r.Ar stays positive for one iteration, p.Ap does not.
    const KrylovProgress later = compare(square_of(3, {{0, 0, 4}, {1, 1, 3}, {2, 2, -1}}), {1, 1, 1});
    CHECK(later.state == KrylovState::indefinite);
    CHECK_EQ(later.iterations, 1);
    CHECK_LT(later.divisor, 0);
    const CsrMatrix singular = square_of(2, {{0, 0, 1}});
    CHECK(compare(singular, {0, 1}).state == KrylovState::indefinite);
    // Solves without work, and impossible ones.
    const CsrMatrix identity = square_of(2, {{0, 0, 1}, {1, 1, 1}});
    CHECK(compare(identity, {0, 0}).state == KrylovState::converged);
    CHECK(compare(identity, {1, std::nan("")}).state == KrylovState::breakdown);
    CHECK_EQ(compare(identity, {3, 4}).iterations, 1);
    CHECK(compare(square_of(2, {{0, 0, 1e200}, {1, 1, 1e200}}), {1e150, 1e150}).state == KrylovState::breakdown);
    const KrylovProgress none = compare(square_of(0, {}), {});
    CHECK(none.state == KrylovState::converged);
    CHECK_EQ(none.iterations, 0);

    // A restart ends a breakdown, and its iterations without progress do not count.
    bool broken = true;
    const std::vector<double> b{3, 4};
    const auto huge = to_device(device, std::span<const double>(std::vector<double>{1e308, 1e308}), "a test");
    const auto target = to_device(device, std::span<const Index>(std::vector<Index>{0, 1}), "a test");
    const auto cg =
        make_cg_across_ranks<double>({KrylovMethod::cg, 1e-12, 50}, b, {}, device, links, [&](const double* x, double* y) {
            device.scatter(broken ? huge.as<const double>() : x, target.as<const Index>(), 2, y);
        });
    cg->launch(50);
    REQUIRE(cg->wait().state == KrylovState::breakdown);
    broken = false;
    cg->restart();
    cg->launch(3);
    CHECK(cg->wait().state == KrylovState::converged);
    CHECK(cg->x()[0] == doctest::Approx(3));
    CHECK(cg->x()[1] == doctest::Approx(4));
}

namespace {

template <typename Value>
void check_exchange_of(Device& device, Links& links) {
    HaloPlan plan;
    plan.places = {6, 0, 5, 5, 2};
    plan.send = {{0, 1, 3}};
    plan.receive = {{0, 2, 3}};
    plan.halo = 6;
    const auto exchange = links.make_exchange<Value>(plan);
    const Value* const halo = exchange->halo();
    DeviceMemory x = device.allocate(7 * sizeof(Value), "a test");
    const auto places = to_device(device, std::span<const Index>(std::vector<Index>{0, 1, 2, 3, 4, 5}), "a test");
    DeviceMemory seen = device.allocate(6 * sizeof(Value), "a test");
    for (const Value first : {Value{10}, Value{-20}}) {
        std::vector<Value> values(7);
        for (int i = 0; i < 7; ++i) values[i] = first + static_cast<Value>(i);
        device.upload(std::as_bytes(std::span(values)), x);
        exchange->start(x.as<const Value>());
        exchange->finish();
        device.zero(x.address(), x.bytes());
        device.scatter(exchange->halo(), places.as<const Index>(), 6, seen.as<Value>());
        std::vector<Value> found(6);
        device.download(seen, std::as_writable_bytes(std::span(found)));
        CHECK(exchange->halo() == halo);
        CHECK_EQ(found[2], first);
        CHECK_EQ(found[3], first + 5);
        CHECK_EQ(found[4], first + 5);
    }
    // Without neighbours the exchange does nothing.
    const auto nothing = links.make_exchange<Value>(HaloPlan());
    nothing->start(x.as<const Value>());
    nothing->finish();
}

}  // namespace

void check_exchange_with_itself(Device& device, Links& links) {
    check_exchange_of<float>(device, links);
    check_exchange_of<double>(device, links);
}

}  // namespace workbench
