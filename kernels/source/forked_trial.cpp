#include "kernels/source/forked_trial.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/trial_process.hpp"
#include "pipeline/process/child.hpp"

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

[[noreturn]] void run_child(SharedVerdict& verdict, double limit_seconds, const std::function<void(TrialSteps&)>& work) {
    const rlimit no_core{};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    enter_trial_process();
    verdict_of_handler = &verdict;
    catch_crashes(handle);
    set_timer(limit_seconds);
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
        fail(TrialEnd::Kind::failed, "it throws something that is no std::exception");
    }
    verdict.done = true;
    (void)std::fflush(nullptr);
    _exit(0);
}

}  // namespace

TrialEnd run_in_child(double limit_seconds, const std::function<void(TrialSteps&)>& work) {
    const SharedMemory shared;
    SharedVerdict& verdict = shared.get();
    Child child(ChildOptions{.output = ChildOutput::printed});
    if (child.inside()) run_child(verdict, limit_seconds, work);
    constexpr double grace_seconds = 5;  // for the child to end itself at the limit
    const Ending ending = child.wait(limit_seconds + grace_seconds);
    TrialEnd end{.kind = verdict.kind,
                 .step = verdict.step.data(),
                 .text = verdict.text.data(),
                 .number = verdict.number,
                 .array = verdict.array.data(),
                 .bytes_behind = verdict.bytes_behind};
    if (verdict.done) return end;
    end.kind = ending.signal != 0 ? TrialEnd::Kind::signal : TrialEnd::Kind::exited;
    end.number = ending.signal != 0 ? ending.signal : ending.exit_code;
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
