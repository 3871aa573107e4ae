#include "frontends/cli/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace workbench {

Progress::Progress() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (on_terminal_) (void)std::fputs("\r\033[K", stderr);
}

void Progress::show(const std::string& step) const {
    if (on_terminal_) (void)std::fputs(fmt::format("\r\033[K  {} ...", printable(step)).c_str(), stderr);
}

StdoutToStderr::StdoutToStderr() : output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
    (void)std::fflush(stdout);
    if (output_ >= 0) (void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

StdoutToStderr::~StdoutToStderr() {
    if (output_ < 0) return;
    (void)std::fflush(stdout);
    (void)dup2(output_, STDOUT_FILENO);
    (void)close(output_);
}

std::string as_error(const std::string& what) { return (what.starts_with("error: ") ? "" : "error: ") + what; }

void print_error(const std::string& line) {
    (void)std::fflush(stdout);
    (void)std::fputs((printable(line) + '\n').c_str(), stderr);
}

}  // namespace workbench
