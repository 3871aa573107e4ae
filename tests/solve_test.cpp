// Solving with recipes on the host: x is correct in input order for every recipe, and each way to end is reported.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/eigen.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// Convection-diffusion with 5 points on 12 x 12 nodes in scrambled order, scaled; not symmetric if drift is not 0.
CsrMatrix flow(double drift) {
    constexpr Index side = 12;
    const auto number = [](Index i, Index j) { return ((i * side + j) * 29 + 5) % (side * side); };
    const auto scale = [&](Index a, Index b) { return drift == 0 ? 1.0 + 0.01 * (a % 9) * (b % 9) : 1.0 + a % 8; };
    std::vector<Entry> entries;
    for (Index i = 0; i < side; ++i) {
        for (Index j = 0; j < side; ++j) {
            const Index row = number(i, j);
            entries.push_back({row, row, 5 * scale(row, row)});
            const auto add = [&](Index k, Index l, double value) {
                if (k >= 0 && k < side && l >= 0 && l < side) {
                    entries.push_back({row, number(k, l), value * scale(row, number(k, l))});
                }
            };
            add(i - 1, j, -1 - drift);
            add(i + 1, j, -1 + drift);
            add(i, j - 1, -1);
            add(i, j + 1, -1);
        }
    }
    return csr_from_entries(side * side, side * side, entries);
}

std::vector<double> uneven(Index rows) {
    std::vector<double> b(static_cast<std::size_t>(rows));
    for (Index i = 0; i < rows; ++i) b[i] = 1 + 0.5 * (i % 5);
    return b;
}

Eigen::VectorXd solution(const CsrMatrix& matrix, const std::vector<double>& b) {
    return solution(matrix, Eigen::MatrixXd(Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b))));
}

SolveReport report_of(KrylovMethod method, bool jacobi = false, double tolerance = 1e-10, Precision precision = Precision::f64,
                      std::int64_t patience = 1000) {
    SolveReport report;
    report.precision = precision;
    report.options.method = method;
    report.options.jacobi = jacobi;
    report.options.tolerance = tolerance;
    report.options.patience = patience;
    report.options.timing = {CacheState::warm, 1, 0, 0};
    return report;
}

SolvePlan plan_of(const CsrMatrix& matrix, const std::vector<double>& b, Device& device) {
    return {matrix, b, catalogue(), device, {Backend::kokkos, Backend::eigen}};
}

SolveReport solve_all(const CsrMatrix& matrix, const std::vector<double>& b, const std::vector<Recipe>& recipes,
                      SolveReport report) {
    const auto host = make_host_device();
    solve_recipes(plan_of(matrix, b, *host), recipes, report);
    return report;
}

Recipe plain_recipe() { return parse_recipe("[recipe]\nname = 'plain'\n[layout]\nuse = 'csr'\n", "t.toml", catalogue()); }

SolveReport solve_plain(const CsrMatrix& matrix, const std::vector<double>& b, SolveReport report) {
    return solve_all(matrix, b, {plain_recipe()}, std::move(report));
}

/// The baseline is Eigen's kernel or the workbench's own, whichever was faster.
bool is_csr_of_host(const SolveOutcome& one) {
    const std::string& kernel = one.preparation.kernel.kernel;
    return one.baseline && one.preparation.layout == "csr" && (kernel == "eigen" || kernel == "rows");
}

double distance(const std::vector<double>& x, const Eigen::VectorXd& expected) {
    return (Eigen::Map<const Eigen::VectorXd>(x.data(), std::ssize(x)) - expected).norm() / expected.norm();
}

}  // namespace

TEST_CASE("`reported` is called after each solve and failure") {
    const CsrMatrix matrix = flow(0);
    const std::vector<double> b = uneven(matrix.rows);
    const auto host = make_host_device();
    SolveReport report = report_of(KrylovMethod::cg, true);
    SolvePlan plan = plan_of(matrix, b, *host);
    plan.tune_with = {plain_recipe()};
    std::vector<std::size_t> solves;
    plan.reported = [&] { solves.push_back(report.outcomes.size() + report.failures.size()); };
    solve_recipes(plan, {plain_recipe(), plain_recipe()}, report);
    CHECK(report.outcomes.front().product_inside_seconds > 0);
    CHECK(solves == std::vector<std::size_t>{1, 2, 3, 4, 4});  // in the end when short solves have had their turns
}

