// Stages with files, sources and programs beside the recipe: what the recipe states about them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "pipeline/recipe/space.hpp"
#include "recipe/recipes.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

StageContract order_of_rows(const Parameters&) { return {.acts = Acts::rows}; }

/// The small catalogue with stages that take files and code.
const Catalogue& catalogue_with_files() {
    static const Catalogue all = [] {
        Catalogue catalogue = small_catalogue();
        StageEntry imported;
        imported.name = "imported";
        imported.parameters = {{.name = "order", .type = ParameterType::file}};
        imported.contract = order_of_rows;
        catalogue.stages.push_back(imported);
        StageEntry program;
        program.name = "program";
        program.parameters = {{.name = "program", .type = ParameterType::command},
                              {.name = "limit_seconds", .type = ParameterType::real, .default_value = 60.0}};
        program.takes_other_keys = true;
        program.contract = order_of_rows;
        catalogue.stages.push_back(program);
        StageEntry source = program;
        source.name = "source";
        source.parameters.front() = {.name = "source", .type = ParameterType::source};
        catalogue.stages.push_back(source);
        return catalogue;
    }();
    return all;
}

/// A recipe in a folder with order.npy, mine.py, mine.cpp and the folder `inner` with order.npy and base.toml.
class RecipeFolder {
public:
    RecipeFolder() {
        std::filesystem::create_directories(path("inner"));
        for (const char* name : {"order.npy", "mine.py", "mine.cpp", "inner/order.npy"}) std::ofstream(path(name)) << "\n";
        std::ofstream(path("inner/base.toml")) << "[[stage]]\nuse = 'imported'\norder = 'order.npy'\n[layout]\nuse = 'plain'\n";
    }
    [[nodiscard]] std::filesystem::path path(const std::string& file) const { return folder_.path() / file; }
    [[nodiscard]] std::string text(const std::string& file) const { return path(file).string(); }

    [[nodiscard]] Recipe recipe(const std::string& stages, const RecipeChanges& changes = {}) const {
        return parse_recipe(stages + "[layout]\nuse = 'plain'\n", path("a.toml"), catalogue_with_files(), changes);
    }
    /// The errors without the folder, only the lines that begin with "error: ".
    [[nodiscard]] std::string error(const std::string& stages, const RecipeChanges& changes = {}) const {
        try {
            (void)recipe(stages, changes);
        } catch (const RecipeError& error) {
            std::string lines;
            std::string all = error.what();
            for (std::size_t at = 0; at < all.size();) {
                const std::size_t end = std::min(all.find('\n', at), all.size());
                if (all.compare(at, 7, "error: ") == 0) lines += all.substr(at + 7, end - at - 7) + "\n";
                at = end + 1;
            }
            const std::string folder = folder_.path().string() + "/";
            for (std::size_t at = 0; (at = lines.find(folder)) != std::string::npos;) lines.erase(at, folder.size());
            return lines;
        }
        return "";
    }

private:
    TemporaryFolder folder_;
};

TEST_CASE("files of stages are relative to the recipe that names them, and absolute afterwards") {
    const RecipeFolder folder;
    const std::string stage = "[[stage]]\nuse = 'imported'\norder = 'order.npy'\n";
    const Recipe recipe = folder.recipe(stage);
    CHECK(recipe.stages.at(0).parameters.text("order") == folder.text("order.npy"));
    CHECK(recipe.code.empty());
    CHECK(parse_recipe(resolved_recipe(recipe), "elsewhere.toml", catalogue_with_files()).stages.at(0).parameters ==
          recipe.stages.at(0).parameters);
    const auto from_here = [&](const Recipe& of) {
        const std::filesystem::path before = std::filesystem::current_path();
        std::filesystem::current_path(folder.text(""));
        const std::string text = resolved_recipe(of, FileNames::from_here);
        std::filesystem::current_path(before);
        CHECK(!contains(text, folder.text("")));
        return text;
    };
    CHECK(contains(from_here(recipe), "order = \"order.npy\"\n"));
    CHECK(parse_recipe(from_here(recipe), folder.text("again.toml"), catalogue_with_files()).stages.at(0).parameters ==
          recipe.stages.at(0).parameters);
    const Recipe extended = folder.recipe("[recipe]\nextends = 'inner/base.toml'\n");
    CHECK(contains(from_here(extended), "order = \"inner/order.npy\"\n"));
    CHECK(extended.stages.at(0).parameters.text("order") == folder.text("inner/order.npy"));
    CHECK(folder.recipe(stage, {.overrides = {"stage.imported.order=" + folder.text("mine.py")}})
              .stages.at(0)
              .parameters.text("order") == folder.text("mine.py"));

    CHECK(folder.error("[[stage]]\nuse = 'imported'\norder = 'none.npy'\n") ==
          "a.toml:3:9: stage 'imported', order: no file none.npy; expected a file, relative to the recipe\n");
    CHECK(folder.error("[[stage]]\nuse = 'imported'\norder = 'inner'\n") ==
          "a.toml:3:9: stage 'imported', order: inner is a folder; expected a file, relative to the recipe\n");
    CHECK(folder.error("[[stage]]\nuse = 'imported'\norder = 3\n") ==
          "a.toml:3:9: stage 'imported', order: found 3, expected the name of a file\n");
    CHECK(folder.error("[[stage]]\nuse = 'imported'\norder = ''\n") ==
          "a.toml:3:9: stage 'imported', order: found \"\", expected the name of a file\n");
    CHECK(folder.error(stage, {.overrides = {"stage.imported.order=none.npy"}}) ==
          "--set stage.imported.order=none.npy: stage 'imported', order: no file " +
              (std::filesystem::current_path() / "none.npy").string() + "; expected a file, relative to the current folder\n");
}

