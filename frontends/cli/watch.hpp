// run --watch: work that runs again when a file changes.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"

namespace workbench {

/// The time of the last change and the size of each recipe and source file in the folders of some recipes.
class WatchedFiles {
public:
    explicit WatchedFiles(const std::vector<std::string>& recipes);

    /// The name of a file that was changed, added or removed since the last call, or since construction; none if nothing was.
    [[nodiscard]] std::optional<std::string> changed();

private:
    struct Version {
        std::filesystem::file_time_type time;
        std::uintmax_t size = 0;

        friend bool operator==(const Version&, const Version&) = default;
    };
    using Versions = std::map<std::filesystem::path, Version>;

    [[nodiscard]] Versions now() const;

    std::vector<std::filesystem::path> folders_;
    Versions known_;
};

/// Runs `work` in a child process, and again whenever one of the watched files changes; a change during a run counts. Runs
/// until Ctrl-C, which ends a run as usual. In the child, returns what `work` returns. The process must not have threads yet.
[[nodiscard]] ExitCode run_on_changes(const std::vector<std::string>& recipes, const std::function<ExitCode()>& work);

}  // namespace workbench
