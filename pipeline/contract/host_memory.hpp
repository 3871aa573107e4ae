// How much memory the host has.
#pragma once

#include <cstddef>

namespace workbench {

/// Bytes of physical memory.
[[nodiscard]] std::size_t host_memory();

/// Bytes that can still be used without swapping, also under a limit on the process's control group.
/// Asked before large arrays are made, because an overcommitted allocation succeeds and is killed later.
[[nodiscard]] std::size_t free_host_memory();

}  // namespace workbench
