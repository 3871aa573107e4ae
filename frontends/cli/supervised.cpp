#include "frontends/cli/supervised.hpp"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/system/child.hpp"
#include "pipeline/measure/timing.hpp"

namespace workbench {
namespace {

constexpr char begin_mark = 'B';
constexpr char end_mark = 'E';
constexpr char loss_mark = 'L';

// A child sets these for its crash handler, which may only read plain variables and write to files.
int notes_file = -1;
thread_local const char* note_of_thread = nullptr;

/// Reports the note of the crashing thread as the beginning of a step, and lets the signal end the process.
void report_crash(int signal, siginfo_t*, void*) {
    if (const char* const note = note_of_thread; note != nullptr) {
        constexpr std::string_view head = "B60 ";
        (void)!write(notes_file, head.data(), head.size());
        (void)!write(notes_file, note, std::char_traits<char>::length(note));
        (void)!write(notes_file, "\n", 1);
    }
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal);
}

/// How a child ended, and the step in which it was lost.
struct ChildCourse {
    Ending ending = {};
    std::optional<std::string> step;
    std::string reason = {};  // if the step was lost
    bool gave_up = false;     // the child reported the loss itself
};

/// Follows a child to its end.
class Follower {
public:
    Follower(Child& child, const StepRecorder& recorder) : child_(child), recorder_(recorder) {}

    ChildCourse follow() {
        constexpr int poll_milliseconds = 20;
        ChildCourse course;
        for (std::string received; child_.receive(received, poll_milliseconds);) {
            take_lines(received);
            if (!step_ || since_begin_.seconds() <= limit_ || !course.reason.empty()) continue;
            course.reason = fmt::format("did not end within {:.3g} s", limit_);
            child_.kill();
        }
        course.ending = child_.wait();
        course.step = step_;
        course.gave_up = loss_.has_value();
        if (course.reason.empty()) course.reason = loss_.value_or(course.ending.text());
        return course;
    }

private:
    void take_lines(std::string& received) {
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos; begin = end + 1) {
            take(std::string_view(received).substr(begin, end - begin));
        }
        received.erase(0, begin);
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

    Child& child_;
    const StepRecorder& recorder_;
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
    if (!send_all(connection_, message)) throw MachineError("the search cannot report to its parent process");
}

ExitCode supervised(const std::function<ExitCode(const Steps&)>& work, const StepRecorder& recorder) {
    std::set<std::string> lost;
    while (true) {
        Child child(ChildOptions{.connected = true, .gets_signals = true});
        if (child.inside()) {
            notes_file = child.connection();
            catch_crashes(report_crash);
            return work(Steps(child.connection()));
        }
        const ChildCourse course = Follower(child, recorder).follow();
        if (course.ending.signal == 0 && !course.gave_up) return static_cast<ExitCode>(course.ending.exit_code);
        if (!course.step || !lost.insert(*course.step).second) {
            const bool is_ending = course.reason == course.ending.text();
            throw MachineError("the search ended: " + (is_ending ? course.ending.text_of_loss() : course.reason));
        }
        recorder.lost(*course.step, course.reason);
    }
}

}  // namespace workbench
