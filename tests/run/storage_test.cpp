// Storage maps of layouts: by cell and in bins, for every layout and hybrid on the battery; as text and as pictures.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/recipe_storage.hpp"
#include "support/drawn_matrix.hpp"
#include "support/drawn_texts.hpp"
#include "support/given.hpp"
#include "support/golden.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/slow.hpp"
#include "viz/golden_picture.hpp"
#include "viz/memory_bar.hpp"
#include "viz/storage_picture.hpp"
#include "viz/storage_sheet.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

const fs::path source = WORKBENCH_SOURCE_DIR;

template <ValueType Value>
StorageMap map_of(const LayoutRecipe& one, const StagedMatrix& staged, const Layout<Value>& layout, Offset cells) {
    const RecipeLayout& choice = one.recipe.layouts.front();
    const MappedLayout<Value> mapped{&layout, choice.entry->name, choose_schedule(choice)};
    return map_storage<Value>(staged.matrix, std::span(&mapped, 1), cells);
}

constexpr Offset by_cell = Offset{1} << 40;
constexpr Offset by_bin = -1;

/// Checks that each nonzero is in exactly one cell of values, with its row, column and number, and that a thread reads one cell
/// per step.
void check_cells(const StorageMap& map, const CsrMatrix& matrix) {
    std::vector<int> found(matrix.nonzeros(), 0);
    for (const StoragePart& part : map.parts) {
        std::set<std::tuple<std::int64_t, int, std::int64_t>> moments;
        std::map<std::int64_t, std::int64_t> steps;  // by warp
        std::int64_t reads = 0;
        for (const StorageArray& array : part.arrays) {
            REQUIRE(static_cast<Offset>(array.cells.size()) == array.length);
            if (array.role != ArrayRole::value) continue;
            bool right = true;
            for (const StorageCell& cell : array.cells) {
                right = right && cell.padding == (cell.nonzero < 0);
                if (cell.warp >= 0) {
                    ++reads;
                    steps[cell.warp] = std::max(steps[cell.warp], cell.step + 1);
                    right = right && moments.insert({cell.warp, cell.lane, cell.step}).second;
                }
                if (cell.padding) continue;
                ++found.at(cell.nonzero);
                if (cell.mirror >= 0) ++found.at(cell.mirror);
                const double value = map.precision == Precision::f32 ? static_cast<float>(matrix.values[cell.nonzero])
                                                                     : matrix.values[cell.nonzero];
                right = right && cell.warp >= 0 && matrix.column_indices[cell.nonzero] == cell.column &&
                        matrix.row_offsets[cell.row] <= cell.nonzero && cell.nonzero < matrix.row_offsets[cell.row + 1] &&
                        cell.text == fmt::format("{:.4g}", value);
            }
            CHECK(right);
        }
        CHECK(reads == part.reads);
        std::int64_t lane_steps = 0;
        for (const auto& [warp, made] : steps) lane_steps += 32 * made;
        CHECK(lane_steps == part.lane_steps);
        CHECK(static_cast<std::int64_t>(steps.size()) == part.warps);
        if (!steps.empty()) CHECK(part.shown_warps.front().warp == steps.begin()->first);
        if (!steps.empty() && part.shown_warps.size() > 1) CHECK(part.shown_warps.back().warp == steps.rbegin()->first);
        for (const StorageArray& array : part.arrays) {
            if (array.like < 0) continue;
            const StorageArray& values = part.arrays[array.like];
            REQUIRE(values.length == array.length);
            const auto beside = [](const StorageCell& column, const StorageCell& value) {
                return column.nonzero == value.nonzero && column.lane == value.lane && column.padding == value.padding;
            };
            CHECK(std::equal(array.cells.begin(), array.cells.end(), values.cells.begin(), beside));
        }
    }
    CHECK(std::all_of(found.begin(), found.end(), [](int times) { return times == 1; }));
}

