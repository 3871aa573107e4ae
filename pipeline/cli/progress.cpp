#include "pipeline/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace workbench {

Progress::Progress() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (on_terminal_) (void)std::fputs("\r\033[K", stderr);
}

void Progress::show(const std::string& step) const {
    if (on_terminal_) (void)std::fputs(fmt::format("\r\033[K  {} ...", step).c_str(), stderr);
}

}  // namespace workbench
