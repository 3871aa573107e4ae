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
// With --points, it prices N points of a space, spread over it, and prints the points per second of processor time. MATRIX may
// be a generator (elasticity3d:nx=51).
//
//     predictions_benchmark DEVICE --points N SPACE MATRIX...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "core/input/read_matrix.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/recipe/matrix_choice.hpp"
#include "pipeline/recipe/space.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/cost_model.hpp"

using namespace workbench;

namespace {

namespace fs = std::filesystem;

// Measured, as are the times in docs/results.
constexpr double copy_bandwidth_of_h200 = 4.28e12;
constexpr double read_bandwidth_of_h200 = 4.5e12;
constexpr Bandwidth bandwidth_of_h100{3.01e12, 2.97e12};

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
    if (text == "h100") return {*find_device_model(text), bandwidth_of_h100};
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

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void price_points(const DeviceProperties& device, const fs::path& file, std::uint64_t count, const std::string& text) {
    const CsrMatrix matrix = matrix_of(text);
    const SpaceFacts facts = facts_of(matrix, 1);
    const Space space = load_space(file, catalogue(), {}, &facts);
    count = std::min(count, space.count());
    std::vector<Recipe> points;
    const double start = processor_seconds();
    for (std::uint64_t i = 0; i < count; ++i) points.push_back(space.recipe(space.point(space.count() * i / count)));
    std::printf("%s: %d rows, %lld nonzeros; %llu points of %llu: %.0f recipes a second, ", text.c_str(), matrix.rows,
                static_cast<long long>(matrix.nonzeros()), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(space.count()), static_cast<double>(count) / (processor_seconds() - start));
    CostModel model(matrix, Precision::f64, device, &device);
    model.set_bandwidth(copy_bandwidth_of_h200, read_bandwidth_of_h200);
    for (const char* pass : {"priced", "priced again"}) {
        const double begin = processor_seconds();
        for (const Recipe& point : points) (void)model.price(point);
        std::printf("%.0f %s%s", static_cast<double>(count) / (processor_seconds() - begin), pass,
                    std::string_view(pass) == "priced" ? ", " : "\n");
    }
    std::fflush(stdout);
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
            for (int i = 5; i < count; ++i) {
                price_points(device.properties, arguments[4], std::strtoull(arguments[3], nullptr, 10), arguments[i]);
            }
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
