// What programs and code beside a recipe need: the look-up of a name, a folder, an output that is discarded.
#pragma once

#include <array>
#include <filesystem>
#include <string>

namespace workbench {

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
