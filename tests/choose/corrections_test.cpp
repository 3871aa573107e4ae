// Corrections of predictions by similar recipes, and what predictions of recipes behind the same stages share.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "choose/h200_tables.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/chain.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/corrections.hpp"
#include "studies/choose/cost_model.hpp"

namespace workbench {
namespace {

const std::string rcm_stage = "[[stage]]\nuse = 'cuthill_mckee'\n";
const std::string king_stage = "[[stage]]\nuse = 'king'\n";
const std::string sort_stage = "[[stage]]\nuse = 'row_sort'\n";

Recipe recipe_in(const Catalogue& known, const std::string& text) { return parse_recipe(text, "a.toml", known); }

Recipe sell_of(const std::string& stages, int height) {
    return recipe_in(catalogue(), stages + "[layout]\nuse = 'sell'\nslice_height = " + std::to_string(height) + "\n");
}

/// How often the functions of a counted catalogue were called.
struct Calls {
    int sorts = 0;
    int splits = 0;
    int counts = 0;
};
Calls& calls() {
    static Calls made;
    return made;
}

ForeseeChange foresee_of(const char* stage) { return catalogue().find_stage(stage)->foresee; }

/// The catalogue, whose stages row_sort and split and whose layout csr count their predictions.
Catalogue counted_catalogue() {
    Catalogue all = catalogue();
    for (StageEntry& stage : all.stages) {
        if (stage.name == "row_sort") {
            stage.foresee = [](PatternForecast& pattern, const Parameters& parameters, const StageContext& context) {
                ++calls().sorts;
                foresee_of("row_sort")(pattern, parameters, context);
            };
        }
        if (stage.name == "split") {
            stage.foresee = [](PatternForecast& pattern, const Parameters& parameters, const StageContext& context) {
                ++calls().splits;
                foresee_of("split")(pattern, parameters, context);
            };
        }
    }
    for (LayoutEntry& layout : all.layouts) {
        if (layout.name != "csr") continue;
        layout.predict = [](const PatternForecast& pattern, const Parameters&, Precision) {
            const auto count = [](std::span<const Offset> lengths, Index) {
                ++calls().counts;
                return std::ssize(lengths);
            };
            return LayoutCost{.slots = pattern.of_lengths(count, 3), .array_bytes = 1000};
        };
    }
    return all;
}

CsrMatrix generated_grid() {
    const MatrixChoice choice = generated_matrix("laplace2d:nx=30", {}, catalogue());
    const auto& [generator, parameters] = std::get<GeneratedMatrix>(choice.from);
    return generator->generate(parameters);
}

/// The shipped recipes in all orders, by name.
std::map<std::string, Recipe> shipped_by_name() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(WORKBENCH_SOURCE_DIR "/recipes")) {
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Recipe> recipes;
    for (const std::filesystem::path& file : files) recipes.push_back(load_recipe(file, catalogue()));
    std::map<std::string, Recipe> by_name;
    for (Recipe& recipe : candidates_of(catalogue(), recipes, {}, Orders::others_of_square)) by_name[recipe.name] = recipe;
    return by_name;
}

}  // namespace

