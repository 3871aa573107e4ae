#include "pipeline/cli/progress.hpp"

#include <unistd.h>

#include <fmt/format.h>

namespace workbench {

Progress::Progress() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (on_terminal_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(const std::string& step) const {
    if (on_terminal_) fmt::print(stderr, "\r\033[K  {} ...", step);
}

}  // namespace workbench
