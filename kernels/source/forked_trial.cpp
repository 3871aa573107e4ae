#include "kernels/source/forked_trial.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <new>
#include <thread>

#include "core/contract/errors.hpp"
#include "core/matrix/trial_process.hpp"
#include "core/system/process.hpp"

namespace workbench {
namespace {

struct NamedArray {
    const void* begin = nullptr;
    std::array<char, 64> name{};
};

/// In memory that the child shares with its parent.
struct SharedVerdict {
    bool done = false;
    TrialEnd::Kind kind = TrialEnd::Kind::exited;
    int number = 0;
    long long bytes_behind = -1;
    std::array<char, 256> step{};
    std::array<char, 4096> text{};
    std::array<char, 64> array{};
    std::array<NamedArray, 64> names{};
    std::size_t name_count = 0;
};

template <std::size_t size>
void copy_text(std::array<char, size>& to, const std::string& text) {
    const std::size_t count = std::min(text.size(), size - 1);
    std::memcpy(to.data(), text.data(), count);
    to[count] = '\0';
}

class SharedMemory {
public:
    SharedMemory() {
        void* const memory = mmap(nullptr, sizeof(SharedVerdict), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw MachineError(fmt::format("no memory for a trial: {}", std::strerror(errno)));
        verdict_ = new (memory) SharedVerdict;
    }
    ~SharedMemory() { (void)munmap(verdict_, sizeof(SharedVerdict)); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    [[nodiscard]] SharedVerdict& get() const { return *verdict_; }

private:
    SharedVerdict* verdict_;
};

SharedVerdict* verdict_of_handler = nullptr;  // a global, because signal handlers cannot be passed data

void handle(int signal, siginfo_t* about, void*) {
    SharedVerdict& verdict = *verdict_of_handler;
    verdict.kind = signal == SIGALRM ? TrialEnd::Kind::hung : TrialEnd::Kind::signal;
    verdict.number = signal;
    if (signal == SIGSEGV || signal == SIGBUS) {
        const TrialArrayPlace array = trial_array_before(about->si_addr);
        if (array.begin != nullptr) {
            verdict.bytes_behind =
                static_cast<const char*>(about->si_addr) - (static_cast<const char*>(array.begin) + array.bytes);
            for (std::size_t i = 0; i < verdict.name_count; ++i) {
                if (verdict.names[i].begin == array.begin) verdict.array = verdict.names[i].name;
            }
        }
    }
    verdict.done = true;
    _exit(0);
}

void watch_signals(double limit_seconds) {
    // The handler needs its own stack in case the code overflows its stack.
    static std::array<char, 65536> own_stack;
    stack_t stack{};
    stack.ss_sp = own_stack.data();
    stack.ss_size = own_stack.size();
    (void)sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) (void)sigaction(signal, &action, nullptr);
    (void)std::signal(SIGXFSZ, SIG_IGN);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(limit_seconds);
    timer.it_value.tv_usec =
        std::max<suseconds_t>(1, static_cast<suseconds_t>(1e6 * (limit_seconds - std::floor(limit_seconds))));
    (void)setitimer(ITIMER_REAL, &timer, nullptr);
}

class Steps final : public TrialSteps {
public:
    explicit Steps(SharedVerdict& verdict) : verdict_(verdict) {}
    void begin(const std::string& step) override { copy_text(verdict_.step, step); }
    void name_array(const void* begin, const std::string& name) override {
        if (verdict_.name_count == verdict_.names.size()) return;
        NamedArray& array = verdict_.names[verdict_.name_count++];
        array.begin = begin;
        copy_text(array.name, name);
    }

private:
    SharedVerdict& verdict_;
};

[[noreturn]] void run_child(SharedVerdict& verdict, int output, double limit_seconds,
                            const std::function<void(TrialSteps&)>& work) {
    (void)setpgid(0, 0);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    const rlimit no_core{};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    const rlimit printed{most_printed_bytes, most_printed_bytes};
    (void)setrlimit(RLIMIT_FSIZE, &printed);
    enter_trial_process();
    verdict_of_handler = &verdict;
    watch_signals(limit_seconds);
    const auto fail = [&](TrialEnd::Kind kind, const char* text) {
        copy_text(verdict.text, text);
        verdict.kind = kind;
    };
    verdict.kind = TrialEnd::Kind::exited;
    try {
        Steps steps(verdict);
        work(steps);
        verdict.kind = TrialEnd::Kind::fine;
    } catch (const std::bad_alloc&) {
        fail(TrialEnd::Kind::lacks_memory, "");
    } catch (const std::exception& error) {
        fail(TrialEnd::Kind::failed, error.what());
    } catch (...) {
        fail(TrialEnd::Kind::failed, "it throws something that is not a std::exception");
    }
    verdict.done = true;
    (void)std::fflush(nullptr);
    _exit(0);
}

/// Waits, and ends the child and its children some seconds after the limit at which the child ends itself.
int wait_for_child(pid_t child, double limit_seconds) {
    using Clock = std::chrono::steady_clock;
    const auto limit =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_seconds + 5));
    std::chrono::microseconds pause(100);
    int status = 0;
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) break;
        if (Clock::now() > limit) (void)kill(-child, SIGKILL);
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::microseconds(5000));
    }
    (void)kill(-child, SIGKILL);
    return status;
}

