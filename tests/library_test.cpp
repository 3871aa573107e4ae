// The library as used by another program with its own Kokkos: all recipes on the battery, in both vector orders, and errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "support/message_of.hpp"
#include "support/operator_checks.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;
using spmv_workbench::CsrView;
using spmv_workbench::MatrixError;
using spmv_workbench::Operator;
using spmv_workbench::Options;
using spmv_workbench::Triangle;

const fs::path layouts = WORKBENCH_SOURCE_DIR "/tests/layouts";

/// With vectors in host memory.
template <typename Value>
void check_products(Operator<Value>& a, const CsrMatrix& matrix) {
    using Vector = std::vector<Value>;
    check_operator<Value>(a, matrix,
                          {.multiply = [&](const Vector& x, Vector& y) { a.multiply(x, y); },
                           .multiply_add = [&](const Vector& x, Vector& y) { a.multiply_add(x, y); },
                           .multiply_there = [&](const Vector& x, Vector& y) { a.multiply_in_recipe_order(x, y); },
                           .multiply_add_there = [&](const Vector& x, Vector& y) { a.multiply_add_in_recipe_order(x, y); },
                           .go_there = [&](const Vector& from, Vector& to) { a.to_recipe_order(from, to); },
                           .come_back = [&](const Vector& from, Vector& to) { a.from_recipe_order(from, to); }});
}

/// All recipes of the layouts' tests, including hybrids, by name.
const std::map<std::string, spmv_workbench::Recipe>& recipes() {
    static const auto all = [] {
        std::map<std::string, spmv_workbench::Recipe> found;
        for (const auto& folder : {layouts, layouts / "hybrids"}) {
            for (const auto& file : fs::directory_iterator(folder)) {
                if (file.path().extension() != ".toml") continue;
                const std::string name = fs::relative(file.path(), layouts).replace_extension().string();
                found.emplace(name, spmv_workbench::Recipe::from_file(file.path().string()));
            }
        }
        return found;
    }();
    return all;
}

/// The pattern with integers that depend on the place alone, equal on both sides of the diagonal: all sums of them are exact.
CsrMatrix with_integers(CsrMatrix matrix) {
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const Index column = matrix.column_indices[k];
            matrix.values[k] = 1 + (std::min(row, column) * 5 + std::max(row, column) * 3) % 29;
        }
    }
    return matrix;
}

CsrMatrix scaled(CsrMatrix matrix, double factor) {
    for (double& value : matrix.values) value *= factor;
    return matrix;
}

Options triangular() {
    Options options;
    options.triangle = Triangle::as_given;
    return options;
}

template <typename Value>
std::vector<Value> product(Operator<Value>& a) {
    std::vector<Value> y(static_cast<std::size_t>(a.facts().rows));
    a.multiply(numbers<Value>(a.facts().columns, 4), y);
    return y;
}

/// Equal bits, but within rounding errors for csc, whose threads add to y in any order.
template <typename Value>
bool same(const Operator<Value>& a, const std::vector<Value>& found, const std::vector<Value>& expected) {
    if (a.facts().layout.find("csc") == std::string::npos) return found == expected;
    const Value tolerance = 64 * std::numeric_limits<Value>::epsilon();
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(), [&](Value one, Value other) {
        return std::abs(one - other) <= tolerance * std::max(Value{1}, std::abs(other));
    });
}

/// Checks that values replaced in an operator give the results of an operator made with them, exactly. Returns false if its
/// coding has no room for other values of the same pattern.
template <typename Value>
bool check_new_values(const spmv_workbench::Recipe& recipe, Operator<Value>& a, const CsrMatrix& matrix) {
    std::vector<Value> twice = product(a);
    for (Value& value : twice) value *= -2;
    std::vector<Value> before = product(a);
    const Arrays<Value> integers(with_integers(matrix));
    try {
        a.set_values(Arrays<Value>(scaled(matrix, -2)).values);  // which codes of single values can represent
        before = product(a);
        CHECK(same(a, before, twice));
        a.set_values(integers.values);
        Options unverified = triangular();
        unverified.verify = false;
        Operator<Value> made(recipe, integers.view(), unverified);
        CHECK(product(a) == product(made));
        before = product(a);
        a.set_values(Arrays<Value>(scaled(matrix, -2), 8).view());  // in another order
        CHECK(same(a, product(a), twice));
    } catch (const MatrixError& refusal) {
        CHECK(std::string(refusal.what()).substr(0, 12) == "new values: ");
        CHECK(same(a, product(a), before));
        return false;
    }
    return true;
}