/// Checks that a bin combines its cells; a bin of columns of blocks combines the values of their blocks.
void check_bins(const StorageArray& bins, const StoragePart& part, int number) {
    const StorageArray& cells = part.arrays[number];
    CHECK(bins.nonzeros == cells.nonzeros);
    CHECK(bins.padding == cells.padding);
    CHECK(bins.like == cells.like);
    if (bins.role == ArrayRole::structure || bins.like >= 0) {
        CHECK(bins.bins.empty());
        return;
    }
    CHECK(static_cast<Offset>(bins.bins.size()) <= most_bins);
    CHECK(bins.width % 32 == 0);
    const bool several_columns = std::count_if(part.arrays.begin(), part.arrays.end(), [](const StorageArray& array) {
                                     return array.role == ArrayRole::column && array.like < 0;
                                 }) > 1;
    REQUIRE(bins.width > 0);
    std::vector<StorageBin> all_expected((cells.length + bins.width - 1) / bins.width);
    for (Offset k = 0; k < cells.length; ++k) all_expected[k / bins.width].padding += cells.cells[k].padding ? 1 : 0;
    const auto widen = [](auto& first, auto& last, auto value) {
        first = first < 0 ? value : std::min(first, value);
        last = std::max(last, value);
    };
    for (const StorageArray& values : part.arrays) {
        if (values.role != ArrayRole::value || (&values != &cells && values.columns != number)) continue;
        for (Offset k = 0; k < values.length; ++k) {
            const StorageCell& cell = values.cells[k];
            const Offset place = &values == &cells ? k : cell.column_place;
            if (cell.padding || place < 0 || place >= cells.length) continue;
            StorageBin& expected = all_expected[place / bins.width];
            widen(expected.first_row, expected.last_row, cell.row);
            widen(expected.first_column, expected.last_column, cell.column);
            widen(expected.first_nonzero, expected.last_nonzero, cell.nonzero);
        }
    }
    REQUIRE(bins.bins.size() == all_expected.size());
    for (std::size_t i = 0; i < bins.bins.size(); ++i) {
        const StorageBin& expected = all_expected[i];
        const StorageBin& bin = bins.bins[i];
        CHECK(bin.padding == expected.padding);
        if (bins.role == ArrayRole::column && several_columns) continue;  // values do not refer to one of several column arrays
        CHECK(bin.first_row == expected.first_row);
        CHECK(bin.last_row == expected.last_row);
        CHECK(bin.first_column == expected.first_column);
        CHECK(bin.last_column == expected.last_column);
        CHECK(bin.first_nonzero == expected.first_nonzero);
        CHECK(bin.last_nonzero == expected.last_nonzero);
    }
}

void check_shown_warps(const StorageMap& cells) {
    for (const StoragePart& part : cells.parts) {
        CHECK(part.shown_warps.size() == std::min<std::size_t>(most_shown_warps, static_cast<std::size_t>(part.warps)));
        for (const WarpReads& warp : part.shown_warps) {
            CHECK(warp.listed_steps() == std::min(warp.steps, most_shown_steps));
            bool right = true;
            for (std::int64_t step = 0; step < warp.listed_steps(); ++step) {
                for (int lane = 0; lane < 32; ++lane) {
                    const LaneRead& read = warp.at(step, lane);
                    if (read.array < 0) continue;
                    const StorageCell& cell = part.arrays[read.array].cells[read.index];
                    right = right && cell.warp == warp.warp && cell.lane == lane && cell.step == step &&
                            cell.padding == read.padding &&
                            (read.padding || (cell.column == read.column && cell.row == read.row));
                }
            }
            CHECK(right);
        }
    }
}

/// Checks that cells and reads have rows of the matrix, and those of a share have rows of the share, including padding.
void check_rows(const StorageMap& map, const CsrMatrix& matrix) {
    for (const StoragePart& part : map.parts) {
        std::set<Index> rows;
        for (Index row = 0; row < matrix.rows; ++row) rows.insert(rows.end(), row);
        const StorageArray& last = part.arrays.back();
        if (!part.share.empty() && last.name == "share_rows") {
            rows.clear();
            for (const StorageCell& cell : last.cells) rows.insert(std::stoi(cell.text));
        }
        bool right = true;
        for (const StorageArray& array : part.arrays) {
            for (const StorageCell& cell : array.cells) right = right && (cell.row < 0 || rows.contains(cell.row));
        }
        for (const WarpReads& warp : part.shown_warps) {
            for (const LaneRead& read : warp.reads) right = right && (read.row < 0 || rows.contains(read.row));
        }
        CHECK(right);
    }
}

