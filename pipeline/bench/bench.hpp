// Recipes on matrices, each matrix in processes of its own, and what they found as lines of a file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/bench/matrices.hpp"
#include "pipeline/bench/results_file.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct BenchRecipe {
    Recipe recipe;
    std::string file;               // as it was given; empty of a baseline
    std::vector<Backend> backends;  // that it runs on
    bool baseline = false;
};

struct BenchPlan {
    std::vector<BenchRecipe> recipes;
    std::vector<BenchMatrix> matrices;
    std::vector<Precision> precisions;
    std::vector<std::string> run_options;  // what each process is given: "--samples", "20", ...
    double limit_seconds = 0;              // of a matrix; 0: none
    bool keep_samples = false;
    std::string keep = {};  // folder of results that each process keeps; empty: none. No part of what tells measurements apart
    std::filesystem::path program;  // that runs a recipe: this one
    std::string version;
    std::string device;
    Clock clock = {};
};

struct BenchObserver {
    std::function<void(const std::string&)> say;  // a line about what goes on
    std::function<bool()> stopped;                // asked all the time: has the user had enough?
};

struct BenchCount {
    int measured = 0;
    int unsuitable = 0;
    int wrong = 0;
    int failed = 0;
    int there = 0;         // already, before
    bool stopped = false;  // before all was done
};

/// The libraries that everybody has, in the order of the input and in that of reverse Cuthill-McKee: on a GPU all formats of
/// cuSPARSE (they are kernels of csr), on the host CSR.
[[nodiscard]] std::vector<BenchRecipe> baseline_recipes(const Catalogue& catalogue, const std::vector<Backend>& backends,
                                                        bool gpu);

/// Measures what the file does not have yet. Recipes that run on the same backends share a process for a matrix. One that takes
/// its process down is recorded, and the others get another process.
[[nodiscard]] BenchCount bench(const BenchPlan& plan, ResultsFile& results, const BenchObserver& observer);

}  // namespace workbench