template <typename Value>
void check_on_battery(const Options& options, int& made) {
    std::set<std::string> without_room;
    for (const auto& named : recipes()) {
        const spmv_workbench::Recipe& recipe = named.second;
        for (const NamedMatrix& each : battery()) {
            CAPTURE(named.first);
            CAPTURE(each.name);
            const Arrays<Value> arrays(each.matrix);
            try {
                Operator<Value> a(recipe, arrays.view(), options);
                CHECK(a.facts().verified == options.verify);
                CHECK(a.facts().nonzeros == each.matrix.nonzeros());
                check_products(a, each.matrix);
                // In f32 on one matrix, as it is the same code.
                const bool replaces = std::is_same_v<Value, double> || &each == &battery().back();
                if (replaces && !check_new_values(recipe, a, each.matrix)) without_room.insert(named.first);
                ++made;
            } catch (const MatrixError& unsuitable) {
                // The matrix is rectangular, empty, or has a row too long for the format.
                CHECK(std::string(unsuitable.what()) != "");
            }
        }
    }
    for (const std::string& name : without_room) {
        const bool codes = name.find("coded") != std::string::npos || name.find("equal_values") != std::string::npos ||
                           name.find("rounded") != std::string::npos;
        CHECK_MESSAGE(codes, name);
    }
}

CsrMatrix example(Index rows, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index column = 0; column < columns; ++column) {
            if ((row * 7 + column * 3) % 5 == 0 || row == column) entries.push_back({row, column, 1.0 + row + 0.25 * column});
        }
    }
    return csr_from_entries(rows, columns, entries);
}

spmv_workbench::Recipe recipe_of(const std::string& text) { return spmv_workbench::Recipe::from_text(text); }
const std::string csr = "[layout]\nuse = \"csr\"\n";

std::string refusal(const CsrView<double>& view) {
    return message_of<MatrixError>([&] { Operator<double>(recipe_of(csr), view); });
}

}  // namespace

TEST_CASE("products are correct for every recipe and matrix, in both vector orders") {
    int made = 0;
    check_on_battery<double>(triangular(), made);
    CHECK(made > 900);
}

TEST_CASE("products are correct in f32, and without verification") {
    Options options = triangular();
    options.verify = false;
    int made = 0;
    check_on_battery<float>(options, made);
    CHECK(made > 900);
}

TEST_CASE("if a recipe permutes only rows, x keeps its order and y is in input order") {
    const CsrMatrix matrix = example(9, 9);
    Operator<double> a(recipes().at("pellr"), Arrays<double>(matrix).view());
    CHECK(!std::is_sorted(a.row_order().begin(), a.row_order().end()));
    CHECK(std::is_sorted(a.column_order().begin(), a.column_order().end()));
    const auto x = numbers<double>(9, 3);
    std::vector<double> y(9);
    std::vector<double> y_in_recipe_order(9);
    a.multiply(x, y);
    a.multiply_in_recipe_order(x, y_in_recipe_order);
    CHECK(y == y_in_recipe_order);
}

TEST_CASE("offsets may have 32 bits, and an operator can be moved") {
    const CsrMatrix matrix = example(8, 5);
    const Arrays<double> arrays(matrix);
    const std::vector<std::int32_t> offsets(arrays.row_offsets.begin(), arrays.row_offsets.end());
    Operator<double> made(recipe_of(csr), {8, 5, offsets, arrays.column_indices, arrays.values});
    Operator<double> a = std::move(made);
    check_products(a, matrix);
}

