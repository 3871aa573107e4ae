#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/system/child.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/suggestion.hpp"
#include "frontends/cli/command_line.hpp"
#include "frontends/cli/commands.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/terminal.hpp"

namespace workbench {
namespace {

int refuse(const std::string& what, ExitCode exit_code) {
    print_error(exit_code == ExitCode::stopped ? what : as_error(what));
    return static_cast<int>(exit_code);
}

/// Reports that standard output could not be written, for example because the disk is full.
int refuse_lost_output() { return refuse("standard output: cannot be written", ExitCode::machine_error); }

int check_output(int exit_code) {
    return exit_code == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) ? refuse_lost_output() : exit_code;
}

int act(const Action& action) {
    try {
        return static_cast<int>(action());
    } catch (...) {
        const Failure failure = current_failure();
        const bool from_stdout = failure.exit_code == ExitCode::program_error && std::ferror(stdout) != 0;
        if (from_stdout) return refuse_lost_output();  // fmt::print throws when stdout's buffer cannot be flushed
        return refuse(failure.text, failure.exit_code);
    }
}

/// In the order of the help text.
constexpr std::array add_each_command{add_run_command,        add_serve_command,   add_choose_command,   add_calibrate_command,
                                      add_solve_command,      add_bench_command,   add_summary_command,  add_judge_command,
                                      add_fetch_command,      add_check_command,   add_compare_command,  add_list_command,
                                      add_explain_command,    add_info_command,    add_spy_command,      add_draw_command,
                                      add_animate_command,    add_storage_command, add_generate_command, add_convert_command,
                                      add_export_command,     add_new_command,     add_cache_command,    add_schema_command,
                                      add_completion_command, add_manual_command};

/// CLI11's message, or for an unknown option one with a suggestion.
std::string message_of(const CLI::App& command, const CLI::ParseError& error) {
    for (const std::string& argument : command.remaining()) {
        if (!argument.starts_with("-")) return fmt::format("unexpected argument '{}'", argument);
        const std::string name = argument.substr(0, argument.find('='));
        std::vector<std::string> known;
        for (const CLI::Option* option : command.get_options()) {
            for (const std::string& each : names_of(*option)) known.push_back(each);
        }
        return fmt::format("unknown option '{}'{}", name, did_you_mean(name, known));
    }
    return error.what();
}

/// Throws if an argument is empty, which no option or file name can be.
void check_not_empty(const CLI::App& app) {
    for (const CLI::App* command : app.get_subcommands()) {
        for (const CLI::Option* option : command->get_options()) {
            for (const std::string& text : option->results()) {
                if (!text.empty()) continue;
                throw CLI::ValidationError(option->get_name(),
                                           fmt::format("found an empty text, expected {}", option->get_type_name()));
            }
        }
    }
}

int refuse_command_line(const CLI::App& app, const CLI::ParseError& error) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    return refuse(fmt::format("{}\nRun 'workbench {}{}--help' for help.", message_of(command, error),
                              chosen.empty() ? "" : command.get_name(), chosen.empty() ? "" : " "),
                  ExitCode::bad_recipe);
}

/// Starts the program again, with the same arguments, so that the threads of OpenMP sleep while they wait, unless the user has
/// decided about that: beside other work, spinning threads make a product take many times as long, and they take the cores from
/// the browser of `serve`. OpenMP reads its settings when a program starts. Child processes inherit the variable.
void restart_with_sleeping_threads(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || setenv("OMP_WAIT_POLICY", "passive", 0) != 0) return;
    std::error_code unknown;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
    if (unknown) return;
    ProcessorsOfPlaces().use();
    (void)execv(program.c_str(), argv);  // returns only if it fails; then threads spin
}

}  // namespace

int run_program(int argc, char** argv) {
    open_standard_descriptors();
    CLI::App app(
        "Prototype, study and teach sparse-matrix formats. A recipe reorders a matrix, stores it in a layout and multiplies "
        "with it.",
        "workbench");
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    Action action;
    for (AddCommand* const add : add_each_command) add(app, action);

    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (!arguments.empty() && arguments.front() == "help") {  // help COMMAND: COMMAND --help
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
    if (arguments.empty()) {
        return refuse(fmt::format("no command; expected one of {}\nRun 'workbench --help' for help.", join(commands)),
                      ExitCode::bad_recipe);
    }
    const std::string& first = arguments.front();
    if (first == "complete") {  // for the scripts of `completion`
        fmt::print("{}", completions(app, {arguments.begin() + 1, arguments.end()}));
        return 0;
    }
    if (!first.starts_with('-') && std::find(commands.begin(), commands.end(), first) == commands.end()) {
        return refuse(fmt::format("unknown command '{}'{}", first, expected_one_of(first, commands)), ExitCode::bad_recipe);
    }
    try {
        std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
        app.parse(arguments);
        check_not_empty(app);
    } catch (const CLI::Success& text) {  // of --help or --version
        return check_output(app.exit(text));
    } catch (const CLI::ParseError& error) {
        return refuse_command_line(app, error);
    }
    restart_with_sleeping_threads(argv);
    end_cleanly_on_signals();
    const int exit_code = act(action);
    if (exit_code == static_cast<int>(ExitCode::ok)) mark_new_files();
    return check_output(exit_code);
}

}  // namespace workbench
