// The lists of figures: what docs/report.md says of each, and that no two share a key, a label or a place.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/figures.hpp"
#include "pipeline/report/report.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

using Described = std::map<std::string, std::pair<std::string, std::string>>;  // type and meaning by key

/// The rows of docs/report.md whose keys begin with `prefix`.
Described described_in_docs(const std::string& prefix) {
    static const std::regex row(R"(\| `(\S+)` \| (.*?) \| ?(.*?) ?\|)");
    Described described;
    std::istringstream lines(file_text(WORKBENCH_SOURCE_DIR "/docs/report.md"));
    std::smatch found;
    for (std::string line; std::getline(lines, line);) {
        if (!std::regex_match(line, found, row) || !found.str(1).starts_with(prefix)) continue;
        described[found.str(1).substr(prefix.size())] = {found.str(2),
                                                         std::regex_replace(found.str(3), std::regex(R"(\\\|)"), "|")};
    }
    return described;
}

template <typename Measured>
Described described_in_list(const std::vector<Figure<Measured>>& figures) {
    Described described;
    for (const Figure<Measured>& figure : figures) {
        const std::string key = std::regex_replace(figure.key, std::regex(R"(\[\d+\])"), "[]");
        if (!key.empty()) described[key] = {figure.type, figure.help};
    }
    return described;
}

void check_same(const Described& docs, const Described& list) {
    for (const auto& figure : list) {
        CAPTURE(figure.first);
        const auto found = docs.find(figure.first);
        REQUIRE_MESSAGE(found != docs.end(), "docs/report.md lacks it");
        CHECK(found->second.first == figure.second.first);
        CHECK(found->second.second == figure.second.second);
    }
    for (const auto& row : docs) CHECK_MESSAGE(list.count(row.first) == 1, "in docs/report.md alone: ", row.first);
}

std::string type_of(const FigureValue& value) {
    constexpr std::array types{"nothing", "integer", "number", "text", "array"};
    return types.at(value.index());
}

/// Each key once; what has a value has the type that is promised, what holds others comes before them; labels stand together
/// and places are not shared.
template <typename Measured>
void check_list(const std::vector<Figure<Measured>>& figures, const Measured& whole) {
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
        const std::string type = figure.type.substr(0, figure.type.find(','));
        if (figure.value) CHECK(type_of(figure.value(whole)) == type);
        if (!figure.value) CHECK((type == "object" || type == "list"));
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

TEST_CASE("docs/report.md says of each figure of a matrix what the list says") {
    check_same(described_in_docs("stages[].metrics."), described_in_list(metric_figures()));
    Metrics whole;
    whole.nonzeros = 1;
    whole.partition.emplace();
    whole.tiles.emplace();
    whole.locality.symmetry.emplace();
    check_list(metric_figures(), whole);
}

TEST_CASE("docs/report.md says of each figure of a kernel what the list says") {
    Described docs = described_in_docs("kernels[].");
    for (const char* no_figure :
         {"layout", "kernel", "backend", "precision", "baseline", "status", "reason", "verified", "samples[]", "warnings",
          "warnings[]", "share", "speedup_interval[]", "break_even_interval[]"}) {
        CHECK(docs.erase(no_figure) == 1);
    }
    check_same(docs, described_in_list(kernel_figures()));
    KernelOutcome whole;
    whole.speedup = 2;
    whole.speedup_interval = {1.5, 2.5};
    whole.break_even = 3;
    whole.break_even_interval = {2, 4};
    check_list(kernel_figures(), whole);
}

TEST_CASE("what a contact sheet shows first") {
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

TEST_CASE("a matrix without partition, tiles and symmetry has no figures of them") {
    Metrics metrics;
    const auto caption = caption_of(metrics);
    CHECK(caption.back() == std::pair<std::string, std::string>{"symmetry pattern/values", "-"});
    metrics.partition.emplace();
    metrics.tiles.emplace();
    const auto more = caption_of(metrics);
    REQUIRE(more.size() == caption.size() + 6);
    CHECK(more[caption.size() + 1] == std::pair<std::string, std::string>{"nonzeros inside", "-"});  // of no nonzeros
    CHECK(more.back() == std::pair<std::string, std::string>{"idle lanes in tiles", "0.0 %"});
}

}  // namespace workbench