void print_output(int output) {
    std::array<char, most_printed_bytes> bytes{};
    const ssize_t count = pread(output, bytes.data(), bytes.size(), 0);
    if (count <= 0) return;
    (void)(write(STDERR_FILENO, bytes.data(), static_cast<std::size_t>(count)) < 0);
    if (static_cast<std::size_t>(count) < most_printed_bytes) return;
    const std::string cut = fmt::format("\n... the output is cut after {} bytes\n", most_printed_bytes);
    (void)(write(STDERR_FILENO, cut.data(), cut.size()) < 0);
}

}  // namespace

TrialEnd run_in_child(double limit_seconds, const std::function<void(TrialSteps&)>& work) {
    const SharedMemory shared;
    SharedVerdict& verdict = shared.get();
    const int output = memfd_create("workbench trial", MFD_CLOEXEC);
    if (output < 0) throw MachineError(fmt::format("no file for the output of a trial: {}", std::strerror(errno)));
    (void)std::fflush(nullptr);  // otherwise the child would also print it
    const pid_t child = fork();
    if (child < 0) {
        (void)close(output);
        throw MachineError(fmt::format("no process for a trial: {}", std::strerror(errno)));
    }
    if (child == 0) run_child(verdict, output, limit_seconds, work);
    const int status = wait_for_child(child, limit_seconds);
    print_output(output);
    (void)close(output);
    TrialEnd end{.kind = verdict.kind,
                 .step = verdict.step.data(),
                 .text = verdict.text.data(),
                 .number = verdict.number,
                 .array = verdict.array.data(),
                 .bytes_behind = verdict.bytes_behind};
    if (verdict.done) return end;
    end.kind = WIFSIGNALED(status) ? TrialEnd::Kind::signal : TrialEnd::Kind::exited;
    end.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return end;
}

std::string in_words(const TrialEnd& end, double limit_seconds) {
    const auto what = [&]() -> std::string {
        switch (end.kind) {
            case TrialEnd::Kind::fine: return "";
            case TrialEnd::Kind::failed: return end.text;
            case TrialEnd::Kind::lacks_memory: return "memory runs out";
            case TrialEnd::Kind::hung: return fmt::format("it does not end within {} s", limit_seconds);
            case TrialEnd::Kind::exited: return fmt::format("it ends the program, with exit code {}", end.number);
            case TrialEnd::Kind::signal: break;
        }
        if (end.bytes_behind >= 0) {
            return fmt::format("it reads or writes behind the end of {}, by {} bytes",
                               end.array.empty() ? "an array" : end.array, end.bytes_behind);
        }
        return fmt::format("it ends with a signal: {}", strsignal(end.number));
    }();
    return what.empty() || end.step.empty() ? what : fmt::format("{}: {}", end.step, what);
}

}  // namespace workbench
