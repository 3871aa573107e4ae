#include "core/system/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

/// The number at the beginning of a file; none if there is no such file, or if it begins with a word such as "max".
std::optional<std::size_t> number_in(const char* path) {
    std::ifstream file(path);
    std::size_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

/// "MemAvailable:   24031212 kB"
std::optional<std::size_t> available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    while (file >> key) {
        std::size_t kilobytes = 0;
        if (key == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
    }
    return std::nullopt;
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE)); }

constexpr std::size_t no_memory_limit = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> limit_of_process = no_memory_limit;

}  // namespace

/// From the second number of /proc/self/statm, which counts pages.
std::size_t resident_memory() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    return file >> pages >> pages ? pages * page_size() : 0;
}

std::size_t host_memory() { return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_size(); }

std::size_t free_host_memory() {
    std::size_t free = available_memory().value_or(host_memory());
    const auto limit = number_in("/sys/fs/cgroup/memory.max");
    const auto used = number_in("/sys/fs/cgroup/memory.current");
    if (limit && used) free = std::min(free, *limit - std::min(*limit, *used));
    if (const std::size_t most = limit_of_process; most != no_memory_limit) {
        free = std::min(free, most - std::min(most, resident_memory()));
    }
    return free;
}

void limit_host_memory(std::size_t bytes) { limit_of_process = bytes; }

void require_host_memory(std::size_t bytes, std::string_view what) {
    const std::size_t free = free_host_memory();
    if (bytes <= free) return;
    throw MachineError(std::string(what) + " needs " + std::to_string(bytes) + " bytes of memory; " + std::to_string(free) +
                       " are free");
}

}  // namespace workbench
