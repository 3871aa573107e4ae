// Fitting the cost model to measured products, and the file that keeps the result.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/calibration.hpp"
#include "studies/choose/cost_model.hpp"
#include "studies/choose/measure_products.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

bool is_near(double a, double b) { return std::abs(a / b - 1) < 1e-3; }

/// Products of all kinds: some are bound by bytes, some by sectors, some by launches, some by a chain.
std::vector<std::vector<LayoutCost>> various_costs() {
    std::vector<std::vector<LayoutCost>> all;
    for (const std::int64_t bytes : {1'000, 1'000'000, 50'000'000, 300'000'000}) {
        for (const double sectors : {0.0, 1e5, 5e6}) {
            for (const Offset chain : {1, 40'000}) {
                all.push_back({{.array_bytes = bytes,
                                .sectors = sectors,
                                .launches = all.size() % 2 == 0 ? 1 : 2,
                                .chain = chain,
                                .bandwidth = 0.8}});
            }
        }
    }
    return all;
}

DeviceProperties a_gpu() { return {.kind = DeviceKind::gpu, .name = "A GPU, 8 GB", .processors = 12}; }

Calibration some_calibration() {
    return {
        .device = "A GPU, 8 GB",
        .processors = 12,
        .speed = {.bandwidth = 1.5e12, .sector_seconds = 5e-12, .launch_seconds = 3e-6, .step_seconds = 1e-7, .is_gpu = true},
        .layouts = {{"csr", 1.25}, {"csr + sell", 0.5}},
        .lines = 7,
        .error_before = 0.5,
        .error_after = 0.125};
}

std::string error_of(const std::filesystem::path& file) {
    return message_of<InputError>([&] { (void)read_calibration(file, a_gpu()); });
}

/// Costs by number, of the layouts of a scripted catalogue.
std::vector<LayoutCost>& known_layout_costs() {
    static std::vector<LayoutCost> costs;
    return costs;
}

/// The scripted layouts csr and plain, with planted costs: plain by its number.
Catalogue catalogue_of_known_costs() {
    Catalogue all = scripted_catalogue();
    for (LayoutEntry& layout : all.layouts) {
        if (layout.name == "csr") {
            layout.predict = [](const PatternForecast&, const Parameters&, Precision) { return known_layout_costs().at(0); };
        }
        if (layout.name != "plain") continue;
        layout.parameters = {integer_parameter("number", required, at_least(0), "of its cost")};
        layout.predict = [](const PatternForecast&, const Parameters& parameters, Precision) {
            return known_layout_costs().at(parameters.integer("number"));
        };
    }
    return all;
}

}  // namespace

TEST_SUITE("calibration") {
    TEST_CASE("a calibration begins with csr, and times each kind of layout once, sell with short columns, too") {
        std::set<std::string> layouts;
        for (const std::string& text : catalogue().calibration) {
            layouts.insert(name_of_layouts(parse_recipe(text, "a.toml", catalogue())));
            CHECK(layouts.contains("csr"));
        }
        CHECK(layouts.size() + 1 == catalogue().calibration.size());
        CHECK(layouts.contains("sell"));
    }

    TEST_CASE("planted constants of a GPU are recovered") {
        const DeviceSpeed planted{
            .bandwidth = 1.3e12, .sector_seconds = 9e-12, .launch_seconds = 7e-6, .step_seconds = 3e-8, .is_gpu = true};
        std::vector<CalibrationLine> lines;
        for (const std::vector<LayoutCost>& costs : various_costs())
            lines.push_back({"csr", costs, predicted_seconds(costs, planted)});
        const Calibration found = fit_calibration(lines, speed_of(a_gpu(), 2e12));
        CHECK(is_near(found.speed.bandwidth, planted.bandwidth));
        CHECK(is_near(found.speed.sector_seconds, planted.sector_seconds));
        CHECK(is_near(found.speed.launch_seconds, planted.launch_seconds));
        CHECK(is_near(found.speed.step_seconds, planted.step_seconds));
        CHECK(is_near(found.layouts.at("csr"), 1));
        CHECK(found.error_before > 0.2);
        CHECK(found.error_after < 1e-3);
        CHECK_EQ(found.lines, 24);
    }

    TEST_CASE("planted constants of a host are recovered, and no constant is negative") {
        const DeviceSpeed planted{.bandwidth = 1e10, .sector_seconds = 2e-9, .launch_seconds = 3e-6};
        const DeviceSpeed defaults = speed_of({DeviceKind::host, "a host"}, 0);
        std::vector<CalibrationLine> lines;
        for (const std::vector<LayoutCost>& costs : various_costs())
            lines.push_back({"csr", costs, predicted_seconds(costs, planted)});
        const Calibration found = fit_calibration(lines, defaults);
        CHECK(is_near(found.speed.bandwidth, planted.bandwidth));
        CHECK(is_near(found.speed.sector_seconds, planted.sector_seconds));
        CHECK(is_near(found.speed.launch_seconds, planted.launch_seconds));
        CHECK_EQ(found.speed.step_seconds, 0);

        // Products with more sectors that take less time would need a negative time of a sector.
        for (CalibrationLine& line : lines) line.seconds = 1e-4 / (1 + line.costs.front().sectors);
        const Calibration none = fit_calibration(lines, defaults);
        CHECK(none.speed.sector_seconds >= 0);
        CHECK(none.speed.launch_seconds >= 0);
        CHECK(none.speed.bandwidth > 0);
        CHECK(none.error_after <= none.error_before);

        // A host has no steps, so that their time explains nothing.
        for (CalibrationLine& line : lines) {
            line.costs.front().launches = 0;
            line.seconds = predicted_seconds(line.costs, planted) + 1e-4;
        }
        CHECK_EQ(fit_calibration(lines, defaults).speed.step_seconds, 0);
    }

    TEST_CASE("what no line determines stays at its default, and no line changes nothing") {
        const DeviceSpeed defaults = speed_of(a_gpu(), 2e12);
        const std::vector<LayoutCost> costs{{.array_bytes = 400'000'000, .launches = 0}};
        const Calibration found = fit_calibration({{"csr", costs, 4e-4}, {"csr", costs, 4e-4}}, defaults);
        CHECK(is_near(found.speed.bandwidth, 1e12));
        CHECK(is_near(found.speed.sector_seconds, defaults.sector_seconds));
        CHECK(is_near(found.speed.step_seconds, defaults.step_seconds));
        const Calibration nothing = fit_calibration({}, defaults);
        CHECK_EQ(nothing.speed.bandwidth, defaults.bandwidth);
        CHECK(nothing.layouts.empty());
    }

    TEST_CASE("of several launches, each counts half: they overlap with the kernel before them") {
        const DeviceSpeed speed{.bandwidth = 1e9, .launch_seconds = 2};
        for (const auto& [launches, counted] : {std::pair{0, 0.0}, {1, 1.0}, {2, 1.0}, {5, 2.5}}) {
            CHECK_EQ(counts_of({{.launches = launches}}, speed).launches, counted);
            CHECK_EQ(predicted_seconds({{.launches = launches}}, speed), 2 * counted);
        }
        CHECK_EQ(counts_of({{.launches = 4}, {.launches = 1}}, speed).launches, 3);
    }

    TEST_CASE("a layout that is slower than its cost says gets a factor") {
        const DeviceSpeed planted{.bandwidth = 1e12, .sector_seconds = 1e-11, .launch_seconds = 4e-6, .is_gpu = true};
        std::vector<CalibrationLine> lines;
        for (const std::vector<LayoutCost>& costs : various_costs()) {
            const double seconds = predicted_seconds(costs, planted);
            for (const char* layout : {"csr", "sell", "ell"}) lines.push_back({layout, costs, seconds});
            lines.push_back({"coo", costs, 2 * seconds});
        }
        const Calibration found = fit_calibration(lines, speed_of(a_gpu(), 1e12));
        CHECK(std::abs(found.layouts.at("coo") / found.layouts.at("csr") - 2) < 0.05);
        CHECK(found.error_after < 0.02);
        double product = 1;  // of the factors: a layout that was not measured is taken for their mean
        for (const auto& [layout, factor] : found.layouts) product *= factor;
        CHECK(is_near(product, 1));
        CHECK_EQ(found.seconds("none", lines[0].costs), predicted_seconds(lines[0].costs, found.speed));
        CHECK_EQ(found.seconds("coo", lines[0].costs),
                 found.layouts.at("coo") * predicted_seconds(lines[0].costs, found.speed));
    }

    TEST_CASE("products that are measured on a scripted device recover planted constants") {
        const DeviceSpeed planted{.bandwidth = 1e9, .sector_seconds = 1e-7, .launch_seconds = 1e-3};
        const Catalogue catalogue = catalogue_of_known_costs();
        known_layout_costs() = {{.array_bytes = 8'000'000'000},
                                {.array_bytes = 1'000'000, .sectors = 3e7, .launches = 1},
                                {.array_bytes = 1'000, .launches = 2'000}};
        Script& machine = new_script();
        const std::vector<std::string> kernels{"usual", "fast", "slow"};
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            machine.seconds["run " + kernels[i]] = {predicted_seconds({known_layout_costs()[i]}, planted)};
        }
        std::vector<Recipe> recipes{parse_recipe("[layout]\nuse = 'csr'\n", "a.toml", catalogue)};
        for (std::size_t i = 1; i < kernels.size(); ++i) {
            recipes.push_back(parse_recipe(
                "[layout]\nuse = 'plain'\nnumber = " + std::to_string(i) + "\n[kernel]\nkokkos = '" + kernels[i] + "'\n",
                "a.toml", catalogue));
        }
        recipes.push_back(parse_recipe("[layout]\nuse = 'refusing'\n", "a.toml", catalogue));
        ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0});
        MeasureOptions options{.backends = {Backend::kokkos}};
        options.budget_seconds = 1e9;
        options.timing = {CacheState::cold, 5, 0, 1e9, scripted_clock()};
        const CsrMatrix matrix = csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1.5}, {1, 1, 3.5}, {2, 0, 4.5}, {3, 1, 6.5}});
        const std::vector<CalibrationLine> lines = measure_products({matrix}, recipes, catalogue, {host}, options);
        REQUIRE_EQ(lines.size(), 3);
        CHECK_EQ(lines[0].layouts, "csr");
        CHECK_EQ(lines[1].layouts, "plain");
        const Calibration found = fit_calibration(lines, speed_of(host.properties(), 3e9));
        CHECK(is_near(found.speed.bandwidth, planted.bandwidth));
        CHECK(is_near(found.speed.sector_seconds, planted.sector_seconds));
        CHECK(is_near(found.speed.launch_seconds, planted.launch_seconds));

        options.budget_seconds = 0;  // what runs at the end of the budget is finished
        CHECK(measure_products({matrix}, recipes, catalogue, {host}, options).size() <= 1);
    }

    TEST_CASE("a calibration is kept by device, and read again as it was") {
        const TemporaryFolder folder;
        const std::filesystem::path file = calibration_file(folder.path() / "new", a_gpu());
        CHECK_EQ(file.filename(), "a_gpu_8_gb-12.json");
        CHECK_FALSE(read_calibration(file, a_gpu()));
        const Calibration written = some_calibration();
        write_calibration(file, written);
        const std::optional<Calibration> read = read_calibration(file, a_gpu());
        REQUIRE(read);
        CHECK_EQ(read->device, written.device);
        CHECK_EQ(read->processors, written.processors);
        CHECK_EQ(read->speed.bandwidth, written.speed.bandwidth);
        CHECK_EQ(read->speed.sector_seconds, written.speed.sector_seconds);
        CHECK_EQ(read->speed.launch_seconds, written.speed.launch_seconds);
        CHECK_EQ(read->speed.step_seconds, written.speed.step_seconds);
        CHECK(read->speed.is_gpu);
        CHECK(read->layouts == written.layouts);
        CHECK_EQ(read->lines, 7);
        CHECK_EQ(read->error_before, 0.5);
        CHECK_EQ(read->error_after, 0.125);
    }

    TEST_CASE("a file that is no calibration of this device is an error that says why") {
        const TemporaryFolder folder;
        const std::filesystem::path file = folder.path() / "a.json";
        write_calibration(file, some_calibration());
        DeviceProperties other{.kind = DeviceKind::gpu, .name = "A GPU, 8 GB", .processors = 24};
        const auto refusal = [&] { return message_of<InputError>([&] { (void)read_calibration(file, other); }); };
        const std::string found = file.string() + ": found the device A GPU, 8 GB with 12 processors, expected ";
        CHECK_EQ(refusal(), found + "A GPU, 8 GB with 24");
        other.name = "B";
        other.processors = 12;
        CHECK_EQ(refusal(), found + "B with 12");
        for (const char* text : {"", "{", "[]", "null", "{\"calibration\": 1}", "{\"calibration\": 1, \"device\": 3}"}) {
            write_whole_file(file, text);
            CHECK(error_of(file).starts_with(file.string() + ": not a calibration: "));
        }
        write_whole_file(file, "{\"calibration\": 2}");
        CHECK_EQ(error_of(file), file.string() + ": found version 2, expected 1");
        Calibration broken = some_calibration();
        broken.speed.bandwidth = 0;
        write_calibration(file, broken);
        CHECK_EQ(error_of(file), file.string() + ": a constant is not a positive number");
        broken = some_calibration();
        broken.layouts["csr"] = -1;
        write_calibration(file, broken);
        CHECK_EQ(error_of(file), file.string() + ": a constant is not a positive number");
    }

    TEST_CASE("a calibrated model predicts with the kept constants and factors") {
        const CsrMatrix matrix = csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1.5}, {1, 1, 3.5}, {2, 0, 4.5}, {3, 1, 6.5}});
        const Catalogue catalogue = catalogue_of_known_costs();
        known_layout_costs() = {{.array_bytes = 1'000'000'000, .exact = true}};
        const DeviceProperties device = a_gpu();
        CostModel model(matrix, Precision::f64, device, nullptr);
        model.set_bandwidth(2e12, 3e12);
        const Recipe csr = parse_recipe("[layout]\nuse = 'csr'\n", "a.toml", catalogue);
        CHECK(is_near(model.price(csr).product, 4e-6 + 1e9 / 2e12));
        const Calibration calibration = some_calibration();
        model.calibrate(calibration);
        model.set_bandwidth(2e12, 3e12);  // changes only the least time
        CHECK(is_near(model.price(csr).product, calibration.seconds("csr", known_layout_costs())));
        CHECK(is_near(model.price(csr).least, 1e9 / 3e12));
        // Estimated bytes may be 15 % too high.
        known_layout_costs().front().exact = false;
        CostModel estimating(matrix, Precision::f64, device, nullptr);
        estimating.set_bandwidth(2e12, 3e12);
        CHECK(is_near(estimating.price(csr).least, 0.85 * 1e9 / 3e12));
        known_layout_costs().front().exact = true;
        // A measurement corrects what the calibration expects.
        model.correct(csr, model.price(csr), calibration.seconds("csr", known_layout_costs()), 1);
        CHECK(is_near(model.price(csr).product, calibration.seconds("csr", known_layout_costs())));
    }

    TEST_CASE("the text of a calibration has defaults, constants and errors") {
        const std::string text = calibration_text(some_calibration(), speed_of(a_gpu(), 2e12));
        CHECK_EQ(text,
                 "A GPU, 8 GB, 12 processors: 7 products\n"
                 "\n"
                 "  constant           default     fitted\n"
                 "  bandwidth        2000 GB/s  1500 GB/s\n"
                 "  sector of x       9.639 ps       5 ps\n"
                 "  launch                4 us       3 us\n"
                 "  step of a chain      80 ns     100 ns\n"
                 "\n"
                 "mean error of the predictions: 65 % with the defaults, 13 % fitted\n");
    }
}

}  // namespace workbench
