// Solves for several right-hand sides at a time.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

using Columns = std::vector<std::vector<double>>;

SolveReport solve_together(const CsrMatrix& matrix, const Columns& b, const std::vector<Recipe>& recipes,
                           const SolveOptions& options, Precision precision = Precision::f64) {
    const auto host = make_host_device();
    SolveReport report;
    report.precision = precision;
    report.options = options;
    report.options.right_sides = static_cast<int>(b.size());
    SolvePlan plan{matrix, b.front(), catalogue(), *host, {Backend::kokkos, Backend::eigen}};
    plan.more_b.assign(b.begin() + 1, b.end());
    solve_recipes(plan, recipes, report);
    return report;
}

SolveOptions options_together(bool jacobi = false, double tolerance = 1e-10) {
    SolveOptions options;
    options.jacobi = jacobi;
    options.tolerance = tolerance;
    options.timing = {CacheState::warm, 1, 0, 0};
    return options;
}

Recipe recipe_together(const std::string& text) { return parse_recipe(text, "t.toml", catalogue()); }

Eigen::VectorXd column_of_x(const SolveOutcome& one, int count, int j) {
    Eigen::VectorXd x(one.x.size() / count);
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = one.x[i * count + j];
    return x;
}

}  // namespace

TEST_CASE("every layout and hybrid solves for several right-hand sides, in input order") {
    const CsrMatrix matrix = scaled_laplacian(12, 0);
    const int count = 3;
    const Columns b = make_right_hand_sides({}, matrix.rows, count).columns;
    Eigen::MatrixXd exact(matrix.rows, count);
    for (int j = 0; j < count; ++j) exact.col(j) = Eigen::Map<const Eigen::VectorXd>(b[j].data(), matrix.rows);
    exact = solution(matrix, exact);
    std::vector<Recipe> recipes;
    for (const LayoutRecipe& one : layout_recipes()) recipes.push_back(one.recipe);
    for (const LayoutRecipe& one : hybrid_recipes()) recipes.push_back(one.recipe);
    std::erase_if(recipes, [](const Recipe& recipe) { return recipe.node_size != 1; });
    const SolveReport report = solve_together(matrix, b, recipes, options_together(true));
    std::size_t solved = 0;
    for (const SolveOutcome& one : report.outcomes) {
        CAPTURE(one.preparation.recipe);
        CAPTURE(one.preparation.layout);
        if (one.preparation.kernel.status == KernelOutcome::Status::unsuitable) continue;
        ++solved;
        CHECK(one.end == SolveEnd::converged);
        CHECK(one.reason.empty());
        REQUIRE(one.right_sides.size() == count);
        std::int64_t most = 0;
        double largest = 0;
        for (int j = 0; j < count; ++j) {
            const Eigen::VectorXd expected = exact.col(j);
            CHECK((column_of_x(one, count, j) - expected).norm() < 1e-7 * expected.norm());
            const RightSideOutcome& side = one.right_sides[j];
            CHECK(side.end == SolveEnd::converged);
            CHECK(side.true_residual <= 1.1e-10);
            most = std::max(most, side.iterations);
            largest = std::max(largest, side.true_residual);
        }
        CHECK(one.iterations >= most);
        CHECK(one.products - one.iterations <= one.restarts);
        CHECK(one.true_residual == largest);
        CHECK(std::ssize(one.history) == most + 1);
        CHECK(one.history.front() == doctest::Approx(1));  // |b| / |b|
        CHECK(one.alone_solves > 0);
        CHECK(one.alone_seconds > 0);
        CHECK(one.alone_solver_seconds > 0);
        CHECK_FALSE(one.alone_kernel.empty());
        CHECK(one.vector_bytes == 13 * 8 * matrix.rows * count);
    }
    CHECK(solved > recipes.size() / 2);
    for (const Failure& failure : report.failures) {
        CHECK_MESSAGE(failure.text.find("rounds values, which a solve with several right-hand sides does not refine") !=
                          std::string::npos,
                      failure.text);
    }
}

TEST_CASE("one long solve for one right-hand side is enough to compare with") {
    const CsrMatrix matrix = scaled_laplacian(6, 0);
    SolveOptions options = options_together();
    options.timing.clock.seconds = [now = 0.0]() mutable { return now += 2; };
    const Recipe csr = recipe_together("[recipe]\nname = 'x'\n[layout]\nuse = 'csr'\n");
    const SolveReport report = solve_together(matrix, make_right_hand_sides({}, matrix.rows, 3).columns, {csr}, options);
    REQUIRE_FALSE(report.outcomes.empty());
    for (const SolveOutcome& one : report.outcomes) {
        CHECK(one.alone_solves == 1);
        CHECK(one.alone_solver_seconds == 2);
        CHECK(one.alone_seconds > 1);
    }
}

