#include "frontends/cli/watch.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"

namespace workbench {
namespace {

constexpr std::chrono::milliseconds watch_interval{100};

/// Results, such as those of --json, have other extensions; a run that saw its own results would never end.
bool is_watched(const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 9> extensions{".toml", ".hpp", ".h", ".cpp", ".cc", ".cu", ".cuh", ".py", ".sh"};
    return !file.filename().string().starts_with('.') &&
           std::find(extensions.begin(), extensions.end(), file.extension().string()) != extensions.end();
}

volatile std::sig_atomic_t interrupted = 0;

void note_interruption(int) { interrupted = 1; }

/// True in the child that runs the work; otherwise `status` is how it ended.
bool run_in_copy(int& status) {
    (void)std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw MachineError("cannot start a child process");
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(static_cast<int>(ExitCode::stopped));
        return true;
    }
    // Ctrl-C also reaches the child, which decides how it ends.
    struct sigaction noted {};
    noted.sa_handler = note_interruption;
    struct sigaction before {};
    (void)sigaction(SIGINT, &noted, &before);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    (void)sigaction(SIGINT, &before, nullptr);
    return false;
}

}  // namespace

WatchedFiles::WatchedFiles(const std::vector<std::string>& recipes) {
    for (const std::string& recipe : recipes) {
        const std::filesystem::path folder = std::filesystem::absolute(find_recipe(recipe)).parent_path();
        if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end()) folders_.push_back(folder);
    }
    known_ = now();
}

WatchedFiles::Versions WatchedFiles::now() const {
    Versions versions;
    for (const std::filesystem::path& folder : folders_) {
        std::error_code problem;
        for (std::filesystem::directory_iterator at(folder, problem); !problem && at != std::filesystem::directory_iterator();
             at.increment(problem)) {
            if (!is_watched(at->path())) continue;
            std::error_code gone;
            const Version version{at->last_write_time(gone), at->file_size(gone)};
            if (!gone) versions.emplace(at->path(), version);
        }
    }
    return versions;
}

std::optional<std::string> WatchedFiles::changed() {
    Versions next = now();
    std::optional<std::string> name;
    for (const auto& [file, version] : next) {
        const auto known = known_.find(file);
        if (known == known_.end() || !(known->second == version)) name = file.filename().string();
    }
    for (const auto& [file, version] : known_) {
        if (!name && !next.contains(file)) name = file.filename().string();
    }
    known_ = std::move(next);
    return name;
}

ExitCode run_on_changes(const std::vector<std::string>& recipes, const std::function<ExitCode()>& work) {
    WatchedFiles files(recipes);
    while (true) {
        int status = 0;
        if (run_in_copy(status)) return work();
        if (interrupted != 0) return ExitCode::stopped;  // the run may have ended without noticing
        if (WIFSIGNALED(status)) print_error(fmt::format("error: the run was killed by signal {}", WTERMSIG(status)));
        print_error("waiting for a recipe or source to be saved; Ctrl-C ends this");
        std::optional<std::string> changed;
        while (!(changed = files.changed())) std::this_thread::sleep_for(watch_interval);
        print_error(fmt::format("\n{} was saved", *changed));
    }
}

}  // namespace workbench
