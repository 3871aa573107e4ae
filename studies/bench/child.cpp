#include "studies/bench/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

/// The child's side of fork: calls only async-signal-safe functions, as the parent may have had threads.
[[noreturn]] void become(char* const* arguments, const char* errors, pid_t parent) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent ended before prctl
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
        (void)(write(score, "1000", 4) < 0);
        close(score);
    }
    const int nowhere = open("/dev/null", O_RDWR);
    const int file = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (nowhere < 0 || file < 0) _exit(127);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(file, STDERR_FILENO);
    execv(arguments[0], arguments);
    _exit(127);
}

pid_t start(std::vector<std::string> command, const std::filesystem::path& errors) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) become(arguments.data(), errors.c_str(), parent);
    if (child < 0) throw MachineError(fmt::format("{}: cannot be started ({})", command.front(), std::strerror(errno)));
    return child;
}

}  // namespace

std::string Ending::text() const {
    if (signal == 0) return fmt::format("exit code {}", exit_code);
    return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
}

Child::Child(const std::vector<std::string>& command, const std::filesystem::path& errors) : process_(start(command, errors)) {}

Child::~Child() {
    if (ending_) return;
    kill();
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
}

std::optional<Ending> Child::ending() {
    int status = 0;
    if (!ending_ && waitpid(process_, &status, WNOHANG) == process_) {
        ending_ = WIFSIGNALED(status) ? Ending{0, WTERMSIG(status)} : Ending{WEXITSTATUS(status), 0};
    }
    return ending_;
}

void Child::kill() {
    if (ending_) return;
    (void)::kill(-process_, SIGKILL);  // its process group
    (void)::kill(process_, SIGKILL);   // in case it has not yet called setpgid
}

}  // namespace workbench
