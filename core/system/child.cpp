#include "core/system/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"

namespace workbench {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

sigset_t set_of_ending_signals() {
    sigset_t set;
    (void)sigemptyset(&set);
    for (const int signal : ending_signals) (void)sigaddset(&set, signal);
    return set;
}

void print(std::string_view text) { (void)(write(STDERR_FILENO, text.data(), text.size()) < 0); }

/// Returns an opened file. Throws MachineError for -1.
int require_open(int file, const std::string& what) {
    if (file < 0) throw MachineError(fmt::format("{}: {}", what, std::strerror(errno)));
    return file;
}

/// The environment of this process, with variables "NAME=VALUE" instead of those of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& others) {
    std::vector<std::string> all = others;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view one = *variable;
        const std::string_view name = one.substr(0, one.find('=') + 1);
        const auto replaces = [&](const std::string& other) { return other.starts_with(name); };
        if (std::none_of(others.begin(), others.end(), replaces)) all.emplace_back(one);
    }
    return all;
}

/// As exec takes them, with a null pointer at the end.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

void close_if_open(int file) {
    if (file >= 0) (void)close(file);
}

}  // namespace

/// The files of a new child, with the ends of this process; -1: none, or those of this process. The destructor closes them.
class Child::Streams {
public:
    explicit Streams(const ChildOptions& options) {
        open_standard_descriptors();
        if (options.connected) {
            const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, connection.data());
            (void)require_open(made, "no connection to a child process");
        }
        if (options.output == ChildOutput::shared) return;
        nowhere = require_open(open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null");
        if (options.output == ChildOutput::errors) {
            errors = require_open(open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), options.file);
        } else if (options.output != ChildOutput::nowhere) {
            (void)require_open(pipe2(printed.data(), O_CLOEXEC), "no pipe for the output of a child process");
            (void)fcntl(printed[0], F_SETFL, O_NONBLOCK);
        }
    }
    ~Streams() {
        for (const int file : {nowhere, errors, printed[0], printed[1], connection[0], connection[1]}) close_if_open(file);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// The first steps of the child. All functions are async-signal-safe, as the parent may have threads.
    void enter(bool keeps_handlers) const {
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);  // it ended before prctl
        if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
            (void)(write(score, "1000", 4) < 0);
            (void)close(score);
        }
        if (nowhere >= 0) {
            const int output = printed[1] >= 0 ? printed[1] : nowhere;
            (void)dup2(nowhere, STDIN_FILENO);
            (void)dup2(output, STDOUT_FILENO);
            (void)dup2(errors >= 0 ? errors : output, STDERR_FILENO);
        }
        if (!keeps_handlers) {
            for (const int signal : ending_signals) (void)std::signal(signal, SIG_DFL);
        }
        sigset_t none;
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, nullptr);
    }

    /// Starts a program with an environment. Returns errno if that fails, otherwise 0. vfork does not copy the page tables of
    /// large matrices: until the program is loaded, the child uses the memory of this process, which waits.
    int run(char* const* arguments, char* const* variables, const char* folder, pid_t& process) const {
        const ProcessorsOfPlaces processors;
        volatile int error = 0;
        sigset_t all;
        sigset_t before;
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of this process may run in the child
        process = vfork();                                  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
        if (process == 0) {
            enter(false);      // NOLINT(clang-analyzer-unix.Vfork)
            processors.use();  // NOLINT(clang-analyzer-unix.Vfork)
            if (*folder == '\0' || chdir(folder) == 0) (void)execvpe(arguments[0], arguments, variables);
            error = errno;
            _exit(127);
        }
        if (process < 0) error = errno;
        (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return error;
    }

    pid_t parent = getpid();
    int nowhere = -1;  // -1: the standard descriptors stay
    int errors = -1;
    std::array<int, 2> printed{-1, -1};
    std::array<int, 2> connection{-1, -1};  // here, there
};

std::string Ending::text() const {
    if (!not_started.empty()) return "not started: " + not_started;
    if (signal == 0) return fmt::format("exit code {}", exit_code);
    return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
}

std::string Ending::text_of_loss() const {
    return text() + (signal == SIGKILL ? ": the machine may have run out of memory" : "");
}

Child::Child(const std::vector<std::string>& command, const ChildOptions& options)
    : prints_(options.output == ChildOutput::printed) {
    std::vector<std::string> words = command;
    std::vector<std::string> variables = environment_with(options.environment);
    Streams streams(options);
    const int error = streams.run(pointers_to(words).data(), pointers_to(variables).data(), options.folder.c_str(), process_);
    if (process_ < 0) throw MachineError(fmt::format("{}: cannot be started ({})", command.front(), std::strerror(error)));
    take_over(streams);
    if (error != 0) end_.not_started = std::strerror(error);
}

