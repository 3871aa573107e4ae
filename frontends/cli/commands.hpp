// The subcommands of the program.
#pragma once

#include <functional>

#include "core/contract/errors.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Parsing stores the chosen command's action here; it returns the exit code and throws UserErrors.
using Action = std::function<ExitCode()>;

/// Adds a subcommand with its options to the program.
using AddCommand = void(CLI::App& program, Action& action);

AddCommand add_run_command, add_serve_command, add_choose_command, add_calibrate_command, add_solve_command, add_bench_command,
    add_summary_command, add_judge_command, add_fetch_command, add_check_command, add_compare_command, add_list_command,
    add_explain_command, add_info_command, add_spy_command, add_draw_command, add_animate_command, add_storage_command,
    add_generate_command, add_convert_command, add_export_command, add_new_command, add_cache_command, add_schema_command,
    add_completion_command, add_manual_command;

/// Parses the command line, runs the command, and prints errors. Returns the exit code.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace workbench
