// The subcommands of the program. Each function adds one, with its options, to the command line.
#pragma once

#include <functional>

#include "pipeline/contract/errors.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Parsing stores the chosen command's action here; it returns the exit code and throws UserErrors.
using Action = std::function<ExitCode()>;

void add_run_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_choose_command(CLI::App& app, Action& action);
void add_solve_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_summary_command(CLI::App& app, Action& action);
void add_fetch_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_info_command(CLI::App& app, Action& action);
void add_draw_command(CLI::App& app, Action& action);
void add_animate_command(CLI::App& app, Action& action);
void add_spy_command(CLI::App& app, Action& action);
void add_storage_command(CLI::App& app, Action& action);
void add_generate_command(CLI::App& app, Action& action);
void add_convert_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_cache_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);
void add_manual_command(CLI::App& app, Action& action);

/// Parses the command line, runs the command, and prints errors. Returns the exit code.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace workbench
