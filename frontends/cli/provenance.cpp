#include "frontends/cli/provenance.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "kernels/gpu/gpu.hpp"
#include "pipeline/keep/keep_folder.hpp"
#include "workbench_commit.hpp"

namespace workbench {
namespace {

/// The version of the GPU's driver, for example "580.65.06"; empty without a driver.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun ..."
    const auto is_version = [](const std::string& word) {
        return word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos;
    };
    for (std::string word; file >> word;) {
        if (is_version(word)) return word;
    }
    return "";
}

}  // namespace

const std::map<std::string, std::string>& versions() {
    static const std::map<std::string, std::string> all = [] {
        std::map<std::string, std::string> read{{"workbench", WORKBENCH_VERSION " (" WORKBENCH_COMMIT ")"}};
        std::istringstream list(WORKBENCH_LIBRARY_VERSIONS);  // "name version name version ..."
        for (std::string name, version; list >> name >> version;) read[name] = version;
        return read;
    }();
    return all;
}

std::string program_identity() {
    const std::string& version = versions().at("workbench");
    const bool known = version.find("-dirty") == std::string::npos && version.find("unknown") == std::string::npos;
    return known ? version : version + " " + checksum_of_program();
}

std::map<std::string, std::string> versions_with(bool gpu) {
    std::map<std::string, std::string> all = versions();
    if (!gpu) return all;
    if (const std::string version = driver_version(); !version.empty()) all["driver"] = version;
    if (const std::string version = cusparse_version(); !version.empty()) all["cuSPARSE"] = version;
    return all;
}

std::string software_text(bool gpu) {
    std::string text;
    for (const auto& [name, version] : versions_with(gpu)) {
        if (name != "workbench") text += (text.empty() ? "" : ", ") + name + " " + version;
    }
    return text;
}

std::string version_number() { return WORKBENCH_VERSION; }

std::string version_text() { return "workbench " + versions().at("workbench"); }

std::string quoted_for_shell(const std::string& word) {
    const auto is_plain = [](unsigned char letter) {
        return std::isalnum(letter) != 0 || std::string("_-./=,:+@%").find(static_cast<char>(letter)) != std::string::npos;
    };
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), is_plain);
    if (plain) return word;
    std::string result = "'";
    for (const char letter : word) result += letter == '\'' ? std::string(R"('\'')") : std::string(1, letter);
    return result + "'";
}

std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    const std::size_t first_end = words.find('\0');
    if (first_end == std::string::npos) return "";
    std::string line = "workbench";
    for (std::size_t begin = first_end + 1; begin < words.size();) {
        const std::size_t end = std::min(words.find('\0', begin), words.size());
        line += ' ' + quoted_for_shell(words.substr(begin, end - begin));
        begin = end + 1;
    }
    return line;
}

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
