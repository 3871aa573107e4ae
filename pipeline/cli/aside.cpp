#include "pipeline/cli/aside.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace workbench {

PrintsAside::PrintsAside() : output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
    (void)std::fflush(stdout);
    if (output_ >= 0) (void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

PrintsAside::~PrintsAside() {
    if (output_ < 0) return;
    (void)std::fflush(stdout);
    (void)dup2(output_, STDOUT_FILENO);
    (void)close(output_);
}

}  // namespace workbench
