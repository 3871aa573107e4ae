// The page of a run: its contents, and its limit of size.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "pipeline/report/page.hpp"
#include "support/page_sections.hpp"
#include "support/split_shares.hpp"

namespace workbench {
namespace {

/// A report with as many stages as there are patterns; each stage has the matrix in another random order.
struct ShuffledRun {
    RunReport report;
    std::vector<std::shared_ptr<const PagePattern>> patterns;
};

ShuffledRun shuffled(const CsrMatrix& matrix, int stages) {
    ShuffledRun ran;
    ran.report.recipe_name = "shuffled";
    ran.report.matrix = {"a matrix", matrix.rows, matrix.columns, matrix.nonzeros(), 0};
    StagedMatrix staged = stage_input(matrix);
    for (int i = 0; i < stages; ++i) {
        if (i > 0) apply(staged, {.order = OrderChange{Acts::rows, random_permutation(matrix.rows, i)}}, {});
        StageOutcome outcome;
        outcome.id = outcome.name = i == 0 ? "input" : "shuffle" + std::to_string(i);
        ran.report.stages.push_back(outcome);
        ran.patterns.push_back(page_pattern(staged));
    }
    return ran;
}

CsrMatrix random_matrix(Index size, int nonzeros) {
    std::vector<Entry> entries;
    RandomStream random = random_stream(11, 0);
    for (int i = 0; i < nonzeros; ++i) {
        entries.push_back({static_cast<Index>(random.below(size)), static_cast<Index>(random.below(size)),
                           static_cast<double>(random.below(1U << 30))});
    }
    return csr_from_entries(size, size, entries);
}

std::string page_of_run(const ShuffledRun& ran, std::size_t budget = page_budget) {
    const std::vector<PageRun> runs{{ran.report, ran.patterns}};
    return page_html(runs, {"shuffled", "run", "workbench run"}, budget);
}

}  // namespace

TEST_CASE("elements that are stored beside those of the first array have no bins of their own") {
    StorageArray values;
    values.role = ArrayRole::value;
    values.length = values.width = 2;
    values.bins.resize(1);
    StorageArray columns = values;
    columns.role = ArrayRole::column;
    columns.like = 0;
    StorageMap map;
    map.parts.resize(1);
    map.parts.front().arrays = {values, columns};
    const auto json = nlohmann::json(json_of(map));
    const auto& arrays = json["parts"][0]["arrays"];
    CHECK(arrays[0].contains("bins"));
    CHECK(arrays[1]["like"] == 0);
    CHECK_FALSE(arrays[1].contains("bins"));
    values.type = ElementType::u8;
    values.length = 12;
    values.values_of_code = 4;
    CHECK(values.bytes() == 3);
}

TEST_CASE("matrices of every shape have a page") {
    for (const NamedMatrix& one : battery()) {
        CAPTURE(one.name);
        const std::string html = page_of_run(shuffled(one.matrix, 3));
        CHECK(html.size() > PageFile::template_bytes());
        CHECK(html.size() < PageFile::template_bytes() + 200'000);
    }
}

TEST_CASE("a stage of one precision is shown beside what it began with") {
    ShuffledRun ran = shuffled(random_matrix(50, 100), 6);
    const std::vector<std::optional<Precision>> precisions{
        {}, {}, Precision::f64, Precision::f64, Precision::f32, Precision::f32};
    for (std::size_t i = 0; i < precisions.size(); ++i) ran.report.stages[i].precision = precisions[i];
    const auto document = nlohmann::json::parse(section_of_page(page_of_run(ran), "document"));
    std::vector<int> before;
    for (const auto& stage : document["runs"][0]["pattern"]["stages"]) before.push_back(stage["before"]);
    CHECK(before == std::vector<int>{0, 0, 1, 2, 1, 4});
    CHECK(document["runs"][0]["pattern"]["stages"][4]["label"] == "shuffle4 f32");
    CHECK(document["command"] == "workbench run");
    CHECK(document["runs"][0]["pattern"]["stages"][1]["columns"] == "same");  // rows alone moved
    CHECK(document["runs"][0]["pattern"]["stages"][1]["rows"].is_number());
    CHECK(document["runs"][0]["pattern"]["stages"][0]["rows"] == "same");
}

TEST_CASE("every stage has the slices of a layout that stores the rows in their order") {
    const ShuffledRun ran = shuffled(random_matrix(50, 100), 2);
    for (const Index height : {0, 8}) {
        const std::vector<PageRun> runs{{ran.report, ran.patterns, height}};
        const std::string html = page_html(runs, {"shuffled", "run", "workbench run"});
        const auto document = nlohmann::json::parse(section_of_page(html, "document"));
        for (const auto& stage : document["runs"][0]["pattern"]["stages"]) {
            const nlohmann::json slices{{"kind", "slice"}, {"count", 7}, {"step", 1}, {"height", 8}};
            CHECK(stage["cuts"] == (height == 0 ? nlohmann::json::array() : nlohmann::json::array({slices})));
        }
    }
}

TEST_CASE("a page has the places of its graph if it shows every entry") {
    const auto places_of = [](const CsrMatrix& matrix, std::vector<Point> places) {
        ShuffledRun ran = shuffled(matrix, 2);
        ran.patterns.front() = page_pattern(stage_input(matrix), std::move(places));
        const std::string html = page_of_run(ran);
        const auto document = nlohmann::json::parse(section_of_page(html, "document"));
        const auto& section = document["runs"][0]["pattern"]["places"];
        return section.is_null() ? std::string("none") : section_of_page(html, fmt::format("section-{}", section.get<int>()));
    };
    const CsrMatrix small = random_matrix(3, 5);
    // x: 0, 65535, 65535; y: 0, 0, 32767, as planes of the first bytes, the second bytes and so on.
    const std::string expected = std::string("\0\xFF\xFF\0\0\xFF\0\xFF\xFF\0\0\x7F", 12) + std::string(12, '\0');
    CHECK(places_of(small, {{0, 0}, {1, 0}, {1, 0.5}}) == expected);
    const CsrMatrix large = random_matrix(2'000, 900'000);
    CHECK(places_of(large, std::vector<Point>(2'000)) == "none");
    CHECK(places_of(small, {}) == "none");
}

TEST_CASE("a page has the input's numbers of the rows or of the columns that moved") {
    const CsrMatrix matrix = random_matrix(3, 5);
    const std::vector<Index> turned{2, 0, 1};
    const std::string differences("\4\5\0", 3);  // 2 - 0, 0 - 3 and 1 - 1: twice each, and odd if negative
    for (const auto& [rows, columns] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
        StagedMatrix staged = stage_input(matrix);
        if (rows) apply(staged, {.order = OrderChange{Acts::rows, Permutation::from_old_of_new(turned)}}, {});
        if (columns) apply(staged, {.order = OrderChange{Acts::columns, Permutation::from_old_of_new(turned)}}, {});
        const auto pattern = page_pattern(staged);
        CHECK(pattern->original_rows == (rows ? differences : ""));
        CHECK(pattern->original_columns == (columns ? differences : ""));
    }
}

TEST_CASE("a page has the lengths of the rows of the second of two shares, as they are stored") {
    StagedMatrix staged = stage_input(csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}, {0, 2, 1}, {1, 1, 1}, {1, 2, 1}}));
    CHECK(page_pattern(staged)->stored_lengths.empty());
    staged.shares = split_shares(staged.matrix, 2, [](Index, Index column) { return column == 0 ? 0 : 1; });
    CHECK(page_pattern(staged)->stored_lengths == "\2\1");  // row 1 first
    staged.shares = split_shares(staged.matrix, 3, [](Index, Index column) { return column; });
    CHECK(page_pattern(staged)->stored_lengths.empty());
}

TEST_CASE("a page has the boundaries of all cuts, or of some at equal distances") {
    const auto cuts_of = [](Index size, Index distance) {
        ShuffledRun ran = shuffled(random_matrix(size, 5), 2);
        StagedMatrix staged = stage_input(random_matrix(size, 5));
        std::vector<Index> boundaries{0};
        while (boundaries.back() < size) boundaries.push_back(std::min(boundaries.back() + distance, size));
        staged.cuts = {{CutKind::row_block, boundaries}};
        ran.patterns.back() = page_pattern(staged);
        const auto document = nlohmann::json::parse(section_of_page(page_of_run(ran), "document"));
        return document["runs"][0]["pattern"]["stages"].back()["cuts"];
    };
    const auto few = cuts_of(7, 3);
    REQUIRE(few.size() == 1);
    CHECK(few[0] == nlohmann::json{{"kind", "row_block"}, {"count", 3}, {"step", 1}, {"boundaries", {0, 3, 6, 7}}});
    const auto many = cuts_of(45'000, 1);
    CHECK(many[0]["count"] == 45'000);
    CHECK(many[0]["step"] == 3);
    REQUIRE(many[0]["boundaries"].size() == 15'001);
    for (int i = 0; i <= 15'000; ++i) CHECK(many[0]["boundaries"][i] == 3 * i);
}

TEST_CASE("names and commands with any bytes become JSON") {
    ShuffledRun ran = shuffled(random_matrix(5, 9), 1);
    ran.report.matrix.source = "\xFF.mtx";
    const std::vector<PageRun> runs{{ran.report, ran.patterns}};
    const std::string html = page_html(runs, {"a \xC3", "run", "workbench run --out \xFE"});
    const auto document = nlohmann::json::parse(section_of_page(html, "document"));
    CHECK(document["command"] == "workbench run --out \uFFFD");
    CHECK(document["runs"][0]["report"]["matrix"]["source"] == "\uFFFD.mtx");
}

TEST_CASE("a page shows every entry only if it does so after each stage") {
    // The random places of the input take several times the bytes of the dense columns after the stage.
    const CsrMatrix scattered = random_matrix(6'000, 40'000);
    ShuffledRun ran = shuffled(scattered, 2);
    std::vector<Entry> entries;
    for (Index row = 0; row < scattered.rows; ++row) {
        for (Offset k = 0; k < scattered.row_length(row); ++k) entries.push_back({row, static_cast<Index>(k), 1});
    }
    ran.patterns.back() = page_pattern(stage_input(csr_from_entries(scattered.rows, scattered.columns, entries)));
    const auto shown = [&ran](std::size_t budget) {
        const auto document = nlohmann::json::parse(section_of_page(page_of_run(ran, budget), "document"));
        const auto& pattern = document["runs"][0]["pattern"];
        std::vector<int> bits;
        for (const auto& stage : pattern["stages"]) bits.push_back(stage["bins"]["row_bits"]);
        return std::pair(bits, pattern["entries"].get<bool>());
    };
    CHECK(shown(300'000) == std::pair(std::vector<int>{0, 0}, true));
    const auto [bits, entries_shown] = shown(250'000);
    CHECK(bits.front() > 0);
    CHECK(bits.back() == 0);
    CHECK_FALSE(entries_shown);
}

TEST_CASE("a page has the values of the entries if it shows every entry") {
    const ShuffledRun ran = shuffled(random_matrix(300, 2'000), 2);
    std::vector<bool> shown;
    for (const std::size_t budget : {5'000, 500'000}) {
        const auto document = nlohmann::json::parse(section_of_page(page_of_run(ran, budget), "document"));
        const auto& pattern = document["runs"][0]["pattern"];
        shown.push_back(pattern["entries"].get<bool>());
        CHECK(pattern["values"].is_null() == !shown.back());
    }
    CHECK(shown == std::vector{false, true});
}

TEST_CASE("a page stays within its budget and is reproducible") {
    const ShuffledRun ran = shuffled(random_matrix(6'000, 40'000), 6);
    CHECK(ran.patterns.front()->pyramid.finest.shows_entries());
    CHECK(ran.patterns.front()->values.size() == sizeof(double) * static_cast<std::size_t>(ran.report.matrix.nonzeros));
    CHECK(ran.patterns.back()->values.empty());
    CHECK(ran.patterns.back()->original_rows.size() >= 6'000);  // a byte a row, or more
    CHECK(ran.patterns.back()->original_columns.empty());       // the columns did not move
    std::size_t larger = page_of_run(ran).size();
    CHECK(larger < page_budget);
    for (const std::size_t budget : {std::size_t{900'000}, std::size_t{600'000}}) {
        CAPTURE(budget);
        CAPTURE(larger);
        const std::string html = page_of_run(ran, budget);
        CHECK(html.size() <= budget);
        CHECK(html.size() > budget / 4);
        CHECK(html.size() < larger);
        CHECK(page_of_run(ran, budget) == html);
        larger = html.size();
    }
}

TEST_CASE("values of large matrices and stages without patterns are omitted") {
    const CsrMatrix matrix = random_matrix(1000, 230'000);
    REQUIRE(matrix.nonzeros() > most_entries_with_values);
    CHECK(page_pattern(stage_input(matrix))->values.empty());
    ShuffledRun ran = shuffled(random_matrix(50, 100), 3);
    const std::size_t whole = page_of_run(ran).size();
    ran.patterns[1] = nullptr;
    CHECK(page_of_run(ran).size() < whole);
    ran.patterns.clear();
    CHECK(page_of_run(ran).size() < whole);
}

}  // namespace workbench
