#include "frontends/cli/interruption.hpp"

#include <unistd.h>

#include <string_view>

#include "core/contract/failure.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {
namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t signal_arrived = 0;

void end_with(int signal) {
    remove_partial_files();
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal);
}

void stop_or_end(int signal) {
    if (signal_arrived != 0) return end_with(signal);
    signal_arrived = 1;
    constexpr std::string_view text = "\nstopping at the next step; Ctrl-C again ends the program at once\n";
    (void)(write(STDERR_FILENO, text.data(), text.size()) < 0);
}

void handle(int signal, void (*handler)(int), struct sigaction& before) {
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;
    (void)sigaction(signal, &action, nullptr);
}

}  // namespace

void end_cleanly_on_signals() {
    struct sigaction before {};
    for (const int signal : ending_signals) handle(signal, end_with, before);
}

Interruption::Interruption() {
    signal_arrived = 0;
    for (std::size_t i = 0; i < ending_signals.size(); ++i) handle(ending_signals.at(i), stop_or_end, before_.at(i));
}

Interruption::~Interruption() {
    for (std::size_t i = 0; i < ending_signals.size(); ++i) (void)sigaction(ending_signals.at(i), &before_.at(i), nullptr);
    signal_arrived = 0;
}

bool Interruption::requested() { return signal_arrived != 0; }

void stop_if_requested() {
    if (signal_arrived != 0) throw Stopped("stopped");
}

}  // namespace workbench
