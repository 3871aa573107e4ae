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

/// From now on free_host_memory() is at most what this many bytes leave beside the process's resident memory; memory given
/// back is free again. The one setting of the process, made by the command line before any work, like a resource limit.
void limit_host_memory(std::size_t bytes);

/// Throws MachineError, "WHAT wants N bytes of memory; M are free", where fewer than `bytes` are free.
void require_host_memory(std::size_t bytes, std::string_view what);

}  // namespace workbench
