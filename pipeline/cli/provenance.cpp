#include "pipeline/cli/provenance.hpp"

#include <sys/utsname.h>

#include <sstream>
#include <thread>

#include "workbench_commit.hpp"

namespace workbench {

const std::map<std::string, std::string>& versions() {
    static const std::map<std::string, std::string> all = [] {
        std::map<std::string, std::string> read{{"workbench", WORKBENCH_VERSION " (" WORKBENCH_COMMIT ")"}};
        std::istringstream list(WORKBENCH_LIBRARY_VERSIONS);  // "name version name version ..."
        for (std::string name, version; list >> name >> version;) read[name] = version;
        return read;
    }();
    return all;
}

std::string version_number() { return WORKBENCH_VERSION; }

std::string version_text() { return "workbench " + versions().at("workbench"); }

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