template <ValueType Value>
void check_map(const LayoutRecipe& one, const CsrMatrix& matrix) {
    const StagedMatrix staged = one.stage(matrix);
    std::unique_ptr<Layout<Value>> layout;
    try {
        layout = one.build<Value>(staged);
    } catch (const Unsuitable&) {
        return;
    }
    const StorageMap cells = map_of<Value>(one, staged, *layout, by_cell);
    const StorageMap bins = map_of<Value>(one, staged, *layout, by_bin);
    REQUIRE(cells.by_cell);
    REQUIRE(!bins.by_cell);
    check_cells(cells, staged.matrix);
    check_shown_warps(cells);
    check_rows(cells, staged.matrix);
    // The report has the same figures from LayoutField.
    std::size_t bytes = 0;
    Offset slots = 0;
    for (const LayoutField& field : layout->fields()) {
        if (field.is_array()) bytes += field.bytes();
        if (field.role == ArrayRole::value) slots += static_cast<Offset>(field.slots());
    }
    for (const StorageMap* map : {&cells, &bins}) {
        const StoragePart& part = map->parts.front();
        CHECK(part.bytes() == bytes);
        CHECK(part.nonzeros() + part.mirrors == matrix.nonzeros());
        CHECK(part.nonzeros() + part.padding() == slots);
    }
    REQUIRE(bins.parts.front().arrays.size() == cells.parts.front().arrays.size());
    for (std::size_t i = 0; i < bins.parts.front().arrays.size(); ++i) {
        check_bins(bins.parts.front().arrays[i], cells.parts.front(), static_cast<int>(i));
    }
    CHECK(bins.parts.front().reads == cells.parts.front().reads);
    CHECK(bins.parts.front().shown_warps.size() == cells.parts.front().shown_warps.size());
}

Recipe project_recipe(const std::string& name, const std::vector<std::string>& removed = {}) {
    std::string text = file_text(source / "recipes" / name);
    for (const std::string& part : removed) {
        REQUIRE(text.find(part) != std::string::npos);
        text.erase(text.find(part), part.size());
    }
    return parse_recipe(text, source / "recipes" / name, catalogue());
}

StagedMatrix staged_by(const Recipe& recipe, CsrMatrix matrix) {
    StagedMatrix staged = stage_input(std::move(matrix), recipe.node_size);
    (void)apply_stages(recipe, staged, stage_context(recipe, Precision::f64, nullptr));
    return staged;
}

}  // namespace

TEST_CASE("storage: the map of every layout on the battery" * doctest::test_suite(slow)) {
    for (const NamedMatrix& named : battery()) {
        for (const LayoutRecipe& one : layout_recipes()) {
            if (!one.takes(named.matrix)) continue;
            CAPTURE(named.name);
            CAPTURE(one.name);
            check_map<double>(one, named.matrix);
            check_map<float>(one, named.matrix);
        }
    }
}

TEST_CASE("storage: the rows of a share count among the elements that a map by cell may have") {
    const auto csr = build<double>(*catalogue().find_layout("csr"), stage_input(drawn()));
    const std::vector<Index> rows{0, 1, 2, 3, 4, 5};
    const MappedLayout<double> mapped{csr.get(), "csr", nullptr, "long", rows};
    const Offset elements = 7 + 13 + 13 + 6;
    CHECK(map_storage<double>(drawn(), std::span(&mapped, 1), elements).by_cell);
    CHECK_FALSE(map_storage<double>(drawn(), std::span(&mapped, 1), elements - 1).by_cell);
}

