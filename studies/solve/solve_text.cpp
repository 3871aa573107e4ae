#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/report/report.hpp"
#include "studies/solve/advice.hpp"
#include "studies/solve/solve_report.hpp"

namespace workbench {
namespace {

constexpr std::size_t name_width = 16;
constexpr std::size_t kernel_width = 12;

std::string name_of(const SolveOutcome& one) { return one.baseline ? one.preparation.recipe + " *" : one.preparation.recipe; }

/// True if the kernel passed verification, so that the solve started.
bool iterated(const SolveOutcome& one) { return one.preparation.kernel.verified(); }

std::string ending_of(const SolveOutcome& one) {
    switch (one.preparation.kernel.status) {
        case KernelOutcome::Status::wrong: return "WRONG KERNEL";
        case KernelOutcome::Status::unsuitable: return "unsuitable";
        case KernelOutcome::Status::measured: break;
    }
    return std::string(name_of(one.end));
}

std::vector<std::string> names_of(const SolveReport& report) {
    std::vector<std::string> names;
    for (const SolveOutcome& one : report.outcomes) names.push_back(name_of(one));
    return table_names(names, name_width);
}

std::string residuals_table(const SolveReport& report) {
    TextTable table{{"recipe", "kernel", "ended", "iterations", "restarts", "|b-Ax|/|b|"}, 3, {}};
    const std::vector<std::string> names = names_of(report);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const SolveOutcome& one = report.outcomes[i];
        const bool at_limit = iterated(one) && one.end == SolveEnd::iteration_limit;
        const std::string& kernel = one.preparation.kernel.kernel;
        const bool persistent = iterated(one) && one.engine == SolveEngine::persistent;
        std::vector<std::string> row{names[i], persistent ? "persistent" : shortened(kernel, kernel_width),
                                     at_limit ? "at the limit" : ending_of(one)};
        if (iterated(one)) {
            row.insert(row.end(), {with_commas(one.iterations), std::to_string(one.restarts),
                                   fmt::format("{:.2e}", std::abs(one.true_residual))});  // nan without its sign
        } else {
            row.insert(row.end(), {"-", "-", "-"});
        }
        table.rows.push_back(std::move(row));
    }
    return table.text();
}

std::string break_even_text(const SolveOutcome& one, const SolveOutcome* baseline) {
    if (one.baseline || baseline == nullptr) return "-";
    const std::optional<SolveSpeedup> speedup = speedup_of(one, *baseline);
    if (!speedup) return "-";
    if (speedup->noise) return "noise";
    if (const auto iterations = break_even_iterations(one, *baseline)) {
        const double whole = std::ceil(*iterations);
        return (speedup->interval ? "" : "~") + (whole < 1e9 ? with_commas(std::llround(whole)) : fmt::format("{:.1e}", whole));
    }
    return one.iteration_seconds() < baseline->iteration_seconds() ? "at once" : "never";
}

std::string times_table(const SolveReport& report) {
    TextTable table{{"recipe", "set-up", "iteration", "of parts", "solve", "total", "break-even"}, 1, {}};
    const std::vector<std::string> names = names_of(report);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const SolveOutcome& one = report.outcomes[i];
        if (!iterated(one)) continue;
        const std::optional<double> over = one.over_parts();
        table.rows.push_back({names[i], duration(one.setup_seconds()),
                              one.iterations > 0 ? duration(one.iteration_seconds()) : "-",
                              over ? fmt::format("{:.2f}", *over) : "-", duration(one.solve_seconds),
                              duration(one.total_seconds()), break_even_text(one, report.baseline())});
    }
    return table.text();
}

/// Together and alone; empty with one right-hand side.
std::string right_sides_table(const SolveReport& report) {
    TextTable table{{"recipe", "a right side", "alone", "speed-up", "iterations of each"}, 1, {}};
    const std::vector<std::string> names = names_of(report);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const SolveOutcome& one = report.outcomes[i];
        if (!iterated(one) || one.right_sides.empty()) continue;
        const auto [least, most] = std::ranges::minmax_element(one.right_sides, {}, &RightSideOutcome::iterations);
        const double seconds = one.each_seconds() / right_sides_of(one);
        const bool is_compared = one.alone_seconds > 0;
        std::string iterations = with_commas(least->iterations);
        if (most->iterations != least->iterations) iterations += " to " + with_commas(most->iterations);
        table.rows.push_back({names[i], duration(seconds), is_compared ? duration(one.alone_seconds) : "-",
                              is_compared ? fmt::format("{:.2f}", one.alone_seconds / seconds) : "-", std::move(iterations)});
    }
    return table.rows.empty() ? "" : '\n' + table.text();
}

