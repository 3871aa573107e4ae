// workbench serve: a page in which a recipe is edited and runs again after each change.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/system/compile.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/drawn_stages.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "frontends/serve/serve.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/recipe/document.hpp"
#include "pipeline/report/pictures.hpp"

namespace workbench {
namespace {

/// True if a value of the recipe, such as parts = "auto", depends on the device.
bool depends_on_device(const Recipe& recipe) {
    return recipe.device.empty() && std::any_of(recipe.stages.begin(), recipe.stages.end(), [](const RecipeStage& stage) {
               const auto& values = stage.parameters.values();
               return std::any_of(values.begin(), values.end(),
                                  [](const auto& value) { return value.second == ParameterValue(std::string("auto")); });
           });
}

/// Size and time of a file, which show whether it has changed.
using FileStamp = std::pair<std::uintmax_t, std::filesystem::file_time_type>;

std::optional<FileStamp> stamp_of(const MatrixChoice& choice) {
    const auto* const file = std::get_if<MatrixFile>(&choice.from);
    std::error_code unknown;
    if (file == nullptr) return std::nullopt;
    return FileStamp{std::filesystem::file_size(file->path, unknown), std::filesystem::last_write_time(file->path, unknown)};
}

struct ServedState {
    KokkosRuntime kokkos;
    std::unique_ptr<Device> host = make_host_device();
    std::unique_ptr<Device> gpu = {};  // null: not yet needed, or none
    std::string note = {};             // why there is none

    // The last run had these settings and this matrix.
    bool timed = false;
    bool used_gpu = false;
    MatrixChoice choice = {};
    std::optional<FileStamp> stamp = {};
    CsrMatrix matrix = {};
    MatrixReport facts = {};
    std::optional<Runner> runner = {};  // none before the matrix is read

    /// Reads the matrix, unless the last run had the same matrix and options.
    void prepare(const MeasuringArguments& arguments, const Recipe& recipe, bool is_timed) {
        RunOptions options = options_of(arguments);
        if (!is_timed) options.backends.clear();
        const bool uses_gpu = is_timed || depends_on_device(recipe);
        if (uses_gpu && gpu == nullptr) {
            // Starting CUDA takes longer than most runs, so that runs without a GPU must not wait for it.
            gpu = is_timed ? gpu_for(arguments, options, note) : make_cuda_device();
        }
        const std::optional<FileStamp> now = stamp_of(recipe.matrix);
        if (runner && recipe.matrix == choice && now == stamp && timed == is_timed && used_gpu == uses_gpu) return;
        runner.reset();
        std::tie(matrix, facts) = load_matrix(recipe.matrix);
        choice = recipe.matrix;
        stamp = now;
        timed = is_timed;
        used_gpu = uses_gpu;
        runner.emplace(matrix, catalogue(), Devices{*host, uses_gpu ? gpu.get() : nullptr}, options);
        runner->keep_all_stages();
    }
};

/// Runs one recipe after another in this process. Stages that a recipe has in common with the one before, from the first stage
/// on, and the matrix are kept from that run.
class ServedReports {
public:
    explicit ServedReports(const MeasuringArguments& arguments) : arguments_(arguments) {}

    /// The data of the page of a recipe (PageFile::data), without files. `timed`: with its kernels. `go_on` is called between
    /// steps and may throw, which ends the run. Throws UserError. Starts Kokkos, which must not run yet, in the first call.
    [[nodiscard]] std::string page_of(const Recipe& recipe, bool timed, const std::function<void()>& go_on);

private:
    const MeasuringArguments& arguments_;
    std::optional<ServedState> state_;  // none before the first call
};

std::string ServedReports::page_of(const Recipe& recipe, bool timed, const std::function<void()>& go_on) {
    ServedState& state = state_ ? *state_ : state_.emplace();
    state.prepare(arguments_, recipe, timed);
    go_on();
    std::vector<std::shared_ptr<const PagePattern>> patterns;
    RunObserver observer;
    observer.progress = [&go_on](const std::string&) { go_on(); };
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome& outcome) {
        const bool is_input = patterns.empty();
        patterns.push_back(
            page_pattern(staged, is_input ? page_places(recipe.matrix, staged.matrix, true) : std::vector<Point>{}));
        outcome.attached = std::make_shared<const StagePage>(StagePage{{}, {}, patterns.back()});
    };
    observer.stage_shared = [&patterns](const StageOutcome& outcome) {
        patterns.push_back(workbench::page_of(outcome)->pattern);
    };
    observer.maps_storage = true;
    RunReport report;
    state.runner->run(recipe, observer, report);
    report.matrix = state.facts;
    add_provenance(report, *state.host, state.gpu != nullptr);
    if (!state.note.empty()) report.notes.push_back(state.note);
    if (!timed) std::erase(report.notes, no_kernel_of(recipe));
    const std::array runs{PageRun{report, std::move(patterns), slice_height_of(recipe)}};
    return page_data(runs, {.title = report.title(), .kind = "run", .command = ""});
}

struct ServeArguments : MeasuringArguments {
    std::vector<std::string> files;
    int port = 0;
    double limit = 60;
};

/// The recipe of a lesson: the first that its commands name.
std::filesystem::path recipe_of_lesson(const std::filesystem::path& lesson, const std::string& text) {
    constexpr std::string_view ending = ".toml)";
    const std::size_t end = text.find(ending, std::min(text.find("**Commands.**"), text.size()));
    const std::size_t begin = end == std::string::npos ? end : text.rfind("](", end);
    if (begin == std::string::npos) {
        throw RecipeError(fmt::format(
            "{}: found no link to a recipe after \"**Commands.**\"; expected a lesson, as in docs/lessons", lesson.string()));
    }
    return (lesson.parent_path() / text.substr(begin + 2, end + ending.size() - 1 - begin - 2)).lexically_normal();
}

/// What the page begins with if no file is named: a recipe, and the lessons of the current folder.
std::vector<std::string> usual_files() {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator("docs/lessons", none)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".md") && name.front() >= '0' && name.front() <= '9') files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    const std::string recipe = "recipes/rcm_sell.toml";
    if (!fs::is_regular_file(find_recipe(recipe), none)) {
        throw RecipeError("no recipes are installed, and the current folder has no recipes/; name a recipe to begin with");
    }
    files.insert(files.begin(), recipe);
    return files;
}

