// --prepare and [recipe] prepare.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/shell.hpp"
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
    TEST_CASE("the command line overrides the recipes") {
        std::vector<Recipe> recipes = asking({"", "cpu"});
        set_preparation("recipe", recipes);
        CHECK(recipes[0].prepare.empty());
        CHECK(recipes[1].prepare == "cpu");
        recipes = asking({"", "gpu", "cpu"});
        set_preparation("cpu", recipes);
        for (const Recipe& recipe : recipes) CHECK(recipe.prepare == "cpu");
        for (const Recipe& recipe : recipes) CHECK_FALSE(recipe.prepares_on_gpu());
        CHECK(asking({"gpu"}).front().prepares_on_gpu());
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
        CHECK(run("run " + cpu + " " + gpu).exit_code == 4);
    }
}

}  // namespace workbench
