// From a recipe to verified results: the runner, the verification, and detection of planted errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "core/text/text_table.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/report/figures.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/report/row_statistics.hpp"
#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"
#include "support/data_folder.hpp"
#include "support/free_memory.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/slow.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const CsrMatrix& matrix_named(const std::string& name) {
    for (const NamedMatrix& candidate : battery()) {
        if (candidate.name == name) return candidate.matrix;
    }
    throw std::out_of_range(name);
}

std::set<std::string> layouts_covered() {
    std::set<std::string> names;
    for (const LayoutRecipe& one : layout_recipes()) names.insert(one.layout().name);
    return names;
}

}  // namespace

TEST_CASE("every layout of the catalogue has a recipe in tests/layouts") {
    for (const LayoutEntry& layout : catalogue().layouts) CHECK_MESSAGE(layouts_covered().count(layout.name) == 1, layout.name);
}

TEST_CASE("every recipe on the battery keeps the invariants and verifies in both precisions" * doctest::test_suite(slow)) {
    const std::unique_ptr<Device> host = make_host_device();
    for (const NamedMatrix& named : battery()) {
        RunOptions options;
        options.precisions = {Precision::f32, Precision::f64};
        options.timing = quick;
        Runner runner(named.matrix, catalogue(), {*host}, options);
        for (const LayoutRecipe& one : layout_recipes()) {
            if (!one.takes(named.matrix)) continue;
            CAPTURE(named.name);
            CAPTURE(one.name);
            RunObserver observer;
            observer.stage_done = [&named](const StagedMatrix& staged, StageOutcome&) {
                check_invariants(staged, named.matrix);
            };
            const RunReport report = runner.run(one.recipe, observer);
            CHECK(report.stages.size() == one.recipe.stages.size() + 1);
            for (const KernelOutcome& kernel : report.kernels) {
                CHECK_MESSAGE(kernel.verified(), kernel.layout, " ", kernel.kernel, ": ", kernel.reason);
                CHECK(kernel.error_over_bound <= 1);
            }
            for (const LayoutOutcome& layout : report.layouts) CHECK(layout.unsuitable == "");
        }
    }
}

TEST_CASE("real matrices verify with every layout" * doctest::test_suite(slow)) {
    const std::filesystem::path data = data_folder("");
    if (data.empty()) return;
    const std::unique_ptr<Device> host = make_host_device();
    for (const char* name :
         {"small/memplus", "small/bcsstk13", "small/west0067", "small/gen_dg2d", "small/adder_dcop_05", "demo/elasticity3d"}) {
        const CsrMatrix matrix = read_matrix(data / (std::string(name) + ".mtx.gz"));
        RunOptions options;
        options.timing = quick;
        Runner runner(matrix, catalogue(), {*host}, options);
        // Large matrices have one recipe per layout, to save time.
        constexpr Offset large = 20'000;
        std::set<std::string> seen;
        for (const LayoutRecipe& one : layout_recipes()) {
            if (!one.takes(matrix)) continue;
            if (matrix.nonzeros() > large && !seen.insert(one.layout().name).second) continue;
            CAPTURE(name);
            CAPTURE(one.name);
            const RunReport report = runner.run(one.recipe, {});
            for (const KernelOutcome& kernel : report.kernels) {
                CHECK_MESSAGE(kernel.verified(), kernel.kernel, ": ", kernel.reason);
            }
        }
    }
}

namespace {

/// Returns true if all kernels of the recipe verify, and false if the recipe is unsuitable for the matrix.
bool runs_on(const Recipe& recipe, const CsrMatrix& matrix, Device& host) {
    RunOptions options;
    options.timing = quick;
    try {
        Runner runner(matrix, catalogue(), {host}, options);
        const RunReport report = runner.run(recipe, {});
        CHECK(report.all_verified());
        return !report.kernels.empty() && std::all_of(report.layouts.begin(), report.layouts.end(),
                                                      [](const auto& layout) { return layout.unsuitable.empty(); });
    } catch (const InputError&) {
        return false;
    }
}

}  // namespace

