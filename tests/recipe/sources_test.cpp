// Kernels in files next to a recipe: what the recipe states about them.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "recipe/recipes.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// A recipe in a folder with mine.cu, mine.cpp and rows.cpp.
class Beside {
public:
    Beside() {
        for (const char* name : {"mine.cu", "mine.cpp", "rows.cpp"}) std::ofstream(folder_.path() / name) << "\n";
    }
    [[nodiscard]] std::filesystem::path path(const std::string& file) const { return folder_.path() / file; }
    [[nodiscard]] Recipe recipe(const std::string& kernel, const std::vector<std::string>& overrides = {}) const {
        return parse_recipe("[layout]\nuse = 'plain'\n[kernel]\n" + kernel, path("a.toml"), small_catalogue(),
                            {.overrides = overrides});
    }
    /// The first line of the errors, without the folder.
    [[nodiscard]] std::string error(const std::string& kernel, const std::vector<std::string>& overrides = {}) const {
        try {
            (void)recipe(kernel, overrides);
        } catch (const RecipeError& error) {
            std::string text = error.what();
            text = text.substr(0, text.find('\n'));
            const std::string folder = folder_.path().string() + "/";
            for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
            return text;
        }
        return "";
    }

private:
    TemporaryFolder folder_;
};

TEST_CASE("settings of kernels next to the recipe") {
    const Beside beside;
    const Recipe both = beside.recipe(
        "cuda_source = 'mine.cu'\ncpu_source = 'mine.cpp'\nthreads = 'slots / 2'\nthreads_per_row = 4\nthreads_per_block = 64\n"
        "shared_bytes = 100\nprepared_bytes = '8 * slots'\nzero_y = true\naccumulate = false\nlimit_seconds = 2.5\nkokkos = "
        "'rows'\n");
    KernelSource expected{.file = beside.path("mine.cu"),
                          .layout = "plain",
                          .backend = Backend::cuda,
                          .threads = "slots / 2",
                          .threads_per_row = 4,
                          .threads_per_block = 64,
                          .shared_bytes = 100,
                          .prepared_bytes = "8 * slots",
                          .zero_y = true,
                          .accumulate = false,
                          .limit_seconds = 2.5};
    const std::vector<KernelSource>& of_both = both.layouts.front().sources;
    REQUIRE(of_both.size() == 2);
    CHECK(of_both[0] == expected);
    expected.file = beside.path("mine.cpp");
    expected.backend = Backend::cpu;
    CHECK(of_both[1] == expected);
    CHECK(of_both[1].name() == "mine");
    CHECK(both.layouts.front().kernels.at(Backend::kokkos) == "rows");
    check_same(both, parse_recipe(resolved_recipe(both), "elsewhere.toml", small_catalogue()));

    const Recipe one = beside.recipe("cpu_source = 'mine.cpp'\n");
    REQUIRE(one.layouts.front().sources.size() == 1);
    CHECK(one.layouts.front().sources[0] == KernelSource{.file = beside.path("mine.cpp"), .layout = "plain"});
    CHECK(resolved_recipe(one).ends_with(fmt::format(R"([kernel]
cpu_source        = "{}"
threads           = "rows"
threads_per_row   = 1
threads_per_block = 256
shared_bytes      = 0
zero_y            = false
accumulate        = true
limit_seconds     = 10.0
)",
                                                     beside.path("mine.cpp").string())));
    CHECK(beside.recipe("cuda_source = 'mine.cu'\nthreads = 4096\n").layouts.front().sources[0].threads == "4096");
}

TEST_CASE("a source on the command line is relative to the current folder") {
    const Beside beside;
    const std::string file = beside.path("mine.cpp").string();
    CHECK(beside.recipe("", {"kernel.cpu_source=" + file}).layouts.front().sources.at(0).file == file);
    CHECK(beside.error("", {"kernel.cpu_source=mine.cpp"}) ==
          "error: --set kernel.cpu_source=mine.cpp: [kernel], cpu_source: no file mine.cpp; expected the source of a kernel, "
          "relative to the current folder");
}

TEST_CASE("errors about kernels next to the recipe have places") {
    const Beside beside;
    CHECK(
        beside.error("cpu_source = 'none.cpp'") ==
        "error: a.toml:4:14: [kernel], cpu_source: no file none.cpp; expected the source of a kernel, relative to the recipe");
    CHECK(beside.error("cpu_source = '.'") ==
          "error: a.toml:4:14: [kernel], cpu_source: . is a folder; expected the source of a kernel, relative to the recipe");
    CHECK(beside.error("cpu_source = 3") == "error: a.toml:4:14: [kernel], cpu_source: found 3, expected a text in quotes");
    CHECK(beside.error("cpu_source = 'rows.cpp'") ==
          "error: a.toml:4:14: [kernel], cpu_source: layout 'plain' already has a kernel 'rows'; expected another file name");
    CHECK(beside.error("cpu_sorce = 'mine.cpp'")
              .starts_with("error: a.toml:4:1: [kernel] has no 'cpu_sorce'; did you mean 'cpu_source'? Expected one of kokkos, "
                           "eigen, cuda, "
                           "cusparse, cuda_source, "));
    const std::string source = "cuda_source = 'mine.cu'\n";
    CHECK(beside.error(source + "prepared_bytes = '4 * slics'").starts_with("error: a.toml:5:18: [kernel], prepared_bytes: "));
    CHECK(beside.error(source + "threads = 'slics'") ==
          "error: a.toml:5:11: [kernel], threads: unknown name 'slics'; did you mean 'slices'? Expected one of columns, "
          "row_count, rows, slice_offsets_size, slices, slots, values_size");
    CHECK(beside.error(source + "threads = 'rows +'") ==
          "error: a.toml:5:11: [kernel], threads: 'rows +', character 7: the expression ends, expected a name or a number");
    CHECK(beside.error(source + "threads = \"rows\\b\"").find('\b') == std::string::npos);
    CHECK(beside.error(source + "threads_per_block = 2048") ==
          "error: a.toml:5:21: [kernel], threads_per_block: found 2048, expected an integer from 1 to 1024");
    CHECK(beside.error("threads = 'rows'") ==
          "error: a.toml:4:1: [kernel], threads: no kernel next to the recipe; expected cuda_source or cpu_source");
    // 'cached' has no list of fields.
    const std::string text = "[layout]\nuse = 'cached'\n[kernel]\ncpu_source = 'mine.cpp'\n";
    try {
        (void)parse_recipe(text, beside.path("a.toml"), small_catalogue());
        FAIL("no error");
    } catch (const RecipeError& error) {
        CHECK(contains(error.what(),
                       "a.toml:4:1: [kernel], cpu_source: layout 'cached' has no list of fields to pass to a kernel"));
    }
}

}  // namespace
}  // namespace workbench
