// Links between ranks, and a solve over them: on the host, with neighbours that a test plays.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/contract/errors.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/exchange/make_links.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/krylov/cg_across_ranks.hpp"
#include "kernels/krylov/steps_across_ranks.hpp"
#include "support/layouts/across_ranks_checks.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/message_of.hpp"
#include "support/one_rank.hpp"

namespace workbench {
namespace {

/// Rank 1 of 3, whose neighbours send consecutive numbers.
class MiddleOfThree final : public OneRank {
public:
    [[nodiscard]] int rank() const override { return 1; }
    [[nodiscard]] int size() const override { return 3; }
    [[nodiscard]] std::string engine() const override { return "a test"; }
    void gather(std::span<const double> mine, std::span<double> all) override {
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = 100.0 * static_cast<double>(i);
        std::copy(mine.begin(), mine.end(), all.begin() + std::ssize(mine));
    }
    void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
        sent.clear();
        for (const Outgoing& one : outgoing) {
            std::vector<double> values(one.bytes.size() / sizeof(double));
            std::memcpy(values.data(), one.bytes.data(), one.bytes.size());
            sent.emplace_back(one.to, values);
        }
        incoming_ = incoming;
        under_way = true;
    }
    void finish() override {
        for (const Incoming& one : incoming_) {
            for (std::size_t at = 0; at < one.bytes.size(); at += sizeof(double)) {
                ++received;
                const double value = 1000.0 * one.from + received;
                std::memcpy(one.bytes.data() + at, &value, sizeof(value));
            }
        }
        under_way = false;
    }

    std::vector<std::pair<int, std::vector<double>>> sent;
    bool under_way = false;
    int received = 0;

private:
    std::span<const Incoming> incoming_;
};

/// Two ranks with identical data: each has the solution of one rank.
class Twins final : public OneRank {
public:
    [[nodiscard]] int size() const override { return 2; }
    void gather(std::span<const double> mine, std::span<double> all) override {
        std::copy(mine.begin(), mine.end(), all.begin());
        std::copy(mine.begin(), mine.end(), all.begin() + std::ssize(mine));
    }
};

}  // namespace

TEST_CASE("the host packs, sends and receives a halo according to its plan") {
    MiddleOfThree ranks;
    const auto host = make_host_device();
    const auto links = make_host_links(ranks, *host);
    CHECK_EQ(links->engine(), "a test");
    CHECK_EQ(links->ranks(), 3);
    const auto exchange = [&] {
        HaloPlan plan;
        plan.places = {4, 0, 2};
        plan.send = {{0, 0, 2}, {2, 2, 1}};
        plan.receive = {{0, 0, 1}, {2, 1, 2}};
        plan.halo = 3;
        return links->make_exchange<double>(plan);
    }();
    const double* const halo = exchange->halo();
    std::vector<double> x{10, 11, 12, 13, 14};
    exchange->start(x.data());
    CHECK(ranks.under_way);
    std::fill(x.begin(), x.end(), 0);
    REQUIRE_EQ(ranks.sent.size(), 2);
    CHECK(ranks.sent[0] == std::pair(0, std::vector<double>{14, 10}));
    CHECK(ranks.sent[1] == std::pair(2, std::vector<double>{12}));
    exchange->finish();
    CHECK_FALSE(ranks.under_way);
    CHECK(std::vector<double>(halo, halo + 3) == std::vector<double>{1, 2002, 2003});
    exchange->start(x.data());
    CHECK(ranks.sent[0].second == std::vector<double>{0, 0});
    exchange->finish();
    CHECK(exchange->halo() == halo);
    CHECK(std::vector<double>(halo, halo + 3) == std::vector<double>{4, 2005, 2006});

    const std::vector<double> mine{1, 2};
    std::vector<double> all(6);
    links->gather(mine.data(), all.data(), 2);
    CHECK(all == std::vector<double>{0, 100, 1, 2, 400, 500});
}

TEST_CASE("a single rank on the host") {
    OneRank ranks;
    const auto host = make_host_device();
    const auto links = make_host_links(ranks, *host);
    check_exchange_with_itself(*host, *links);
    check_cg_across_ranks_as_cg(*host, *links);
    check_limits_and_restarts_across_ranks(*host, *links);
    check_ends_across_ranks(*host, *links);
}

