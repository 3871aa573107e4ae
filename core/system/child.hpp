// Child processes: programs, and copies of this one, with a time limit, a connection, signals and what is left of them.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// The bytes of a child's output that are printed or returned; the rest is left out.
inline constexpr std::size_t most_printed_bytes = std::size_t{1} << 14;

/// Where a child's standard output and standard error go. Unless they are shared, its standard input is empty.
enum class ChildOutput {
    shared,  // where those of this process go
    nowhere,
    printed,   // to the standard error of this process, the first most_printed_bytes
    returned,  // to Ending::output, the last most_printed_bytes
    errors     // standard error to a file, standard output nowhere
};

struct ChildOptions {
    ChildOutput output = ChildOutput::shared;
    std::filesystem::path file = {};            // for ChildOutput::errors
    std::filesystem::path folder = {};          // the current folder of a program; empty: that of this process
    std::vector<std::string> environment = {};  // of a program: "NAME=VALUE", instead of or besides those of this process
    bool connected = false;                     // to this process: Child::connection
    bool gets_signals = false;  // a copy: SIGINT, SIGTERM and SIGHUP, which this process passes on instead of ending
};

/// How a child ended.
struct Ending {
    std::string not_started = {};  // why; empty: it ran
    bool too_long = false;         // and was killed
    int exit_code = -1;            // -1: a signal ended it; 127: it was not started
    int signal = 0;
    std::string output = {};  // for ChildOutput::returned
    bool printed = false;     // something, for ChildOutput::printed

    /// "exit code 3", "killed by signal 9 (Killed)".
    [[nodiscard]] std::string text() const;
    /// Like text(), with the likely cause; for a child that this program did not kill.
    [[nodiscard]] std::string text_of_loss() const;
};

/// A child in a process group of its own: the terminal's Ctrl-C does not reach it, and its children end with it. It dies with
/// this program, and the kernel's out-of-memory killer picks it first. Its standard descriptors are open. The destructor ends
/// it.
class Child {
public:
    /// Runs a program, whose name is searched on PATH. Throws MachineError if no process can be created.
    explicit Child(const std::vector<std::string>& command, const ChildOptions& options = {});
    /// Copies this process: both go on behind this call, the copy with one thread. Throws MachineError likewise.
    explicit Child(const ChildOptions& options);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// True in the copy, which may call nothing else than connection.
    [[nodiscard]] bool inside() const { return process_ == 0; }

    /// This process's end of a socket to the other process. -1: not connected.
    [[nodiscard]] int connection() const { return connection_; }
    /// Waits at most this long (-1: without limit) for bytes of the child, and appends them. False once it closed its end.
    [[nodiscard]] bool receive(std::string& to, int milliseconds);

    /// nullopt while it runs.
    [[nodiscard]] std::optional<Ending> ending();
    /// Waits for its end, and kills it at the limit.
    Ending wait(double limit_seconds = std::numeric_limits<double>::infinity());
    void kill() const;

    /// A signal was passed on to it.
    [[nodiscard]] bool was_signalled() const { return was_signalled_; }

private:
    class Streams;

    void take_over(Streams& streams);
    void pass_signals();
    void take_output();
    Ending reap();

    pid_t process_ = -1;  // 0: this process is the copy
    int connection_ = -1;
    int output_ = -1;      // of the pipe of what it prints; -1: none
    bool prints_ = false;  // what is in the pipe
    std::size_t left_to_print_ = most_printed_bytes;
    bool is_cut_ = false;
    bool gets_signals_ = false;
    bool was_signalled_ = false;
    sigset_t signals_before_{};
    Ending end_;  // so far
    bool has_ended_ = false;
};

/// False if the other end of the connection was closed.
[[nodiscard]] bool send_all(int connection, std::string_view bytes);

/// Opens the standard descriptors that are closed, so that no file gets their numbers. Using them fails as before.
void open_standard_descriptors();

/// In a child: the handler of crashes and of set_timer. For this thread it has a stack of its own.
using CrashHandler = void (*)(int signal, siginfo_t* about, void* context);
void catch_crashes(CrashHandler handler);

/// SIGALRM after this time; 0: none.
void set_timer(double seconds);

}  // namespace workbench
