// The shipped spaces contain what ships.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/space.hpp"
#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"

namespace workbench {
namespace {

const std::filesystem::path source = WORKBENCH_SOURCE_DIR;

/// What a recipe does, without names: its stages, layouts, parameters and kernels.
std::string content_of(const Recipe& recipe) {
    std::string text;
    const auto add = [&text](const Parameters& parameters) {
        for (const auto& [name, value] : parameters.values()) text += fmt::format(" {}={}", name, to_text(value));
        text += "\n";
    };
    for (const RecipeStage& stage : recipe.stages) {
        text += "stage " + stage.entry->name;
        add(stage.parameters);
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        text += fmt::format("layout {} {}", layout.share ? name_of(*layout.share) : "", layout.entry->name);
        for (const auto& [backend, kernel] : layout.kernels) {
            // A single layout runs all of its kernels.
            if (layout.share) text += fmt::format(" {}={}", name_of(backend), kernel);
        }
        add(layout.parameters);
    }
    return text;
}

}  // namespace

TEST_CASE("each shipped recipe is a point of the default space") {
    const std::map<std::string, std::string> exceptions = {
        {"random_csr", "a random order is the control experiment for others, which loses"},
        {"sell_rounded", "the product of rounded values is that of another matrix"},
    };
    const Space space = load_space(source / "spaces" / "default.toml", catalogue());
    CHECK(space.count() > 10'000);
    CHECK(space.count() < 1'000'000);
    std::set<std::string> contents;
    std::set<std::string> names;
    std::size_t cut_names = 0;
    for (std::uint64_t i = 0; i < space.count(); ++i) {
        const Recipe recipe = space.recipe(space.point(i));
        contents.insert(content_of(recipe));
        names.insert(recipe.name);
        cut_names += recipe.name.find("... #") == std::string::npos ? 0 : 1;
        if (recipe.name.size() > 80) FAIL_CHECK(recipe.name);
    }
    CHECK(contents.size() == space.count());
    CHECK(names.size() >= space.count() * 999 / 1000);
    CHECK(cut_names <= space.count() / 20);

    std::vector<std::string> missing;
    for (const auto& entry : std::filesystem::directory_iterator(source / "recipes")) {
        if (entry.path().extension() != ".toml") continue;
        const std::string name = entry.path().stem().string();
        const bool found = contents.contains(content_of(load_recipe(entry.path(), catalogue())));
        if (found == exceptions.contains(name)) missing.push_back(name);
    }
    std::ranges::sort(missing);
    CAPTURE(fmt::format("{}", fmt::join(missing, " ")));
    CHECK(missing.empty());
}

TEST_CASE("each point of the space of rows is verified on the host") {
    const Space space = load_space(source / "spaces" / "rows.toml", catalogue());
    const auto matrices = battery();
    const auto random = std::ranges::find(matrices, "random", &NamedMatrix::name);
    REQUIRE(random != matrices.end());
    const auto host = make_host_device();
    RunOptions options;
    options.timing = quick;
    Runner runner(random->matrix, catalogue(), {*host}, options);
    std::set<std::string> layouts;
    for (std::uint64_t i = 0; i < space.count(); ++i) {
        const RunReport report = runner.run(space.recipe(space.point(i)), {});
        CAPTURE(report.recipe_name);
        for (const LayoutOutcome& layout : report.layouts) {
            CHECK(layout.unsuitable == "");
            layouts.insert(layout.name);
        }
        for (const KernelOutcome& kernel : report.kernels) CHECK_MESSAGE(kernel.verified(), kernel.kernel, ": ", kernel.reason);
    }
    CHECK(layouts == std::set<std::string>{"csr", "rows", "sell"});
}

TEST_CASE("the resolved recipe of a point is the same recipe") {
    const Space space = load_space(source / "spaces" / "default.toml", catalogue());
    std::mt19937_64 random(1);
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t number = random() % space.count();
        CAPTURE(number);
        const SpacePoint point = space.point(number);
        CHECK(space.number_of(point) == number);
        const Recipe recipe = space.recipe(point);
        const std::string resolved = resolved_recipe(recipe);
        const Recipe again = parse_recipe(resolved, "resolved.toml", catalogue());
        CHECK(resolved_recipe(again) == resolved);
        CHECK(content_of(again) == content_of(recipe));
        CHECK(again.name == recipe.name);
    }
}

}  // namespace workbench