TEST_CASE("storage: the map of every hybrid on the battery") {
    for (const NamedMatrix& named : battery()) {
        for (const LayoutRecipe& one : hybrid_recipes()) {
            if (!one.takes(named.matrix)) continue;
            CAPTURE(named.name);
            CAPTURE(one.name);
            StagedMatrix staged = one.stage(named.matrix);
            try {
                const BuiltLayouts<double> built = build_layouts<double>(one.recipe, staged, {});
                const LayoutOutcome& whole = built.outcome;
                if (!whole.unsuitable.empty()) continue;
                const StorageMap map = storage_of(one.recipe, staged.matrix, built);
                CHECK(map.parts.size() == built.shares.size());
                for (const auto& share : built.shares) {
                    for (const auto& field : share.outcome.footprint) {
                        if (field.name == "share_rows") CHECK(field.count > 0);
                    }
                }
                std::size_t bytes = 0;
                for (const StoragePart& part : map.parts) bytes += part.bytes();
                CHECK(bytes == whole.bytes());
                CHECK(map.nonzeros + map.padding() == static_cast<Offset>(whole.slots()));
                if (!map.by_cell) continue;
                check_cells(map, staged.matrix);
                check_shown_warps(map);
                check_rows(map, staged.matrix);
            } catch (const Unsuitable&) {
            }
        }
    }
}

namespace {

/// A layout with a modified walk.
struct Tampered final : Layout<double> {
    const Layout<double>* of = nullptr;
    std::function<void(Slot&)> change;