TEST_CASE("files of stages can be confined to a folder") {
    const RecipeFolder folder;
    const std::string stages = "[[stage]]\nuse = 'imported'\norder = '../order.npy'\n[layout]\nuse = 'plain'\n";
    const auto check = [&](const std::filesystem::path& within) {
        return parse_recipe(stages, folder.path("inner/a.toml"), catalogue_with_files(), {.bases_within = within});
    };
    CHECK(check(folder.path("")).stages.size() == 1);
    CHECK_THROWS_WITH_AS((void)check(folder.path("inner")), doctest::Contains("found a file outside the folder"), RecipeError);
}

TEST_CASE("a program: its words, its files, its own parameters") {
    const RecipeFolder folder;
    const Recipe recipe =
        folder.recipe("[[stage]]\nprogram = ['python3', 'mine.py', 'a b', 'order.npy']\nseed = 3\nfast = true\n");
    const RecipeStage& stage = recipe.stages.at(0);
    CHECK(stage.id == "mine");
    CHECK(stage.entry->name == "program");
    CHECK(command_words(stage.parameters.text("program")) ==
          std::vector<std::string>{"python3", folder.text("mine.py"), "a b", folder.text("order.npy")});
    CHECK(stage.parameters.integer("seed") == 3);
    CHECK(undeclared_values(*stage.entry, stage.parameters) ==
          std::map<std::string, ParameterValue>{{"fast", true}, {"seed", std::int64_t{3}}});
    REQUIRE(recipe.code.size() == 1);
    CHECK(recipe.code[0].what ==
          "stage 'mine': program python3 " + folder.text("mine.py") + " 'a b' " + folder.text("order.npy"));
    CHECK(recipe.code[0].place == RecipePlace{.line = 2, .column = 11});
    CHECK(command_of({"python3", "mine.py", "a b", "order.npy"}) == [&] {
        const std::filesystem::path before = std::filesystem::current_path();
        std::filesystem::current_path(folder.text(""));
        const std::string seen = stage.parameters.seen_from_here(stage.entry->parameters).text("program");
        std::filesystem::current_path(before);
        return seen;
    }());
    const Recipe again = parse_recipe(resolved_recipe(recipe), "elsewhere.toml", catalogue_with_files());
    CHECK(again.stages.at(0).id == "mine");
    CHECK(again.stages.at(0).parameters == stage.parameters);

    CHECK(folder.recipe("[[stage]]\nprogram = 'python3 mine.py'\nseed = 3\n", {.overrides = {"stage.mine.seed=4"}})
              .stages.at(0)
              .parameters.integer("seed") == 4);
    CHECK(folder.recipe("[[stage]]\nid = 'other'\nuse = 'program'\nprogram = './mine.py'\n")
              .stages.at(0)
              .parameters.text("program") == folder.text("mine.py"));
    CHECK(parse_points("[[stage]]\nprogram = ['python3', 'mine.py']\nseed = { sweep = [1, 2] }\n[layout]\nuse = 'plain'\n",
                       folder.path("a.toml"), catalogue_with_files())
              .points.size() == 2);

    CHECK(parse_space("[space]\n[[stage]]\nprogram = ['python3', 'mine.py']\nseed = [1, 2, 3]\n[layout]\nuse = 'plain'\n",
                      folder.path("a.toml"), catalogue_with_files())
              .count() == 3);  // the words of a command are no values to try
    CHECK(folder.error("[[stage]]\nprogram = 'mine'\nseeds = [1, 2]\nrates = { a = 1 }\n") ==
          "a.toml:3:9: stage 'program', seeds: found a list, expected a text in quotes\n"
          "a.toml:4:9: stage 'program', rates: found a table, expected a text in quotes\n");
    CHECK(folder.error("[[stage]]\nprogram = []\n") ==
          "a.toml:2:11: stage 'program', program: found \"\", expected a program and its arguments, as in [\"python3\", "
          "\"my_order.py\"]\n");
    CHECK(folder.error("[[stage]]\nprogram = 'a \"b'\n") ==
          "a.toml:2:11: stage 'program', program: found a quote that is not closed\n"
          "a.toml:2:11: stage 'program', program: found \"a \\\"b\", expected a program and its arguments, as in [\"python3\", "
          "\"my_order.py\"]\n");
    CHECK(folder.error("[[stage]]\nprogram = ['python3', 'mine.py']\nlimit_second = 3\n") ==
          "a.toml:3:1: stage 'program' has no 'limit_second'; did you mean 'limit_seconds'? Expected one of program, "
          "limit_seconds\n");
    CHECK(folder.error("[[stage]]\nprogram = 'mine'\n[[stage]]\nprogram = 'mine'\n") ==
          "a.toml:4:11: id 'mine' already names the stage on line 1\n");
}

