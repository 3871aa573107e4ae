// workbench_trial FILE_DESCRIPTOR: runs one product of an untrusted kernel (kernels/source/trial.hpp). Only the workbench
// starts it.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/source/trial/trial.hpp"

namespace workbench {
namespace {

TrialPlan* plan_of_handler = nullptr;  // a global, because signal handlers cannot be passed data

void handle(int signal, siginfo_t* about, void*) {
    TrialPlan& plan = *plan_of_handler;
    plan.signal = signal;
    plan.fault_address = signal == SIGSEGV || signal == SIGBUS ? reinterpret_cast<std::uint64_t>(about->si_addr) : 0;
    plan.verdict = signal == SIGALRM ? TrialVerdict::hung : TrialVerdict::signal;
    _exit(0);
}

void watch_signals() {
    // The handler needs its own stack in case the kernel overflows its stack.
    static std::array<char, 65536> own_stack;
    stack_t stack{};
    stack.ss_sp = own_stack.data();
    stack.ss_size = own_stack.size();
    (void)sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) (void)sigaction(signal, &action, nullptr);
}

void set_timer(double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds)));
    (void)setitimer(ITIMER_REAL, &timer, nullptr);
}

int run(int argc, char** argv) {
    if (argc != 2) {
        (void)std::fputs("workbench_trial is started by the workbench\n", stderr);
        return 2;
    }
    const int file = std::atoi(argv[1]);
    void* const head = mmap(nullptr, sizeof(TrialPlan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (head == MAP_FAILED) return 2;
    TrialPlan& plan = *static_cast<TrialPlan*>(head);
    const void* const bytes = mmap(nullptr, plan.file_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return 2;
    const rlimit no_core{};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    plan_of_handler = &plan;
    watch_signals();
    const MappedTrial trial{plan, file, static_cast<const unsigned char*>(bytes)};
    if (plan.on_gpu) try_on_gpu(trial);
    try_on_host(trial);
}

}  // namespace

void conclude(TrialPlan& plan, TrialVerdict verdict, const char* text) {
    set_timer(0);
    (void)std::fflush(stdout);  // what the kernel printed, which _exit would lose
    std::strncpy(plan.text.data(), text, plan.text.size() - 1);
    plan.verdict = verdict;
    _exit(0);
}

void start_product(TrialPlan& plan, bool accumulating) {
    plan.accumulating = accumulating;
    set_timer(std::max(plan.limit_seconds, 1e-3));
}

void end_product() { set_timer(0); }

}  // namespace workbench

int main(int argc, char** argv) { return workbench::run(argc, argv); }
