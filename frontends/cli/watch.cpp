#include "frontends/cli/watch.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "core/system/child.hpp"
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
        {
            Child child(ChildOptions{.gets_signals = true});
            if (child.inside()) return work();
            const int signal = child.wait().signal;
            if (child.was_signalled()) return ExitCode::stopped;  // the run may have ended without noticing
            if (signal != 0) print_error(fmt::format("error: the run was killed by signal {}", signal));
        }
        print_error("waiting for a recipe or source to be saved; Ctrl-C ends this");
        std::optional<std::string> changed;
        while (!(changed = files.changed())) std::this_thread::sleep_for(watch_interval);
        print_error(fmt::format("\n{} was saved", *changed));
    }
}

}  // namespace workbench