TEST_CASE("conjugate gradients on a matrix that is not symmetric give a warning") {
    const auto warnings_of = [](double mirror, KrylovMethod method) {
        const CsrMatrix matrix = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 4}, {0, 1, 1}, {1, 0, mirror}, {1, 1, 4}});
        std::vector<std::string> warnings = solve_plain(matrix, {1, 1}, report_of(method, false)).warnings;
        std::erase_if(warnings, [](const std::string& text) { return text.find("symmetric") == std::string::npos; });
        return warnings;
    };
    CHECK(warnings_of(1, KrylovMethod::cg).empty());
    CHECK(warnings_of(1 + 1e-14, KrylovMethod::cg).empty());
    CHECK(warnings_of(2, KrylovMethod::cg) ==
          std::vector<std::string>{"the matrix is not symmetric: conjugate gradients need a symmetric positive definite one; "
                                   "--method bicgstab takes others"});
    CHECK(warnings_of(2, KrylovMethod::bicgstab).empty());
    CHECK_FALSE(is_nearly_symmetric(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 4}, {0, 1, 1}, {1, 1, 4}})));
    CHECK_FALSE(is_nearly_symmetric(csr_from_entries(2, 2, std::vector<Entry>{{0, 1, 1}, {1, 0, -1}})));
    // Row 1 has no mirror image of (0, 1); the element behind it is that of row 2.
    CHECK_FALSE(is_nearly_symmetric(csr_from_entries(3, 3, std::vector<Entry>{{0, 1, 7}, {0, 2, 7}, {2, 0, 7}})));
    // What counts as rounding depends on the size of the values.
    CHECK(is_nearly_symmetric(csr_from_entries(2, 2, std::vector<Entry>{{0, 1, 1e12}, {1, 0, 1e12 + 1}})));
    CHECK_FALSE(is_nearly_symmetric(csr_from_entries(2, 2, std::vector<Entry>{{0, 1, 1e-12}, {1, 0, 2e-12}})));
}

TEST_CASE("a small matrix is solved several times, with a warning that it fits in the cache") {
    const CsrMatrix matrix = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 4}, {1, 1, 4}});
    const SolveReport report = solve_plain(matrix, {1, 1}, report_of(KrylovMethod::cg, false));
    CHECK(report.outcomes.at(1).solve_samples.size() == 11);
    if (make_host_device()->properties().last_level_cache == 0) return;  // unknown
    CHECK(std::count_if(report.warnings.begin(), report.warnings.end(), [](const std::string& text) {
              return text.find("fit in the last-level cache") != std::string::npos;
          }) == 1);
}

TEST_CASE("the warning about the cache counts the vectors of CG in the precision of the solve") {
    const CsrMatrix matrix = flow(0);
    const std::vector<double> b = uneven(matrix.rows);
    const auto warns = [&](Precision precision, std::int64_t cache, std::int64_t& bytes) {
        (void)new_script();
        ScriptedDevice device({DeviceKind::host, "a host", 1, 0, static_cast<std::size_t>(cache)});
        SolveReport report = report_of(KrylovMethod::cg, true, 1e-4, precision);
        solve_recipes(plan_of(matrix, b, device), {}, report);
        bytes = report.outcomes.at(0).preparation.bytes_to_move;
        return std::any_of(report.warnings.begin(), report.warnings.end(), [](const std::string& text) {
            return text.find("fit in the last-level cache") != std::string::npos;
        });
    };
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        std::int64_t bytes = 0;
        CHECK_FALSE(warns(precision, 1, bytes));
        REQUIRE(bytes > 0);
        const std::int64_t all = bytes + std::int64_t{2} * matrix.rows * value_bytes(precision);  // x and r
        CHECK(warns(precision, all + 1, bytes));
        CHECK_FALSE(warns(precision, all, bytes));
    }
}

