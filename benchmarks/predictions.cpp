// Predicts the recipes of a folder on matrices, as `workbench choose` does, after the stages that could not be foreseen have
// run. Prints a line for each candidate and matrix, separated by tabs: matrix, recipe, microseconds of a product, the least
// that its bytes take, megabytes, and the reason why it is unsuitable. To standard error: predictions per second.
//
//     predictions_benchmark DEVICE RECIPES MATRIX... > FILE
//
// With --points, it prices N random recipes instead, of 9 orders, 10 sorts, 5 splits and 9 layouts with their parameters,
// and prints the predictions per second. MATRIX may be a generator (elasticity3d:nx=51).
//
//     predictions_benchmark DEVICE --points N MATRIX...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

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

CsrMatrix matrix_of(const std::string& text) {
    if (fs::exists(text)) return read_matrix(text);
    const auto [generator, parameters] = std::get<GeneratedMatrix>(generated_matrix(text, {}, catalogue()).from);
    return generator->generate(parameters);
}

/// Recipes as those of a space: all combinations of orders, sorts and splits, with the layouts that fit.
std::vector<Recipe> synthetic_recipes() {
    const std::vector<std::string> orders{"",
                                          "[[stage]]\nuse = 'cuthill_mckee'\n",
                                          "[[stage]]\nuse = 'king'\n",
                                          "[[stage]]\nuse = 'rabbit_order'\n",
                                          "[[stage]]\nuse = 'metis_partition'\nparts = { sweep = [64, 132, 264, 528, 1056] }\n"};
    const std::vector<std::string> sorts{
        "", "[[stage]]\nuse = 'row_sort'\n",
        "[[stage]]\nuse = 'row_sort'\nwithin = 'window'\nwindow = { sweep = [32, 64, 128, 256, 512, 1024, 4096, 16384] }\n"};
    const std::vector<std::string> layouts{
        "[layout]\nuse = 'csr'\n",
        "[layout]\nuse = 'sell'\nslice_height = { sweep = [2, 4, 8, 16, 32, 64] }\nthreads_per_row = { sweep = [1, 2, 4] }\ncolumn_index = { sweep = ['u32', 'u16'] }\n",
        "[layout]\nuse = 'biell'\nstrip_height = { sweep = [4, 8, 16, 32] }\n",
        "[layout]\nuse = 'csr5'\nsigma = { sweep = [4, 8, 16, 24] }\n",
        "[layout]\nuse = 'block_sell'\nblock_size = { sweep = [2, 3, 4] }\n",
        "[layout]\nuse = 'bsr'\nblock_size = { sweep = [2, 3, 4] }\n",
        "[layout]\nuse = 'bccoo'\nblock_height = { sweep = [1, 2, 4] }\nblock_width = { sweep = [1, 2, 3] }\n",
        "[layout]\nuse = 'hola'\nnonzeros_per_thread = { sweep = [5, 7, 9] }\n",
        "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = { sweep = [20, 40, 60, 80] }\n[[layout]]\nshare = 'short'\nuse = 'sell'\n"
        "slice_height = { sweep = [8, 16, 32] }\n[[layout]]\nshare = 'long'\nuse = 'csr'\n"};
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
        const double start = seconds_now();
        for (const Recipe* point : points) sum += model.price(*point).product;
        const double seconds = seconds_now() - start;
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
        const DeviceProperties* const device = find_device_model(arguments[1]);
        if (device == nullptr) throw std::invalid_argument("there is no such device model");
        if (std::string(arguments[2]) == "--points") {
            const std::vector<Recipe> recipes = synthetic_recipes();
            for (int i = 4; i < count; ++i) price_points(*device, recipes, std::strtoull(arguments[3], nullptr, 10), arguments[i]);
            return 0;
        }
        const std::vector<Recipe> candidates = candidates_in(arguments[2]);
        for (int i = 3; i < count; ++i) predict(*device, candidates, arguments[i]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