TEST_CASE("each right-hand side ends by its own rule") {
    // Rows 0 and 1 are positive definite, row 2 is not; b 0 reaches none of it.
    const CsrMatrix matrix = csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 2}, {1, 1, 3}, {2, 2, -1}});
    const Columns b{{1, 1, 0}, {0, 0, 0}, {1, 0, 1}, {0, 0, 2}};
    const SolveReport report = solve_together(matrix, b, {recipe_together("[layout]\nuse = 'csr'\n")}, options_together());
    REQUIRE(report.outcomes.size() == 2);
    for (const SolveOutcome& one : report.outcomes) {
        REQUIRE(one.right_sides.size() == 4);
        CHECK(one.right_sides[0].end == SolveEnd::converged);
        CHECK(one.right_sides[0].iterations == 2);
        CHECK(one.right_sides[1].end == SolveEnd::converged);
        CHECK(one.right_sides[1].iterations == 0);
        CHECK(one.right_sides[3].end == SolveEnd::indefinite);
        CHECK(one.right_sides[3].iterations == 0);
        const auto& of_third = one.right_sides[2];
        CHECK(one.end == (of_third.end == SolveEnd::converged ? SolveEnd::indefinite : of_third.end));
        const int first = of_third.end == SolveEnd::converged ? 4 : 3;
        CHECK_MESSAGE(one.reason.starts_with(fmt::format("right-hand side {}: ", first)), one.reason);
        CHECK(column_of_x(one, 4, 0).isApprox(Eigen::Vector3d(0.5, 1.0 / 3, 0)));
        CHECK(column_of_x(one, 4, 1).isZero(0));
    }
    CHECK(exit_code_of(report) == ExitCode::indefinite);

    SolveOptions options = options_together();
    options.most_iterations = 3;
    const CsrMatrix grid = scaled_laplacian(20, 0);
    const SolveReport limited = solve_together(grid, {right_hand_side(400), std::vector<double>(400, 0)},
                                               {recipe_together("[layout]\nuse = 'csr'\n")}, options);
    for (const SolveOutcome& one : limited.outcomes) {
        CHECK(one.end == SolveEnd::iteration_limit);
        CHECK(one.reason == "right-hand side 1: 3 iterations did not reach 1e-10");
        CHECK(one.right_sides[1].end == SolveEnd::converged);
        CHECK(one.iterations == 3);
    }
}

TEST_CASE("in f32 a tolerance that it cannot reach ends as stagnated, after restarts of those that need them") {
    const CsrMatrix grid = scaled_laplacian(40, 0);
    const Columns b{std::vector<double>(1600, 0), right_hand_side(1600)};
    const SolveReport report =
        solve_together(grid, b, {recipe_together("[layout]\nuse = 'csr'\n")}, options_together(false, 1e-9), Precision::f32);
    for (const SolveOutcome& one : report.outcomes) {
        CHECK(one.right_sides[0].end == SolveEnd::converged);
        CHECK(one.right_sides[1].end == SolveEnd::stagnated);
        CHECK(one.right_sides[1].restarts > 0);
        CHECK(one.restarts == one.right_sides[1].restarts);
        CHECK(one.products == one.iterations + one.restarts);
    }
}

TEST_CASE("the text and the JSON of a solve for several right-hand sides") {
    const CsrMatrix grid = scaled_laplacian(20, 0);
    const RightHandSides sides = make_right_hand_sides({RightHandSide::Kind::ones, 5}, grid.rows, 4);
    CHECK(sides.text == "ones, random (seeds 5 to 7)");
    SolveReport report = solve_together(
        grid, sides.columns, {recipe_together("[recipe]\nname = 'columns'\n[layout]\nuse = 'csc'\n")}, options_together());
    report.right_hand_side = sides.text;
    std::string text = solve_text(report);
    for (std::size_t at = 0; (at = text.find("\n      ")) != std::string::npos;) text.replace(at, 7, " ");
    CHECK(text.find("; 4 right-hand sides together: ones, random (seeds 5 to 7); tolerance 1e-10\n") != std::string::npos);
    const std::size_t column = text.find(" a right side ");
    REQUIRE(column != std::string::npos);
    const std::size_t head = text.rfind('\n', column) + 1;
    std::istringstream words(text.substr(head, text.find('\n', head) - head));  // whose widths depend on the times
    std::string joined;
    for (std::string word; words >> word;) joined += word + ' ';
    CHECK(joined == "recipe a right side alone speed-up iterations of each ");
    CHECK(text.find("note: the kernel columns has no loop for several vectors and multiplies one after another\n") !=
          std::string::npos);
    const auto json = nlohmann::json::parse(solve_json(report));
    CHECK(json["right_sides"] == 4);
    for (const auto& one : json["solves"]) {
        REQUIRE(one["right_sides"].size() == 4);
        CHECK(one["right_sides"][3]["end"] == "converged");
        CHECK(one["right_side_seconds"].get<double>() == doctest::Approx(one["each_seconds"].get<double>() / 4));
        CHECK(one["alone_solves"] > 0);
    }
    CHECK(json["solves"][1]["alone_kernel"] == "columns");
    CHECK(json["solves"][1]["alone_engine"] == "graph");

    // Times for which each right-hand side should be solved alone, or all of them together.
    SolveOutcome& one = report.outcomes[1];
    one.solve_seconds = 1;
    one.vector_seconds = 0.5;
    one.solver_seconds = 2.5;
    one.solve_samples = {1};
    one.alone_solver_seconds = 1;
    one.alone_seconds = 0.5;
    one.alone_engine = SolveEngine::persistent;
    const auto unwrapped = [&report] {
        std::string found = solve_text(report);
        for (std::size_t at = 0; (at = found.find("\n      ")) != std::string::npos;) found.replace(at, 7, " ");
        return found;
    };
    const std::string sentence =
        "columns: 4 right-hand sides take 3.00 s one after another, with a persistent kernel, and 4.00 s together: solve for "
        "one at "
        "a time\n";
    CHECK(unwrapped().find(sentence) != std::string::npos);
    CHECK(nlohmann::json::parse(solve_document(report, ""))["sentences"].back().get<std::string>() + '\n' == sentence);
    CHECK(unwrapped().find("  1.33  ") != std::string::npos);  // 0.5 s alone, 1.5 s for four
    CHECK(nlohmann::json::parse(solve_json(report))["solves"][1]["alone_solver_seconds"] == 1);
    one.alone_engine = SolveEngine::graph;
    CHECK(unwrapped().find("one after another, with the kernel columns, and") != std::string::npos);
    one.solve_samples = {1, 1, 1, 3, 4, 5};
    CHECK(unwrapped().find("columns: 4 right-hand sides take") == std::string::npos);
    one.solve_samples = {1};
    one.alone_seconds = 0.74;  // within noise
    CHECK(unwrapped().find("columns: 4 right-hand sides take") == std::string::npos);
}

