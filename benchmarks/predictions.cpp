// Predicts the recipes of a folder on matrices, as `workbench choose` does, after the stages that could not be foreseen have
// run. Prints a line for each candidate and matrix, separated by tabs: matrix, recipe, microseconds of a product, the least
// that its bytes take, megabytes, the reason why it is unsuitable, the layouts, and their costs. To standard error: predictions
// per second.
//
//     predictions_benchmark DEVICE RECIPES MATRIX... > FILE
//
// DEVICE: a model such as h200; host: this machine, whose bandwidth is measured; or a file that `workbench calibrate` wrote for
// the host, with whose constants the times are predicted.
//
// With --points, it prices N random recipes instead, of 9 orders, 10 sorts, 5 splits and 9 layouts with their parameters,
// and prints the predictions per second of processor time. MATRIX may be a generator (elasticity3d:nx=51).
//
//     predictions_benchmark DEVICE --points N MATRIX...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "kernels/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/choose/choose.hpp"
#include "pipeline/choose/cost_model.hpp"
#include "pipeline/input/read_matrix.hpp"
#include "pipeline/recipe/matrix_choice.hpp"
#include "pipeline/run/chain.hpp"

using namespace workbench;

namespace {

namespace fs = std::filesystem;

constexpr double copy_bandwidth_of_h200 = 4.28e12;  // measured, as are the times in docs/results
constexpr double read_bandwidth_of_h200 = 4.5e12;

std::vector<Recipe> candidates_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Recipe> recipes;
    for (const fs::path& file : files) recipes.push_back(load_recipe(file, catalogue()));
    return candidates_of(catalogue(), recipes, {}, Orders::others_of_square);
}