TEST_CASE("a format that is not to be read is neither compiled nor loaded, and takes any parameter") {
    const RecipeFolder folder;
    Catalogue catalogue = catalogue_with_files();
    catalogue.format_from_file = [](const std::filesystem::path& file) -> const LayoutEntry& {
        throw RecipeError("compiled " + file.filename().string());
    };
    const auto load = [&](const std::string& text, bool unread) {
        return parse_recipe(text, folder.path("a.toml"), catalogue, {.unread_formats = unread});
    };
    const std::string own = "source = 'mine.cpp'\nheight = 8\nname = 'x'\n";
    const Recipe recipe = load("[layout]\n" + own + "[kernel]\nkokkos = 'any'\n", true);
    CHECK(recipe.layouts.front().entry->name == "mine");
    CHECK(recipe.layouts.front().parameters.integer("height") == 8);
    CHECK(recipe.layouts.front().parameters.text("name") == "x");
    CHECK(recipe.notes == std::vector<std::string>{"layout 'mine' was not compiled, so that its parameters, kernels and needs "
                                                   "were not checked; --sources compiles and loads it"});
    REQUIRE(recipe.code.size() == 1);
    CHECK(contains(recipe.code.front().what, "layout 'mine': source "));
    CHECK(contains(resolved_recipe(recipe), "height = 8"));
    CHECK(contains(message_of<RecipeError>([&] { (void)load("[layout]\n" + own, false); }), "compiled mine.cpp"));
    // The rest of the recipe is checked.
    CHECK(contains(message_of<RecipeError>([&] { (void)load("[[stage]]\nuse = 'no_such'\n[layout]\n" + own, true); }),
                   "unknown stage 'no_such'"));
    CHECK(contains(message_of<RecipeError>([&] { (void)load("[layout]\nsource = 'none.cpp'\n", true); }),
                   "none.cpp; expected the source of a format"));
}

TEST_CASE("a source, and recipes with code that are refused") {
    const RecipeFolder folder;
    const std::string stages = "[[stage]]\nsource = 'mine.cpp'\n[[stage]]\nprogram = ['sh', 'mine.py']\nid = 'second'\n";
    const Recipe recipe = folder.recipe(stages);
    CHECK(recipe.stages.at(0).id == "mine");
    CHECK(recipe.stages.at(0).parameters.text("source") == folder.text("mine.cpp"));
    CHECK(folder.error("[[stage]]\nsource = 'none.cpp'\n") ==
          "a.toml:2:10: stage 'source', source: no file none.cpp; expected a C++ file, relative to the recipe\n");
    CHECK(folder.error(stages, {.no_code_because = "of --no-sources"}) ==
          "a.toml:2:10: stage 'mine': source mine.cpp: found code beside the recipe; expected none, because of --no-sources\n"
          "a.toml:4:11: stage 'second': program sh mine.py: found code beside the recipe; expected none, because of "
          "--no-sources\n");
    CHECK(folder.error("[[stage]]\nuse = 'imported'\norder = 'order.npy'\n", {.no_code_because = "of --no-sources"}).empty());
    try {
        (void)parse_recipe("[layout]\nuse = 'plain'\n[kernel]\ncpu_source = 'mine.cpp'\n", folder.path("a.toml"),
                           catalogue_with_files(), {.no_code_because = "of --no-sources"});
        FAIL("no error");
    } catch (const RecipeError& error) {
        CHECK(contains(error.what(), "a.toml:4:14: kernel 'mine': cpu_source "));
    }
}

}  // namespace
}  // namespace workbench
