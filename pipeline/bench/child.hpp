// Another program that runs beside this one, and cannot take it down.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// How a program ended.
struct Ending {
    int exit_code = 0;
    int signal = 0;  // 0: it ended by itself

    /// "exit code 3", "killed by signal 9 (Killed)".
    [[nodiscard]] std::string text() const;
};

/// Runs until it ends or this does. It is out of the reach of the terminal's Ctrl-C, ends with this program however that ends,
/// and is the first that a machine short of memory kills.
class Child {
public:
    /// Standard output goes nowhere, standard error into a file. Throws MachineError where it cannot be started.
    Child(const std::vector<std::string>& command, const std::filesystem::path& errors);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// None while it runs.
    [[nodiscard]] std::optional<Ending> ending();
    void kill();

private:
    pid_t process_ = -1;
    std::optional<Ending> ending_;
};

}  // namespace workbench
