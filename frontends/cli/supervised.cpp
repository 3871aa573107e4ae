#include "frontends/cli/supervised.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "pipeline/measure/timing.hpp"
#include "studies/bench/child.hpp"

namespace workbench {
namespace {

constexpr char begin_mark = 'B';
constexpr char end_mark = 'E';
constexpr char loss_mark = 'L';

// A child sets these for its crash handler, which may only read plain variables and write to files.
int notes_pipe = -1;
thread_local const char* note_of_thread = nullptr;

/// Reports the note of the crashing thread as the beginning of a step, and lets the signal end the process.
void report_crash(int signal) {
    if (const char* const note = note_of_thread; note != nullptr) {
        constexpr std::string_view head = "B60 ";
        (void)!write(notes_pipe, head.data(), head.size());
        (void)!write(notes_pipe, note, std::char_traits<char>::length(note));
        (void)!write(notes_pipe, "\n", 1);
    }
    (void)raise(signal);  // its usual action is in force again
}

void handle_crashes(int pipe) {
    notes_pipe = pipe;
    struct sigaction action {};
    action.sa_handler = report_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) (void)sigaction(signal, &action, nullptr);
}

/// While it lives, signals that end the program wait to be passed on to the child.
class HeldSignals {
public:
    HeldSignals() {
        sigemptyset(&held_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held_, signal);
        (void)sigprocmask(SIG_BLOCK, &held_, &before_);
    }
    ~HeldSignals() { release(); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    void release() const { (void)sigprocmask(SIG_SETMASK, &before_, nullptr); }
    void pass_on(pid_t child) const {
        constexpr timespec now{0, 0};
        for (int signal = 0; (signal = sigtimedwait(&held_, nullptr, &now)) > 0;) (void)kill(child, signal);
    }

private:
    sigset_t held_{};
    sigset_t before_{};
};

/// How a child ended, and the step in which it was lost.
struct Course {
    Ending ending = {};
    std::optional<std::string> step;
    std::string reason = {};  // if the step was lost
    bool gave_up = false;     // the child reported the loss itself
};

/// Follows a child to its end.
class Follower {
public:
    Follower(pid_t child, int pipe, const StepRecorder& recorder) : child_(child), pipe_(pipe), recorder_(recorder) {}

    Course follow(const HeldSignals& signals) {
        constexpr int poll_milliseconds = 20;
        Course course;
        for (bool open = true; open;) {
            pollfd ready{pipe_, POLLIN, 0};
            if (poll(&ready, 1, poll_milliseconds) > 0) open = read_some();
            signals.pass_on(child_);
            if (!step_ || since_begin_.seconds() <= limit_ || !course.reason.empty()) continue;
            course.reason = fmt::format("did not end within {:.3g} s", limit_);
            (void)kill(-child_, SIGKILL);
            (void)kill(child_, SIGKILL);
        }
        int status = 0;
        while (waitpid(child_, &status, WNOHANG) == 0) {
            signals.pass_on(child_);
            constexpr timespec pause{0, 5'000'000};
            (void)nanosleep(&pause, nullptr);
        }
        course.ending = WIFSIGNALED(status) ? Ending{0, WTERMSIG(status)} : Ending{WEXITSTATUS(status), 0};
        course.step = step_;
        course.gave_up = loss_.has_value();
        if (course.reason.empty()) course.reason = loss_.value_or(course.ending.text());
        return course;
    }

private:
    /// False at the end of the pipe.
    bool read_some() {
        std::array<char, 65536> buffer{};
        const ssize_t count = read(pipe_, buffer.data(), buffer.size());
        if (count < 0) return errno == EINTR;
        if (count == 0) return false;
        received_.append(buffer.data(), static_cast<std::size_t>(count));
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = received_.find('\n', begin)) != std::string::npos; begin = end + 1) {
            take(std::string_view(received_).substr(begin, end - begin));
        }
        received_.erase(0, begin);
        return true;
    }

    void take(std::string_view message) {
        const std::string_view text = message.substr(1);
        if (message.front() == end_mark) {
            step_.reset();
            recorder_.ended(std::string(text));
            return;
        }
        if (message.front() == loss_mark) {
            loss_ = std::string(text);
            return;
        }
        const std::size_t blank = text.find(' ');
        (void)std::from_chars(text.data(), text.data() + blank, limit_);
        step_ = std::string(text.substr(blank + 1));
        since_begin_ = Stopwatch();
    }

    pid_t child_;
    int pipe_;
    const StepRecorder& recorder_;
    std::string received_;
    std::optional<std::string> step_;
    std::optional<std::string> loss_;
    double limit_ = 0;
    Stopwatch since_begin_;
};

}  // namespace

void Steps::begin(const std::string& step, double limit_seconds) const {
    send(fmt::format("{}{:.6f} {}\n", begin_mark, limit_seconds, step));
}

void Steps::end(const std::string& result) const { send(end_mark + result + '\n'); }

void Steps::lose(const std::string& reason) const { send(loss_mark + reason + '\n'); }

void Steps::note(const char* text) { note_of_thread = text; }

void Steps::send(const std::string& message) const {
    std::string_view rest = message;
    while (!rest.empty()) {
        const ssize_t written = write(pipe_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) throw MachineError("the search cannot report to its parent process");
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

ExitCode supervised(const std::function<ExitCode(const Steps&)>& work, const StepRecorder& recorder) {
    std::set<std::string> lost;
    while (true) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw MachineError("cannot create a pipe");
        const HeldSignals signals;
        (void)std::fflush(nullptr);
        const pid_t parent = getpid();
        const pid_t child = fork();
        if (child < 0) throw MachineError("cannot start a child process");
        if (child == 0) {
            (void)setpgid(0, 0);
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(127);  // the parent ended before prctl
            (void)close(ends[0]);
            signals.release();
            handle_crashes(ends[1]);
            return work(Steps(ends[1]));
        }
        (void)close(ends[1]);
        const Course course = Follower(child, ends[0], recorder).follow(signals);
        (void)close(ends[0]);
        if (course.ending.signal == 0 && !course.gave_up) return static_cast<ExitCode>(course.ending.exit_code);
        if (!course.step || !lost.insert(*course.step).second) {
            const bool was_killed = course.ending.signal == SIGKILL && course.reason == course.ending.text();
            throw MachineError(fmt::format("the search ended: {}{}", course.reason,
                                           was_killed ? ": the machine may have run out of memory" : ""));
        }
        recorder.lost(*course.step, course.reason);
    }
}

}  // namespace workbench