TEST_CASE("every layout and hybrid gives Eigen's solution in input order") {
    std::vector<Recipe> recipes;
    for (const LayoutRecipe& one : layout_recipes()) recipes.push_back(one.recipe);
    for (const LayoutRecipe& one : hybrid_recipes()) recipes.push_back(one.recipe);
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        const CsrMatrix matrix = flow(method == KrylovMethod::cg ? 0 : 0.4);
        const std::vector<double> b = uneven(matrix.rows);
        const Eigen::VectorXd expected = solution(matrix, b);
        std::vector<Recipe> fitting = recipes;
        std::erase_if(fitting, [](const Recipe& recipe) { return recipe.node_size != 1; });
        const SolveReport report = solve_all(matrix, b, fitting, report_of(method, true));
        CHECK_EQ(report.failures.size(), 0);
        REQUIRE_EQ(report.outcomes.size(), fitting.size() + 1);
        CHECK(report.outcomes.front().baseline);
        CHECK(is_csr_of_host(report.outcomes.front()));
        int solved = 0;
        for (const SolveOutcome& one : report.outcomes) {
            CAPTURE(one.preparation.recipe);
            CAPTURE(one.preparation.layout);
            if (one.preparation.kernel.status == KernelOutcome::Status::unsuitable) continue;
            ++solved;
            CHECK(one.end == SolveEnd::converged);
            CHECK_LT(distance(one.x, expected), 1e-8);
            CHECK_LE(one.true_residual, 1.01e-10);
            const Eigen::VectorXd r = Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b)) -
                                      to_eigen(matrix) * Eigen::Map<const Eigen::VectorXd>(one.x.data(), std::ssize(one.x));
            const double norm_of_b = Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b)).norm();
            CHECK_EQ(one.true_residual / (r.norm() / norm_of_b), doctest::Approx(1).epsilon(1e-3));
            CHECK_EQ(one.history.size(), one.iterations + 1);
            CHECK_EQ(one.history.front(), doctest::Approx(1));
            CHECK_EQ(one.residual / one.history.back(), doctest::Approx(1));  // a small number equals every other by Approx
            CHECK_EQ(one.products, (method == KrylovMethod::cg ? 1 : 2) * one.iterations + one.restarts);
            CHECK_LE(std::abs(one.iterations - report.outcomes.front().iterations), 3);
        }
        CHECK_GT(solved, 15);
        CHECK_EQ(exit_code_of(report), ExitCode::ok);
    }
}

TEST_CASE("each way to end has an exit code and a reason") {
    const CsrMatrix positive = flow(0);
    const std::vector<double> b = uneven(positive.rows);
    SolveReport few = report_of(KrylovMethod::cg);
    few.options.most_iterations = 5;
    few = solve_plain(positive, b, few);
    CHECK(few.outcomes.back().end == SolveEnd::iteration_limit);
    CHECK_EQ(few.outcomes.back().iterations, 5);
    CHECK_EQ(few.outcomes.back().reason, "5 iterations did not reach 1e-10");
    CHECK_EQ(exit_code_of(few), ExitCode::iteration_limit);

    // Beyond the accuracy of f32, only the residual of the recurrence decreases.
    const SolveReport coarse = solve_plain(positive, b, report_of(KrylovMethod::cg, false, 1e-11, Precision::f32));
    const SolveOutcome& stagnated = coarse.outcomes.back();
    CHECK(stagnated.end == SolveEnd::stagnated);
    CHECK_GT(stagnated.true_residual, 1e-9);
    CHECK_LT(stagnated.true_residual, 1e-5);
    CHECK_GE(stagnated.restarts, 1);
    CHECK_EQ(stagnated.products, stagnated.iterations + stagnated.restarts);
    CHECK_NE(stagnated.reason.find("f32 is not accurate enough"), std::string::npos);
    CHECK_EQ(exit_code_of(coarse), ExitCode::stagnated);

    // Singular, with b outside of the range.
    const CsrMatrix chain = csr_from_entries(
        3, 3, std::vector<Entry>{{0, 0, 1}, {0, 1, -1}, {1, 0, -1}, {1, 1, 2}, {1, 2, -1}, {2, 1, -1}, {2, 2, 1}});
    SolveReport singular = report_of(KrylovMethod::cg, false, 1e-8);
    singular = solve_plain(chain, {1, 1, 1}, singular);
    CHECK(singular.outcomes.back().end == SolveEnd::indefinite);
    CHECK_EQ(exit_code_of(singular), ExitCode::indefinite);

    const CsrMatrix negative = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 2}, {1, 1, -1}});
    const SolveReport indefinite = solve_plain(negative, {1, 2}, report_of(KrylovMethod::cg));
    CHECK(indefinite.outcomes.back().end == SolveEnd::indefinite);
    CHECK_NE(indefinite.outcomes.back().reason.find("the matrix is not positive definite"), std::string::npos);
    CHECK_EQ(exit_code_of(indefinite), ExitCode::indefinite);

    const CsrMatrix skew = csr_from_entries(2, 2, std::vector<Entry>{{0, 1, 1}, {1, 0, -1}});
    const SolveReport broken = solve_plain(skew, {1, 1}, report_of(KrylovMethod::bicgstab));
    CHECK(broken.outcomes.back().end == SolveEnd::breakdown);
    CHECK_EQ(exit_code_of(broken), ExitCode::breakdown);

    // The first solve that did not converge decides, unless a kernel was wrong.
    SolveReport mixed = broken;
    mixed.outcomes.insert(mixed.outcomes.begin(), few.outcomes.back());
    CHECK_EQ(exit_code_of(mixed), ExitCode::iteration_limit);
    mixed.outcomes.back().preparation.kernel.status = KernelOutcome::Status::wrong;
    CHECK_EQ(exit_code_of(mixed), ExitCode::wrong_result);
    SolveReport failed;
    failed.failures.push_back({ExitCode::machine_error, "no memory"});
    CHECK_EQ(exit_code_of(failed), ExitCode::machine_error);
}

