#include "pipeline/cli/read_options.hpp"

#include <cstdint>
#include <regex>
#include <string>

#include <CLI/CLI.hpp>

#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

/// Of CLI11's own sizes -1 would be 2^64 - 1.
std::string check_size(const std::string& text) {
    static const std::regex size(R"(\d+\s*([kmgtpe]i?)?b?)", std::regex::icase);
    return std::regex_match(text, size) ? "" : "found '" + text + "', expected whole bytes, as 500M or 8G";
}

}  // namespace

void add_read_options(CLI::App& command, std::string& member) {
    command.add_option("--member", member, "The file in an archive (.tar.gz) that holds several matrices")->type_name("NAME");
    add_memory_option(command);
}

void add_memory_option(CLI::App& command) {
    command
        .add_option_function<std::uint64_t>(
            "--max-memory", limit_host_memory,
            "Refuse what would bring the program above so much resident memory, as 500M or 8G (default: what is free)")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->transform(CLI::Validator(check_size, ""))  // CLI11 runs the one added last first
        ->type_name("SIZE");
}

}  // namespace workbench
