// What solves of one system with several recipes found, as text, JSON, a table of residuals and plots.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/contract/failure.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/solve/right_hand_side.hpp"
#include "pipeline/solve/solve.hpp"
#include "viz/chart.hpp"

namespace workbench {

struct SolveReport {
    MatrixReport matrix;
    std::string right_hand_side;
    Precision precision = Precision::f64;
    SolveOptions options;
    DeviceProperties device;
    std::map<std::string, std::string> machine;
    std::map<std::string, std::string> versions;
    std::vector<SolveOutcome> outcomes;  // the baseline first, where it could be made ready
    std::vector<Failure> failures;       // recipes that came to no solve
    std::vector<std::string> notes;

    [[nodiscard]] const SolveOutcome* baseline() const;
};

/// Of one solve: 0 where it converged.
[[nodiscard]] ExitCode exit_code_of(SolveEnd end);

/// 0 where all converged; of the first that did not otherwise: 1 for a wrong kernel, then 5 to 8 by its end, then what a
/// failure says; 3 where no recipe suits the matrix at all.
[[nodiscard]] ExitCode exit_code_of(const SolveReport& report);

/// Tables of at most 80 columns.
[[nodiscard]] std::string solve_text(const SolveReport& report);

/// Described in docs/solve.md.
[[nodiscard]] std::string solve_json(const SolveReport& report);

/// "iteration,NAME,NAME..." and |r| / |b| a line.
[[nodiscard]] std::string history_csv(const SolveReport& report);

/// |r| / |b| against iterations, and against time with the set-up in it. The first that there are colours for.
[[nodiscard]] XyChart residual_by_iteration(const SolveReport& report);
[[nodiscard]] XyChart residual_by_time(const SolveReport& report);

/// solve.json, residuals.csv, and both plots as PNG and SVG. Returns their names.
std::vector<std::string> write_solve(const SolveReport& report, const std::filesystem::path& folder);

}  // namespace workbench
