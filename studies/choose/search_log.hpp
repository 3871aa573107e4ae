// The log of a search: one line of a bench for each recipe that was tried.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/space.hpp"
#include "pipeline/report/report.hpp"
#include "studies/bench/line.hpp"
#include "studies/bench/records.hpp"

namespace workbench {

/// The log of a search: the file that it writes, and the lines that earlier runs of the same search have written.
struct SearchLog {
    std::string file = {};                // for messages
    BenchKey key = {};                    // of every line, apart from the recipe
    std::vector<std::string> lines = {};  // of earlier runs
    /// Called before a recipe is run, with the line to record if this process does not survive it, and the seconds after which
    /// it hangs. May be empty.
    std::function<void(const std::string& line, double limit_seconds)> begin = {};
    /// Called with the line of a recipe that was tried.
    std::function<void(const std::string& line)> add;
    /// Called with the name of the recipe that this thread is going to price, and with null afterwards. May be empty.
    std::function<void(const char* name)> prices = {};
    std::map<std::string, std::string> unpriced = {};  // recipes whose pricing ended earlier processes, and how
};

/// The facts that a line has under "trial", in addition to those of other benches.
struct TrialFacts {
    double seconds = 0;  // of the wall: preparing, verifying and timing
    double predicted_seconds = 0;
    double price_seconds = 0;
    std::int64_t bytes = 0;
    std::optional<SpacePoint> point = {};
    bool one_by_one = false;  // see Timed
};

/// A line of the log.
struct LoggedTrial {
    std::string key;    // text of the recipe's hash
    std::string files;  // contents_of_files when it was tried
    std::string name;
    std::string resolved;  // without its matrix
    std::string status;    // "measured", "unsuitable", "wrong", "failed"
    std::string reason;
    std::optional<Record> record = {};  // with its fastest kernel, if it was measured
    TrialFacts facts = {};
};

/// Equal for recipes that differ only in their names and matrices.
[[nodiscard]] std::string identity_of_trial(const Recipe& recipe);

/// The recipe as a line describes it, without its matrix.
[[nodiscard]] BenchRecipeFacts facts_for_log(const Recipe& recipe);

[[nodiscard]] std::string trial_line(const SearchLog& log, const BenchRecipeFacts& recipe, const RunReport& report,
                                     const TrialFacts& facts);

/// The line of a trial that ends its process; crashed_line() states how.
[[nodiscard]] std::string begun_line(const SearchLog& log, const BenchRecipeFacts& recipe);
[[nodiscard]] std::string crashed_line(const std::string& begun, const std::string& reason);

/// The name of the recipe in a line.
[[nodiscard]] std::string name_in_line(const std::string& line);

/// The lines of earlier runs; of repeated lines for one recipe, the last one. Throws RecipeError with file and line if one has
/// another key, apart from the recipe.
[[nodiscard]] std::vector<LoggedTrial> logged_trials(const SearchLog& log);

}  // namespace workbench