LiveFile live_file(const std::string& name) {
    if (!name.ends_with(".md")) {
        const std::filesystem::path file = find_recipe(name);
        return {file, read_recipe_file(file)};
    }
    const std::string lesson = read_recipe_file(name, "lesson");
    const std::filesystem::path file = recipe_of_lesson(name, lesson);
    return {file, read_recipe_file(file), lesson, name};
}

/// The folder whose files the page may read: the current one, or the smallest one with all given recipes and lessons if one of
/// them is elsewhere; that of the first recipe if this would be all of the file system.
std::filesystem::path served_folder(const std::vector<LiveFile>& files, const std::vector<std::string>& names) {
    namespace fs = std::filesystem;
    std::vector<fs::path> given;
    for (std::size_t i = 0; i < files.size(); ++i) {
        given.push_back(files[i].file);
        if (!files[i].lesson.empty()) given.emplace_back(names[i]);
    }
    const auto has_all = [&](const fs::path& folder) {
        return std::ranges::all_of(given, [&](const fs::path& one) { return is_in_folder(one, folder); });
    };
    const fs::path first = fs::absolute(files.front().file).lexically_normal().parent_path();
    fs::path folder = has_all(fs::current_path()) ? fs::current_path() : first;
    while (folder.has_relative_path() && !has_all(folder)) folder = folder.parent_path();
    return folder.has_relative_path() ? folder : first;
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
    std::vector<LiveFile> files;
    const std::vector<std::string> names = arguments.files.empty() ? usual_files() : arguments.files;
    for (const std::string& name : names) files.push_back(live_file(name));
    const std::string first = arguments.files.empty() ? "The page" : files.front().file.string();
    const std::filesystem::path folder = served_folder(files, names);
    ServedReports reports(arguments);  // its state is that of the child process
    LiveSettings settings{.files = std::move(files),
                          .folder = folder,
                          .catalogue = catalogue(),
                          .page = [&reports](const Recipe& recipe, bool timed,
                                             const GoOn& go_on) { return reports.page_of(recipe, timed, go_on); },
                          .can_time = !arguments.backends.empty(),
                          .begins = arguments.files.empty(),
                          .limit_seconds = arguments.limit};
    check_finite("--limit", arguments.limit);
    const EndingSignals signals;
    // The address of a port that the user has chosen remains the same, so that an open page goes on after a restart of the
    // server.
    const std::string token =
        arguments.port == 0 ? random_token() : kept_token(cache_folder() / fmt::format("serve-{}", arguments.port));
    const LiveServer server(std::move(settings), arguments.port, token);
    print_text("{} is at {}\nCtrl-C ends the server.\n", first, server.address());
    (void)std::fflush(stdout);
    signals.wait();
    return ExitCode::ok;
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "serve", "Edit a recipe in a browser; its stages run again after each change", serve);
    command
        .add_option("recipe", arguments.files,
                    "Recipes, or lessons (.md), to begin with; they are not changed (default: the page asks)")
        ->type_name("RECIPE");
    add_number(command, "--port", arguments.port, Range{0, 65535, "PORT"},
               "Port on 127.0.0.1, whose address then stays the same; 0: any free one");
    add_number(command, "--limit", arguments.limit, Range{0.1, 3600.0, "SECONDS"}, "Longest time of a run");
    add_measuring_options(command, arguments);
}

}  // namespace workbench
