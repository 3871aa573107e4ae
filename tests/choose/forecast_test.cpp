// Forecasts of every stage and layout on matrices of any shape: rows are not taken for columns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/forecast/forecast.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/rows/long_rows.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/cost_model.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {
namespace {

/// Up to five nonzeros a row, spread over all columns.
CsrMatrix matrix_of(Index rows, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        std::set<Index> places;
        for (Index k = 0; k < row % 5 + 1 && columns > 0; ++k) {
            places.insert(static_cast<Index>((Offset{row} * 37 + Offset{k} * 101 + 1) % columns));
        }
        for (const Index column : places) entries.push_back({row, column, 1.0 + row % 3});
    }
    return csr_from_entries(rows, columns, entries);
}

/// Wide, tall, one row, one column, no rows, no columns, and tall and wide ones of which samples are taken.
const std::vector<CsrMatrix>& shapes() {
    static const std::vector<CsrMatrix> all{matrix_of(7, 11),       matrix_of(11, 7),      matrix_of(1, 9), matrix_of(9, 1),
                                            matrix_of(0, 5),        matrix_of(5, 0),       matrix_of(0, 0), matrix_of(12, 40),
                                            matrix_of(17'000, 130), matrix_of(130, 70'000)};
    return all;
}

/// The shipped recipes, those of all layouts and hybrids, and each stage that none of them has.
const std::vector<Recipe>& all_recipes() {
    static const std::vector<Recipe> all = [] {
        std::vector<Recipe> recipes;
        for (const auto& file : std::filesystem::directory_iterator(WORKBENCH_SOURCE_DIR "/recipes")) {
            if (file.path().extension() != ".toml") continue;
            for (Recipe& point : load_points(file.path(), catalogue()).points) recipes.push_back(std::move(point));
        }
        for (const LayoutRecipe& one : layout_recipes()) recipes.push_back(one.recipe);
        for (const LayoutRecipe& one : hybrid_recipes()) recipes.push_back(one.recipe);
        std::set<std::string> stages;
        for (const Recipe& recipe : recipes) {
            for (const RecipeStage& stage : recipe.stages) stages.insert(stage.entry->name);
        }
        for (const StageEntry& stage : catalogue().stages) {
            if (stage.foresee == nullptr || stages.contains(stage.name)) continue;
            recipes.push_back(
                parse_recipe("[[stage]]\nuse = '" + stage.name + "'\n[layout]\nuse = 'csr'\n", "a.toml", catalogue()));
        }
        for (const char* nodes : {"2", "3"}) {  // which do not divide most of the shapes
            recipes.push_back(parse_recipe(std::string("[[stage]]\nuse = 'node_blocks'\nunknowns = ") + nodes +
                                               "\n[[stage]]\nuse = 'row_sort'\napply = 'rows'\n[layout]\nuse = 'block_sell'\n",
                                           "a.toml", catalogue()));
        }
        return recipes;
    }();
    return all;
}

std::vector<Offset> sorted_lengths(const PatternForecast& pattern) {
    std::vector<Offset> lengths(pattern.lengths().begin(), pattern.lengths().end());
    std::sort(lengths.begin(), lengths.end());
    return lengths;
}

/// Stages may have moved rows; they have moved columns only if the matrix is square.
void check_pattern(const PatternForecast& pattern, const CsrMatrix& matrix) {
    const PatternForecast input(matrix);
    CHECK_EQ(pattern.rows(), matrix.rows);
    CHECK_EQ(pattern.nonzeros(), matrix.nonzeros());
    CHECK(sorted_lengths(pattern) == sorted_lengths(input));
    if (!matrix.square() && pattern.is_exact()) CHECK_EQ(pattern.sectors(Precision::f64, 1), input.sectors(Precision::f64, 1));
}

void check_cost(const LayoutCost& cost) {
    CHECK(cost.slots >= 0);
    CHECK(cost.array_bytes >= 0);
    CHECK(cost.chain >= 0);
    CHECK((std::isfinite(cost.sectors) && cost.sectors >= 0));
    CHECK((std::isfinite(cost.bandwidth) && cost.bandwidth > 0));
}

struct SeenNames {
    std::set<std::string> stages;
    std::set<std::string> layouts;
};

/// Stages and layouts are asked even if the recipe's needs are not met: a forecast must not rely on others to check them.
void check_forecasts(const Recipe& recipe, const CsrMatrix& matrix, SeenNames& seen) {
    const DeviceProperties* const device = find_device_model("h200");
    PatternForecast pattern(matrix);
    for (const RecipeStage& stage : recipe.stages) {
        if (stage.entry->foresee == nullptr) continue;
        seen.stages.insert(stage.entry->name);
        PatternForecast changed = pattern;
        try {
            stage.entry->foresee(changed, stage.parameters, {device, Precision::f64});
        } catch (const UserError&) {  // as the stage itself reports
            continue;
        }
        pattern = changed;
        check_pattern(pattern, matrix);
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        const LayoutEntry& entry = *layout.entry;
        if (entry.predict == nullptr) continue;
        seen.layouts.insert(entry.name);
        const PatternForecast& part = layout.share ? pattern.share(layout.share->kind) : pattern;
        for (const Precision precision : {Precision::f32, Precision::f64}) {
            const Parameters settled = entry.settled(layout.parameters, matrix, precision, part.node_size());
            check_cost(entry.predict(part, settled.on_device(entry.parameters, *device), precision));
        }
    }
}

