#include "pipeline/serve/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "pipeline/contract/failure.hpp"

namespace workbench {
namespace {

constexpr char done_mark = '+';
constexpr char failed_mark = '-';

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

/// The child: connections and the listening socket are closed, so that clients see the server's end of them.
[[noreturn]] void work_in_child(const std::function<std::string()>& work, int pipe, pid_t parent) {
    (void)setpgid(0, 0);  // the terminal's Ctrl-C does not reach it
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(signal, SIG_DFL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, nullptr);  // the server's threads block these signals
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)dup2(nowhere, standard);
    constexpr int result = 3;
    if (pipe != result) (void)dup2(pipe, result);
    (void)close_range(result + 1, ~0U, 0);
    std::string text;
    try {
        text = done_mark + work();
    } catch (...) {
        text = failed_mark + current_failure().text;
    }
    write_all(result, text);
    _exit(0);
}

/// A child process and the pipe with its result. The destructor ends it.
class WorkingChild {
public:
    WorkingChild(const std::function<std::string()>& work, std::mutex& forking) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw MachineError("cannot create a pipe");
        const pid_t parent = getpid();
        {
            const std::scoped_lock lock(forking);
            child_ = fork();
        }
        if (child_ == 0) work_in_child(work, ends[1], parent);
        (void)close(ends[1]);
        pipe_ = ends[0];
        if (child_ > 0) return;
        (void)close(pipe_);
        throw MachineError(fmt::format("cannot start a child process ({})", std::strerror(errno)));
    }
    ~WorkingChild() {
        (void)kill(-child_, SIGKILL);
        (void)kill(child_, SIGKILL);  // in case it has not yet called setpgid
        (void)close(pipe_);
        if (!ended_) (void)wait_for_end();
    }
    WorkingChild(const WorkingChild&) = delete;
    WorkingChild& operator=(const WorkingChild&) = delete;

    /// Reads what is there, and waits for it up to a few milliseconds. Returns false after the end of the result.
    bool read_some() {
        constexpr int poll_milliseconds = 10;
        pollfd ready{pipe_, POLLIN, 0};
        if (poll(&ready, 1, poll_milliseconds) <= 0) return true;
        std::array<char, 65536> buffer{};
        const ssize_t count = read(pipe_, buffer.data(), buffer.size());
        if (count < 0) return errno == EINTR;
        text_.append(buffer.data(), static_cast<std::size_t>(count));
        return count > 0;
    }

    [[nodiscard]] WorkResult result() {
        const int status = wait_for_end();
        ended_ = true;
        if (WIFSIGNALED(status)) {
            const int signal = WTERMSIG(status);
            return {WorkResult::End::lost, fmt::format("killed by signal {} ({}){}", signal, strsignal(signal),
                                                       signal == SIGKILL ? ": the machine may have run out of memory" : "")};
        }
        if (text_.empty()) return {WorkResult::End::lost, fmt::format("exit code {}", WEXITSTATUS(status))};
        const bool done = text_.front() == done_mark;
        return {done ? WorkResult::End::done : WorkResult::End::failed, text_.substr(1)};
    }

private:
    [[nodiscard]] int wait_for_end() const {
        int status = 0;
        while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
        return status;
    }

    pid_t child_ = -1;
    int pipe_ = -1;
    bool ended_ = false;
    std::string text_;
};

}  // namespace

WorkResult Worker::run(const std::function<std::string()>& work, double limit_seconds, const std::function<bool()>& wanted) {
    using End = WorkResult::End;
    const long number = ++newest_;
    if (stopped_) return {End::unwanted};
    const auto begin = std::chrono::steady_clock::now();
    WorkingChild child(work, forking_);
    while (child.read_some()) {
        if (stopped_ || !wanted()) return {End::unwanted};
        if (newest_ != number) return {End::replaced};
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (passed.count() > limit_seconds) return {End::too_long};
    }
    return child.result();
}

void Worker::stop() { stopped_ = true; }

}  // namespace workbench
