// The library in programs that fork, move objects and throw.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/matrix/csr_matrix.hpp"
#include "support/message_of.hpp"
#include "support/operator_checks.hpp"

namespace workbench {
namespace {

using spmv_workbench::Operator;
using spmv_workbench::Options;
using spmv_workbench::Solver;

const std::string guest_recipe = "[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'sell'\nslice_height = 4\n";

spmv_workbench::Recipe recipe_of_guest() { return spmv_workbench::Recipe::from_text(guest_recipe); }

/// The second differences of a line.
CsrMatrix line_matrix(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        entries.push_back({i, i, 2});
        if (i > 0) entries.push_back({i, i - 1, -1});
        if (i + 1 < size) entries.push_back({i, i + 1, -1});
    }
    return csr_from_entries(size, size, entries);
}

/// The exit code of a child that calls `work`; the child is ended after 60 s, as it may hang.
int exit_code_of_child(const auto& work) {
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        try {
            _exit(work());
        } catch (...) {
            _exit(99);
        }
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("a forked process multiplies and solves with the objects of its parent, and makes others") {
    const Arrays<double> arrays(line_matrix(3000));
    Options options;
    options.device = spmv_workbench::Device::host;
    Operator<double> a(recipe_of_guest(), arrays.view(), options);
    Solver<double> solver(recipe_of_guest(), arrays.view(), {.recipe = options});
    const std::vector<double> ones(3000, 1);
    std::vector<double> y(3000);
    a.multiply(ones, y);  // starts the threads
    const auto is_right = [&] { return y.front() == 1 && y[1] == 0 && y.back() == 1; };
    for (int time = 0; time < 2; ++time) {
        CHECK(exit_code_of_child([&] {
                  std::fill(y.begin(), y.end(), 7);
                  a.multiply(ones, y);
                  if (!is_right()) return 1;
                  Operator<double>(recipe_of_guest(), arrays.view(), options).multiply(ones, y);
                  if (!is_right()) return 2;
                  return solver.solve(ones, y).end == spmv_workbench::SolveEnd::converged ? 0 : 3;
              }) == 0);
        std::fill(y.begin(), y.end(), 7);
        a.multiply(ones, y);
        CHECK(is_right());
    }
}

TEST_CASE("what is thrown by Options::stop reaches the caller") {
    const Arrays<double> arrays(line_matrix(9));
    Options options;
    options.stop = []() -> bool { throw std::domain_error("the caller's own"); };
    CHECK_THROWS_WITH_AS(Operator<double>(recipe_of_guest(), arrays.view(), options), "the caller's own", std::domain_error);
    CHECK_THROWS_WITH_AS(Solver<double>(recipe_of_guest(), arrays.view(), {.recipe = options}), "the caller's own",
                         std::domain_error);
    options.stop = []() -> bool { throw 5; };
    CHECK_THROWS_AS(Operator<double>(recipe_of_guest(), arrays.view(), options), int);
}

TEST_CASE("an object that was moved from throws, and can be assigned to") {
    const Arrays<double> arrays(line_matrix(9));
    std::vector<double> x(9, 1);
    std::vector<double> y(9);
    Operator<double> a(recipe_of_guest(), arrays.view());
    Operator<double> moved = std::move(a);
    // NOLINTBEGIN(bugprone-use-after-move)
    CHECK_THROWS_AS(a.multiply(x, y), std::invalid_argument);
    CHECK_THROWS_AS(a.multiply_add_in_recipe_order(x, y), std::invalid_argument);
    CHECK_THROWS_AS(a.to_recipe_order(x, y), std::invalid_argument);
    CHECK_THROWS_AS(a.set_values(arrays.values), std::invalid_argument);
    CHECK_THROWS_AS(a.set_values(arrays.view()), std::invalid_argument);
    CHECK_THROWS_AS((void)a.row_order(), std::invalid_argument);
    CHECK_THROWS_AS((void)a.facts(), std::invalid_argument);
    a = std::move(moved);
    CHECK(a.facts().rows == 9);
    Solver<double> solver(recipe_of_guest(), arrays.view());
    Solver<double> other = std::move(solver);
    CHECK_THROWS_AS(solver.solve(x, y), std::invalid_argument);
    CHECK_THROWS_AS((void)solver.matrix(), std::invalid_argument);
    // NOLINTEND(bugprone-use-after-move)
    solver = std::move(other);
    CHECK(solver.solve(x, y).end == spmv_workbench::SolveEnd::converged);
}

}  // namespace workbench