TEST_CASE("the facts of an operator") {
    // So large that the stage and the layout take most of the time: it is not part of that of the verification.
    const Operator<double> a(recipe_of("[[stage]]\nuse = \"cuthill_mckee\"\n" + csr), Arrays<double>(example(200, 200)).view());
    const spmv_workbench::OperatorFacts& facts = a.facts();
    CHECK(facts.rows == 200);
    CHECK(facts.columns == 200);
    CHECK(facts.nonzeros == 8000);
    CHECK(facts.layout == "csr");
    CHECK(facts.bytes == 201 * 8 + 8000 * (4 + 8));
    CHECK(facts.bytes_to_move == facts.bytes + (200 + 200) * 8);
    CHECK(facts.seconds > 0);
    CHECK((facts.verification_seconds > 0 && facts.verification_seconds < facts.seconds));
    CHECK(facts.process_seconds == 0);  // on the host
    CHECK(facts.verified);
    REQUIRE(!facts.notes.empty());
    CHECK(facts.notes.front().substr(0, 15) == "cuthill_mckee: ");
}

TEST_CASE("Options::stop ends a construction before a stage, the layout or the kernel") {
    const auto recipe = recipe_of("[[stage]]\nuse = \"cuthill_mckee\"\n" + csr);
    const Arrays<double> arrays(example(7, 7));
    Options options;
    int calls = 0;
    options.stop = [&calls] { return ++calls < 0; };
    const Operator<double> whole(recipe, arrays.view(), options);
    CHECK(calls == 3);
    for (int last = 1; last <= 3; ++last) {
        calls = 0;
        options.stop = [&calls, last] { return ++calls == last; };
        CHECK_THROWS_AS(Operator<double>(recipe, arrays.view(), options), spmv_workbench::Stopped);
        CHECK(calls == last);
    }
}

TEST_CASE("the kernel is the default one, the recipe's or the requested one") {
    const Arrays<double> arrays(example(7, 7));
    const auto kernel_of = [&](const std::string& text, const std::string& asked) {
        Options options;
        options.device = spmv_workbench::Device::host;
        options.kernel = asked;
        return Operator<double>(recipe_of(text), arrays.view(), options).facts().kernel;
    };
    CHECK(kernel_of(csr, "") == "rows");
    CHECK(kernel_of(csr, "eigen") == "eigen");
    CHECK(kernel_of(csr + "[kernel]\neigen = \"eigen\"\n", "") == "eigen");
    CHECK(kernel_of(csr + "[kernel]\neigen = \"eigen\"\n", "rows") == "rows");
    CHECK(message_of<spmv_workbench::RecipeError>([&] { (void)kernel_of(csr, "row"); }).substr(0, 72) ==
          "recipe.toml: no kernel of layout 'csr' runs with these options on this m");
}

TEST_CASE("an operator for the GPU is refused by a machine without one") {
    const Arrays<double> arrays(example(7, 7));
    Options options;
    if (Operator<double>(recipe_of(csr), arrays.view(), options).facts().device == spmv_workbench::Device::gpu) return;
    options.device = spmv_workbench::Device::gpu;
    CHECK(message_of<spmv_workbench::MachineError>([&] {
              Operator<double>(recipe_of(csr), arrays.view(), options);
          }).starts_with("no operator on the GPU: "));
}

