#include "cli/shell.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "support/golden.hpp"

namespace workbench {

Outcome shell(const std::string& command) {
    std::FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    Outcome outcome;
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        outcome.text.append(buffer.data(), count);
    }
    const int status = pclose(pipe);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

Outcome workbench_in(const std::filesystem::path& folder, const std::string& arguments, const std::string& environment) {
    return shell("cd '" + folder.string() + "' && " + environment + " '" WORKBENCH_BINARY "' " + arguments + " 2>&1");
}

Outcome run(const std::string& arguments, const std::string& environment) {
    return workbench_in(project, arguments, environment);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

void compare_with_stored(const std::string& name, const std::string& text) {
    compare_with_golden(project / "tests/golden/cli" / (name + ".txt"), text);
}

nlohmann::json json_in(const std::filesystem::path& file) { return nlohmann::json::parse(file_text(file)); }

}  // namespace workbench
