// What a bench writes of a recipe on a matrix in one precision: one line of JSON, described in docs/prototyping.md.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/bench/matrices.hpp"
#include "pipeline/contract/precision.hpp"

namespace workbench {

/// What tells one measurement from another: as JSON in one line.
struct BenchKey {
    std::string recipe;  // content_hash of the recipe without its matrix
    std::string matrix;
    std::uintmax_t bytes = 0;
    Precision precision = Precision::f64;
    std::string program;  // version and commit
    std::string device;
    std::string options;

    [[nodiscard]] std::string text() const;
};

/// 16 hexadecimal digits: FNV-1a with 64 bits.
[[nodiscard]] std::string content_hash(const std::string& text);

/// The recipe as the line tells it.
struct BenchRecipeFacts {
    std::string name;
    std::string source;
    std::string file;  // as it was given; empty of a baseline
    std::string resolved;
    bool baseline = false;
    std::string copy = {};  // the file that is run in its place; messages name it
};

/// A message with the recipe's own name in place of the copy's and the places in it, which say nothing to the user.
[[nodiscard]] std::string in_given_name(std::string text, const BenchRecipeFacts& recipe);

struct BenchLine {
    std::string text;
    std::string status;   // "measured", "unsuitable", "wrong", "failed"
    std::string warning;  // what contradicts the source of the suite; also among the line's notes
    std::string summary;  // for the terminal: "1.23 x (1.20 to 1.25), kernel lanes", or the reason
};

/// From the report.json of a run. Throws std::exception where it is none.
[[nodiscard]] BenchLine line_of_report(const BenchKey& key, const BenchRecipeFacts& recipe, const std::string& report,
                                       bool keep_samples, const MatrixFacts& facts = {});

/// Of a run that left no report.
[[nodiscard]] BenchLine line_of_failure(const BenchKey& key, const BenchRecipeFacts& recipe, const std::string& reason);

}  // namespace workbench
