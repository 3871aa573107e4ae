// Ctrl-C: work stops at the next step and keeps what is done; a second Ctrl-C ends the program at once. Unfinished files
// are removed.
#pragma once

#include <array>
#include <csignal>

namespace workbench {

/// From now on, SIGINT, SIGTERM and SIGHUP remove unfinished files before they end the program. Ignored signals stay ignored.
void end_cleanly_on_signals();

/// While it lives, the first of these signals only sets a flag. A second one ends the program, without unfinished files.
class Interruption {
public:
    Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    ~Interruption();

    /// Returns true if a signal has arrived.
    [[nodiscard]] static bool requested();

private:
    std::array<struct sigaction, 3> before_{};
};

/// Throws Stopped if a signal has arrived during the life of an Interruption.
void stop_if_requested();

}  // namespace workbench
