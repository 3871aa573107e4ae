// The lists of figures: docs/report.md contains all of them, and keys, labels and places are unique.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/figures.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/report/report.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

using Types = std::map<std::string, std::string>;  // by key

/// The rows of docs/report.md whose keys begin with `prefix`.
Types types_in_docs(const std::string& prefix) {
    static const std::regex row(R"(\| `(\S+)` \| (.*?) \| ?(.*?) ?\|)");
    Types types;
    std::istringstream lines(file_text(WORKBENCH_SOURCE_DIR "/docs/report.md"));
    std::smatch found;
    for (std::string line; std::getline(lines, line);) {
        if (!std::regex_match(line, found, row) || !found.str(1).starts_with(prefix)) continue;
        types[found.str(1).substr(prefix.size())] = found.str(2);
    }
    return types;
}

/// "number, share"; "object" or "list" for a figure without a value. `whole` has a value for every figure.
template <typename Measured>
std::string type_of(const Figures<Measured>& all, const Figure<Measured>& figure, const Measured& whole) {
    constexpr std::array types{"nothing", "integer", "number", "text", "array"};
    if (figure.value) return types.at(figure.value(whole).index()) + (figure.unit.empty() ? "" : ", " + figure.unit);
    const auto is_element = [&](const Figure<Measured>& other) { return other.key.starts_with(figure.key + "["); };
    return std::any_of(all.begin(), all.end(), is_element) ? "list" : "object";
}

template <typename Measured>
Types types_in_list(const Figures<Measured>& figures, const Measured& whole) {
    Types types;
    for (const Figure<Measured>& figure : figures) {
        const std::string key = std::regex_replace(figure.key, std::regex(R"(\[\d+\])"), "[]");
        if (!key.empty()) types[key] = type_of(figures, figure, whole);
    }
    return types;
}

/// Checks that each key occurs once, after the object that contains it, that figures with one label are adjacent, and that
/// labels have different places.
template <typename Measured>
void check_list(const Figures<Measured>& figures, const Measured& whole) {
    std::set<std::string> keys;
    std::set<int> telling;
    for (const Figure<Measured>& figure : figures) {
        CAPTURE(figure.key);
        if (figure.telling > 0) {
            CHECK(telling.insert(figure.telling).second);
            CHECK_FALSE(figure.caption.label.empty());
        }
        if (figure.key.empty()) continue;
        CHECK(keys.insert(figure.key).second);
        const std::size_t dot = figure.key.rfind('.');
        if (dot != std::string::npos) CHECK(keys.count(figure.key.substr(0, figure.key.find_first_of(".["))) == 1);
    }
    for (Shown Figure<Measured>::*view : {&Figure<Measured>::caption, &Figure<Measured>::table, &Figure<Measured>::rows}) {
        std::set<std::string> labels;
        std::set<int> places;
        for (const FigureCell<Measured>& cell : cells_of(figures, view)) {
            CAPTURE(cell.shown().label);
            CHECK(labels.insert(cell.shown().label).second);
            if (view != &Figure<Measured>::caption) CHECK(places.insert(cell.shown().place).second);
            CHECK(cell.there(whole));
            CHECK(cell.text(whole) != "-");
        }
    }
}

}  // namespace

TEST_CASE("docs/report.md has the key and type of each figure of a matrix") {
    Metrics whole;
    whole.nonzeros = 1;
    whole.partition.emplace();
    whole.tiles.emplace();
    whole.locality.symmetry.emplace();
    CHECK(types_in_docs("stages[].metrics.") == types_in_list(metric_figures(), whole));
    check_list(metric_figures(), whole);
}