bool takes(const Recipe& recipe, const CsrMatrix& matrix) {
    try {
        check_against(recipe, matrix.rows, matrix.columns);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

}  // namespace

TEST_SUITE("forecasts of any shape") {
    TEST_CASE("every stage and layout forecasts matrices of any shape") {
        SeenNames seen;
        for (const CsrMatrix& matrix : shapes()) {
            CAPTURE(matrix.rows);
            CAPTURE(matrix.columns);
            for (const Recipe& recipe : all_recipes()) {
                CAPTURE(recipe.name);
                CAPTURE(recipe.file.string());
                check_forecasts(recipe, matrix, seen);
            }
        }
        for (const StageEntry& stage : catalogue().stages) {
            if (stage.foresee != nullptr) CHECK_MESSAGE(seen.stages.contains(stage.name), stage.name);
        }
        for (const LayoutEntry& layout : catalogue().layouts) {
            if (layout.predict != nullptr) CHECK_MESSAGE(seen.layouts.contains(layout.name), layout.name);
        }
    }

    TEST_CASE("a recipe whose need is not met has no price, and says which need") {
        const DeviceProperties host{DeviceKind::host, "a host", 2, 0, 0, 0};
        int unmet = 0;
        for (const CsrMatrix& matrix : shapes()) {
            CAPTURE(matrix.rows);
            CAPTURE(matrix.columns);
            CostModel model(matrix, Precision::f64, host, nullptr);
            for (const Recipe& recipe : all_recipes()) {
                CAPTURE(recipe.name);
                const Price price = model.price(recipe);
                if (takes(recipe, matrix)) {
                    CHECK((std::isfinite(price.product) && price.product > 0));
                    CHECK(price.unsuitable.find("square") == std::string::npos);
                } else {
                    CHECK_EQ(price.product, 0);
                    CHECK_EQ(price.unsuitable, "needs a square matrix");
                    ++unmet;
                }
            }
        }
        CHECK(unmet > 100);
        const CsrMatrix square = matrix_of(8, 8);
        CostModel model(square, Precision::f64, host, nullptr);
        Recipe recipe = parse_recipe("[[stage]]\nuse = 'row_sort'\n[layout]\nuse = 'csr'\n", "a.toml", catalogue());
        recipe.node_size = 3;
        CHECK_EQ(model.price(recipe).unsuitable, "needs a multiple of 3 rows, for node_size in [matrix]");
    }

    TEST_CASE("shares by the lengths of rows are foreseen exactly") {
        const CsrMatrix matrix = matrix_of(23, 40);
        const auto shares_of = [&matrix](const std::string& criterion, const std::string& one, const std::string& other) {
            const Recipe recipe = parse_recipe("[[stage]]\nuse = 'split'\n" + criterion + "\n[[layout]]\nshare = '" + one +
                                                   "'\nuse = 'csr'\n[[layout]]\nshare = '" + other + "'\nuse = 'csr'\n",
                                               "a.toml", catalogue());
            PatternForecast pattern(matrix);
            const RecipeStage& split = recipe.stages.front();
            split.entry->foresee(pattern, split.parameters, {find_device_model("h200"), Precision::f64});
            return std::pair(sorted_lengths(pattern.share(recipe.layouts[0].share->kind)),
                             sorted_lengths(pattern.share(recipe.layouts[1].share->kind)));
        };
        std::vector<Offset> longer;
        std::vector<Offset> shorter;
        for (Index row = 0; row < matrix.rows; ++row) {
            const Offset length = matrix.row_length(row);
            (length > 3 ? longer : shorter).push_back(length);
        }
        std::sort(longer.begin(), longer.end());
        std::sort(shorter.begin(), shorter.end());
        CHECK(shares_of("by = 'row_length'\nlonger_than = 3", "long", "short") == std::pair(longer, shorter));
    }

    TEST_CASE("rows at the surface of parts are foreseen: about two of each part of a chain, with a nonzero outside") {
        constexpr Index rows = 1000;
        constexpr Index parts = 100;
        std::vector<Entry> entries;
        for (Index row = 0; row < rows; ++row) {
            for (Index column = std::max(row - 1, 0); column <= std::min(row + 1, rows - 1); ++column) {
                entries.push_back({row, column, 1});
            }
        }
        const CsrMatrix chain = csr_from_entries(rows, rows, entries);
        StagedMatrix staged = stage_input(chain);
        StageChange change;
        std::vector<Index> boundaries;
        for (Index part = 0; part <= parts; ++part) boundaries.push_back(part * (rows / parts));
        change.cuts = {Cuts{CutKind::partition, boundaries}};
        apply(staged, change, {});
        PatternForecast pattern(chain, staged);
        const Recipe recipe = parse_recipe(
            "[[stage]]\nuse = 'metis_partition'\nparts = 100\n[[stage]]\nuse = 'split'\nby = 'inside_partition'\n"
            "[[layout]]\nshare = 'inside'\nuse = 'csr'\n[[layout]]\nshare = 'outside'\nuse = 'csr'\n",
            "a.toml", catalogue());
        const RecipeStage& split = recipe.stages.back();
        split.entry->foresee(pattern, split.parameters, {find_device_model("h200"), Precision::f64});
        const std::vector<Offset> outside = sorted_lengths(pattern.share(ShareKind::outside));
        CHECK(outside.size() == doctest::Approx(2 * (parts - 1)).epsilon(0.15));  // the partition's quality is sampled
        CHECK(std::ranges::count(outside, 1) == static_cast<std::ptrdiff_t>(outside.size()));
    }

    TEST_CASE("bins of row lengths are foreseen as equal parts of each row") {
        const CsrMatrix matrix = matrix_of(23, 40);
        const Recipe recipe = parse_recipe(
            "[[stage]]\nuse = 'split'\nby = 'row_length'\nbounds = [2, 4]\n"
            "[[layout]]\nshare = 'bin_0'\nuse = 'csr'\n[[layout]]\nshare = 'bin_1'\nuse = 'csr'\n"
            "[[layout]]\nshare = 'bin_2'\nuse = 'csr'\n",
            "a.toml", catalogue());
        PatternForecast pattern(matrix);
        const RecipeStage& split = recipe.stages.front();
        split.entry->foresee(pattern, split.parameters, {find_device_model("h200"), Precision::f64});
        std::vector<Offset> expected;
        for (Index row = 0; row < matrix.rows; ++row) {
            if (const Offset length = matrix.row_length(row); length > 0) expected.push_back((length + 2) / 3);
        }
        std::sort(expected.begin(), expected.end());
        for (const int number : {0, 1, 2}) CHECK(sorted_lengths(pattern.share(bin(number))) == expected);
    }

    TEST_CASE("places of diagonals outside of a wide or tall matrix are not read") {
        const auto unread_bytes = [](Index rows, Index columns, const std::vector<Entry>& entries) {
            const CsrMatrix matrix = csr_from_entries(rows, columns, entries);
            const Recipe recipe = parse_recipe("[layout]\nuse = 'dia'\n", "a.toml", catalogue());
            const RecipeLayout& dia = recipe.layouts.front();
            return dia.entry->predict(PatternForecast(matrix), dia.parameters, Precision::f64).unread_bytes;
        };
        CHECK_EQ(unread_bytes(10, 2, {{0, 0, 1}, {1, 1, 1}}), 8 * 8);
        CHECK_EQ(unread_bytes(2, 10, {{0, 8, 1}, {1, 9, 1}}), 0);
        CHECK_EQ(unread_bytes(2, 10, {{0, 9, 1}}), 1 * 8);
        CHECK_EQ(unread_bytes(4, 4, {{0, 1, 1}, {3, 0, 1}}), 2 * 3 * 8);
        CHECK_EQ(unread_bytes(5, 0, {}), 0);
    }

    TEST_CASE("padding of slices is unread where the kernel reads the lengths of rows instead") {
        const LayoutEntry& entry = *catalogue().find_layout("sell");
        int by_lengths = 0;
        int by_slices = 0;
        for (const NamedMatrix& one : battery()) {
            for (const std::int64_t split_length : {4, 512}) {
                CAPTURE(one.name);
                CAPTURE(split_length);
                const Parameters parameters(entry.parameters, {{"split_length", split_length}});
                const auto built = entry.build.get<double>()(stage_input(one.matrix), parameters);
                const auto& sell = dynamic_cast<const AnyRowsLayout<double>&>(*built);
                const std::int64_t by_rows =
                    bytes_by_rows<double>(std::get<0>(sell.stored), sell.row_lengths(), {}, {}, sell.bytes_to_move());
                const std::int64_t unread = sell.by_lengths() ? sell.bytes_to_move() - by_rows : 0;
                CHECK_EQ(entry.predict(PatternForecast(one.matrix), parameters, Precision::f64).unread_bytes, unread);
                ++(sell.by_lengths() ? by_lengths : by_slices);
            }
        }
        CHECK(by_lengths > 10);
        CHECK(by_slices > 3);
    }
}

}  // namespace workbench