TEST_CASE("several right-hand sides are named and reproducible") {
    using Kind = RightHandSide::Kind;
    const RightHandSides random = make_right_hand_sides({Kind::random, 3}, 50, 2);
    CHECK(random.text == "random (seeds 3 to 4)");
    CHECK(random.columns[0] == make_right_hand_side({Kind::random, 3}, 50));
    CHECK(random.columns[1] == make_right_hand_side({Kind::random, 4}, 50));
    CHECK(make_right_hand_sides({Kind::random, 3}, 50, 1).text == "random (seed 3)");
    CHECK(make_right_hand_sides({Kind::ones, 9}, 50, 2).text == "ones, random (seed 9)");

    const TemporaryFolder folder;
    const auto file = [&](const std::string& name, const std::string& text) {
        write_whole_file(folder.path() / name, text);
        return folder.path() / name;
    };
    const auto one = file("b.txt", "1\n2\n3\n");
    const RightHandSides extended = make_right_hand_sides({Kind::file, 2, one}, 3, 3);
    CHECK(extended.text == "b.txt, random (seeds 2 to 3)");
    CHECK(extended.columns[0] == std::vector<double>{1, 2, 3});
    CHECK(extended.columns[2] == make_right_hand_side({Kind::random, 3}, 3));
    const auto three = file("b.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
    const RightHandSides some = make_right_hand_sides({Kind::file, 1, three}, 2, 2);
    CHECK(some.text == "columns 1 to 2 of b.mtx");
    CHECK(some.columns == Columns{{1, 2}, {3, 4}});
    const auto two = file("two.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
    CHECK(make_right_hand_sides({Kind::file, 1, two}, 2, 2).text == "columns 1 to 2 of two.mtx");
    const auto message = [&](const std::filesystem::path& path, Index rows, int count) {
        return message_of<InputError>([&] { (void)make_right_hand_sides({Kind::file, 1, path}, rows, count); });
    };
    CHECK(message(three, 2, 4) == three.string() + ": found 3 columns; expected 1, or at least the 4 right-hand sides");
    CHECK(message(three, 3, 2) == three.string() + ": found 2 rows; expected 3, one per row of the matrix");
    CHECK(message(three, 2, 1) == three.string() + ": found a matrix of 2 x 3; expected one column");
    const auto nan = file("nan.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\nnan\n");
    CHECK(message(nan, 2, 2) == nan.string() + ": column 2: b[1] is nan; expected finite numbers");
    const std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }";
    std::string npy = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(118) + '\0' + header +
                      std::string(117 - header.size(), ' ') + '\n';
    for (const double value : {1.0, 2.0, 3.0, 4.0}) npy.append(reinterpret_cast<const char*>(&value), 8);
    CHECK(make_right_hand_sides({Kind::file, 1, file("b.npy", npy)}, 2, 2).columns == Columns{{1, 2}, {3, 4}});
    const std::size_t order = npy.find("True");
    npy.replace(order, 4, "None");
    CHECK(make_right_hand_sides({Kind::file, 1, file("rows.npy", npy)}, 2, 2).columns == Columns{{1, 3}, {2, 4}});
}

}  // namespace workbench
