// --prepare and [recipe] prepare.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/shell.hpp"
#include "core/contract/errors.hpp"
#include "frontends/cli/options.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// Recipes with these values of `prepare`; empty: none.
std::vector<Recipe> asking(const std::vector<std::string>& wishes) {
    std::vector<Recipe> recipes;
    for (const std::string& filter : wishes) {
        recipes.emplace_back();
        recipes.back().file = std::to_string(recipes.size()) + ".toml";
        recipes.back().prepare = filter;
    }
    return recipes;
}

std::string written(const TemporaryFolder& folder, const std::string& name, const std::string& prepare) {
    const auto path = folder.path() / name;
    std::ofstream(path) << "[recipe]\nprepare = '" << prepare << "'\n[[stage]]\nuse = 'row_sort'\n[layout]\nuse = 'csr'\n";
    return "'" + path.string() + "'";
}

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("the command line overrides the recipes; the default is the host") {
        CHECK(where_to_prepare("recipe", asking({})) == "cpu");
        CHECK(where_to_prepare("recipe", asking({"", ""})) == "cpu");
        CHECK(where_to_prepare("recipe", asking({"", "gpu", ""})) == "gpu");
        CHECK(where_to_prepare("recipe", asking({"gpu", "gpu"})) == "gpu");
        CHECK(where_to_prepare("recipe", asking({"cpu"})) == "cpu");
        CHECK(where_to_prepare("cpu", asking({"gpu"})) == "cpu");
        CHECK(where_to_prepare("gpu", asking({"cpu", ""})) == "gpu");
        CHECK(where_to_prepare("cpu", asking({"gpu", "cpu"})) == "cpu");
        CHECK_THROWS_WITH_AS(
            (void)where_to_prepare("recipe", asking({"", "gpu", "cpu"})),
            "2.toml asks for prepare = \"gpu\", 3.toml for \"cpu\", but recipes of one run share their stages; use "
            "--prepare, or run the recipes separately",
            RecipeError);
    }

    TEST_CASE("a recipe that asks for a GPU fails without one unless the command line overrides it") {
        const TemporaryFolder folder;
        const std::string gpu = written(folder, "gpu.toml", "gpu");
        const std::string cpu = written(folder, "cpu.toml", "cpu");
        const auto run = [&](const std::string& arguments) {  // without a GPU
            return shell("CUDA_VISIBLE_DEVICES= '" WORKBENCH_BINARY "' " + arguments +
                         " --generate laplace2d:nx=3 --backend kokkos --out '" + (folder.path() / "out").string() + "' 2>&1");
        };
        const Outcome asked = run("run " + gpu);
        CHECK(asked.exit_code == 4);
        CHECK(asked.text.starts_with("error: [recipe] prepare = \"gpu\": "));
        CHECK(asked.text.find("; --prepare cpu prepares on the CPU\n") != std::string::npos);
        CHECK(run("run --no-pictures --samples 1 --seconds 0 --prepare cpu " + gpu).exit_code == 0);
        CHECK(run("run --no-pictures --samples 1 --seconds 0 --set recipe.prepare=cpu " + gpu).exit_code == 0);
        CHECK(run("solve " + gpu).exit_code == 4);
        CHECK(run("solve --prepare cpu " + gpu).exit_code == 0);
        const Outcome bench = run("bench " + gpu);  // throws here rather than in each child process
        CHECK(bench.exit_code == 4);
        CHECK(bench.text.starts_with("error: [recipe] prepare = \"gpu\": "));
        const Outcome both = run("run " + cpu + " " + gpu);
        CHECK(both.exit_code == 2);
        CHECK(both.text.find("recipes of one run share their stages") != std::string::npos);
    }
}

}  // namespace workbench