TEST_CASE("the recipes of the project load and run") {
    const std::unique_ptr<Device> host = make_host_device();
    int count = 0;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(WORKBENCH_SOURCE_DIR) / "recipes")) {
        if (file.path().extension() != ".toml") continue;
        CAPTURE(file.path().filename().string());
        const Recipe recipe = load_recipe(file.path(), catalogue());
        CHECK(recipe.name != "");
        // The resolved recipe of a report is the same recipe.
        const Recipe again = parse_recipe(resolved_recipe(recipe), "elsewhere/resolved.toml", catalogue());
        CHECK(resolved_recipe(again) == resolved_recipe(recipe));
        // Each recipe runs on a small matrix that suits it.
        const bool ran = runs_on(recipe, matrix_named("random"), *host) || runs_on(recipe, matrix_named("dense"), *host);
        CHECK(ran);
        ++count;
    }
    CHECK(count >= 3);
}

namespace {

/// Moves a stored column down, or up from 0, so that no kernel reads beyond x: the last block of a row may reach up to
/// the end of x. A relative column 0 that is the last column of x stays.
template <typename Element>
void move_column(const LayoutField& array, Offset index, bool last, const std::function<void()>& check) {
    const bool down = static_cast<const Element*>(array.data)[index] > 0;
    if (!down && last) return;
    add_to<Element>(array, index, down ? -1 : 1);
    check();
    add_to<Element>(array, index, down ? 1 : -1);
}

/// Corrupts one slot at a time and checks that the exact verification fails. Returns the number of corrupted slots.
template <ValueType Value>
int plant_errors(const LayoutRecipe& one, const CsrMatrix& input, Device& host) {
    StagedMatrix staged = one.stage(input);
    const Oracle<Value> oracle(input);
    const auto space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order);
    const ExactValues kind = exact_values_of(one.recipe);
    const CsrMatrix real = staged.matrix;
    staged.matrix.values = oracle.exact(kind).problem.values_of(staged.matrix, staged.row_order, staged.column_order);
    const std::shared_ptr<const Layout<Value>> exact = one.build_like<Value>(real, staged);
    const KernelEntry& kernel = one.layout().kernels.front();
    REQUIRE(kernel.backend == Backend::kokkos);
    const auto is_wrong = [&] {
        const Candidate<Value> candidate{
            .shares = {{&kernel, {.real = exact, .exact = exact}}}, .space = space, .exact_values = kind};
        const KernelOutcome outcome = Verifier<Value>{host, &oracle}.measure(candidate, quick);
        // A block moved beyond x reads memory after it, perhaps an old y: its row then equals one that was never written.
        return outcome.status == KernelOutcome::Status::wrong &&
               (outcome.reason.find("exactly") != std::string::npos || outcome.reason.ends_with("was never written"));
    };

    std::vector<Slot> slots;
    exact->for_each_slot([&slots](const Slot& slot) { slots.push_back(slot); });
    const std::vector<LayoutField> fields = exact->fields();
    int planted = 0;
    for (const Slot& slot : slots) {
        if (slot.row < 0 || slot.column < 0) continue;  // it reads no x or adds to no row
        change_value(fields[slot.array], slot.index, 1);
        CHECK_MESSAGE(is_wrong(), "value of slot ", slot.index, " in array ", slot.array);
        change_value(fields[slot.array], slot.index, -1);
        ++planted;
        if (slot.nonzero < 0 || slot.column_array < 0) continue;  // padding multiplies any x by 0
        const LayoutField& columns = fields[slot.column_array];
        const bool last = slot.column + 1 == input.columns;
        const auto check = [&] { CHECK_MESSAGE(is_wrong(), "column of slot ", slot.index, " in array ", slot.column_array); };
        if (bytes_of(columns.type) == 2) {
            move_column<std::uint16_t>(columns, slot.column_index, last, check);
        } else {
            REQUIRE(bytes_of(columns.type) == 4);
            move_column<Index>(columns, slot.column_index, last, check);
        }
        ++planted;
    }
    return planted;
}

}  // namespace

TEST_CASE("an error planted in any slot of any layout is detected") {
    const std::unique_ptr<Device> host = make_host_device();
    const CsrMatrix input = uneven_matrix();
    for (const LayoutRecipe& one : layout_recipes()) {
        CAPTURE(one.name);
        CHECK(plant_errors<float>(one, input, *host) >= input.nonzeros());
        CHECK(plant_errors<double>(one, input, *host) >= input.nonzeros());
    }
}