std::string trials_table(const SolveReport& report) {
    TextTable table{{"tried while solving", "result", "ready after", "at iteration", "iteration", "before"}, 2, {}};
    for (const SolveOutcome& one : report.outcomes) {
        std::vector<std::string> names;
        for (const Trial& trial : one.trials) names.push_back(trial.recipe);
        names = table_names(names, 4 + name_width);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Trial& trial = one.trials[i];
            const bool tried = trial.end == Trial::End::kept || trial.end == Trial::End::slower;
            table.rows.push_back({names[i], std::string(name_of(trial.end)),
                                  trial.ready_seconds > 0 ? duration(trial.ready_seconds) : "-",
                                  tried ? with_commas(trial.iteration) : "-", tried ? duration(trial.iteration_seconds) : "-",
                                  tried ? duration(trial.before_seconds) : "-"});
        }
    }
    return table.rows.empty() ? "" : '\n' + table.text();
}

constexpr const char* legend = R"(
  *: the baseline: the fastest CSR kernel on the arrays of the caller. set-up:
      reordering, building, copying, vectors, and permuting b and x.
      of parts: time of an iteration over the sum of its products' time and its
      vectors' traffic at copy bandwidth. break-even: iterations after which the
      recipe makes up for its set-up; ~: without an interval.
)";

constexpr const char* legend_of_right_sides =
    "  A solve is that of all right-hand sides together, and its residual the largest of theirs. a right side: the time of the "
    "iterations and of bringing b and x, over their number. alone: that of a solve with one of them, by the kernel of the "
    "recipe "
    "for one vector, or by a persistent one. speed-up: of solving for all together.\n";

/// "1.30 x (1.25 to 1.34)", or "1.30 x (1 solve timed: no interval)".
std::string speedup_text(const SolveSpeedup& speedup) {
    const std::string ratio = fmt::format("{:.2f} x", speedup.ratio);
    if (!speedup.interval) {
        return fmt::format("{} ({} timed: no interval)", ratio,
                           counted_with_commas(static_cast<std::int64_t>(speedup.solves), "solve"));
    }
    return fmt::format("{} ({:.2f} to {:.2f})", ratio, speedup.interval->low, speedup.interval->high);
}

/// The speed-up of a refined solve over that of the same recipe with values in full, if the report has it.
std::string against_full(const SolveReport& report, const SolveOutcome& one) {
    if (!one.preparation.rounding) return "";
    for (const SolveOutcome& other : report.outcomes) {
        if (other.baseline || other.preparation.rounding || other.in_full != one.in_full || !other.solved()) continue;
        const std::optional<SolveSpeedup> speedup = speedup_of(one, other);
        if (!speedup) continue;
        return fmt::format("; {:.2f} x as fast as {}, which has its values in full, with set-up, {} without{}",
                           other.total_seconds() / one.total_seconds(), other.preparation.recipe, speedup_text(*speedup),
                           speedup->noise ? ", which is within noise" : "");
    }
    return "";
}

/// The meaning of the marks of recipes in this table.
std::string legend_of_rounding(const SolveReport& report) {
    std::vector<std::string> names;
    for (const SolveOutcome& one : report.outcomes) names.push_back(one.preparation.recipe);
    std::string legend = legend_of_marks(names);
    if (legend.empty()) return legend;
    return fmt::format(
        "  {}; restarts compute the residual with a second layout, which has the values in full. set-up has both, solve all "
        "products.\n",
        legend);
}

/// A sentence for each recipe with which the right-hand sides take less one after another.
std::vector<std::string> one_after_another(const SolveReport& report) {
    std::vector<std::string> sentences;
    for (const SolveOutcome& one : report.outcomes) {
        if (!one.solved() || one.alone_solves == 0 || !one.noise().empty()) continue;
        const double together = one.solver_seconds + one.each_seconds();
        const double apart = one.alone_solver_seconds + right_sides_of(one) * one.alone_seconds;
        if (apart * (1 + single_solve_noise) >= together) continue;
        const bool persistent = one.alone_engine == SolveEngine::persistent;
        sentences.push_back(
            fmt::format("{}: {} right-hand sides take {} one after another, with {}, and {} together: solve for one at a time",
                        report.label_of(one), right_sides_of(one), duration(apart),
                        persistent ? "a persistent kernel" : "the kernel " + one.alone_kernel, duration(together)));
    }
    return sentences;
}

