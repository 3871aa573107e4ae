// The results of solving one system with several recipes, as text, JSON, CSV and plots.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/contract/failure.hpp"
#include "pipeline/report/report.hpp"
#include "studies/solve/solve.hpp"
#include "viz/chart.hpp"
#include "viz/pdf_canvas.hpp"

namespace workbench {

struct SolveReport {
    MatrixReport matrix;
    std::string right_hand_side;
    Precision precision = Precision::f64;
    SolveOptions options;
    DeviceProperties device;
    std::map<std::string, std::string> machine;
    std::map<std::string, std::string> versions;
    double process_seconds = 0;          // loading what all solves run on a GPU, once a process; beside all prices
    std::vector<SolveOutcome> outcomes;  // the baseline first, unless it failed
    std::vector<Failure> failures;       // of recipes that could not solve
    std::vector<std::string> notes;
    std::vector<std::string> warnings;  // about times that say little, and a matrix that does not suit the method

    [[nodiscard]] const SolveOutcome* baseline() const;
    /// The recipe of one of the outcomes, or "the baseline" if another outcome has the same.
    [[nodiscard]] std::string label_of(const SolveOutcome& one) const;
};

/// The exit code of one solve; 0 if it converged.
[[nodiscard]] ExitCode exit_code_of(SolveEnd end);

/// 0 if all solves converged. Otherwise 1 if any kernel was wrong, else the code of the first solve that did not converge (5 to
/// 8), else that of the first failure; 3 if no recipe suits the matrix.
[[nodiscard]] ExitCode exit_code_of(const SolveReport& report);

/// Tables of at most 80 columns.
[[nodiscard]] std::string solve_text(const SolveReport& report);

/// The recipe with the least time for one solve, and for many; the same with new values before each solve; or that the
/// times of the baseline are noise. Empty if fewer than two recipes can be advised.
[[nodiscard]] std::vector<std::string> advice_text(const SolveReport& report);

/// JSON, described in docs/solve.md.
[[nodiscard]] std::string solve_json(const SolveReport& report);

/// A header "iteration,LABEL,LABEL,..." and one line of |r| / |b| per iteration.
[[nodiscard]] std::string history_csv(const SolveReport& report);

/// |r| / |b| over iterations, and over time including set-up, for the first most_series recipes.
[[nodiscard]] XyChart residual_by_iteration(const SolveReport& report);
[[nodiscard]] XyChart residual_by_time(const SolveReport& report);

/// "m.mtx: cg with Jacobi, f64, NVIDIA H200", below the titles of charts.
[[nodiscard]] std::string subtitle_of(const SolveReport& report);

/// The data of solve.html as JSON: solve_json and advice_text. `command`: the command line shown on the page; may be empty.
[[nodiscard]] std::string solve_document(const SolveReport& report, const std::string& command);

/// Writes solve.json, residuals.csv, solve.html and at most three plots (chart_files.hpp), and removes those of an earlier
/// solve. Returns the file names.
std::vector<std::string> write_solve(const SolveReport& report, const std::filesystem::path& folder, const std::string& command,
                                     const PaperColumn& column = {});

}  // namespace workbench
