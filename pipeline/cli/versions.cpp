#include "pipeline/cli/versions.hpp"

#include <sstream>

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

}  // namespace workbench