/// The speed-up of each recipe over the baseline for a solve of this length.
std::string verdicts(const SolveReport& report) {
    const SolveOutcome* baseline = report.baseline();
    std::string text;
    if (baseline == nullptr || !baseline->solved()) return text;
    for (const SolveOutcome& one : report.outcomes) {
        if (one.baseline || !one.solved()) continue;
        const std::optional<SolveSpeedup> speedup = speedup_of(one, *baseline);
        if (!speedup) continue;
        const std::string noise = speedup->noise ? ", which is within noise" : "";
        if (one.tuned) {
            text += fmt::format("tuned: {} as fast as the baseline, including all trials{}\n", speedup_text(*speedup), noise);
            continue;
        }
        const double ratio = baseline->total_seconds() / one.total_seconds();
        text += fmt::format("{}: {:.2f} x as fast as the baseline with set-up, {} without{}", one.preparation.recipe, ratio,
                            speedup_text(*speedup), noise);
        if (const auto solves = break_even_solves(one, *baseline)) {
            const long long whole = std::llround(std::ceil(*solves));
            text += fmt::format("; it pays after {}{}", speedup->interval ? "" : "about ",
                                counted_with_commas(whole, "such solve"));
        } else if (!speedup->noise && one.solve_seconds < baseline->solve_seconds &&
                   one.each_seconds() >= baseline->each_seconds()) {
            text += fmt::format(
                "; it never pays: bringing b and x takes {} instead of {} in each solve, and its iterations save {}",
                duration(one.vector_seconds), duration(baseline->vector_seconds),
                duration(baseline->solve_seconds - one.solve_seconds));
        }
        if (one.control) text += "; a control: no advice";
        text += against_full(report, one) + '\n';
    }
    return text.empty() ? text : '\n' + text;
}

/// True if one solve takes as long as with the baseline, except for what set-ups differ by from run to run.
bool is_near(const SolveOutcome& one, const SolveOutcome* baseline) {
    if (baseline == nullptr || &one == baseline || !baseline->solved()) return false;
    return baseline->total_seconds() < (1 + single_solve_noise) * one.total_seconds();
}

/// "A for 1 to 3 solves, B from 4 solves on; C takes less from 9 solves on, but within noise".
std::string ranges_of(const SolveReport& report, bool new_values) {
    const std::vector<Advised> advised = advice_of(report, new_values);
    std::string text;
    for (std::size_t i = 0; i < advised.size(); ++i) {
        const auto& [outcome, from] = advised[i];
        text += (i == 0 ? "" : ", ") + report.label_of(*outcome);
        if (i == 0 && is_near(*outcome, report.baseline())) {
            text += fmt::format(" (within {:.0f} % of {})", 100 * single_solve_noise, report.label_of(*report.baseline()));
        }
        if (i + 1 == advised.size()) {
            text += from == 1 ? fmt::format(" for any number of solves with this {}", new_values ? "pattern" : "matrix")
                              : fmt::format(" from {} on", counted_with_commas(from, "solve"));
        } else {
            const long long last = advised[i + 1].from - 1;
            text += last == from ? " for " + counted_with_commas(from, "solve")
                                 : fmt::format(" for {} to {}", with_commas(from), counted_with_commas(last, "solve"));
        }
    }
    if (const auto less = less_within_noise(report, advised.back(), new_values)) {
        text += fmt::format("; {} takes less from {} on, but within noise", report.label_of(*less->outcome),
                            counted_with_commas(less->from, "solve"));
    }
    return text;
}

std::string advice(const SolveReport& report) {
    std::string text;
    for (const std::string& sentence : advice_text(report)) text += (text.empty() ? "\n" : "") + sentence + '\n';
    return text;
}