TEST_CASE("a dictionary has room for as many new values as it had, the 0 of padding included") {
    // Rows of two and one nonzeros, so that a slice has padding; the dictionary holds 0, 3 and 4.
    const auto with_values = [](const std::vector<double>& values) {
        return Arrays<double>(csr_from_entries(
            3, 3, std::vector<Entry>{{0, 0, values[0]}, {0, 1, values[1]}, {1, 1, values[2]}, {2, 2, values[3]}}));
    };
    Operator<double> a(recipe_of("[layout]\nuse = \"sell\"\nvalues = \"dictionary\"\ncolumn_index = \"u16\"\n"),
                       with_values({3, 4, 3, 4}).view(), triangular());
    const std::vector<double> before = product(a);
    CHECK(message_of<MatrixError>([&] {
              a.set_values(with_values({5, 6, 7, 5}).values);
          }).find("has room for 3 distinct values, one of them the 0 of padding, and there are more") != std::string::npos);
    CHECK(product(a) == before);
    a.set_values(with_values({5, 6, 6, 5}).values);
    std::vector<double> y(3);
    a.multiply(std::vector<double>{1, 10, 100}, y);
    CHECK(y == std::vector<double>{65, 60, 500});
}

TEST_CASE("values that a coding cannot hold are refused, and the operator keeps its values") {
    const auto refusal = [](const std::string& coding, double value) {
        CsrMatrix matrix = example(7, 7);
        for (double& each : matrix.values) each = 0.5;
        Operator<double> a(recipe_of("[layout]\nuse = \"sell\"\ncolumn_index = \"u16\"\nvalues = \"" + coding + "\"\n"),
                           Arrays<double>(matrix).view());
        std::set<std::string> said;  // with the value in the first place, and in the last one
        for (const bool is_first : {true, false}) {
            const std::vector<double> before = product(a);
            Arrays<double> changed(matrix);
            (is_first ? changed.values.front() : changed.values.back()) = value;
            const std::string one = message_of<MatrixError>([&] { a.set_values(changed.values); });
            if (one != "nothing was thrown") CHECK(product(a) == before);
            said.insert(one);
        }
        CHECK(said.size() == 1);
        return *said.begin();
    };
    CHECK(refusal("f32", 0.25) == "nothing was thrown");
    CHECK(refusal("f32", 0.1) == "new values: array 'values' stores f32, which cannot represent 0.1 exactly");
    CHECK(refusal("rounded_bf16", 0.25).find("stand for blocks, rows, columns or rounded values") != std::string::npos);
}

TEST_CASE("a kernel beside the recipe is compiled, verified and used") {
    const auto recipe = spmv_workbench::Recipe::from_file(WORKBENCH_SOURCE_DIR "/recipes/teaching/my_csr_kernel.toml");
    Options options;
    options.device = spmv_workbench::Device::host;
    const CsrMatrix matrix = example(6, 6);
    Operator<double> a(recipe, Arrays<double>(matrix).view(), options);
    CHECK(a.facts().kernel == "my_csr_kernel");
    CHECK(a.facts().backend == "cpu");
    check_products(a, matrix);

    const TemporaryFolder folder;
    // By an error that is allowed where sums are rounded: only integers, whose sums are exact, show it.
    std::ofstream(folder.path() / "wrong.cpp")
        << "void multiply(const Arrays& a, const Value* x, Value* y, bool) {\n"
           "    for (Index row = 0; row < a.row_count; ++row) {\n"
           "        Value sum = 0;\n"
           "        for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)\n"
           "            sum += a.values[k] * x[a.column_indices[k]];\n"
           "        y[row] = sum * (1 + Value(2.3e-16));\n    }\n}\n";
    const auto wrong = spmv_workbench::Recipe::from_text(csr + "[kernel]\ncpu_source = \"wrong.cpp\"\n", {},
                                                         (folder.path() / "wrong.toml").string());
    CHECK_THROWS_AS(Operator<double>(wrong, Arrays<double>(matrix).view(), options), spmv_workbench::WrongResult);
}

TEST_CASE("a format beside the recipe is refused") {
    CHECK(message_of<spmv_workbench::RecipeError>([] {
              (void)recipe_of("[layout]\nsource = \"my_format.hpp\"\n");
          }).find("this program cannot compile formats; expected use = \"NAME\"") != std::string::npos);
}