TEST_CASE_TEMPLATE("two ranks with identical data solve bit-identically to one", Value, float, double) {
    const CsrMatrix matrix = scaled_laplacian(25, 0);
    const std::vector<double> b = right_hand_side(matrix.rows);
    const std::vector<Value> rounded(b.begin(), b.end());
    const std::vector<Value> inverse = inverse_diagonal<Value>(matrix);
    const auto host = make_host_device();
    BaselineProduct<Value> multiplier(matrix, *host);
    OneRank alone;
    Twins twins;
    const auto one = make_host_links(alone, *host);
    const auto two = make_host_links(twins, *host);
    const auto begin = [&](Links& links, double stop_below) {
        return make_cg_across_ranks<Value>({KrylovMethod::cg, stop_below, 20}, rounded, inverse, *host, links,
                                           multiplier.product());
    };
    const auto expected = begin(*one, 1e-3);
    const auto found = begin(*two, 2e-3);
    expected->launch(20);
    found->launch(20);
    CHECK_EQ(found->wait().iterations, 20);
    CHECK(found->x() == expected->x());
    // The sums of squares are twice as large.
    const std::vector<double> history = found->history();
    const std::vector<double> expected_history = expected->history();
    REQUIRE_EQ(history.size(), expected_history.size());
    for (std::size_t i = 0; i < history.size(); ++i) CHECK(history[i] == doctest::Approx(std::sqrt(2.0) * expected_history[i]));
}

TEST_CASE("a restarted solve drops the previous directions") {
    double b = 5, r = 0, u = 0, q = 3, p = std::nan(""), inverse = 0.25;
    krylov::Vectors<double> v;
    v.size = 1;
    v.b = &b;
    v.inverse_diagonal = &inverse;
    v.r = &r;
    v.ms = &u;
    v.p = &p;
    v.q = &q;
    krylov::Scalars scalars;
    krylov::Sums sums;
    krylov::AcrossBegin::write(v, scalars, 0, krylov::AcrossBegin::read(v, 0), sums);
    krylov::AcrossBegin::finish(scalars, sums);
    CHECK_EQ(r, 2);
    CHECK_EQ(u, 0.5);
    CHECK_EQ(p, 0);
    CHECK_EQ(q, 0);
    CHECK_EQ(scalars.own[0], 4);
    CHECK_EQ(scalars.own[1], 1);
}

TEST_CASE("sums over the ranks are added in the order of ranks") {
    std::vector<double> history(2);
    const auto curvature_of = [&](const std::vector<double>& all) {
        krylov::Scalars scalars;
        scalars.history = history.data();
        scalars.begins = true;
        krylov::add_up_ranks(scalars, all.data(), static_cast<int>(all.size() / 3));
        CHECK_EQ(scalars.iterations, 0);
        CHECK_EQ(scalars.beta, 0);
        return scalars;
    };
    const krylov::Scalars late = curvature_of({1, 2, 1e16, 1, 2, -1e16, 1, 2, 1});
    CHECK(late.state == KrylovState::running);
    CHECK_EQ(late.residual, 3);
    CHECK_EQ(late.rho, 6);
    CHECK_EQ(late.alpha, 6);
    const krylov::Scalars lost = curvature_of({1, 2, 1e16, 1, 2, 1, 1, 2, -1e16});
    CHECK(lost.state == KrylovState::indefinite);
    CHECK_EQ(lost.divisor, 0);
}

TEST_CASE("rounding errors of p.Ap do not count as an indefinite matrix") {
    std::vector<double> history(3);
    for (const double length : {1e-9, 0.0, -1e-9, -1e-3}) {
        krylov::Scalars scalars;
        scalars.history = history.data();
        scalars.rho = 4;
        scalars.alpha = 1;
        // beta = 1, so that p.Ap = curvature - 4.
        const std::vector<double> all{1, 4, 4 + length};
        krylov::add_up_ranks(scalars, all.data(), 1);
        CHECK_EQ(scalars.iterations, 1);
        CHECK(scalars.state == (length > 0       ? KrylovState::running
                                : length > -1e-6 ? KrylovState::breakdown
                                                 : KrylovState::indefinite));
    }
}

#if !WORKBENCH_HAS_CUDA
TEST_CASE("linking GPUs requires CUDA") {
    OneRank ranks;
    const auto host = make_host_device();
    choose_cuda_device(3);
    CHECK_EQ(message_of<MachineError>([&] { (void)make_cuda_links(ranks, *host); }),
             "there are no GPUs to link: this program was built without CUDA");
}
#endif

}  // namespace workbench
