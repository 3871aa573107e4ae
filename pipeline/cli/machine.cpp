#include "pipeline/cli/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>

#include <array>
#include <fstream>
#include <thread>

namespace workbench {
namespace {

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

}  // namespace

std::map<std::string, std::string> describe_machine() {
    std::map<std::string, std::string> machine;
    if (utsname names{}; uname(&names) == 0) {
        machine["system"] = std::string(names.sysname) + " " + names.release;
        machine["architecture"] = names.machine;
    }
    machine["processor"] = processor_name();
    machine["logical_cores"] = std::to_string(std::thread::hardware_concurrency());
    machine["threads"] = std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency());
    machine["memory_bytes"] = std::to_string(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    return machine;
}

KokkosRuntime::KokkosRuntime() {
    // Kokkos' own advice on OMP_PROC_BIND would stand in the middle of the program's output.
    std::string program = "workbench";
    std::string quiet = "--kokkos-disable-warnings";
    std::array<char*, 3> arguments{program.data(), quiet.data(), nullptr};
    int count = 2;
    Kokkos::initialize(count, arguments.data());
}

KokkosRuntime::~KokkosRuntime() { Kokkos::finalize(); }

}  // namespace workbench