TEST_CASE("the matrix of a recipe is dropped, and so is the node_size of a matrix with a path") {
    const std::string stages = "[[stage]]\nuse = \"random_order\"\n" + csr;
    const auto nodes_of = [](const spmv_workbench::Recipe& recipe) {
        const std::string text = recipe.resolved();
        const std::size_t begin = text.find("node_size");
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    const std::string one = nodes_of(recipe_of(stages));
    const std::string own = "[matrix]\npath = \"not_there.mtx\"\nnode_size = 3\n" + stages;
    CHECK(nodes_of(recipe_of(own)) == one);
    CHECK(recipe_of(own).resolved().find("path") == std::string::npos);
    CHECK(nodes_of(recipe_of("[matrix]\nnode_size = 3\n" + stages)) != one);
    CHECK(nodes_of(spmv_workbench::Recipe::from_text(own, {"matrix.node_size=3"})) ==
          nodes_of(recipe_of("[matrix]\nnode_size = 3\n" + stages)));
}

TEST_CASE("errors of a recipe name file, line and column") {
    const auto said = [](const std::string& text, const std::vector<std::string>& changes = {}) {
        return message_of<spmv_workbench::RecipeError>(
            [&] { (void)spmv_workbench::Recipe::from_text(text, changes, "a/b.toml"); });
    };
    CHECK(said("[layout]\nuse = \"cssr\"\n").substr(0, 47) == "error: a/b.toml:2:7: unknown layout 'cssr'; did");
    CHECK(said("[layout]\nuse = \n").substr(0, 20) == "error: a/b.toml:2:7:");
    CHECK(said(csr, {"layout.height=3"}).find("layout.height") != std::string::npos);
    CHECK(said("[layout]\nuse = \"sell\"\nslice_height = { sweep = [16, 32] }\n").find("a sweep of 2 recipes") !=
          std::string::npos);
    CHECK(message_of<spmv_workbench::RecipeError>([] {
              (void)spmv_workbench::Recipe::from_file("no/such.toml");
          }).find("no/such.toml") != std::string::npos);
}

TEST_CASE("errors of CSR arrays name the first wrong place") {
    std::vector<std::int64_t> offsets{0, 2, 3, 3};
    std::vector<std::int32_t> columns{1, 0, 3};
    std::vector<double> values{1, 2, 3};
    const auto view = [&](Index rows = 3, Index count = 4) { return CsrView<double>(rows, count, offsets, columns, values); };
    CHECK(refusal(view()) == "nothing was thrown");
    CHECK(refusal(view(-3)) == "the matrix: -3 rows and 4 columns; expected non-negative numbers");
    CHECK(refusal(view(4)) == "the matrix: 4 row offsets for 4 rows; expected 5");
    CHECK(refusal(view(3, 3)) == "the matrix: row 1 has an entry in column 3; expected 0 to 2");
    columns[1] = -1;
    CHECK(refusal(view()) == "the matrix: row 0 has an entry in column -1; expected 0 to 3");
    columns[1] = 1;
    CHECK(refusal(view()) == "the matrix: row 0 has column 1 twice; expected each column at most once (add the values)");
    columns[1] = 0;
    offsets = {0, 2, 1, 3};
    CHECK(refusal(view()) == "the matrix: row_offsets[2] is 1, less than its predecessor 2");
    offsets = {1, 2, 3, 3};
    CHECK(refusal(view()) == "the matrix: row_offsets[0] is 1; expected 0");
    offsets = {0, 2, 3, 4};
    CHECK(refusal(view()) == "the matrix: 3 column indices and 3 values; expected 4 of each, the last row offset");
    offsets = {0, 2, 3, 3};
    values.pop_back();
    CHECK(refusal(view()) == "the matrix: 3 column indices and 2 values; expected 3 of each, the last row offset");
    CHECK(refusal(CsrView<double>(0, 0, std::vector<std::int64_t>{}, columns, values)) ==
          "the matrix: 0 row offsets for 0 rows; expected 1");
}

TEST_CASE("an unsuitable matrix is an error with a reason") {
    const Arrays<double> wide(example(3, 4));
    CHECK(message_of<MatrixError>([&] {
              Operator<double>(recipe_of("[[stage]]\nuse = \"cuthill_mckee\"\n" + csr), wide.view());
          }).substr(0, 67) == "the matrix has 3 rows and 4 columns; expected a square one, for sta");
    std::vector<Entry> arrow{{0, 0, 1}};
    for (Index i = 1; i < 2000; ++i) arrow.insert(arrow.end(), {{0, i, 1}, {i, i, 1}});
    const std::string said = message_of<MatrixError>([&] {
        Operator<double>(recipe_of("[layout]\nuse = \"ell\"\nslots_per_nonzero = 3\n"),
                         Arrays<double>(csr_from_entries(2000, 2000, arrow)).view(), triangular());
    });
    CHECK_MESSAGE(said.substr(0, 27) == "recipe.toml:1: layout ell: ", said);
}

TEST_CASE("invalid arguments") {
    Operator<double> a(recipe_of(csr), Arrays<double>(example(3, 4)).view());
    std::vector<double> x(4);
    std::vector<double> y(3);
    std::vector<double> longer(7);
    const auto said = [](const auto& work) { return message_of<std::invalid_argument>(work); };
    CHECK(said([&] { a.multiply(y, y); }) == "x has 3 elements; expected 4");
    CHECK(said([&] { a.multiply(x, x); }) == "y has 4 elements; expected 3");
    CHECK(said([&] { a.multiply({longer.data(), 4}, {longer.data() + 3, 3}); }) == "x and y overlap; expected disjoint arrays");
    CHECK(said([&] { a.multiply({longer.data(), 4}, {longer.data() + 4, 3}); }) == "nothing was thrown");
    CHECK(said([&] { a.multiply({longer.data() + 3, 4}, {longer.data(), 3}); }) == "nothing was thrown");
    CHECK(said([&] { a.multiply({longer.data() + 2, 4}, {longer.data(), 3}); }) == "x and y overlap; expected disjoint arrays");
    CHECK(said([&] { a.to_recipe_order(x, y); }) == "the reordered vector has 3 elements; expected 4");
    CHECK(said([&] { a.from_recipe_order(y, x); }) == "the vector has 3 elements; expected 4");
    CHECK(said([&] { a.to_recipe_order(x, x); }).substr(0, 15) == "x and y overlap");
    CHECK(said([&] { a.multiply(spmv_workbench::on_device(x.data(), 4), spmv_workbench::on_device(y.data(), 3)); }) ==
          "a GPU array was passed to an operator on the host");
}

TEST_CASE("operators work in any thread, but cannot be made or given new values in a parallel region") {
    std::vector<std::thread> threads;
    std::vector<int> right(3, 0);
    for (std::size_t i = 0; i < right.size(); ++i) {
        threads.emplace_back([&, i] {
            const CsrMatrix matrix = example(60, 60);
            Operator<double> a(recipes().at(i == 0   ? "ehyb"
                                            : i == 1 ? "pellr"
                                                     : "hybrids/side_by_side"),
                               Arrays<double>(matrix).view());
            const auto x = numbers<double>(60, 5);
            std::vector<double> y(60);
            for (int product = 0; product < 100; ++product) {
                a.multiply(x, y);
                right[i] += close(y, expected(matrix, x, std::vector<double>(60, 0)), matrix) ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>{100, 100, 100});
#pragma omp parallel num_threads(2)
    CHECK_THROWS_AS(Operator<double>(recipe_of(csr), Arrays<double>(example(3, 3)).view()), std::invalid_argument);
    const Arrays<double> arrays(example(3, 3));
    Operator<double> a(recipe_of(csr), arrays.view());
    std::atomic<int> refused = 0;
#pragma omp parallel num_threads(2)
    try {
        a.set_values(arrays.values);
    } catch (const std::invalid_argument&) {
        ++refused;
    }
    CHECK(refused == 2);
}

}  // namespace workbench
