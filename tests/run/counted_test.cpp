// Every view of a report of two precisions, two devices and two shares, in which every figure is another number.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pipeline/report/comparison.hpp"
#include "pipeline/report/page.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/report/row_statistics.hpp"
#include "support/golden.hpp"
#include "support/layouts/counted_report.hpp"
#include "support/page_sections.hpp"

namespace workbench {
namespace {

void compare_counted(const std::string& name, const std::string& text) {
    compare_with_golden(std::string(WORKBENCH_SOURCE_DIR) + "/tests/golden/counted/" + name, text);
}

std::string text_of_caption(const StageCaption& caption) {
    std::string text = caption.title + "\n  " + caption.subtitle + "\n  " + caption.origin + '\n';
    for (const CaptionLine& line : caption.lines) {
        text += fmt::format("  {}: {}, was {}, {:.4g} times\n", line.label, line.value, line.before, line.factor);
    }
    return text + fmt::format("  {} left out\n", caption.left_out);
}

}  // namespace

TEST_SUITE("counted figures") {
    TEST_CASE("of a report as text and as JSON") {
        const RunReport report = counted_report();
        compare_counted("report.txt", to_text(with_square_stages(report)));
        compare_counted("report.json", to_json(report));
        const auto both = nlohmann::json::parse(to_json(std::vector<RunReport>{report, counted_report(901)}));
        CHECK(both["runs"][0] == nlohmann::json::parse(to_json(report)));
        CHECK(both["runs"][1]["recipe"]["name"] == "counted 901");
    }

    TEST_CASE("of two reports side by side") {
        const RunReport a = with_square_stages(counted_report());
        const RunReport b = with_square_stages(counted_report(1001));
        compare_counted("compare.txt", compare_text(a, b));
        const auto json = nlohmann::json::parse(compare_json(a, b));
        compare_counted("compare.json", json["kernels"].dump(1) + '\n');
        CHECK(json["runs"][0]["recipe"]["name"] == "counted 101");
        CHECK(json["runs"][1]["recipe"]["name"] == "counted 1001");
    }

    TEST_CASE("of captions, on pictures and on the sheet, of a matrix that is not square and of a square one") {
        std::string text;
        for (const RunReport& report : {counted_report(), with_square_stages(counted_report())}) {
            const std::vector<StageCaption> captions = captions_of(report);
            text += head_of(report).title + "\n" + head_of(report).origin + "\n\n";
            for (const StageCaption& caption : captions) text += text_of_caption(caption);
            text += "\nOn the sheet\n";
            for (const StageCaption& caption : captions) text += text_of_caption(short_caption(caption, captions));
        }
        compare_counted("captions.txt", text);
    }

    TEST_CASE("the distance from the diagonal is no figure of a matrix that is not square") {
        const RunReport report = counted_report();
        const std::vector<PageRun> runs{{report, {}}};
        const auto document =
            nlohmann::json::parse(section_of_page(page_html(runs, {"a title", "run", "a command"}), "document"));
        const auto stages_in = [](const RunReport& one) {
            const std::string text = to_text(one);
            const std::size_t begin = text.find("\nStages\n");
            return text.substr(begin, text.find("\n\n", begin + 1) - begin);
        };
        for (const char* name : {"bandwidth", "profile"}) {
            CAPTURE(name);
            const auto has = [name](const std::string& text) { return text.find(name) != std::string::npos; };
            CHECK(has(stages_in(with_square_stages(report))));
            CHECK_FALSE(has(stages_in(report)));
            for (const StageCaption& caption : captions_of(report)) CHECK_FALSE(has(text_of_caption(caption)));
            for (const auto& figure : document["runs"][0]["figures"]) CHECK_FALSE(has(figure["label"]));
        }
    }

    TEST_CASE("of a page") {
        const RunReport report = with_square_stages(counted_report());
        const std::vector<PageRun> runs{{report, {}}};
        const auto document =
            nlohmann::json::parse(section_of_page(page_html(runs, {"a title", "run", "a command"}), "document"));
        CHECK(document["runs"][0]["report"] == nlohmann::json::parse(to_json(report)));
        CHECK(document["runs"][0]["title"] == report.title());
        CHECK(document["kind"] == "run");
        compare_counted("page_figures.json", document["runs"][0]["figures"].dump(1) + '\n');
    }

    TEST_CASE("of matrices in a table and as JSON") {
        Counted next(101);
        std::vector<MeasuredMatrix> matrices;
        for (const char* name : {"a.mtx", "b.mtx"}) {
            MatrixReport matrix{name, next.count(), next.count(), next.count(), next.milliseconds()};
            matrix.values = ValueStatistics{next.count(), name[0] == 'a', name[0] == 'b', name[0] == 'a', next.number()};
            matrices.push_back({matrix, counted_metrics(next)});
        }
        std::string text = row_statistics_text(matrices);
        for (const auto& [term, meaning] : legend_of_row_statistics()) text += "  " + term + ": " + meaning + '\n';
        for (const auto& [term, meaning] : legend_of_metrics()) text += "  " + term + ": " + meaning + '\n';
        compare_counted("matrices.txt", text);
        compare_counted("matrices.json", to_json(matrices));
        compare_counted("matrix.json", to_json(matrices[1].matrix, matrices[1].metrics));
    }
}

}  // namespace workbench