/// Teaches the model the matrix after Cuthill-McKee, which `choose` always runs first.
void learn_first_order(CostModel& model, const Recipe& rcm, const CsrMatrix& matrix) {
    StagedMatrix staged = stage_copy(matrix, 1);
    (void)apply_stages(rcm, staged, stage_context(rcm, Precision::f64, nullptr));
    model.learn(rcm, rcm.stages.size(), staged);
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// "bytes sectors launches chain bandwidth" of each layout, separated by "; ".
std::string text_of_costs(const std::vector<LayoutCost>& costs) {
    std::string text;
    for (const LayoutCost& cost : costs) {
        text += fmt::format("{}{} {:.6g} {} {} {}", text.empty() ? "" : "; ", cost.bytes(), cost.sectors, cost.launches,
                            cost.chain, cost.bandwidth);
    }
    return text;
}

struct PredictedDevice {
    DeviceProperties properties;
    Bandwidth bandwidth = {copy_bandwidth_of_h200, read_bandwidth_of_h200};
    std::optional<Calibration> calibration = {};
};

PredictedDevice device_named(const std::string& text) {
    if (const DeviceProperties* const known = find_device_model(text)) return {*known};
    const std::unique_ptr<Device> host = make_host_device();
    PredictedDevice device{.properties = host->properties(), .bandwidth = host->bandwidth()};
    if (text == "host") return device;
    device.calibration = read_calibration(text, device.properties);
    if (!device.calibration) throw std::invalid_argument(text + ": neither a device model nor a calibration");
    return device;
}

void predict(const PredictedDevice& on, const std::vector<Recipe>& candidates, const fs::path& file) {
    const CsrMatrix matrix = read_matrix(file);
    CostModel model(matrix, Precision::f64, on.properties, on.properties.kind == DeviceKind::gpu ? &on.properties : nullptr);
    model.set_bandwidth(on.bandwidth.copy, on.bandwidth.read);
    if (on.calibration) model.calibrate(*on.calibration);
    if (matrix.square()) learn_first_order(model, candidates[1], matrix);
    const double start = seconds_now();
    for (const Recipe& recipe : candidates) {
        if (recipe.node_size > 1 && matrix.rows % recipe.node_size != 0) continue;
        const Price price = model.price(recipe);
        std::printf("%s\t%s\t%.2f\t%.2f\t%.2f\t%s\t%s\t%s\n", file.stem().c_str(), recipe.name.c_str(), 1e6 * price.product,
                    1e6 * price.least, 1e-6 * static_cast<double>(price.bytes), price.unsuitable.c_str(),
                    name_of_layouts(recipe).c_str(), text_of_costs(model.costs(recipe)).c_str());
    }
    const double first = seconds_now() - start;
    constexpr int repetitions = 20;
    for (int i = 0; i < repetitions; ++i) {
        for (const Recipe& recipe : candidates) {
            if (recipe.node_size == 1 || matrix.rows % recipe.node_size == 0) (void)model.price(recipe);
        }
    }
    const double again = (seconds_now() - start - first) / repetitions;
    std::fprintf(stderr, "%s: %zu candidates in %.3f s, again in %.4f s\n", file.stem().c_str(), candidates.size(), first,
                 again);
}

CsrMatrix matrix_of(const std::string& text) {
    if (fs::exists(text)) return read_matrix(text);
    const auto [generator, parameters] = std::get<GeneratedMatrix>(generated_matrix(text, {}, catalogue()).from);
    return generator->generate(parameters);
}

std::string swept(const std::string& name, const std::string& values) { return name + " = { sweep = [" + values + "] }\n"; }

std::string stage_of(const std::string& name, const std::string& parameters = "") {
    return "[[stage]]\nuse = '" + name + "'\n" + parameters;
}

/// Recipes as those of a space: all combinations of orders, sorts and splits, with the layouts that fit.
std::vector<Recipe> synthetic_recipes() {
    const std::vector<std::string> orders{"", stage_of("cuthill_mckee"), stage_of("king"), stage_of("rabbit_order"),
                                          stage_of("metis_partition", swept("parts", "64, 132, 264, 528, 1056"))};
    const std::vector<std::string> sorts{
        "", stage_of("row_sort"),
        stage_of("row_sort", "within = 'window'\n" + swept("window", "32, 64, 128, 256, 512, 1024, 4096, 16384"))};
    const std::string sell = "use = 'sell'\n" + swept("slice_height", "1, 2, 4, 8, 12, 16, 24, 32, 48, 64") +
                             swept("threads_per_row", "1, 2, 4, 8") + swept("column_index", "'u32', 'u16'");
    const std::string split = stage_of("split", "by = 'row_length'\n" + swept("longer_than", "20, 40, 60, 80"));
    const std::vector<std::string> layouts{
        "[layout]\nuse = 'csr'\n",
        "[layout]\n" + sell,
        "[layout]\nuse = 'biell'\n" + swept("strip_height", "4, 8, 16, 32"),
        "[layout]\nuse = 'csr5'\n" + swept("sigma", "4, 8, 12, 16, 20, 24, 28, 32"),
        "[layout]\nuse = 'block_sell'\n" + swept("block_size", "2, 3, 4"),
        "[layout]\nuse = 'bsr'\n" + swept("block_size", "2, 3, 4"),
        "[layout]\nuse = 'bccoo'\n" + swept("block_height", "1, 2, 4") + swept("block_width", "1, 2, 3"),
        "[layout]\nuse = 'hola'\n" + swept("nonzeros_per_thread", "5, 7, 9"),
        split + "[[layout]]\nshare = 'short'\n" + sell + "[[layout]]\nshare = 'long'\nuse = 'csr'\n"};
    std::vector<Recipe> recipes;
    for (const std::string& order : orders) {
        for (const std::string& sort : sorts) {
            for (const std::string& layout : layouts) {
                if (order.find("partition") != std::string::npos && !sort.empty()) continue;  // a sort would destroy it
                const std::vector<Recipe> points = parse_points(order + sort + layout, "points.toml", catalogue()).points;
                recipes.insert(recipes.end(), points.begin(), points.end());
            }
        }
    }
    return recipes;
}

/// Random recipes in the order of the list, as a search prices the points of a space.
void price_points(const DeviceProperties& device, const std::vector<Recipe>& all, std::size_t count, const std::string& text) {
    const CsrMatrix matrix = matrix_of(text);
    std::mt19937 random(1);
    std::vector<const Recipe*> points;
    for (std::size_t i = 0; i < count; ++i) points.push_back(&all[random() % all.size()]);
    std::sort(points.begin(), points.end());
    CostModel model(matrix, Precision::f64, device, &device);
    model.set_bandwidth(copy_bandwidth_of_h200, read_bandwidth_of_h200);
    double sum = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const std::clock_t start = std::clock();  // of this process, which other work on the machine does not delay
        for (const Recipe* point : points) sum += model.price(*point).product;
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        std::printf("%s: %d rows, %lld nonzeros: %zu points of %zu in %.3f s, %.0f a second%s\n", text.c_str(), matrix.rows,
                    static_cast<long long>(matrix.nonzeros()), count, all.size(), seconds, static_cast<double>(count) / seconds,
                    pass == 0 ? "" : ", again");
        std::fflush(stdout);
    }
    std::fprintf(stderr, "mean %.3f us\n", 1e6 * sum / static_cast<double>(2 * count));
}

}  // namespace

int main(int count, char** arguments) {
    Kokkos::ScopeGuard kokkos(count, arguments);
    if (count < 4) {
        std::fprintf(stderr, "predictions_benchmark DEVICE RECIPES MATRIX...\n");
        return 2;
    }
    try {
        const PredictedDevice device = device_named(arguments[1]);
        if (std::string(arguments[2]) == "--points") {
            const std::vector<Recipe> recipes = synthetic_recipes();
            for (int i = 4; i < count; ++i)
                price_points(device.properties, recipes, std::strtoull(arguments[3], nullptr, 10), arguments[i]);
            return 0;
        }
        const std::vector<Recipe> candidates = candidates_in(arguments[2]);
        for (int i = 3; i < count; ++i) predict(device, candidates, arguments[i]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
