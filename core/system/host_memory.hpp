// The memory of the host.
#pragma once

#include <cstddef>
#include <string_view>

namespace workbench {

/// Bytes of physical memory.
[[nodiscard]] std::size_t host_memory();

/// Bytes that can be used without swapping, within the limit of the process's control group. Ask before large allocations: an
/// overcommitted one would succeed, and the process would be killed later.
[[nodiscard]] std::size_t free_host_memory();

/// Limits the resident memory of the process as free_host_memory() reports it. A setting of the whole process, like a resource
/// limit, which the command line makes before any work.
void limit_host_memory(std::size_t bytes);

/// Bytes of physical memory that this process uses now.
[[nodiscard]] std::size_t resident_memory();

/// Throws MachineError, "WHAT needs N bytes of memory; M are free", if fewer than `bytes` are free.
void require_host_memory(std::size_t bytes, std::string_view what);

}  // namespace workbench
