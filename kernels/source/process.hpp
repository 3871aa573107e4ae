// Starts another program without a shell, waits for it and ends it at a time limit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

struct ProcessEnd {
    std::string not_started;  // why; empty: it ran
    bool too_long = false;    // and was killed
    int exit_code = -1;       // -1: a signal ended it
    int signal = 0;
};

/// The bytes of a program's output that are printed; the rest is left out.
inline constexpr std::size_t most_printed_bytes = std::size_t{1} << 14;

/// Runs `command`, whose first word is searched on PATH. Its output goes to the file `output`, or, up to most_printed_bytes, to
/// standard error if `output` is empty. Its child processes end with it.
[[nodiscard]] ProcessEnd run_process(const std::vector<std::string>& command, double limit_seconds,
                                     const std::filesystem::path& output = {});

/// True if the program exists on PATH or at this path.
[[nodiscard]] bool program_exists(const std::string& name);

/// A new temporary folder that the destructor removes with its contents. Throws MachineError if it cannot be created.
class WorkFolder {
public:
    WorkFolder();
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace workbench
