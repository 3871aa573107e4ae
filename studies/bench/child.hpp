// A child process whose crash leaves this program running.
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
    int signal = 0;  // 0: it was not killed

    /// "exit code 3", "killed by signal 9 (Killed)".
    [[nodiscard]] std::string text() const;
};

/// Runs until it ends or this object is destroyed. The terminal's Ctrl-C does not reach it, it dies with this program, and the
/// kernel's out-of-memory killer picks it first.
class Child {
public:
    /// Discards standard output and writes standard error to the file `errors`. Throws MachineError if fork fails.
    Child(const std::vector<std::string>& command, const std::filesystem::path& errors);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// nullopt while it runs.
    [[nodiscard]] std::optional<Ending> ending();
    void kill();

private:
    pid_t process_ = -1;
    std::optional<Ending> ending_;
};

}  // namespace workbench
