#include "pipeline/cli/machine.hpp"

#include <sys/utsname.h>

#include <thread>

namespace workbench {

std::map<std::string, std::string> describe_machine(const DeviceProperties& host) {
    std::map<std::string, std::string> machine;
    if (utsname names{}; uname(&names) == 0) {
        machine["system"] = std::string(names.sysname) + " " + names.release;
        machine["architecture"] = names.machine;
    }
    machine["processor"] = host.name;
    machine["logical_cores"] = std::to_string(std::thread::hardware_concurrency());
    machine["threads"] = std::to_string(host.processors);
    machine["memory_bytes"] = std::to_string(host.memory);
    return machine;
}

}  // namespace workbench
