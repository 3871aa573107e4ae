#include "support/free_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <limits>

#include "core/system/host_memory.hpp"

namespace workbench {

std::size_t memory_figure(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        std::size_t kilobytes = 0;
        if (word == name + ":" && status >> kilobytes) return kilobytes * 1024;
    }
    return 0;
}

FreeMemory::FreeMemory(std::size_t bytes) {
    malloc_trim(0);  // memory that was freed but not returned is also resident
    limit_host_memory(memory_figure("VmRSS") + bytes);
}

FreeMemory::~FreeMemory() { limit_host_memory(std::numeric_limits<std::size_t>::max()); }

}  // namespace workbench