namespace {

/// A kernel that is a function on host arrays, for tests of the verification.
using Function = void (*)(const CsrMatrix& matrix, const double* x, double* y, bool accumulate, int run);

class FunctionKernel final : public Kernel<double> {
public:
    FunctionKernel(CsrMatrix matrix, Function function) : matrix_(std::move(matrix)), function_(function) {}
    void run(const double* x, double* y, bool accumulate) override { function_(matrix_, x, y, accumulate, run_++); }

private:
    CsrMatrix matrix_;
    Function function_;
    int run_ = 0;
};

CsrMatrix matrix_of(const Layout<double>& layout) {
    std::vector<Entry> entries;
    const auto fields = layout.fields();
    layout.for_each_slot([&](const Slot& slot) {
        entries.push_back({slot.row, slot.column, static_cast<const double*>(fields[slot.array].data)[slot.index]});
    });
    return csr_from_entries(layout.rows(), layout.columns(), entries);
}

double row_product(const CsrMatrix& matrix, Index row, const double* x) {
    double sum = 0;
    for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
        sum += matrix.values[i] * x[matrix.column_indices[i]];
    }
    return sum;
}

void multiply(const CsrMatrix& matrix, const double* x, double* y, bool accumulate, int) {
    for (Index row = 0; row < matrix.rows; ++row) y[row] = (accumulate ? y[row] : 0) + row_product(matrix, row, x);
}

void forget_last_row(const CsrMatrix& matrix, const double* x, double* y, bool accumulate, int) {
    for (Index row = 0; row + 1 < matrix.rows; ++row) y[row] = (accumulate ? y[row] : 0) + row_product(matrix, row, x);
}

void overwrite(const CsrMatrix& matrix, const double* x, double* y, bool, int run) { multiply(matrix, x, y, false, run); }

/// Omits one row from the second run on, like a kernel that resets a counter only once.
void work_once(const CsrMatrix& matrix, const double* x, double* y, bool accumulate, int run) {
    const double before = y[3];
    multiply(matrix, x, y, accumulate, run);
    if (run > 0) y[3] = before;
}

/// Exact on integers, too inaccurate on real values.
void multiply_coarsely(const CsrMatrix& matrix, const double* x, double* y, bool accumulate, int run) {
    multiply(matrix, x, y, accumulate, run);
    for (Index row = 0; row < matrix.rows; ++row) y[row] = std::round(y[row] * 1024) / 1024;
}

template <Function function>
std::unique_ptr<Kernel<double>> prepare_function(const Layout<double>& layout, Device&) {
    return std::make_unique<FunctionKernel>(matrix_of(layout), function);
}

template <Function function>
KernelOutcome outcome_of_function(const CsrMatrix& input) {
    const std::unique_ptr<Device> host = make_host_device();
    StagedMatrix staged = stage_input(input);
    const Oracle<double> oracle(input);
    const auto space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order);
    const LayoutEntry& csr = *catalogue().find_layout("csr");
    const std::shared_ptr<const Layout<double>> real = csr.build.f64(staged, Parameters(csr.parameters, {}));
    staged.matrix.values =
        oracle.exact(ExactValues::by_place).problem.values_of(staged.matrix, staged.row_order, staged.column_order);
    const std::shared_ptr<const Layout<double>> exact = csr.build.f64(staged, Parameters(csr.parameters, {}));
    KernelEntry entry{"function", Backend::kokkos, "", {nullptr, prepare_function<function>}};
    const Candidate<double> candidate{.shares = {{&entry, {.real = real, .exact = exact}}}, .space = space};
    return Verifier<double>{*host, &oracle}.measure(candidate, quick);
}

}  // namespace

TEST_CASE("the verification reports the error of a kernel") {
    using Status = KernelOutcome::Status;
    const CsrMatrix input = uneven_matrix();
    CHECK(outcome_of_function<multiply>(input).status == Status::measured);

    const KernelOutcome forgets = outcome_of_function<forget_last_row>(input);
    CHECK(forgets.status == Status::wrong);
    CHECK(forgets.reason == "row 10 was never written");

    const KernelOutcome overwrites = outcome_of_function<overwrite>(input);
    CHECK(overwrites.status == Status::wrong);
    CHECK(overwrites.reason.find("(adding to a y that was there)") != std::string::npos);

    CHECK(outcome_of_function<work_once>(input).reason == "row 3 was never written");

    const KernelOutcome coarse = outcome_of_function<multiply_coarsely>(input);
    CHECK(coarse.status == Status::wrong);
    CHECK(coarse.reason.find("exceeds the bound") != std::string::npos);
    CHECK(coarse.error_over_bound > 1);
}

