#include "core/system/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/contract/errors.hpp"

namespace workbench {

NoOutput::NoOutput() : kept_{fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)} {
    static const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)std::fflush(stdout);
    if (kept_[0] >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    if (kept_[1] >= 0) (void)dup2(nowhere, STDERR_FILENO);
}

NoOutput::~NoOutput() {
    (void)std::fflush(stdout);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        if (kept_[i] < 0) continue;
        (void)dup2(kept_[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
        (void)close(kept_[i]);
    }
}

bool program_exists(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!name.empty() && access((folder + "/" + name).c_str(), X_OK) == 0) return true;
    }
    return false;
}

WorkFolder::WorkFolder() {
    std::error_code failure;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
    std::string name = (failure ? std::filesystem::path("/tmp") : temporary).string() + "/workbench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        throw MachineError(fmt::format("no folder for temporary files: {}: {}", name, std::strerror(errno)));
    }
    path_ = name;
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace workbench
