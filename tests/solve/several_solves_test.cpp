#include "pipeline/solving/several_solves.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

namespace workbench {
namespace {

using All = std::vector<KrylovProgress>;

/// A solver whose progress is written down beforehand: one entry for each wait.
class ScriptedSolver final : public SeveralKrylov<double> {
public:
    explicit ScriptedSolver(std::vector<All> script) : script_(std::move(script)) {}

    std::vector<int> stopped;

    void use(KrylovProduct<double>) override { unused(); }
    [[nodiscard]] int count() const override { return static_cast<int>(script_.front().size()); }
    [[nodiscard]] double* right_hand_sides() override { return unused(); }
    [[nodiscard]] double* solutions() override { return unused(); }
    [[nodiscard]] double* inverse_diagonal() override { return unused(); }
    std::vector<double> begin_again(double) override { throw std::logic_error("not expected"); }
    void restart(std::span<const int>) override { unused(); }
    void stop(int which) override { stopped.push_back(which); }
    void launch(std::int64_t) override { unused(); }
    [[nodiscard]] All wait() override { return script_.at(next_++); }
    [[nodiscard]] std::vector<double> history(int) override { throw std::logic_error("not expected"); }
    [[nodiscard]] std::int64_t vector_bytes() const override { return 0; }

private:
    static double* unused() { throw std::logic_error("not expected"); }

    std::vector<All> script_;
    std::size_t next_ = 0;
};

struct Course {
    std::vector<std::int64_t> launched = {};
    std::vector<std::vector<int>> restarted = {};
    std::vector<double> residuals = {};  // of the next that are asked for

    void launch(std::int64_t iterations) { launched.push_back(iterations); }
    void restart(const std::vector<int>& which) { restarted.push_back(which); }
    [[nodiscard]] std::vector<double> true_residuals(const std::vector<int>& which) {
        CHECK(which.size() == residuals.size());
        return residuals;
    }
};

KrylovProgress progress_at(KrylovState state, std::int64_t iterations) { return {state, iterations, 0.5, 0}; }

}  // namespace

TEST_CASE("several solves advance to the next check of any, and one that ends is stopped") {
    using enum KrylovState;
    ScriptedSolver solver({{progress_at(running, 0), progress_at(running, 0)},
                           {progress_at(running, 4), progress_at(running, 4)},
                           {progress_at(converged, 9), progress_at(running, 4)}});
    Course course{.residuals = {0.0005}};
    const auto solves = run_several<double>(solver, {SolveRules(0.001, 1, 1000, 10), SolveRules(0.001, 1, 4, 5)},
                                            course);  // the second has four iterations at most
    CHECK(course.launched == std::vector<std::int64_t>{4, 6});
    CHECK(solver.stopped == std::vector<int>{1});
    CHECK(solves[0].end->how == SolveEnd::converged);
    CHECK(solves[0].progress.iterations == 9);
    CHECK(solves[1].end->how == SolveEnd::iteration_limit);
    CHECK(course.restarted.empty());
}

TEST_CASE("of several solves, those whose true residual is too large restart together") {
    using enum KrylovState;
    ScriptedSolver solver(
        {{progress_at(converged, 3), progress_at(converged, 3)}, {progress_at(converged, 8), progress_at(converged, 3)}});
    Course course{.residuals = {0.01, 0.0001}};
    struct Next final {
        Course& of;
        void launch(std::int64_t iterations) { of.launch(iterations); }
        void restart(const std::vector<int>& which) {
            of.restart(which);
            of.residuals = {0.001};
        }
        [[nodiscard]] std::vector<double> true_residuals(const std::vector<int>& which) { return of.true_residuals(which); }
    } next{course};
    const auto solves = run_several<double>(solver, {SolveRules(0.001, 1, 1000, 10), SolveRules(0.001, 1, 1000, 10)}, next);
    CHECK(course.restarted == std::vector<std::vector<int>>{{0}});
    CHECK(solves[0].restarts == 1);
    CHECK(solves[1].restarts == 0);
    CHECK(solver.stopped.empty());
    CHECK(course.launched.empty());
}

}  // namespace workbench
