// The matrix that a recipe and a command line select, and equality of choices.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "recipe/recipes.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::string plain_layout = "[layout]\nuse = 'plain'\n";
const std::string with_file = "[matrix]\npath = 'm/a.mtx'\nnode_size = 3\n" + plain_layout;
const std::string with_generator = "[matrix]\ngenerate = 'laplace2d'\nnx = 3\n" + plain_layout;

Recipe changed(const std::string& text, const RecipeChanges& changes) {
    return parse_recipe(text, "recipes/test.toml", small_catalogue(), changes);
}

MatrixChoice matrix_choice(const std::string& text, const RecipeChanges& changes = {}) { return changed(text, changes).matrix; }

}  // namespace

TEST_CASE("each way to select a matrix, and its place") {
    const MatrixChoice file = matrix_choice(with_file);
    CHECK(std::get<MatrixFile>(file.from) == MatrixFile{"recipes/m/a.mtx"});
    CHECK(file.where == "recipes/test.toml:2:8");
    const MatrixChoice rows = matrix_choice("[matrix]\nrows = ['1']\n" + plain_layout);
    CHECK(std::get<InlineMatrix>(rows.from).rows == std::vector<std::string>{"1"});
    CHECK(rows.where == "recipes/test.toml:2:8");
    const MatrixChoice generated = matrix_choice(with_generator);
    CHECK(std::get<GeneratedMatrix>(generated.from).generator == small_catalogue().find_generator("laplace2d"));
    CHECK(std::get<GeneratedMatrix>(generated.from).parameters.integer("nx") == 3);
    CHECK(generated.where == "recipes/test.toml:2:12");
    CHECK(matrix_choice(plain_layout) == MatrixChoice{});

    const MatrixChoice option = matrix_choice(with_file, {.matrix = "b \"2\".mtx"});
    CHECK(std::get<MatrixFile>(option.from).path == "b \"2\".mtx");  // relative to the current folder; not TOML
    CHECK(option.where == "--matrix b \"2\".mtx");
    CHECK(matrix_choice(with_file, {.generate = "laplace2d:nx=3"}).where == "--generate laplace2d");
    CHECK(matrix_choice(with_file, {.overrides = {"matrix.generate=laplace2d", "matrix.nx=3"}}).where ==
          "--set matrix.generate=laplace2d");
    CHECK(generated_matrix("laplace2d:nx=3", {}, small_catalogue()).where == "generate laplace2d");
}

TEST_CASE("equivalent options select the same matrix") {
    const std::vector<std::string> files{with_file, with_generator, plain_layout};
    for (const std::string& text : files) {
        const Recipe by_option = changed(text, {.matrix = "b.mtx"});
        const Recipe by_path = changed(text, {.overrides = {"matrix.path=b.mtx"}});
        CHECK(by_option.matrix == by_path.matrix);
        CHECK(by_option.node_size == 1);  // the recipe's value belonged to its own matrix
        CHECK(by_path.node_size == 1);
        CHECK(changed(text, {.matrix = "b.mtx", .overrides = {"matrix.node_size=2"}}).node_size == 2);

        const MatrixChoice member = matrix_choice(text, {.matrix = "b.tar", .member = "2024"});
        CHECK(std::get<MatrixFile>(member.from).member == "2024");
        CHECK(member == matrix_choice(text, {.overrides = {"matrix.member=2024", "matrix.path=b.tar"}}));

        const MatrixChoice generated = matrix_choice(text, {.generate = "laplace3d:nx=3,points=27"});
        CHECK(generated ==
              matrix_choice(text, {.overrides = {"matrix.nx=3", "matrix.generate=laplace3d", "matrix.points=27"}}));
        CHECK(generated == matrix_choice(text, {.generate = "laplace3d:nx=4,points=27", .overrides = {"matrix.nx=3"}}));
        CHECK(changed(text, {.generate = "laplace3d:nx=3,node_size=3"}).node_size == 3);
    }
    CHECK(matrix_choice(with_file, {.member = "b.mtx"}) == matrix_choice(with_file, {.overrides = {"matrix.member=b.mtx"}}));
    CHECK(std::get<MatrixFile>(matrix_choice(with_file, {.member = "b.mtx"}).from) == MatrixFile{"recipes/m/a.mtx", "b.mtx"});
    CHECK(changed(with_file, {.member = "b.mtx"}).node_size == 3);

    const std::vector<std::string> settings{"nx=3", "points=27"};
    const MatrixChoice written = generated_matrix("laplace3d:nx=3,points=27", {}, small_catalogue());
    CHECK(written == generated_matrix("laplace3d", settings, small_catalogue()));
    CHECK(written == generated_matrix("laplace3d:nx=3", std::vector<std::string>{"points=27"}, small_catalogue()));
    CHECK(written == matrix_choice(plain_layout, {.generate = "laplace3d:nx=3,points=27"}));
}

TEST_CASE("choices are equal if they select the same matrix") {
    CHECK(matrix_choice(with_file) == matrix_choice(plain_layout, {.matrix = "recipes/m/a.mtx"}));
    CHECK(matrix_choice(with_file) ==
          matrix_choice(plain_layout, {.matrix = std::filesystem::absolute("recipes/./x/../m/a.mtx").string()}));
    CHECK(matrix_choice(with_file) != matrix_choice(plain_layout, {.matrix = "m/a.mtx"}));
    CHECK(matrix_choice(with_file) != matrix_choice(with_file, {.member = "b"}));
    CHECK(matrix_choice(with_file) != matrix_choice(with_generator));
    CHECK(matrix_choice(with_generator) ==
          matrix_choice("[matrix]\ngenerate = 'laplace2d'\nscramble = 0\nnx = 3\n" + plain_layout));
    CHECK(matrix_choice(with_generator) != matrix_choice(with_generator, {.overrides = {"matrix.nx=4"}}));
    CHECK(matrix_choice(plain_layout, {.generate = "delaunay:nx=3"}) !=
          matrix_choice(plain_layout, {.generate = "laplace2d:nx=3"}));
    CHECK(matrix_choice("[matrix]\nrows = ['1']\n" + plain_layout) ==
          matrix_choice("[matrix]\nrows = [\"1\"]\nnode_size = 1\n" + plain_layout));
    CHECK(matrix_choice("[matrix]\nrows = ['1']\n" + plain_layout) != matrix_choice("[matrix]\nrows = ['2']\n" + plain_layout));

    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "real");
    std::filesystem::create_directory_symlink("real", folder.path() / "link");
    CHECK(MatrixFile{folder.path() / "real" / "a.mtx"} == MatrixFile{folder.path() / "link" / "a.mtx"});
    CHECK(MatrixFile{folder.path() / "real" / "a.mtx"} != MatrixFile{folder.path() / "link" / "b.mtx"});
}

}  // namespace workbench
