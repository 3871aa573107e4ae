// Another program: started without a shell, waited for, ended where it takes too long.
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

/// Runs `command`, whose first word is looked for on PATH. All that it prints goes to the file `output`; where that is empty,
/// to standard error. What it has started itself ends with it.
[[nodiscard]] ProcessEnd run_process(const std::vector<std::string>& command, double limit_seconds,
                                     const std::filesystem::path& output = {});

/// Is there such a program on PATH, or at this path?
[[nodiscard]] bool program_exists(const std::string& name);

/// A folder of its own among the temporary files, removed with all that is in it. Throws MachineError where none can be made.
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
