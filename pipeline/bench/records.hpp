// What was measured, as the tables and plots of many runs want it: a recipe on a matrix by its fastest kernel.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/report/report.hpp"

namespace workbench {

struct Record {
    std::string recipe;
    std::string matrix;
    std::string device;     // "host" or "gpu"; empty where nothing was measured
    std::string precision;  // "f32", "f64"; empty likewise where that is not known
    std::string status;     // "measured", "unsuitable", "wrong", "failed"
    std::string reason;

    // Of the fastest kernel on this device that gave the right result, where status is "measured".
    std::string layout;
    std::string kernel;
    std::string backend;
    double seconds = 0;
    double gflops = 0;
    double gbytes_per_second = 0;
    double bytes_per_nonzero = 0;
    std::optional<double> speedup;
    std::optional<Interval> interval;  // of the speed-up; the baseline itself has 1 to 1
    std::string verdict;
    std::optional<double> break_even;
    double copy_bandwidth = 0;  // bytes a second, of the device
    double read_bandwidth = 0;

    std::map<std::string, double> metrics;     // of the input, and rows, columns, nonzeros
    std::map<std::string, double> parameters;  // numbers that the recipe gives: "stage.row_sort.window", "layout.slice_height"
    std::string shape;                         // its stages and its layout: recipes of one shape are points of a sweep
};

/// Adds those of a file: lines of a bench, or the JSON of a run. A last line that breaks off is left out. Where one thing
/// stands there several times, the last counts. Throws RecipeError with file and line where there is something else.
void add_records(const std::filesystem::path& file, std::vector<Record>& records);

/// Of reports that are there.
[[nodiscard]] std::vector<Record> records_of(const std::vector<RunReport>& reports);

}  // namespace workbench