Child::Child(const ChildOptions& options)
    : prints_(options.output == ChildOutput::printed), gets_signals_(options.gets_signals) {
    Streams streams(options);
    const sigset_t signals = set_of_ending_signals();
    if (gets_signals_) (void)pthread_sigmask(SIG_BLOCK, &signals, &signals_before_);
    (void)std::fflush(nullptr);  // otherwise the copy would print it, too
    process_ = fork();
    if (process_ < 0) {
        const int error = errno;
        if (gets_signals_) (void)pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
        throw MachineError(fmt::format("cannot start a child process ({})", std::strerror(error)));
    }
    if (process_ == 0) {
        streams.enter(gets_signals_);
        connection_ = std::exchange(streams.connection[1], -1);
    } else {
        (void)setpgid(process_, process_);  // it may not have done so yet
        take_over(streams);
    }
}

void Child::take_over(Streams& streams) {
    connection_ = std::exchange(streams.connection[0], -1);
    output_ = std::exchange(streams.printed[0], -1);
}

Child::~Child() {
    if (inside()) return;
    if (!has_ended_) {
        kill();
        (void)reap();
    }
    close_if_open(connection_);
    close_if_open(output_);
    if (gets_signals_) (void)pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

void Child::pass_signals() {
    if (!gets_signals_ || has_ended_) return;
    constexpr timespec now{0, 0};
    const sigset_t signals = set_of_ending_signals();
    for (int signal = 0; (signal = sigtimedwait(&signals, nullptr, &now)) > 0; was_signalled_ = true) {
        (void)::kill(process_, signal);
    }
}

bool Child::receive(std::string& to, int milliseconds) {
    pollfd ready{connection_, POLLIN, 0};
    const int count = poll(&ready, 1, milliseconds);
    pass_signals();
    if (count <= 0) return true;
    std::array<char, 65536> buffer{};
    const ssize_t received = recv(connection_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (received < 0) return errno == EINTR || errno == EAGAIN;
    to.append(buffer.data(), static_cast<std::size_t>(received));
    return received > 0;
}

/// Takes what is in the pipe, which holds at most as much as one read takes.
void Child::take_output() {
    std::array<char, 65536> bytes{};
    const ssize_t count = output_ < 0 ? 0 : read(output_, bytes.data(), bytes.size());
    if (count <= 0) return;
    const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
    if (!prints_) {
        end_.output += text;
        if (end_.output.size() > most_printed_bytes) end_.output.erase(0, end_.output.size() - most_printed_bytes);
        return;
    }
    print(text.substr(0, left_to_print_));
    const bool is_first_cut = text.size() > left_to_print_ && !is_cut_;
    if (is_first_cut) print(fmt::format("\n... the output is cut after {} bytes\n", most_printed_bytes));
    is_cut_ = is_cut_ || is_first_cut;
    left_to_print_ -= std::min(left_to_print_, text.size());
    end_.printed = true;
}

std::optional<Ending> Child::ending() {
    if (has_ended_) return end_;
    pass_signals();
    siginfo_t ended{};  // not reaped yet, so that the ids of the process and its group stay valid
    const int result = waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (result == 0 && ended.si_pid == 0) return std::nullopt;
    return reap();
}

Ending Child::reap() {
    kill();  // the children that it left running, too
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    take_output();
    if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    has_ended_ = true;
    return end_;
}

Ending Child::wait(double limit_seconds) {
    const auto begin = std::chrono::steady_clock::now();
    std::chrono::microseconds pause(100);
    for (;;) {
        if (const auto end = ending()) return *end;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (passed.count() > limit_seconds) {
            end_.too_long = true;
            kill();
            return reap();
        }
        if (output_ < 0) {
            std::this_thread::sleep_for(pause);
        } else {
            pollfd readable{output_, POLLIN, 0};
            const timespec time{0, static_cast<long>(pause.count()) * 1000};
            if (ppoll(&readable, 1, &time, nullptr) > 0) take_output();
        }
        pause = std::min(2 * pause, std::chrono::microseconds(20000));
    }
}

void Child::kill() const {
    if (!has_ended_) (void)::kill(-process_, SIGKILL);
}

bool send_all(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

void open_standard_descriptors() {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(file, F_GETFD) >= 0) continue;
        // The lowest number that is free. It cannot be read or written, so that a lost output is noticed.
        (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

}  // namespace workbench
