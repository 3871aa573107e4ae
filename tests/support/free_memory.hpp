// Tests of refusals because of insufficient memory.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace workbench {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A figure of /proc/self/status in bytes: VmRSS, or VmHWM, which is the maximum of VmRSS so far.
std::size_t memory_figure(const std::string& name);

/// The increase of the resident memory during the work.
template <typename Work>
std::size_t memory_taken(const Work& work) {
    std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
    const std::size_t before = memory_figure("VmHWM");
    work();
    return memory_figure("VmHWM") - before;
}

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool memory_is_ours = false;  // the sanitizer keeps freed memory
#else
inline constexpr bool memory_is_ours = true;
#endif

/// While an object exists, exactly this much memory counts as free.
class FreeMemory {
public:
    explicit FreeMemory(std::size_t bytes);
    ~FreeMemory();
    FreeMemory(const FreeMemory&) = delete;
    FreeMemory& operator=(const FreeMemory&) = delete;
};

}  // namespace workbench
