#include "pipeline/contract/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace workbench {
namespace {

/// The number at the beginning of a file; none where there is no such file, or a word ("max").
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
        std::getline(file, key);
    }
    return std::nullopt;
}

}  // namespace

std::size_t host_memory() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

std::size_t free_host_memory() {
    std::size_t free = available_memory().value_or(host_memory());
    const auto limit = number_in("/sys/fs/cgroup/memory.max");
    const auto used = number_in("/sys/fs/cgroup/memory.current");
    if (limit && used) free = std::min(free, *limit - std::min(*limit, *used));
    return free;
}

}  // namespace workbench