TEST_CASE("values beyond f32 make f32 unsuitable, and f64 is still verified") {
    const CsrMatrix matrix = csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1e300}, {1, 1, 2.0}});
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    RunOptions options;
    options.precisions = {Precision::f64, Precision::f32};
    options.timing = quick;
    Runner runner(matrix, catalogue(), {host}, options);
    const RunReport report = runner.run(recipe_of("[layout]\nuse = 'csr'\n"), {});
    REQUIRE(report.layouts.size() == 2);
    CHECK(report.layouts[0].unsuitable == "");
    CHECK(report.layouts[1].unsuitable.find("f32") != std::string::npos);
    CHECK(report.all_verified());
}

TEST_CASE("the choices of a stage are the values in the recipe, even if they are the defaults") {
    StagedMatrix staged = stage_input(uneven_matrix());
    const Recipe recipe = recipe_of(
        "[[stage]]\nuse = 'random_order'\n"
        "[[stage]]\nuse = 'metis_partition'\nparts = 3\nseed = 1\nweights = 'nonzeros'\n[layout]\nuse = 'csr'\n");
    const std::vector<StageOutcome> stages = apply_stages(recipe, staged, {}).outcomes;
    CHECK(stages[0].choices == "");
    CHECK(stages[1].choices == "parts = 3, weights = \"nonzeros\", seed = 1");
}

TEST_CASE("paths in choices are those from the current folder, unless they are longer") {
    const TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::path deep = folder.path() / "a" / "b";
    for (int i = 0; i < 30; ++i) deep /= "c";
    std::filesystem::create_directories(deep);
    std::ofstream(folder.path() / "a" / "order.txt") << "10\n9\n8\n7\n6\n5\n4\n3\n2\n1\n0\n";
    std::ofstream(folder.path() / "a" / "copy.sh") << "seq 10 -1 0 >order.txt\n";
    const std::string file = (folder.path() / "a" / "order.txt").string();
    const auto choices_in = [&](const std::filesystem::path& here, const std::string& stage) {
        std::filesystem::current_path(here);
        StagedMatrix staged = stage_input(uneven_matrix());
        const Recipe recipe = recipe_of("[[stage]]\n" + stage + "[layout]\nuse = 'csr'\n");
        std::string choices = apply_stages(recipe, staged, {}).outcomes.front().choices;
        std::filesystem::current_path(before);
        return choices;
    };
    const std::string imported = "use = 'imported'\norder = '" + file + "'\n";
    CHECK(choices_in(folder.path(), imported) == "order = \"a/order.txt\"");
    CHECK(choices_in(folder.path() / "a" / "b", imported) == "order = \"../order.txt\"");
    CHECK(choices_in(folder.path(), "program = ['sh', 'a/copy.sh', '/']\n").starts_with("program = \"sh a/copy.sh /\""));
    CHECK(choices_in(deep, imported) == "order = \"" + file + "\"");
}

TEST_CASE("an order of rows only does not change the edge cut of a partition") {
    const CsrMatrix input = uneven_matrix();
    const Recipe recipe = recipe_of(
        "[[stage]]\nuse = 'metis_partition'\nparts = 3\n"
        "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\napply = 'rows'\n[layout]\nuse = 'csr'\n");
    StagedMatrix staged = stage_input(input);
    RunObserver with_figures;
    with_figures.stage_done = [](const StagedMatrix&, StageOutcome&) {};
    const std::vector<StageOutcome> stages = apply_stages(recipe, staged, {}, with_figures).outcomes;
    REQUIRE(stages.size() == 3);
    CHECK(!(staged.row_order == staged.column_order));
    CHECK(stages[1].metrics.partition->edge_cut > 0);
    CHECK(stages[2].metrics.partition->edge_cut == stages[1].metrics.partition->edge_cut);
    CHECK(stages[2].metrics.partition->nonzeros_inside == stages[1].metrics.partition->nonzeros_inside);
}