TEST_CASE("patience ends a solve without progress") {
    // The residual of BiCGStab stagnates on this matrix.
    const CsrMatrix hard = [] {
        std::vector<Entry> entries;
        for (Index i = 0; i < 60; ++i) {
            entries.push_back({i, i, 1e-3});
            entries.push_back({i, (i + 1) % 60, 1});
        }
        return csr_from_entries(60, 60, entries);
    }();
    SolveReport report = report_of(KrylovMethod::bicgstab);
    report.options.patience = 3;
    report.options.most_iterations = 100000;
    std::vector<double> b(60, 0.0);
    b[0] = 1;
    report = solve_plain(hard, b, report);
    CHECK(report.outcomes.back().end != SolveEnd::converged);
    CHECK_LT(report.outcomes.back().iterations, 1000);

    // The residuals of the reason are relative to |b|.
    b[0] = 4096;
    const SolveReport larger = solve_plain(hard, b, report_of(KrylovMethod::bicgstab, false, 1e-10, Precision::f64, 3));
    const SolveOutcome& stuck = larger.outcomes.back();
    REQUIRE(stuck.end == SolveEnd::stagnated);
    const double least = *std::min_element(stuck.history.begin() + 1, stuck.history.end() - 3);
    CHECK_EQ(stuck.reason, fmt::format("the last 3 of {} iterations did not reduce the residual below {:.3g} of |b|",
                                       stuck.iterations, least));
}

TEST_CASE("the baseline is the vendor's CSR of the device, and has no options of the recipes") {
    const auto text_of_baseline = [](const Catalogue& from, DeviceKind kind, bool of_vendor) {
        const Recipe recipe = baseline_recipe(from, kind, of_vendor);
        std::string text = recipe.name;
        for (const auto& [backend, kernel] : recipe.layouts.front().kernels) {
            text += fmt::format(": {} {}", name_of(backend), kernel);
        }
        return text;
    };
    CHECK_EQ(text_of_baseline(catalogue(), DeviceKind::host, true), "Eigen CSR: eigen eigen");
    CHECK_EQ(text_of_baseline(catalogue(), DeviceKind::host, false), "CSR: kokkos rows");
    CHECK_EQ(text_of_baseline(scripted_catalogue(), DeviceKind::gpu, true), "cuSPARSE CSR: cusparse vendor");
    CHECK_EQ(text_of_baseline(scripted_catalogue(), DeviceKind::gpu, false), "CSR: cuda own");

    const CsrMatrix matrix = flow(0);
    const std::vector<double> b = uneven(matrix.rows);
    const auto host = make_host_device();
    const TemporaryFolder folder;
    KeepFolder keep(folder.path(), "a program");
    SolveReport report = report_of(KrylovMethod::cg, true);
    report.options.only = "rows";
    SolvePlan plan = plan_of(matrix, b, *host);
    plan.keep = &keep;
    solve_recipes(plan, {}, report);
    CHECK(is_csr_of_host(report.outcomes.at(0)));
    CHECK(std::filesystem::is_empty(folder.path()));  // so that its set-up is always measured
    solve_recipes(plan, {plain_recipe()}, report);
    CHECK_EQ(report.outcomes.back().preparation.kernel.kernel, "rows");
    CHECK_FALSE(std::filesystem::is_empty(folder.path()));
    report.options.only = "eigen";
    solve_recipes(plan, {plain_recipe()}, report);
    CHECK_EQ(report.outcomes.back().preparation.kernel.kernel, "eigen");
}

