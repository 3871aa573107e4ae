// Choices for products with several vectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "choose/scripted_choices.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/cost_model.hpp"
#include "support/layouts/wrong_vectors.hpp"

namespace workbench {
namespace {

CsrMatrix grid_of(const std::string& kind) {
    const MatrixChoice choice = generated_matrix(kind, {}, catalogue());
    const auto& [generator, parameters] = std::get<GeneratedMatrix>(choice.from);
    return generator->generate(parameters);
}

Recipe recipe_of_layout(const std::string& layout) {
    return parse_recipe("[recipe]\nname = '" + layout + "'\n[layout]\nuse = '" + layout + "'\n", layout + ".toml", catalogue());
}

}  // namespace

TEST_SUITE("choose for several vectors") {
    TEST_CASE("kernels that read the matrix once are predicted to move it once, others once for each vector") {
        constexpr int vectors = 8;
        const CsrMatrix matrix = grid_of("laplace2d:nx=9");
        const DeviceProperties host{DeviceKind::host, "a host", 2, 0, 0, 0};
        CostModel one(matrix, Precision::f64, host, nullptr);
        CostModel several(matrix, Precision::f64, host, nullptr, vectors);
        const auto costs = [](CostModel& model, const std::string& layout) {
            return model.costs(recipe_of_layout(layout)).front();
        };
        const std::int64_t x_and_y = 2 * 81 * 8;
        const LayoutCost csr = costs(one, "csr");
        REQUIRE(csr.vector_bytes == x_and_y);
        CHECK(costs(several, "csr").bytes() == csr.bytes() + (vectors - 1) * x_and_y);
        CHECK(costs(several, "csr").launches == csr.launches);
        CHECK(costs(several, "csr").sectors == vectors * csr.sectors);
        // x is copied before each product, and y after it.
        const LayoutCost csc = costs(one, "csc");
        CHECK(costs(several, "csc").bytes() == vectors * (csc.bytes() + 2 * csc.vector_bytes));
        CHECK(costs(several, "csc").launches == vectors * csc.launches);
        CHECK(costs(several, "csc").chain == vectors * csc.chain);
        CHECK(several.price(recipe_of_layout("csc")).product > vectors / 2 * one.price(recipe_of_layout("csc")).product);
    }

    TEST_CASE("the answer, the table, the recipe and the JSON state the number of vectors") {
        ChooseOptions options = options_of();
        options.vectors = 3;
        options.products = 1e6;
        Script& script = new_script();
        script.seconds["run usual"] = {16};
        script.seconds["run fast"] = {4};
        script.seconds["build plain"] = {12};
        const Choice choice = choose({csr(), plain("F", "fast")}, options);
        REQUIRE(choice.ranking.front().recipe.name == "F");
        CHECK(*choice.ranking.front().record.speedup == doctest::Approx(4));
        for (const RunReport& report : choice.reports) CHECK(report.vectors == 3);
        const std::string answer = answer_of(choice, options);
        CHECK(answer.starts_with("F (fast) is 4.00 x as fast as CSR (usual); it pays after 1 product with 3 vectors, and "));
        CHECK(answer.find(" products with 3 vectors save ") != std::string::npos);
        const std::string text = choice_text(choice, options, matrix_report);
        CHECK(text.find("f64 on a host, cold cache, 3 vectors\n") != std::string::npos);
        // The kernels of the scripted machine have no loop for several vectors.
        CHECK(text.find("  Multiplying the vectors one after another: F (fast); CSR (usual).\n") != std::string::npos);
        const std::string recipe = choice_recipe(choice, options);
        CHECK(recipe.find("\n# A product with 3 vectors takes ") != std::string::npos);
        CHECK(recipe.find("\n# `workbench run` multiplies as many vectors with --vectors 3.\n") != std::string::npos);
        const auto json = nlohmann::json::parse(choice_json(choice, options, matrix_report, ""));
        CHECK(json["vectors"] == 3);
        for (const auto& one : json["ranking"]) CHECK(one["one_by_one"] == true);

        const Choice of_one = choose({csr(), plain("F", "fast")}, options_of());
        for (const Timed& one : of_one.ranking) CHECK_FALSE(one.one_by_one);
        CHECK(choice_text(of_one, options_of(), matrix_report).find("vectors") == std::string::npos);
    }

    TEST_CASE("recipes are timed with the vectors, and those without a loop for them are marked, also in a continued search") {
        const auto host = make_host_device();
        const CsrMatrix matrix = grid_of("laplace2d:nx=40");
        std::vector<std::string> lines;
        for (const bool continued : {false, true}) {
            CAPTURE(continued);
            SearchLog log;
            log.lines = lines;
            log.add = [&lines](const std::string& line) { lines.push_back(line); };
            ChooseOptions options;
            options.budget_seconds = 60;
            options.vectors = 5;
            options.confirm = false;
            options.backends = {Backend::kokkos, Backend::eigen};
            options.timing = {CacheState::cold, 3, 0, 0.1};
            options.log = &log;
            options.always = 3;
            const std::vector<Recipe> recipes{recipe_of_layout("csr"), recipe_of_layout("sell"), recipe_of_layout("csc")};
            options.always = continued ? 1 : recipes.size();
            const Choice choice = choose(matrix, catalogue(), {*host}, recipes, options);
            CHECK(choice.not_timed.empty());
            REQUIRE(choice.ranking.size() == 3);
            for (const Timed& one : choice.ranking) {
                CHECK_MESSAGE(one.one_by_one == (one.recipe.name == "csc"), one.recipe.name);
                CHECK(one.logged == (continued && one.recipe.name != "csr"));
                CHECK(one.record.facts.at("vectors") == "5");
            }
            for (const RunReport& report : choice.reports) {
                for (const KernelOutcome& kernel : report.kernels) {
                    if (kernel.layout != "csr" || kernel.kernel != "rows") continue;
                    const std::int64_t arrays = 7840 * (8 + 4) + 1601 * 8;
                    CHECK(kernel.bytes_to_move == arrays + 5 * 2 * 1600 * 8);
                }
            }
        }
    }

    TEST_CASE("a kernel that is wrong for several vectors alone is chosen for one, and never for several") {
        const auto host = make_host_device();
        const CsrMatrix matrix = grid_of("laplace2d:nx=20");
        for (const WrongVectors fault : all_wrong_vectors) {
            const Catalogue faulty = catalogue_with(fault);
            const auto recipe = [&](const std::string& layout) {
                return parse_recipe("[recipe]\nname = '" + layout + "'\n[layout]\nuse = '" + layout + "'\n", layout + ".toml",
                                    faulty);
            };
            for (const int vectors : {1, 6}) {
                ChooseOptions options;
                options.budget_seconds = 60;
                options.vectors = vectors;
                options.confirm = false;
                options.backends = {Backend::kokkos};
                options.timing = {CacheState::cold, 2, 0, 0.1};
                options.always = 2;
                const Choice choice = choose(matrix, faulty, {*host}, {recipe("csr"), recipe("sell")}, options);
                CHECK(choice.wrong == (vectors > 1));
                CHECK(choice.ranking.size() == (vectors > 1 ? 1 : 2));
                REQUIRE(choice.not_timed.size() == (vectors > 1 ? 1 : 0));
                if (vectors == 1) continue;
                CHECK(choice.ranking.front().recipe.name == "csr");
                CHECK(choice.not_timed.front().recipe == "sell");
                CHECK_MESSAGE(choice.not_timed.front().reason.find("vector ") != std::string::npos,
                              choice.not_timed.front().reason);
            }
        }
    }
}

}  // namespace workbench