TEST_CASE("the JSON report has the keys of docs/report.md") {
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    const CsrMatrix input = uneven_matrix();
    RunOptions options;
    options.timing = quick;
    Runner runner(input, catalogue(), {host}, options);
    const Recipe recipe = load_recipe(WORKBENCH_SOURCE_DIR "/tests/layouts/ehyb.toml", catalogue());
    const TemporaryFolder folder;
    PictureBook pictures;
    RunObserver observer;
    observer.stage_done = [&pictures](const StagedMatrix& staged, StageOutcome&) { pictures.add(staged); };
    RunReport report = runner.run(recipe, observer);
    pictures.write(folder.path(), report);
    report.versions["workbench"] = "1";
    report.machine["system"] = "x";

    const auto json = nlohmann::json::parse(to_json(report));
    for (const char* key : {"recipe", "matrix", "stages", "layout", "kernels", "machine", "versions", "devices", "notes"}) {
        CHECK_MESSAGE(json.contains(key), key);
    }
    CHECK(json["stages"].size() == 5);
    CHECK(json["stages"][1]["name"] == "metis_partition");
    CHECK(json["stages"][1]["parameters"]["parts"] == 3);
    CHECK(json["stages"][1]["metrics"]["partition"]["count"] == 3);
    CHECK(json["stages"][0]["metrics"]["nonzeros"] == input.nonzeros());
    CHECK(json["layout"]["name"] == "ehyb");
    CHECK(json["layout"]["footprint"]["inside_column_indices"]["bytes"] ==
          json["layout"]["footprint"]["inside_values"]["count"].get<int>() * 2);
    for (const auto& kernel : json["kernels"]) {
        for (const char* key : {"layout", "kernel", "backend", "precision", "verified", "error_over_bound", "median_seconds",
                                "samples", "gflops", "gbytes_per_second"}) {
            CHECK_MESSAGE(kernel.contains(key), key);
        }
        CHECK(kernel["verified"] == true);
        CHECK(!kernel["samples"].empty());
    }
    CHECK(json["kernels"][0]["baseline"] == true);
    for (const auto& stage : json["stages"]) {
        CHECK(std::filesystem::exists(folder.path() / stage["picture"].get<std::string>()));
    }
    CHECK(std::filesystem::exists(folder.path() / json["contact_sheet"].get<std::string>()));
    CHECK(nlohmann::json::parse(to_json(std::vector{report, report}))["runs"].size() == 2);
}

TEST_CASE("row lengths in tiles are drawn after a stage that changes them") {
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    const CsrMatrix input = matrix_named("random");
    RunOptions options;
    options.timing = quick;
    Runner runner(input, catalogue(), {host}, options);
    const TemporaryFolder folder;
    PictureBook pictures;
    RunObserver observer;
    observer.stage_done = [&pictures](const StagedMatrix& staged, StageOutcome&) { pictures.add(staged); };
    RunReport report = runner.run(load_recipe(WORKBENCH_SOURCE_DIR "/recipes/hbp.toml", catalogue()), observer);
    pictures.write(folder.path(), report);
    CHECK(report.failures.empty());
    std::vector<std::string> drawn;
    for (const StageOutcome& stage : report.stages) {
        if (!stage.tile_picture.empty()) drawn.push_back(stage.tile_picture);
    }
    CHECK(drawn == std::vector<std::string>{"3_nonlinear_hash_tiles.png"});
    CHECK(std::filesystem::exists(folder.path() / "3_nonlinear_hash_tiles.png"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "2_column_segmentation_tiles.png"));
}

TEST_CASE("a run that needs more memory than is free is refused in advance") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 1000; ++row) {
        for (Index k = 0; k < 1000; ++k) entries.push_back({row, k, 1});
    }
    const CsrMatrix matrix = csr_from_entries(1000, 1000, entries);  // 12 MB
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    const auto refusal = [&](std::size_t bytes) {
        return message_of<MachineError>([&] {
            RunOptions options;
            options.timing = quick;
            Runner runner(matrix, catalogue(), {host}, options);
            const FreeMemory free(bytes);
            (void)runner.run(recipe_of("[layout]\nuse = 'csr'\n"), {});
        });
    };
    CHECK(refusal(8'000'000).find("a copy of the matrix for the stages needs 12008008 bytes") == 0);
    // Two such copies and at least 8 MB; with the layout of 12 MB, another copy and 8 MB of exact values.
    CHECK(refusal(30'000'000).find("layout 'csr'") == 0);
    CHECK(refusal(44'000'000).find("layout 'csr', once more") == 0);
}

}  // namespace workbench
