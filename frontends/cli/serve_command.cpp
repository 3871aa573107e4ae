// workbench serve: a page in which a recipe is edited and runs again after each change.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/system/compile.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/served_report.hpp"
#include "frontends/cli/terminal.hpp"
#include "frontends/serve/serve.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/document.hpp"

namespace workbench {
namespace {

struct ServeArguments : MeasuringArguments {
    std::string recipe;
    int port = 0;
    double limit = 60;
};

/// The folder whose files the page may read: the current one, or that of a recipe elsewhere.
std::filesystem::path served_folder(const std::filesystem::path& recipe) {
    const std::filesystem::path current = std::filesystem::current_path();
    return is_in_folder(recipe, current) ? current : std::filesystem::absolute(recipe).parent_path();
}

/// While it lives, signals that end the program wait in all threads that begin later, until `wait` takes one.
class EndingSignals {
public:
    EndingSignals() {
        sigemptyset(&signals_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
        (void)pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    }
    ~EndingSignals() { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    EndingSignals(const EndingSignals&) = delete;
    EndingSignals& operator=(const EndingSignals&) = delete;

    void wait() const {
        int signal = 0;
        while (sigwait(&signals_, &signal) != 0) continue;
    }

private:
    sigset_t signals_{};
    sigset_t before_{};
};

ExitCode serve(const ServeArguments& arguments) {
    check_thread_variables();
    const std::filesystem::path file = find_recipe(arguments.recipe);
    ServedReports reports(arguments);  // its state is that of the child process
    LiveSettings settings{.file = file,
                          .text = read_recipe_file(file),
                          .folder = served_folder(file),
                          .catalogue = catalogue(),
                          .page = [&reports](const Recipe& recipe, bool timed,
                                             const GoOn& go_on) { return reports.page_of(recipe, timed, go_on); },
                          .can_time = !arguments.backends.empty(),
                          .limit_seconds = arguments.limit};
    check_finite("--limit", arguments.limit);
    const EndingSignals signals;
    // The address of a port that the user has chosen remains the same, so that an open page goes on after a restart of the
    // server.
    const std::string token =
        arguments.port == 0 ? random_token() : kept_token(cache_folder() / fmt::format("serve-{}", arguments.port));
    const LiveServer server(std::move(settings), arguments.port, token);
    print_text("{} is at {}\nCtrl-C ends the server.\n", file.string(), server.address());
    (void)std::fflush(stdout);
    signals.wait();
    return ExitCode::ok;
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "serve", "Edit a recipe in a browser; its stages run again after each change", serve);
    command.add_option("recipe", arguments.recipe, "Recipe file to begin with; it is not changed")
        ->required()
        ->type_name("RECIPE");
    add_number(command, "--port", arguments.port, Range{0, 65535, "PORT"},
               "Port on 127.0.0.1, whose address then stays the same; 0: any free one");
    add_number(command, "--limit", arguments.limit, Range{0.1, 3600.0, "SECONDS"}, "Longest time of a run");
    add_measuring_options(command, arguments);
}

}  // namespace workbench
