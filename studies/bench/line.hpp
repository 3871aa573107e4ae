// One line of a bench's results: a recipe on a matrix in one precision, as JSON (described in docs/bench.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/contract/precision.hpp"
#include "studies/bench/matrices.hpp"

namespace workbench {

/// A kernel beside the recipe that was not measured.
struct FailedOwnKernel {
    std::string device;     // "host" or "gpu"
    std::string precision;  // "f32" or "f64"
    std::string status;     // "wrong", "unsuitable", "failed"
    std::string reason;
};

/// "host" or "gpu".
[[nodiscard]] std::string device_of_backend(const std::string& backend);

/// `facts`: see facts_of_recipe. `report`: the report of a run, or a line of a bench; its lists may be missing.
[[nodiscard]] std::vector<FailedOwnKernel> failed_own_kernels(const std::map<std::string, std::string>& facts,
                                                              const nlohmann::ordered_json& report);

/// Identifies a measurement.
struct BenchKey {
    std::string recipe;  // content_hash of the resolved recipe without its matrix
    std::string matrix;
    std::uintmax_t bytes = 0;
    Precision precision = Precision::f64;
    std::string program;  // version and commit; with a checksum if it has changes of its own
    std::string device;
    std::string options;
    std::string files = {};     // contents_of_files; not in a line of a recipe that brings none
    std::string software = {};  // versions of libraries and of the GPU's driver; lines of earlier versions lack it

    [[nodiscard]] nlohmann::ordered_json json() const;
    [[nodiscard]] std::string text() const;  // one line of JSON
};

/// JSON in one line, with U+FFFD for bytes that are not UTF-8.
[[nodiscard]] std::string in_one_line(const nlohmann::ordered_json& json);

/// 16 hexadecimal digits: FNV-1a with 64 bits.
[[nodiscard]] std::string content_hash(const std::string& text);

/// The recipe as a line describes it.
struct BenchRecipeFacts {
    std::string name;
    std::string source;
    std::string file;      // as the user named it; empty for a baseline
    std::string resolved;  // with files as seen from the current folder in a bench
    bool baseline = false;
    std::string copy = {};   // the temporary file that runs in its place
    std::string files = {};  // contents_of_files
    std::string hash = {};   // content_hash with absolute names of files
};

/// Replaces the temporary copy's name and line numbers in a message by the recipe's own name.
[[nodiscard]] std::string in_given_name(std::string text, const BenchRecipeFacts& recipe);

struct BenchLine {
    std::string text;
    std::string status;                 // "measured", "unsuitable", "wrong", "failed"
    std::vector<std::string> warnings;  // the matrix contradicts the suite; the times of `summary` say little
    std::string summary;                // for the terminal: "1.23 x (1.20 to 1.25), kernel lanes", or the reason
};

/// The line of a run's report.json. `trial`: its value under this key (search_log.hpp); null: it has none. Throws
/// std::exception if the JSON is no such report.
[[nodiscard]] BenchLine line_of_report(const BenchKey& key, const BenchRecipeFacts& recipe,
                                       const nlohmann::ordered_json& report, bool keep_samples, const MatrixFacts& facts = {},
                                       const nlohmann::ordered_json* trial = nullptr);

/// The line of a run that left no report.
[[nodiscard]] BenchLine line_of_failure(const BenchKey& key, const BenchRecipeFacts& recipe, const std::string& reason);

}  // namespace workbench
