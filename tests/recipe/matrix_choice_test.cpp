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

const std::string layout = "[layout]\nuse = 'plain'\n";
const std::string with_file = "[matrix]\npath = 'm/a.mtx'\nnode_size = 3\n" + layout;
const std::string with_generator = "[matrix]\ngenerate = 'laplace2d'\nnx = 3\n" + layout;

Recipe changed(const std::string& text, const RecipeChanges& changes) {
    return parse_recipe(text, "recipes/test.toml", small_catalogue(), changes);
}

MatrixChoice choice(const std::string& text, const RecipeChanges& changes = {}) { return changed(text, changes).matrix; }

}  // namespace

TEST_CASE("each way to select a matrix, and its place") {
    const MatrixChoice file = choice(with_file);
    CHECK(std::get<MatrixFile>(file.from) == MatrixFile{"recipes/m/a.mtx"});
    CHECK(file.where == "recipes/test.toml:2:8");
    const MatrixChoice rows = choice("[matrix]\nrows = ['1']\n" + layout);
    CHECK(std::get<InlineMatrix>(rows.from).rows == std::vector<std::string>{"1"});
    CHECK(rows.where == "recipes/test.toml:2:8");
    const MatrixChoice generated = choice(with_generator);
    CHECK(std::get<GeneratedMatrix>(generated.from).generator == small_catalogue().find_generator("laplace2d"));
    CHECK(std::get<GeneratedMatrix>(generated.from).parameters.integer("nx") == 3);
    CHECK(generated.where == "recipes/test.toml:2:12");
    CHECK(choice(layout) == MatrixChoice{});

    const MatrixChoice option = choice(with_file, {.matrix = "b \"2\".mtx"});
    CHECK(std::get<MatrixFile>(option.from).path == "b \"2\".mtx");  // relative to the current folder; not TOML
    CHECK(option.where == "--matrix b \"2\".mtx");
    CHECK(choice(with_file, {.generate = "laplace2d:nx=3"}).where == "--generate laplace2d");
    CHECK(choice(with_file, {.overrides = {"matrix.generate=laplace2d", "matrix.nx=3"}}).where ==
          "--set matrix.generate=laplace2d");
    CHECK(generated_matrix("laplace2d:nx=3", {}, small_catalogue()).where == "generate laplace2d");
}

TEST_CASE("equivalent options select the same matrix") {
    const std::vector<std::string> files{with_file, with_generator, layout};
    for (const std::string& text : files) {
        const Recipe by_option = changed(text, {.matrix = "b.mtx"});
        const Recipe by_path = changed(text, {.overrides = {"matrix.path=b.mtx"}});
        CHECK(by_option.matrix == by_path.matrix);
        CHECK(by_option.node_size == 1);  // the recipe's value belonged to its own matrix
        CHECK(by_path.node_size == 1);
        CHECK(changed(text, {.matrix = "b.mtx", .overrides = {"matrix.node_size=2"}}).node_size == 2);

        const MatrixChoice member = choice(text, {.matrix = "b.tar", .member = "2024"});
        CHECK(std::get<MatrixFile>(member.from).member == "2024");
        CHECK(member == choice(text, {.overrides = {"matrix.member=2024", "matrix.path=b.tar"}}));

        const MatrixChoice generated = choice(text, {.generate = "laplace3d:nx=3,points=27"});
        CHECK(generated == choice(text, {.overrides = {"matrix.nx=3", "matrix.generate=laplace3d", "matrix.points=27"}}));
        CHECK(generated == choice(text, {.generate = "laplace3d:nx=4,points=27", .overrides = {"matrix.nx=3"}}));
        CHECK(changed(text, {.generate = "laplace3d:nx=3,node_size=3"}).node_size == 3);
    }
    CHECK(choice(with_file, {.member = "b.mtx"}) == choice(with_file, {.overrides = {"matrix.member=b.mtx"}}));
    CHECK(std::get<MatrixFile>(choice(with_file, {.member = "b.mtx"}).from) == MatrixFile{"recipes/m/a.mtx", "b.mtx"});
    CHECK(changed(with_file, {.member = "b.mtx"}).node_size == 3);

    const std::vector<std::string> settings{"nx=3", "points=27"};
    const MatrixChoice written = generated_matrix("laplace3d:nx=3,points=27", {}, small_catalogue());
    CHECK(written == generated_matrix("laplace3d", settings, small_catalogue()));
    CHECK(written == generated_matrix("laplace3d:nx=3", std::vector<std::string>{"points=27"}, small_catalogue()));
    CHECK(written == choice(layout, {.generate = "laplace3d:nx=3,points=27"}));
}

TEST_CASE("choices are equal if they select the same matrix") {
    CHECK(choice(with_file) == choice(layout, {.matrix = "recipes/m/a.mtx"}));
    CHECK(choice(with_file) == choice(layout, {.matrix = std::filesystem::absolute("recipes/./x/../m/a.mtx").string()}));
    CHECK(choice(with_file) != choice(layout, {.matrix = "m/a.mtx"}));
    CHECK(choice(with_file) != choice(with_file, {.member = "b"}));
    CHECK(choice(with_file) != choice(with_generator));
    CHECK(choice(with_generator) == choice("[matrix]\ngenerate = 'laplace2d'\nscramble = 0\nnx = 3\n" + layout));
    CHECK(choice(with_generator) != choice(with_generator, {.overrides = {"matrix.nx=4"}}));
    CHECK(choice(layout, {.generate = "delaunay:nx=3"}) != choice(layout, {.generate = "laplace2d:nx=3"}));
    CHECK(choice("[matrix]\nrows = ['1']\n" + layout) == choice("[matrix]\nrows = [\"1\"]\nnode_size = 1\n" + layout));
    CHECK(choice("[matrix]\nrows = ['1']\n" + layout) != choice("[matrix]\nrows = ['2']\n" + layout));

    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "real");
    std::filesystem::create_directory_symlink("real", folder.path() / "link");
    CHECK(MatrixFile{folder.path() / "real" / "a.mtx"} == MatrixFile{folder.path() / "link" / "a.mtx"});
    CHECK(MatrixFile{folder.path() / "real" / "a.mtx"} != MatrixFile{folder.path() / "link" / "b.mtx"});
}

}  // namespace workbench
