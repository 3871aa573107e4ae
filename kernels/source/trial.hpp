// Trials: untrusted code runs first in a child process, where it may hang, crash or write anywhere. A format runs in a copy of
// the program, because it calls the program's functions; a kernel in the program workbench_trial, because neither CUDA nor
// OpenMP works after a fork. Either way the child writes its verdict into memory that it shares with the program.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace workbench {

enum class TrialKind : std::int32_t {
    none,  // so far, or the child did not come so far
    fine,
    failed,  // text: why
    lacks_memory,
    hung,           // ran longer than the limit
    signal,         // number; fault_address for a memory fault
    exited,         // number: the exit code; the code ended the process itself
    not_loadable,   // text: why
    no_function,    // the file has no function of that name
    refused,        // text; the device failed, not the kernel
    wrote_outside,  // the guards of an array changed
    wrote_inside,   // a read-only array changed
    differs,        // text: products of the same x are not the same
    unwritten,      // text: an element of y that y = A x leaves as it was
};

/// The code may have overwritten any of it.
struct TrialVerdict {
    TrialKind kind = TrialKind::none;
    std::int32_t number = 0;
    std::uint64_t fault_address = 0;
    std::array<char, 256> step{};  // what it was doing
    std::array<char, 4096> text{};
};

/// Cuts a text that is too long.
template <std::size_t size>
void copy_text(std::array<char, size>& to, std::string_view text) {
    to.fill('\0');
    std::copy_n(text.begin(), std::min(text.size(), size - 1), to.begin());
}
template <std::size_t size>
[[nodiscard]] std::string text_of(const std::array<char, size>& text) {
    return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

/// In the child: from now on, a crash or the end of set_timer's time is the verdict, and ends it. `note_fault` is called with
/// the address of a memory fault.
void begin_trial(TrialVerdict& verdict, void (*note_fault)(const void* address) = nullptr);

/// Writes the verdict and ends the child.
[[noreturn]] void conclude(TrialVerdict& verdict, TrialKind kind, std::string_view text = "");

}  // namespace workbench