TEST_CASE("a zero right-hand side is solved at once") {
    const CsrMatrix matrix = flow(0);
    const SolveReport report = solve_plain(matrix, std::vector<double>(matrix.rows, 0.0), report_of(KrylovMethod::cg));
    CHECK(report.outcomes.back().end == SolveEnd::converged);
    CHECK_EQ(report.outcomes.back().iterations, 0);
    CHECK_EQ(report.outcomes.back().true_residual, 0);
    CHECK_EQ(*std::max_element(report.outcomes.back().x.begin(), report.outcomes.back().x.end()), 0);
}

TEST_CASE("Jacobi does not scale rows without a diagonal entry") {
    const CsrMatrix matrix = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 4}, {0, 1, 1}, {1, 0, 1}});
    const System<double> system(matrix, {1, 1});
    CHECK(system.inverse_diagonal_in(Permutation::identity(2)) == std::vector<double>{0.25, 1});
    CHECK(system.inverse_diagonal_in(Permutation::from_old_of_new({1, 0})) == std::vector<double>{1, 0.25});
}

TEST_CASE("invalid systems") {
    const auto message = [](const CsrMatrix& matrix, std::vector<double> b) {
        return message_of<InputError>([&] { (void)System<double>(matrix, std::move(b)); });
    };
    const CsrMatrix wide = csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}});
    const CsrMatrix square = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}});
    CHECK_EQ(message(wide, {1, 1}), "a linear system needs a square matrix; this one has 2 rows and 3 columns");
    CHECK_EQ(message(square, {1, 1, 1}), "the right-hand side has 3 elements; expected 2, one per row of the matrix");
    CHECK_EQ(message(square, {1, std::numeric_limits<double>::infinity()}), "b[1] is inf; expected finite numbers");
    const CsrMatrix broken = csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {0, 2, 1}, {2, 1, NAN}, {2, 2, NAN}});
    CHECK_EQ(message_of<InputError>([&] {
                 (void)solve_plain(broken, {1, 1, 1}, report_of(KrylovMethod::cg));
             }),
             "the matrix has nan in row 2 and column 1, from 0; expected finite values");
    CHECK_EQ(message_of<InputError>([&] { require_finite(broken, 10); }),
             "the matrix has nan in row 12 and column 1, from 0; expected finite values");
}

TEST_CASE("a failing recipe does not stop the others") {
    const CsrMatrix matrix = flow(0);
    const auto parse = [](const std::string& text) { return parse_recipe(text, "t.toml", catalogue()); };
    const Recipe ell = parse("[recipe]\nname = 'narrow'\n[layout]\nuse = 'ell'\nslots_per_nonzero = 1.0\n");
    const Recipe nodes =
        parse("[recipe]\nname = 'nodes'\n[matrix]\nnode_size = 5\n[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'csr'\n");
    const SolveReport report =
        solve_all(matrix, uneven(matrix.rows), {ell, nodes, plain_recipe()}, report_of(KrylovMethod::cg));
    REQUIRE_EQ(report.outcomes.size(), 3);
    CHECK(report.outcomes[1].preparation.kernel.status == KernelOutcome::Status::unsuitable);
    CHECK(report.outcomes[2].solved());
    REQUIRE_EQ(report.failures.size(), 1);
    CHECK_EQ(report.failures[0].exit_code, ExitCode::bad_input);
    const std::string text = solve_text(report);
    CHECK_NE(text.find("narrow: unsuitable: "), std::string::npos);
}

TEST_CASE("right-hand sides") {
    CHECK(make_right_hand_side({RightHandSide::Kind::ones}, 3) == std::vector<double>{1, 1, 1});
    const std::vector<double> random = make_right_hand_side({RightHandSide::Kind::random, 3}, 1000);
    CHECK(random == make_right_hand_side({RightHandSide::Kind::random, 3}, 1000));
    CHECK(random != make_right_hand_side({RightHandSide::Kind::random, 4}, 1000));
    CHECK_LT(*std::max_element(random.begin(), random.end()), 1);
    CHECK_GE(*std::min_element(random.begin(), random.end()), -1);
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "b.mtx";
    write_whole_file(file, "%%MatrixMarket matrix array real general\n3 1\n2.5\n0\n-1\n");
    CHECK(make_right_hand_side({RightHandSide::Kind::file, 0, file}, 3) == std::vector<double>{2.5, 0, -1});
    CHECK_EQ(message_of<InputError>([&] {
                 (void)make_right_hand_side({RightHandSide::Kind::file, 0, file}, 4);
             }),
             file.string() + ": found 3 numbers; expected 4, one per row of the matrix");
}

}  // namespace workbench
