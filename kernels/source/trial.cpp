// Also part of workbench_trial.
#include "kernels/source/trial.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "core/system/child.hpp"

namespace workbench {
namespace {

// Globals, because signal handlers cannot be passed data.
TrialVerdict* verdict_of_handler = nullptr;
void (*note_fault_of_handler)(const void* address) = nullptr;

void handle(int signal, siginfo_t* about, void*) {
    TrialVerdict& verdict = *verdict_of_handler;
    verdict.number = signal;
    if (signal == SIGSEGV || signal == SIGBUS) {
        verdict.fault_address = reinterpret_cast<std::uint64_t>(about->si_addr);
        if (note_fault_of_handler != nullptr) note_fault_of_handler(about->si_addr);
    }
    verdict.kind = signal == SIGALRM ? TrialKind::hung : TrialKind::signal;
    _exit(0);
}

}  // namespace

void begin_trial(TrialVerdict& verdict, void (*note_fault)(const void* address)) {
    const rlimit no_core{};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    verdict_of_handler = &verdict;
    note_fault_of_handler = note_fault;
    catch_crashes(handle);
}

void conclude(TrialVerdict& verdict, TrialKind kind, std::string_view text) {
    set_timer(0);
    (void)std::fflush(nullptr);  // what the code printed, which _exit would lose
    copy_text(verdict.text, text);
    verdict.kind = kind;
    _exit(0);
}

}  // namespace workbench
