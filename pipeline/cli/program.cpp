#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/failure.hpp"
#include "pipeline/contract/suggestion.hpp"

namespace workbench {
namespace {

int refuse(const std::string& what, ExitCode exit_code) {
    // The errors of a recipe are a list whose lines already begin with "error: ".
    const std::string text = (what.starts_with("error: ") ? "" : "error: ") + what + "\n";
    (void)std::fflush(stdout);  // both may go to one file
    // Where this fails, too, the exit code has to do.
    (void)std::fputs(text.c_str(), stderr);
    return static_cast<int>(exit_code);
}

/// Output that could not be written, on a full disk say, is an error.
int refuse_lost_output() { return refuse("standard output: cannot be written", ExitCode::machine_error); }

int act(const Action& action) {
    try {
        return static_cast<int>(action());
    } catch (...) {
        const Failure failure = current_failure();
        const bool from_stdout = failure.exit_code == ExitCode::program_error && std::ferror(stdout) != 0;
        if (from_stdout) return refuse_lost_output();  // fmt::print throws it once its buffer is full
        return refuse(failure.text, failure.exit_code);
    }
}

}  // namespace

int run_program(int argc, char** argv) {
    CLI::App app(
        "Prototype, study and teach sparse-matrix formats: recipes that reorder a matrix, lay it out and multiply with it.",
        "workbench");
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    Action action;
    add_run_command(app, action);
    add_choose_command(app, action);
    add_solve_command(app, action);
    add_bench_command(app, action);
    add_summary_command(app, action);
    add_fetch_command(app, action);
    add_check_command(app, action);
    add_compare_command(app, action);
    add_list_command(app, action);
    add_explain_command(app, action);
    add_info_command(app, action);
    add_spy_command(app, action);
    add_draw_command(app, action);
    add_animate_command(app, action);
    add_storage_command(app, action);
    add_generate_command(app, action);
    add_convert_command(app, action);
    add_export_command(app, action);
    add_cache_command(app, action);
    add_completion_command(app, action);
    add_manual_command(app, action);
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
    if (argc > 1 && argv[1][0] != '-' && std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
        return refuse(fmt::format("unknown command '{}'{}", argv[1], expected_one_of(argv[1], commands)), ExitCode::bad_recipe);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::CallForVersion& version) {
        return app.exit(version);
    } catch (const CLI::ParseError& error) {
        return refuse(
            fmt::format("{}\nRun 'workbench --help' or 'workbench COMMAND --help' for what is accepted.", error.what()),
            ExitCode::bad_recipe);
    }
    const int exit_code = act(action);
    if (exit_code == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) return refuse_lost_output();
    return exit_code;
}

}  // namespace workbench