TEST_CASE("docs/report.md has the key and type of each figure of a kernel") {
    Types docs = types_in_docs("kernels[].");
    for (const char* no_figure :
         {"layout", "kernel", "backend", "precision", "baseline", "status", "reason", "verified", "samples[]", "warnings",
          "warnings[]", "share", "speedup_interval[]", "break_even_interval[]"}) {
        CHECK(docs.erase(no_figure) == 1);
    }
    KernelOutcome whole;
    whole.speedup = 2;
    whole.speedup_interval = {1.5, 2.5};
    whole.break_even = 3;
    whole.break_even_interval = {2, 4};
    whole.setup_seconds = whole.new_values_seconds = 1;
    CHECK(docs == types_in_list(kernel_figures(), whole));
    check_list(kernel_figures(), whole);
}

TEST_CASE("the first figures of a contact sheet") {
    std::map<int, std::string> labels;
    for (const auto& figure : metric_figures()) {
        if (figure.telling > 0) labels[figure.telling] = figure.caption.label;
    }
    CHECK(labels == std::map<int, std::string>{{1, "nonzeros inside"},
                                               {2, "idle lanes in tiles"},
                                               {3, "bandwidth"},
                                               {4, "edge cut"},
                                               {5, "SELL-32 padding"},
                                               {6, "mean bandwidth"},
                                               {7, "warp iterations"}});
}

TEST_CASE("without a partition, tiles or symmetry their figures are omitted") {
    Metrics metrics;
    const auto caption = caption_of(metrics);
    CHECK(caption.back() == std::pair<std::string, std::string>{"symmetry pattern/values", "-"});
    metrics.partition.emplace();
    metrics.tiles.emplace();
    const auto more = caption_of(metrics);
    REQUIRE(more.size() == caption.size() + 6);
    CHECK(more[caption.size() + 1] == std::pair<std::string, std::string>{"nonzeros inside", "-"});  // there are no nonzeros
    CHECK(more.back() == std::pair<std::string, std::string>{"idle lanes in tiles", "0.0 %"});
}

TEST_CASE("the padding in a caption is that of the slices of the layout") {
    // Two rows of 1 and 3 nonzeros, in a slice of 2 x 3 slots.
    const StagedMatrix staged =
        stage_input(csr_from_entries(2, 4, std::vector<Entry>{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {1, 2, 1}}));
    RunReport report;
    report.stages.emplace_back().metrics = measure(staged);
    std::vector<PatternRaster> rasters{rasterise(staged)};
    rasters[0].slice_height = 2;
    const std::vector<CaptionLine> lines = captions_of(report, rasters).at(0).lines;
    const auto padding = std::ranges::find(lines, "SELL-2 padding", &CaptionLine::label);
    REQUIRE(padding != lines.end());
    CHECK(padding->value == "33.3 %");
    CHECK(std::ranges::count(lines, "SELL-32 padding", &CaptionLine::label) == 0);
    CHECK(std::ranges::count(lines, "warp work", &CaptionLine::label) == 1);

    // Then rows of 1 and 2: 3/4 of the padding.
    const StagedMatrix shorter = stage_input(csr_from_entries(2, 4, std::vector<Entry>{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}}));
    report.stages.emplace_back().metrics = measure(shorter);
    rasters.push_back(rasterise(shorter));
    rasters[1].slice_height = 2;
    const std::vector<CaptionLine> later = captions_of(report, rasters).at(1).lines;
    const auto less = std::ranges::find(later, "SELL-2 padding", &CaptionLine::label);
    REQUIRE(less != later.end());
    CHECK(less->value == "25.0 %");
    CHECK(less->factor == doctest::Approx(4.0 / 3));
}

TEST_CASE("stages that did not run have no pictures") {
    const TemporaryFolder folder;
    PictureBook book;
    book.add(stage_input(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 1}})));
    RunReport report;
    report.stages.resize(2);
    report.stages[0].id = "input";
    book.write(folder.path(), report);
    CHECK(report.stages[0].picture == "0_input.png");
    CHECK(report.stages[1].picture.empty());
    CHECK(report.failures.empty());
}

}  // namespace workbench
