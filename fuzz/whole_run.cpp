// A whole run on the host, with its report, page and pictures. Texts with a byte 0xFF between them: a recipe of tests/layouts
// with overrides, a line each; the names of recipe and matrix file and the command, a line each; the matrix. Its first bytes
// are the numbers of rows and columns, and each entry has three: row, column, value.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "fuzz/target.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/run/runner.hpp"
#include "support/page_sections.hpp"

namespace {

using namespace workbench;

/// The files of the recipes by their names without extension.
std::map<std::string, std::filesystem::path> files_of_recipes() {
    std::map<std::string, std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(fuzz::source_path("tests/layouts"))) {
        if (entry.path().extension() == ".toml") files[entry.path().stem().string()] = entry.path();
    }
    if (files.empty()) fuzz::fail("no recipes in tests/layouts");
    return files;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
}

/// The recipe of this name, or one that depends on the letters of another name.
Recipe recipe_of(const std::string& text) {
    static const std::map<std::string, std::filesystem::path> files = files_of_recipes();
    std::vector<std::string> lines = lines_of(text);
    if (lines.empty()) lines.emplace_back();
    auto file = files.find(lines.front());
    if (file == files.end()) {
        std::size_t sum = 0;
        for (const char letter : lines.front()) sum += static_cast<unsigned char>(letter);
        file = std::next(files.begin(), static_cast<std::ptrdiff_t>(sum % files.size()));
    }
    return load_recipe(file->second, catalogue(), {.overrides = {lines.begin() + 1, lines.end()}});
}

double value_of(std::uint8_t byte) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static const std::array special{0.0,  -0.0,   infinity, -infinity, std::nan(""), 1e300, -1e300, 1e-300,
                                    1e30, 5e-324, 1.0 / 3,  1e38,      1e39,         1e-40, -1e16,  1.0};
    return byte < 240 ? (byte - 120) / 8.0 : special.at(byte - 240);
}

CsrMatrix matrix_of(const std::string& bytes) {
    const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : std::uint8_t{0}; };
    const Index rows = byte(0) % 128;
    const Index columns = byte(1) >= 128 ? rows : byte(1);
    std::vector<Entry> entries;
    for (std::size_t i = 2; rows > 0 && columns > 0 && i + 2 < bytes.size(); i += 3) {
        entries.push_back({byte(i) % rows, byte(i + 1) % columns, value_of(byte(i + 2))});
    }
    return csr_from_entries(rows, columns, entries);
}

/// Runs the recipe, and returns the report and the patterns of its page.
RunReport run_recipe(const Recipe& recipe, const CsrMatrix& matrix, PictureBook& book) {
    static const std::unique_ptr<Device> host = make_host_device();
    RunOptions options;
    options.precisions = {Precision::f64, Precision::f32};
    options.timing.cache = CacheState::warm;
    options.timing.minimum_samples = 0;  // verified, but not timed
    options.timing.minimum_seconds = 0;
    RunObserver observer;
    observer.maps_storage = true;
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome& outcome) {
        outcome.attached = page_of(staged, true);
        book.add(page_of(outcome));
    };
    RunReport report;
    Runner(matrix, catalogue(), {*host}, options).run(recipe, observer, report);
    return report;
}

void check_report(const RunReport& report) {
    const std::string text = to_text(report);
    if (!report.all_verified()) fuzz::fail("a wrong kernel", text);
    if (text.empty()) fuzz::fail("a report without text");
    const auto json = nlohmann::json::parse(to_json(report));
    if (json["kernels"].size() != report.kernels.size() || json["stages"].size() != report.stages.size()) {
        fuzz::fail("a report that is incomplete", json.dump());
    }
}

void check_page(const RunReport& report, const PictureBook& book, const std::string& command) {
    const std::vector<PageRun> runs{{report, book.patterns()}};
    const std::string html = page_html(runs, {report.title(), "run", command});
    const auto document = nlohmann::json::parse(section_of_page(html, "document"));
    const auto& pattern = document["runs"][0]["pattern"];
    if (pattern["stages"].size() != report.stages.size()) fuzz::fail("a page that is incomplete", document.dump());
    // Each section is there and whole.
    for (std::size_t i = 0; html.find("id=\"section-" + std::to_string(i) + '"') != std::string::npos; ++i) {
        (void)section_of_page(html, "section-" + std::to_string(i));
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> texts = fuzz::texts_of(data, size);
    texts.resize(std::max<std::size_t>(texts.size(), 3));
    std::vector<std::string> names = lines_of(texts[1]);
    names.resize(3);
    fuzz::act_or_refuse([&] {
        const Recipe recipe = recipe_of(texts[0]);
        const CsrMatrix matrix = matrix_of(texts[2]);
        PictureBook book;
        RunReport report = run_recipe(recipe, matrix, book);
        report.recipe_name = names[0];
        report.matrix = {names[1], matrix.rows, matrix.columns, matrix.nonzeros(), 0};
        check_report(report);
        check_page(report, book, names[2]);
    });
    return 0;
}
