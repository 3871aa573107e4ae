// Predicts the recipes of a folder on matrices, as `workbench choose` does, after the stages that could not be foreseen have
// run. Prints a line for each candidate and matrix, separated by tabs: matrix, recipe, microseconds of a product, the least
// that its bytes take, megabytes, and the reason why it is unsuitable. To standard error: predictions per second.
//
//     predictions_benchmark DEVICE RECIPES MATRIX... > FILE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/choose/choose.hpp"
#include "pipeline/choose/cost_model.hpp"
#include "pipeline/input/read_matrix.hpp"
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

void predict(const DeviceProperties& device, const std::vector<Recipe>& candidates, const fs::path& file) {
    const CsrMatrix matrix = read_matrix(file);
    CostModel model(matrix, Precision::f64, device, &device);
    model.set_bandwidth(copy_bandwidth_of_h200, read_bandwidth_of_h200);
    if (matrix.square()) learn_first_order(model, candidates[1], matrix);
    const double start = seconds_now();
    for (const Recipe& recipe : candidates) {
        if (recipe.node_size > 1 && matrix.rows % recipe.node_size != 0) continue;
        const Price price = model.price(recipe);
        std::printf("%s\t%s\t%.2f\t%.2f\t%.2f\t%s\n", file.stem().c_str(), recipe.name.c_str(), 1e6 * price.product,
                    1e6 * price.least, 1e-6 * static_cast<double>(price.bytes), price.unsuitable.c_str());
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

}  // namespace

int main(int count, char** arguments) {
    Kokkos::ScopeGuard kokkos(count, arguments);
    if (count < 4) {
        std::fprintf(stderr, "predictions_benchmark DEVICE RECIPES MATRIX...\n");
        return 2;
    }
    try {
        const DeviceProperties* const device = find_device_model(arguments[1]);
        if (device == nullptr) throw std::invalid_argument("there is no such device model");
        const std::vector<Recipe> candidates = candidates_in(arguments[2]);
        for (int i = 3; i < count; ++i) predict(*device, candidates, arguments[i]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