    [[nodiscard]] Index rows() const override { return of->rows(); }
    [[nodiscard]] Index columns() const override { return of->columns(); }
    [[nodiscard]] Offset nonzeros() const override { return of->nonzeros(); }
    [[nodiscard]] std::vector<LayoutField> fields() const override { return of->fields(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override {
        of->for_each_slot([&](Slot slot) {
            if (slot.index == 4) change(slot);
            visit(slot);
        });
    }
};

}  // namespace

TEST_CASE("storage: invalid walks are refused") {
    const LayoutRecipe* const csr = &*std::find_if(layout_recipes().begin(), layout_recipes().end(),
                                                   [](const LayoutRecipe& one) { return one.name == "csr"; });
    const StagedMatrix staged = stage_input(drawn());
    const auto layout = csr->build<double>(staged);
    Tampered tampered;
    tampered.of = layout.get();
    const MappedLayout<double> mapped{&tampered, "csr", nullptr};
    const auto refuses = [&](const std::function<void(Slot&)>& change) {
        tampered.change = change;
        for (const Offset cells : {by_cell, by_bin}) {
            CHECK_THROWS_AS((void)map_storage<double>(staged.matrix, std::span(&mapped, 1), cells), std::logic_error);
        }
    };
    refuses([](Slot& slot) { slot.array = 9; });
    refuses([](Slot& slot) { slot.array = -1; });
    refuses([](Slot& slot) { slot.array = slot.column_array; });
    refuses([](Slot& slot) { slot.column_array = slot.array; });
    refuses([](Slot& slot) { slot.index = 13; });
    refuses([](Slot& slot) { slot.column_index = 13; });
    tampered.change = [](Slot&) {};
    const StorageMap map = map_storage<double>(staged.matrix, std::span(&mapped, 1));
    CHECK(map.parts.front().arrays.back().type == ElementType::f64);
    CHECK(map.parts.front().warps == 0);
    CHECK(nlohmann::json(json_of(map))["parts"][0]["shown_warps"] == nlohmann::json::array());
    CHECK(map.parts.front().arrays[1].like == 2);
    // Columns without one element per value are not shown parallel to any array.
    tampered.change = [](Slot& slot) { slot.column_index = 5; };
    CHECK(map_storage<double>(staged.matrix, std::span(&mapped, 1)).parts.front().arrays[1].like == -1);
    tampered.change = [](Slot&) {};
    // The rows and nonzeros of a share are those of the whole matrix.
    const std::vector<Index> too_few{0, 1};
    const MappedLayout<double> share{&tampered, "csr", nullptr, "outside", too_few};
    CHECK_THROWS_AS((void)map_storage<double>(staged.matrix, std::span(&share, 1)), std::logic_error);
    const std::vector<Index> others{1, 0, 2, 3, 4, 5};
    const MappedLayout<double> elsewhere{&tampered, "csr", nullptr, "outside", others};
    CHECK_THROWS_AS((void)map_storage<double>(staged.matrix, std::span(&elsewhere, 1)), std::logic_error);
}

TEST_CASE("storage: as JSON") {
    const auto example = examples_of(*catalogue().find_layout("sell"), catalogue()).front();
    const auto json = nlohmann::json(json_of(example.storage));
    CHECK(json["by_cell"] == true);
    CHECK(json["nonzeros"] == 13);
    const auto& part = json["parts"][0];
    CHECK(part["layout"] == "sell");
    CHECK(part["kernel"] == "slices");
    CHECK(part["padding"] == 3);
    CHECK(part["reads"].get<int>() + 0 <= part["lane_steps"].get<int>());
    for (const auto& array : part["arrays"]) {
        for (const auto& [name, list] : array["cells"].items()) {
            CHECK_MESSAGE(list.size() == array["length"], name);
        }
        CHECK(array["cells"].size() == (array["role"] == "structure" ? 1 : 8));  // the text alone
        if (array.contains("like")) {  // its elements are read with those of the other array
            const auto& other = part["arrays"][array["like"].get<std::size_t>()]["cells"];
            for (const char* read : {"warp", "lane", "step"}) CHECK_MESSAGE(array["cells"][read] == other[read], read);
        }
        if (array["name"] != "values") continue;
        CHECK(array["type"] == "f64");
        CHECK(array["cells"]["text"][2] == "2");
        CHECK(array["cells"]["column"][2] == 1);
        CHECK(array["cells"]["nonzero"] == nlohmann::json({0, 3, 1, 4, 2, 5, 6, 7, -1, 8, 9, 12, 10, -1, 11, -1}));
        CHECK(array["cells"]["step"][2] == 1);
    }
    for (const LayoutEntry& entry : catalogue().layouts) {
        CAPTURE(entry.name);
        for (const LayoutExample& each : examples_of(entry, catalogue())) {
            const auto parts = nlohmann::json(json_of(each.storage))["parts"];
            for (std::size_t i = 0; i < each.storage.parts.size(); ++i) {
                const std::vector<StorageArray>& arrays = each.storage.parts[i].arrays;
                for (std::size_t k = 0; k < arrays.size(); ++k) {
                    CHECK(parts[i]["arrays"][k].value("columns", -1) == arrays[k].columns);
                }
            }
        }
    }
    CHECK(part["shown_warps"][0]["array"].size() == 32 * part["shown_warps"][0]["steps"].get<int>());
    CHECK(part["shown_warps"][0]["sectors"] == nlohmann::json{{"values", {3, 3, 2}}, {"x", {2, 2, 2}}});
    const auto bins = nlohmann::json(json_of([&] {
        const auto recipe = project_recipe("sell.toml");
        const StagedMatrix staged = staged_by(recipe, read_matrix(source / "recipes/matrices/elasticity3d.mtx.gz"));
        return storage_of<double>(recipe, staged);
    }()));
    CHECK(bins["by_cell"] == false);
    CHECK(json_of(StorageMap{.rows = 3, .columns = 5, .parts = {}}).dump().find(R"(3,"columns":5,)") != std::string::npos);
    for (const auto& array : bins["parts"][0]["arrays"]) {
        CHECK(array.contains("bins") == (array["role"] != "structure" && !array.contains("like")));
        if (!array.contains("bins")) continue;
        for (const char* list :
             {"padding", "first_row", "last_row", "first_column", "last_column", "first_nonzero", "last_nonzero"}) {
            CHECK(array["bins"][list].size() == array["bins"]["padding"].size());
        }
    }
}

TEST_CASE("storage: the padding that docs/first_run.md states, with the rows sorted within partitions and without") {
    const Recipe sorted = project_recipe("ehyb.toml");
    const CsrMatrix matrix = read_matrix(source / "recipes/matrices/elasticity3d.mtx.gz");
    const StorageMap with = storage_of<double>(sorted, staged_by(sorted, matrix));
    CHECK(fmt::format("{:.1f}", 100 * with.padding_share()) == "10.4");
    Recipe unsorted = sorted;
    std::erase_if(unsorted.stages, [](const RecipeStage& stage) { return stage.id == "row_sort"; });
    REQUIRE(unsorted.stages.size() + 1 == sorted.stages.size());
    const StorageMap without = storage_of<double>(unsorted, staged_by(unsorted, matrix));
    CHECK(fmt::format("{:.1f}", 100 * without.padding_share()) == "36.9");
    check_golden("storage_sorted", image_of(StoragePicture{"EHYB, rows sorted", "", with}));
    check_golden("storage_unsorted", storage_sheet("EHYB, rows not sorted", "", without));
}

TEST_CASE("storage: every layout explained, as text and as a picture") {
    for (const LayoutEntry& layout : catalogue().layouts) {
        CAPTURE(layout.name);
        std::string text;
        int number = 0;
        for (const LayoutExample& example : examples_of(layout, catalogue())) {
            ++number;
            text += (number == 1 ? "" : "\n") + to_text(example);
            const std::string name = layout.name + (number == 1 ? "" : fmt::format("_{}", number));
            const StoragePicture picture{fmt::format("{}: what is stored", layout.name), layout.summary, example.storage};
            CHECK(fmt::format("{}", fmt::join(faults_of(picture), "; ")) == "");
            compare_with_golden(source / "docs/pictures/storage" / (name + ".svg"), svg_of(picture));
            if (name == "sell" || name == "bccoo")
                check_golden("storage_" + name, storage_sheet(picture.title, "", example.storage));
        }
        compare_with_golden(source / "tests/golden/storage" / (layout.name + ".txt"), text);
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
            CHECK_MESSAGE(end - begin <= 80, text.substr(begin, end - begin));
        }
    }
}

TEST_CASE("storage: nothing overlaps in the bar below a sheet, whose lines are as thick as its width demands") {
    const StagedMatrix staged = stage_input(battery().back().matrix);
    const auto layout = build<double>(*catalogue().find_layout("csr"), staged);
    const MappedLayout<double> mapped{layout.get(), "csr"};
    const StorageMap map = map_storage<double>(staged.matrix, std::span(&mapped, 1), by_bin);
    for (const int pixels : {1, 3}) {
        const Unit unit{static_cast<double>(pixels)};
        TextCanvas canvas;
        storage_bar(canvas, map, {unit(10), unit(10), unit(1600), unit(storage_bar_height)}, unit);
        CHECK(canvas.texts.size() == 5);
        double thinnest = 1e9;
        for (const Rectangle& box : canvas.drawn) thinnest = std::min(thinnest, box.width > 0 ? box.width : thinnest);
        CHECK(thinnest == pixels);
        CHECK(overlapping_texts(canvas) == Faults{});
        for (int x = unit(10); x < unit(1610); ++x) {  // the bar is filled
            const auto covers = [&](const Rectangle& box) { return overlap(box, {x + 0.25, unit(70) + 0.25, 0.5, 0.5}); };
            REQUIRE(std::any_of(canvas.drawn.begin(), canvas.drawn.end(), covers));
        }
    }
}

TEST_CASE("storage: sheets are 16 : 9, and nothing is cut off") {
    const auto check_sheet = [](const Image& sheet) {
        CHECK(sheet.width == 1920);
        CHECK(sheet.height == 1080);
        const auto blank = [pixels = sheet.pixels.begin()](int from, int to) {
            return std::all_of(pixels + 3 * 1920 * from, pixels + 3 * 1920 * to, [](std::uint8_t part) { return part == 255; });
        };
        CHECK(blank(1070, 1080));
        CHECK_FALSE(blank(0, 540));
    };
    const CsrMatrix large = read_matrix(source / "recipes/matrices/elasticity3d.mtx.gz");
    for (const LayoutEntry& layout : catalogue().layouts) {
        CAPTURE(layout.name);
        const StorageMap map = examples_of(layout, catalogue()).front().storage;
        check_sheet(storage_sheet(layout.name, layout.summary, map));
        CHECK(fmt::format("{}", fmt::join(faults_of(paper_storage(map, 475)), "; ")) == "");
        if (map.has_reads()) check_sheet(reads_sheet(layout.name, layout.summary, map));
    }
    for (const char* name : {"halo.toml", "hbp.toml", "csr.toml"}) {
        CAPTURE(name);
        const Recipe recipe = project_recipe(name);
        const StorageMap map = storage_of<double>(recipe, staged_by(recipe, large));
        check_sheet(storage_sheet(name, "", map));
        CHECK(fmt::format("{}", fmt::join(faults_of(StoragePicture{name, "", map}), "; ")) == "");
        CHECK(fmt::format("{}", fmt::join(faults_of(paper_storage(map, 216)), "; ")) == "");
        if (map.has_reads()) check_sheet(reads_sheet(name, "", map));
    }
}

}  // namespace workbench
