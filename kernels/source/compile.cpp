#include "kernels/source/compile.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "kernels/source/arrays_header.hpp"
#include "kernels/source/process.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"

namespace workbench {
namespace {

constexpr double compile_limit = 300;  // seconds
constexpr int most_message_lines = 40;
constexpr std::uintmax_t largest_source = std::uintmax_t{1} << 24;  // bytes

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// The words of $CXX, or the first compiler on PATH.
std::vector<std::string> host_compiler() {
    std::vector<std::string> words;
    if (const char* const chosen = std::getenv("CXX"); chosen != nullptr) {
        std::istringstream stream(chosen);
        for (std::string word; stream >> word;) words.push_back(word);
    }
    if (!words.empty()) {
        if (program_exists(words.front())) return words;
        throw MachineError(fmt::format("CXX names the compiler '{}', which is not there", words.front()));
    }
    for (const char* name : {"c++", "g++", "clang++"}) {
        if (program_exists(name)) return {name};
    }
    throw MachineError("no C++ compiler for cpu_source: c++, g++ and clang++ are not on PATH; install g++ or set CXX");
}

}  // namespace

std::string source_text(const std::filesystem::path& file) {
    std::error_code failure;
    const std::uintmax_t bytes = std::filesystem::file_size(file, failure);
    if (failure) throw RecipeError(fmt::format("{}: {}; expected the source of a kernel", file.string(), failure.message()));
    if (bytes > largest_source) {
        throw RecipeError(fmt::format("{}: {} bytes; expected a source of at most {}", file.string(), bytes, largest_source));
    }
    return text_of(file);
}

std::string source_behind_header(const std::filesystem::path& file) {
    std::string name;
    for (const char character : file.string()) {
        if (character == '"' || character == '\\') name += '\\';
        name += character;
    }
    return fmt::format("#include \"{}\"\n#line 1 \"{}\"\n{}", arrays_header_name, name, source_text(file));
}

void throw_compile_error(const std::filesystem::path& file, const std::string& compiler, const std::string& messages) {
    std::istringstream lines(messages);
    std::string shown;
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        if (count < most_message_lines) shown += "\n" + line;
    }
    if (count > most_message_lines) shown += fmt::format("\n... and {} lines more", count - most_message_lines);
    throw RecipeError(fmt::format("{}: {} cannot compile it{}", file.string(), compiler, shown));
}

void compile_for_host(const std::filesystem::path& file, const std::string& header, const std::filesystem::path& folder,
                      const std::filesystem::path& library) {
    const std::filesystem::path copy = folder / "kernel.cpp";
    write_whole_file(folder / arrays_header_name, header);
    write_whole_file(copy, source_behind_header(file));
    const std::filesystem::path own_folder = std::filesystem::absolute(file).parent_path();
    run_host_compiler(file,
                      {"-std=c++20", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", "-fdiagnostics-color=never",
                       "-iquote", own_folder.string(), copy.string()},
                      library, folder);
}

void run_host_compiler(const std::filesystem::path& file, const std::vector<std::string>& options,
                       const std::filesystem::path& library, const std::filesystem::path& folder) {
    const std::filesystem::path messages = folder / "messages.txt";
    std::vector<std::string> command = host_compiler();
    const std::string compiler = command.front();
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"-o", library.string()});
    const ProcessEnd end = run_process(command, compile_limit, messages);
    if (!end.not_started.empty()) throw MachineError(fmt::format("the compiler {}: {}", compiler, end.not_started));
    if (end.too_long) {
        throw RecipeError(fmt::format("{}: {} takes more than {} s to compile it", file.string(), compiler, compile_limit));
    }
    if (end.exit_code != 0) throw_compile_error(file, compiler, text_of(messages));
}

}  // namespace workbench