std::string remarks(const SolveReport& report) {
    std::string text;
    for (const SolveOutcome& one : report.outcomes) {
        const std::string& reason = iterated(one) ? one.reason : one.preparation.kernel.reason;
        if (!reason.empty()) text += fmt::format("  {}: {}: {}\n", report.label_of(one), ending_of(one), reason);
        for (const Trial& trial : one.trials) {
            if (trial.end == Trial::End::failed || trial.end == Trial::End::not_tried) {
                text += fmt::format("  {}: {}: {}\n", trial.recipe, name_of(trial.end), trial.reason);
            }
        }
        for (const std::string& note : one.preparation.notes) {
            text += fmt::format("  {}: note: {}\n", report.label_of(one), note);
        }
    }
    if (report.process_seconds > 0) {
        text += fmt::format("  note: {}\n", note_on_loading(report.process_seconds));
    }
    for (const std::string& note : report.notes) text += fmt::format("  note: {}\n", note);
    for (const std::string& warning : report.warnings) text += fmt::format("  warning: {}\n", warning);
    return text.empty() ? text : '\n' + text;
}

}  // namespace

std::vector<std::string> advice_text(const SolveReport& report) {
    std::vector<std::string> sentences;
    if (const SolveOutcome* baseline = report.baseline(); baseline != nullptr && !baseline->noise().empty()) {
        sentences.push_back(fmt::format("No advice: the times of the baseline are noise ({}). Solve again on an idle machine.",
                                        baseline->noise()));
    } else if (!advice_of(report).empty()) {
        sentences = {"Least time in all: " + ranges_of(report, false),
                     "With new values before each solve: " + ranges_of(report, true)};
    }
    for (std::string& sentence : one_after_another(report)) sentences.push_back(std::move(sentence));
    return sentences;
}

const SolveOutcome* SolveReport::baseline() const {
    for (const SolveOutcome& one : outcomes) {
        if (one.baseline) return &one;
    }
    return nullptr;
}

std::string SolveReport::label_of(const SolveOutcome& one) const {
    const std::string& recipe = one.preparation.recipe;
    const auto has_same = [&](const SolveOutcome& other) { return &other != &one && other.preparation.recipe == recipe; };
    return one.baseline && std::ranges::any_of(outcomes, has_same) ? "the baseline" : recipe;
}

ExitCode exit_code_of(SolveEnd end) {
    switch (end) {
        case SolveEnd::converged: return ExitCode::ok;
        case SolveEnd::iteration_limit: return ExitCode::iteration_limit;
        case SolveEnd::stagnated: return ExitCode::stagnated;
        case SolveEnd::indefinite: return ExitCode::indefinite;
        case SolveEnd::breakdown: return ExitCode::breakdown;
    }
    return ExitCode::ok;
}

ExitCode exit_code_of(const SolveReport& report) {
    ExitCode code = ExitCode::ok;
    const auto note = [&code](ExitCode other) { code = code == ExitCode::ok ? other : code; };
    for (const SolveOutcome& one : report.outcomes) {
        if (one.preparation.kernel.status == KernelOutcome::Status::wrong) return ExitCode::wrong_result;
    }
    for (const SolveOutcome& one : report.outcomes) {
        if (iterated(one)) note(exit_code_of(one.end));
    }
    for (const Failure& failure : report.failures) note(failure.exit_code);
    if (std::none_of(report.outcomes.begin(), report.outcomes.end(), iterated)) note(ExitCode::bad_input);
    return code;
}

std::string solve_text(const SolveReport& report) {
    const MatrixReport& matrix = report.matrix;
    std::string text = fmt::format("{}: {}\n", matrix.source, size_text(matrix.rows, matrix.columns, matrix.nonzeros));
    const bool several = report.options.right_sides > 1;
    const std::string b = several ? fmt::format("{} right-hand sides together", report.options.right_sides) : "b";
    text += fmt::format("{}{}, {}, on {}; {}: {}; tolerance {:g}\n\n", name_of(report.options.method),
                        report.options.jacobi ? " with Jacobi" : "", name_of(report.precision), report.device.name, b,
                        report.right_hand_side, report.options.tolerance);
    if (report.outcomes.empty()) return text;
    return wrapped(text) + residuals_table(report) + '\n' + times_table(report) + right_sides_table(report) +
           trials_table(report) +
           wrapped(legend + std::string(several ? legend_of_right_sides : "") + legend_of_rounding(report) + verdicts(report) +
                   advice(report) + remarks(report));
}

}  // namespace workbench
