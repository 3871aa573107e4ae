#include "core/system/container.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/child.hpp"
#include "core/system/host_memory.hpp"
#include "core/system/process.hpp"

namespace workbench {
namespace {

/// The message on one line. It may contain names of the file, with any bytes, and messages of several lines.
std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
        if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
    }
    if (line.ends_with(' ')) line.pop_back();
    return line;
}

}  // namespace

void run_container(const Container& container, const std::filesystem::path& file, std::vector<std::string> arguments) {
    const auto program = find_beside_program(container.program);
    if (!program) {
        throw MachineError(fmt::format(
            "{}: a {} needs {}: no {} in ../lib/spmv-workbench relative to the program's folder {}; its "
            "package {} is not installed, or this program was built without it",
            file.string(), container.file, container.needs, container.program, program_folder().string(), package_of_modules));
    }
    arguments.insert(arguments.begin(), {program->string(), std::to_string(free_host_memory())});
    constexpr double an_hour = 3600;
    const Ending end = Child(arguments, {.output = ChildOutput::returned}).wait(an_hour);
    if (end.exit_code == static_cast<int>(ExitCode::ok)) return;
    const std::string message = on_one_line(end.output);
    if (!end.not_started.empty()) throw MachineError(fmt::format("{}: {}", program->string(), end.not_started));
    constexpr int without_a_library = 127;
    if (end.exit_code == without_a_library) {
        throw MachineError(fmt::format("{}: a {} needs {}, which cannot be loaded: {}", file.string(), container.file,
                                       container.needs, message));
    }
    if (end.exit_code == static_cast<int>(ExitCode::bad_input)) throw InputError(message);
    if (end.exit_code == static_cast<int>(ExitCode::machine_error)) throw MachineError(message);
    const std::string found = end.too_long      ? "does not end within an hour"
                              : end.signal != 0 ? fmt::format("crashes ({})", strsignal(end.signal))
                                                : fmt::format("ends with exit code {}: {}", end.exit_code, message);
    throw InputError(
        fmt::format("{}: {}, which reads it, {}; expected an undamaged file", file.string(), container.program, found));
}

}  // namespace workbench
