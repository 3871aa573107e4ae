// Runs recipes on matrices, one child process per matrix, and appends the results to a file of JSON lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/measure/timing.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/space.hpp"
#include "studies/bench/matrices.hpp"
#include "studies/bench/results_file.hpp"

namespace workbench {

/// `wanted` different numbers below `all`, in an order in which each first part of the list is spread evenly: multiples of the
/// golden ratio modulo 1 (Knuth, The Art of Computer Programming 3, section 6.4). All numbers in ascending order if there are
/// no more.
[[nodiscard]] std::vector<std::uint64_t> spread_numbers(std::uint64_t all, std::size_t wanted);

/// The recipes of at most `wanted` points. Those of a smaller number are among those of a larger one, so that a bench can be
/// continued with more points.
[[nodiscard]] std::vector<Recipe> spread_points(const Space& space, std::size_t wanted);

struct BenchRecipe {
    Recipe recipe;
    std::string file = {};               // as the user named it; empty for a baseline
    std::vector<Backend> backends = {};  // the backends it runs on
    bool baseline = false;
};

struct BenchPlan {
    std::vector<BenchRecipe> recipes;
    std::vector<BenchMatrix> matrices;
    std::vector<Precision> precisions;
    std::vector<std::string> run_options;  // for each child process: "--samples", "20", ...
    double limit_seconds = 0;              // wall time per matrix; 0: no limit
    bool keep_samples = false;
    std::string keep = {};          // the child processes' --keep folder; empty: none. Not part of a line's key
    std::filesystem::path program;  // the executable of the child processes
    /// Words before it: a program that runs it with fewer rights. Given the folder into which a child process writes.
    std::function<std::vector<std::string>(const std::filesystem::path& writable)> confine = {};
    std::string version;
    std::string device;
    std::string software = {};  // see BenchKey
    Clock clock = {};
};

struct BenchObserver {
    std::function<void(const std::string&)> say;  // prints a progress line
    std::function<bool()> stopped;                // polled: has the user asked to stop?
};

struct BenchCount {
    int measured = 0;
    int unsuitable = 0;
    int wrong = 0;
    int failed = 0;
    int already_measured = 0;
    bool stopped = false;  // before everything was measured
};

/// Vendor baselines in input order and after reverse Cuthill-McKee: every cuSPARSE format on a GPU, CSR on the host.
[[nodiscard]] std::vector<BenchRecipe> baseline_recipes(const Catalogue& catalogue, const std::vector<Backend>& backends,
                                                        bool gpu);

/// Measures whatever the results file lacks. Recipes with the same backends share a process; if one of them crashes it, the
/// crash is recorded and the remaining recipes run in a new process.
[[nodiscard]] BenchCount bench(const BenchPlan& plan, ResultsFile& results, const BenchObserver& observer);

}  // namespace workbench
