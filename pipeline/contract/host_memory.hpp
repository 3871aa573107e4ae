// How much memory the host has.
#pragma once

#include <cstddef>
#include <string_view>

namespace workbench {

/// Bytes of physical memory.
[[nodiscard]] std::size_t host_memory();

/// Bytes that can still be used without swapping, also under a limit on the process's control group.
/// Asked before large arrays are made, because an overcommitted allocation succeeds and is killed later.
[[nodiscard]] std::size_t free_host_memory();

/// From now on free_host_memory() counts the process's resident memory against this many bytes too: what is free is what is
/// left of them when it is asked, so that what has been given back counts as free again. The one setting of the
/// process, made by the command line before any work, as a resource limit of the system would be.
void limit_host_memory(std::size_t bytes);

/// Throws MachineError, "WHAT wants N bytes of memory; M are free", where fewer than `bytes` are free.
void require_host_memory(std::size_t bytes, std::string_view what);

}  // namespace workbench
