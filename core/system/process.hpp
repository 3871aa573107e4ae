// Starts another program without a shell, waits for it and ends it at a time limit.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

/// The bytes of a program's output that are printed or returned; the rest is left out.
inline constexpr std::size_t most_printed_bytes = std::size_t{1} << 14;

enum class ProcessOutput {
    printed,  // to standard error, the first most_printed_bytes
    written,  // to a file
    returned  // in ProcessEnd::output, the last most_printed_bytes
};

struct ProcessOptions {
    double limit_seconds = 0;
    ProcessOutput output = ProcessOutput::printed;  // of standard output and standard error
    std::filesystem::path file = {};                // for ProcessOutput::written
    std::filesystem::path folder = {};              // the current folder of the program; empty: that of this process
};

struct ProcessEnd {
    std::string not_started;  // why; empty: it ran
    bool too_long = false;    // and was killed
    int exit_code = -1;       // -1: a signal ended it
    int signal = 0;
    std::string output;    // for ProcessOutput::returned
    bool printed = false;  // something that was printed here
};

/// Runs `command`, whose first word is searched on PATH. Its child processes end with it.
[[nodiscard]] ProcessEnd run_process(const std::vector<std::string>& command, const ProcessOptions& options);

/// While it lives, everything that this process prints is discarded.
class NoOutput {
public:
    NoOutput();
    ~NoOutput();
    NoOutput(const NoOutput&) = delete;
    NoOutput& operator=(const NoOutput&) = delete;

private:
    std::array<int, 2> kept_;  // copies of standard output and standard error; negative if they are closed
};

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
