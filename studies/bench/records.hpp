// Measurements as the tables and plots of many runs need them: a recipe on a matrix, with its fastest kernel.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pipeline/report/report.hpp"

namespace workbench {

struct Record {
    std::string recipe;  // the label of its row: the name and, if that is not unique, what distinguishes this experiment
    std::string name;    // of the recipe, with the point of a sweep
    int report = 0;      // number of the report that it is from
    /// The settings that may distinguish experiments of one name: the settings of the recipe (facts_of_recipe), "file",
    /// "cache", "vectors", "threads", and the processor under "host" or "gpu". Absent if unknown.
    std::map<std::string, std::string> facts;
    std::string matrix;
    std::string device;     // "host" or "gpu"; empty if nothing was measured
    std::string precision;  // "f32" or "f64"; empty if unknown
    std::string status;     // "measured", "unsuitable", "wrong", "failed"
    std::string reason;

    // The fastest verified kernel on this device; only if status is "measured".
    std::string layout;
    std::string kernel;
    std::string backend;
    double seconds = 0;
    double gflops = 0;
    double gbytes_per_second = 0;
    double bytes_per_nonzero = 0;
    std::optional<double> speedup;
    std::optional<Interval> interval;  // of the speed-up; 1 to 1 for the baseline; none if the machine did other work
    std::string verdict;
    std::optional<double> break_even;
    std::optional<double> setup_seconds;  // these three as in KernelOutcome; none in lines of earlier programs
    std::optional<double> first_seconds;
    std::optional<double> new_values_seconds;
    std::vector<std::string> warnings;  // about its time or the baseline's, each once
    /// The parts of preprocessing in their order, with their seconds: each stage by its id, "layout" (building it), "copy" (to
    /// the device) and, if vectors are permuted, "vectors".
    std::vector<std::pair<std::string, double>> preparation;
    double copy_bandwidth = 0;  // of the device, in bytes per second
    double read_bandwidth = 0;

    std::map<std::string, double> metrics;     // of the input, including rows, columns, nonzeros
    std::map<std::string, double> parameters;  // numbers in the recipe: "stage.row_sort.window", "layout.slice_height"
    std::string shape;                         // names of stages and layout: recipes of one shape are points of a sweep
};

/// The name of a matrix without its folder and extensions.
[[nodiscard]] std::string short_matrix_name(const std::string& matrix);

/// Appends the records of files: the lines of a bench, or the JSON of a run. An incomplete last line and a file without a
/// complete line are left out; of repeated measurements the last one counts, in the order of the files. Throws RecipeError with
/// file and line for anything else, and if no file has a complete line. Returns a note on each file that is not complete.
std::vector<std::string> add_records(const std::vector<std::filesystem::path>& files, std::vector<Record>& records);

/// The records of a line of a bench.
[[nodiscard]] std::vector<Record> records_of_line(const nlohmann::ordered_json& line);

/// The records of reports in memory.
[[nodiscard]] std::vector<Record> records_of(const std::vector<RunReport>& reports);

}  // namespace workbench
