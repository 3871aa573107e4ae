// Also part of the program that tries kernels (kernels/source/trial), which has no other file of this room.
#include <sys/time.h>

#include <array>
#include <cmath>

#include "core/system/child.hpp"

namespace workbench {

void catch_crashes(CrashHandler handler) {
    // Needed in case the stack overflows.
    static std::array<char, 65536> own_stack;
    stack_t stack{};
    stack.ss_sp = own_stack.data();
    stack.ss_size = own_stack.size();
    (void)sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) (void)sigaction(signal, &action, nullptr);
}

void set_timer(double seconds) {
    constexpr long million = 1'000'000;
    const long microseconds = std::lround(std::ceil(seconds * million));
    itimerval timer{};
    timer.it_value = {microseconds / million, microseconds % million};
    (void)setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace workbench
