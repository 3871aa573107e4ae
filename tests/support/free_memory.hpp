// Tests of what is refused for want of memory.
#pragma once

#include <cstddef>
#include <string>

namespace workbench {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A figure of /proc/self/status in bytes: VmRSS, or VmHWM, the most that VmRSS ever was.
std::size_t memory_figure(const std::string& name);

/// While it lives, so much memory is free and no more.
class FreeMemory {
public:
    explicit FreeMemory(std::size_t bytes);
    ~FreeMemory();
    FreeMemory(const FreeMemory&) = delete;
    FreeMemory& operator=(const FreeMemory&) = delete;
};

}  // namespace workbench