TEST_SUITE("corrections") {
    TEST_CASE("other recipes on a matrix correct the prediction of a recipe") {
        const std::map<std::string, Recipe> recipes = shipped_by_name();
        const Table<Measured> measured = measured_times();
        const Table<Predicted> predicted = predicted_times();
        double before = 0;
        double after = 0;
        for (const auto& [matrix, times] : measured) {
            std::map<std::string, double> ratios;
            for (const auto& [name, time] : times) {
                const auto found = predicted.at(matrix).find(name);
                if (found != predicted.at(matrix).end())
                    ratios[name] = std::log(time.microseconds / found->second.microseconds);
            }
            for (const auto& [left_out, ratio] : ratios) {
                Corrections corrections;
                for (const auto& [name, other] : ratios) {
                    if (name != left_out) corrections.note(corrections.subject_of(recipes.at(name)), other);
                }
                const double corrected = ratio - std::log(corrections.factor(corrections.subject_of(recipes.at(left_out))));
                const double share = 1.0 / static_cast<double>(ratios.size() * measured.size());
                before += share * std::abs(ratio);
                after += share * std::abs(corrected);
            }
        }
        MESSAGE("mean |log(measured / predicted)|: ", before, ", corrected ", after);
        CHECK(after < 0.8 * before);
    }

    TEST_CASE("measurements of similar recipes count more") {
        Corrections corrections;
        const auto subject = [&](const Recipe& recipe) { return corrections.subject_of(recipe); };
        const auto measured = subject(sell_of(rcm_stage, 32));
        CHECK_EQ(corrections.factor(measured), 1);
        corrections.note(measured, std::log(2));
        // The mean of all, log 2 * 0.5 / 1.5, counts a quarter of a measurement; the similarity of the measured one is
        // `weight`.
        const auto expected = [](double weight) { return std::exp2((0.25 * 0.5 / 1.5 + weight) / (0.25 + weight)); };
        const auto is_expected = [&](const Recipe& recipe, double weight) {
            return std::abs(corrections.factor(subject(recipe)) - expected(weight)) < 1e-12;
        };
        CHECK(is_expected(sell_of(rcm_stage, 32), 1));
        CHECK(is_expected(sell_of(rcm_stage, 16), 0.5));
        CHECK(is_expected(sell_of(rcm_stage + sort_stage, 32), 0.7));
        CHECK(is_expected(sell_of(king_stage, 16), 0.35));
        CHECK(is_expected(recipe_in(catalogue(), rcm_stage + "[layout]\nuse = 'csr'\n"), 0));
    }

    TEST_CASE("measurements correct what a calibration expects of a layout") {
        Corrections corrections;
        corrections.expect({{"sell", 3}});
        const auto subject = corrections.subject_of(sell_of("", 32));
        CHECK(std::abs(corrections.factor(subject) - 3) < 1e-12);
        CHECK_EQ(corrections.factor(corrections.subject_of(recipe_in(catalogue(), "[layout]\nuse = 'csr'\n"))), 1);
        corrections.note(subject, std::log(3));  // as expected
        CHECK(std::abs(corrections.factor(subject) - 3) < 1e-12);
    }

    TEST_CASE("recipes behind different orders share sorts, splits and counts") {
        const Catalogue counted = counted_catalogue();
        const CsrMatrix matrix = generated_grid();
        const DeviceProperties& device = *find_device_model("h200");
        CostModel model(matrix, Precision::f64, device, &device);
        calls() = {};
        const std::string split_stage = "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 4\n";
        const std::string shares = "[[layout]]\nshare = 'short'\nuse = 'csr'\n[[layout]]\nshare = 'long'\nuse = 'csr'\n";
        for (const std::string& order : {std::string(), rcm_stage, king_stage}) {
            for (const char* layout : {"[layout]\nuse = 'csr'\n", "[layout]\nuse = 'sell'\nslice_height = 8\n"}) {
                (void)model.price(recipe_in(counted, order + layout));
                (void)model.price(recipe_in(counted, order + sort_stage + layout));
            }
            (void)model.price(recipe_in(counted, order + sort_stage + split_stage + shares));
        }
        CHECK_EQ(calls().sorts, 1);
        CHECK_EQ(calls().splits, 1);
        CHECK_EQ(calls().counts, 4);  // of the input, of the sorted rows, and of each share

        // An order that has run has a pattern of its own.
        const Recipe rcm = recipe_in(counted, rcm_stage + "[layout]\nuse = 'csr'\n");
        StagedMatrix staged = stage_copy(matrix, 1);
        (void)apply_stages(rcm, staged, {});
        model.learn(rcm, 1, staged);
        (void)model.price(recipe_in(counted, rcm_stage + sort_stage + "[layout]\nuse = 'csr'\n"));
        CHECK_EQ(calls().sorts, 2);
        CHECK_EQ(calls().counts, 5);
    }

    TEST_CASE("the quality of an order that has not run is kept behind shared stages") {
        const CsrMatrix matrix = generated_grid();
        const DeviceProperties& device = *find_device_model("h200");
        CostModel shared(matrix, Precision::f64, device, &device);
        for (const std::string& order : {std::string(), rcm_stage, std::string("[[stage]]\nuse = 'random_order'\n")}) {
            const Recipe recipe = sell_of(order + sort_stage, 8);
            CostModel alone(matrix, Precision::f64, device, &device);
            CHECK_EQ(shared.price(recipe).product, alone.price(recipe).product);
            CHECK_EQ(shared.costs(recipe).front().sectors, alone.costs(recipe).front().sectors);
            CHECK_EQ(shared.costs(recipe).front().exact, order.empty());
        }
    }

    TEST_CASE("threads that ask for prices at once get those that one thread gets") {
        const CsrMatrix matrix = generated_grid();
        const DeviceProperties& device = *find_device_model("h200");
        const std::string halves = "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 4\n";
        const std::string shares = "[[layout]]\nshare = 'short'\nuse = 'csr'\n[[layout]]\nshare = 'long'\nuse = 'coo'\n";
        std::vector<Recipe> recipes;
        for (const std::string& order : {std::string(), rcm_stage, std::string("[[stage]]\nuse = 'random_order'\n")}) {
            for (const std::string& sort : {std::string(), sort_stage}) {
                for (const int height : {8, 16, 32, 64}) recipes.push_back(sell_of(order + sort, height));
                recipes.push_back(recipe_in(catalogue(), order + sort + halves + shares));
            }
        }
        CostModel one(matrix, Precision::f64, device, &device);
        CostModel many(matrix, Precision::f64, device, &device);
        constexpr std::size_t times = 8;
        std::vector<double> seconds(times * recipes.size());
        guarded_for("price", UnevenHostRange<std::size_t>(0, seconds.size()),
                    [&](std::size_t i) { seconds[i] = many.price(recipes[i % recipes.size()]).product; });
        for (std::size_t i = 0; i < seconds.size(); ++i) CHECK_EQ(seconds[i], one.price(recipes[i % recipes.size()]).product);
    }

    TEST_CASE("every layout of the program states its cost") {
        for (const LayoutEntry& layout : catalogue().layouts) CHECK_MESSAGE((layout.predict != nullptr), layout.name);
    }
}

}  // namespace workbench
