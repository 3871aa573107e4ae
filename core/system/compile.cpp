#include "core/system/compile.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "core/contract/errors.hpp"
#include "core/system/checksum.hpp"
#include "core/system/child.hpp"
#include "core/system/process.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr double compile_limit = 300;  // seconds
constexpr std::size_t most_includes = 1000;
constexpr int most_message_lines = 40;
constexpr std::uintmax_t largest_source = std::uintmax_t{1} << 24;  // bytes

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Appends the names and texts of the files that a text includes in quotes, and that are relative to this folder.
void add_includes(const std::string& text, const std::filesystem::path& folder, std::set<std::filesystem::path>& known,
                  std::string& all) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find('"');
        const std::size_t end = line.find('"', begin + 1);
        if (line.find("#include") == std::string::npos && line.find("# include") == std::string::npos) continue;
        if (begin == std::string::npos || end == std::string::npos) continue;
        const std::filesystem::path file = (folder / line.substr(begin + 1, end - begin - 1)).lexically_normal();
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(file, ignored) || known.size() == most_includes || !known.insert(file).second) {
            continue;
        }
        const std::string included = text_of(file);
        all += file.filename().string() + "\n" + included;
        add_includes(included, file.parent_path(), known, all);
    }
}

/// The first lines of /proc/cpuinfo that identify the processor for which code is optimized.
std::string processor() {
    std::ifstream stream("/proc/cpuinfo");
    std::string text;
    for (std::string line; std::getline(stream, line) && !line.empty();) {
        if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features")) text += line;
    }
    return text;
}

/// The folder of compiled code of this kind, with links resolved; it is created if it is missing. Empty, with a warning, if it
/// or the folder around it belongs to someone else, or if others can write to it: what they put there would be executed.
std::filesystem::path private_folder(const std::string& kind) {
    const std::filesystem::path around = cache_folder();
    std::error_code failure;
    std::filesystem::create_directories(around.parent_path(), failure);
    std::filesystem::path folder = around / kind;
    for (const std::filesystem::path& each : {around, folder}) {
        (void)mkdir(each.c_str(), S_IRWXU);
        const std::filesystem::path real = std::filesystem::canonical(each, failure);
        struct stat facts = {};
        if (failure || stat(real.c_str(), &facts) != 0) return {};
        // Files other than code are also kept in the outer folder, which so may have been created with more permissions.
        const mode_t writable = facts.st_mode & (S_IWGRP | S_IWOTH);
        const bool mine = facts.st_uid == geteuid();
        const bool closed = writable == 0 || (each == around && mine && chmod(real.c_str(), facts.st_mode & ~writable) == 0);
        if (!mine || !closed) {
            fmt::print(stderr, "warning: {}: {}; compiled code is not kept there\n", printable(real.string()),
                       mine ? "others can write to this folder" : "this folder belongs to another user");
            return {};
        }
        folder = real;
    }
    return folder;
}

/// "FILE:LINE:COLUMN: TYPE: TEXT" if the first error is a static assertion that fails within a template, otherwise empty. In
/// the lines before, a compiler names the place where the code uses the template, and the first type that it is used with.
std::string failed_assertion(const std::string& messages) {
    constexpr std::string_view failed = "static assertion failed: ";
    constexpr std::string_view used_with = "[with ";
    std::istringstream lines(messages);
    std::string place;
    std::string type;
    for (std::string line; std::getline(lines, line);) {
        if (const std::size_t at = line.find(used_with); at != std::string::npos) {
            const std::size_t first = line.find("= ", at) + 2;
            type = line.substr(first, line.find_first_of(";]", first) - first);
        }
        if (line.ends_with("required from here")) place = line.substr(0, line.find(": "));
        const std::size_t at = line.find(failed);
        if (at == std::string::npos && line.find(": error: ") != std::string::npos) return {};
        if (at == std::string::npos || place.empty()) continue;
        if (const std::size_t colons = type.substr(0, type.find('<')).rfind("::"); colons != std::string::npos) {
            type.erase(0, colons + 2);
        }
        return fmt::format("{}: {}: {}", place, type, line.substr(at + failed.size()));
    }
    return {};
}

/// Messages about templates without the chains of templates that lead to them: the errors in the author's folder, or if there
/// are none, those elsewhere at the places of the author that lead to them, with the functions that a class lacks. Each place
/// once.
std::string without_chains(const std::string& messages, const std::string& folder) {
    constexpr std::string_view end_of_chain = "required from here";
    constexpr std::string_view error = ": error: ";
    constexpr std::string_view note = ": note: ";
    if (messages.find(end_of_chain) == std::string::npos) return messages;
    std::string own;
    std::string elsewhere;
    std::string* shown = nullptr;  // where the last error is shown
    std::string end;               // of the last chain
    std::set<std::string> places;
    std::istringstream lines(messages);
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with(end_of_chain)) end = line.substr(0, line.find(": "));
        if (const std::size_t at = line.find(error); at != std::string::npos) {
            const bool is_own = line.starts_with(folder);
            const std::string place = is_own || end.empty() ? line.substr(0, at) : end;
            shown = !places.insert(place).second ? nullptr : is_own ? &own : &elsewhere;
            if (shown != nullptr) *shown += place + line.substr(at) + '\n';
            end.clear();
        }
        const std::size_t at = line.find(note);
        const bool is_pure = line.find("virtual functions are pure") != std::string::npos || line.find(": note:     ") == at;
        if (shown != nullptr && at != std::string::npos && is_pure) *shown += line.substr(at + note.size()) + '\n';
    }
    return !own.empty() ? own : !elsewhere.empty() ? elsewhere : messages;
}

}  // namespace

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
    throw MachineError(
        "no C++ compiler for code beside the recipe: c++, g++ and clang++ are not on PATH; install g++ or set CXX");
}

std::string source_text(const std::filesystem::path& file, std::string_view what) {
    std::error_code failure;
    const std::uintmax_t bytes = std::filesystem::file_size(file, failure);
    if (failure) throw RecipeError(fmt::format("{}: {}; expected {}", file.string(), failure.message(), what));
    if (bytes > largest_source) {
        throw RecipeError(fmt::format("{}: {} bytes; expected a source of at most {}", file.string(), bytes, largest_source));
    }
    return text_of(file);
}

std::string checksum_of_source(const std::filesystem::path& file) {
    std::string all = text_of(file);
    std::set<std::filesystem::path> known;
    add_includes(std::string(all), std::filesystem::absolute(file).parent_path(), known, all);
    return checksum_of(all);
}

std::string line_directive(const std::filesystem::path& file) {
    std::string name;
    for (const char character : file.string()) {
        if (character == '"' || character == '\\') name += '\\';
        name += character;
    }
    return fmt::format("#line 1 \"{}\"\n", name);
}

void throw_compile_error(const std::filesystem::path& file, const std::string& compiler, const std::string& messages) {
    if (const std::string assertion = failed_assertion(messages); !assertion.empty()) {
        throw RecipeError(fmt::format("{}: {} cannot compile it\n{}", file.string(), compiler, assertion));
    }
    const std::filesystem::path folder = file.parent_path();
    std::istringstream lines(without_chains(messages, (folder.empty() ? file : folder).string()));
    std::string shown;
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        if (count < most_message_lines) shown += "\n" + line;
    }
    if (count > most_message_lines) shown += fmt::format("\n... and {} more", counted(count - most_message_lines, "line"));
    throw RecipeError(fmt::format("{}: {} cannot compile it{}", file.string(), compiler, shown));
}

void compile_shared_object(const std::filesystem::path& file, const std::string& text, const std::vector<std::string>& options,
                           const std::filesystem::path& folder, const std::filesystem::path& library) {
    const std::filesystem::path copy = folder / "source.cpp";
    const std::filesystem::path messages = folder / "messages.txt";
    write_whole_file(copy, text);
    std::vector<std::string> command = host_compiler();
    const std::string compiler = command.front();
    for (const char* word :
         {"-std=c++20", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", "-fdiagnostics-color=never", "-iquote"}) {
        command.emplace_back(word);
    }
    command.push_back(std::filesystem::absolute(file).parent_path().string());
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {copy.string(), "-o", library.string()});
    const Ending end = Child(command, {.output = ChildOutput::errors, .file = messages}).wait(compile_limit);
    if (!end.not_started.empty()) throw MachineError(fmt::format("the compiler {}: {}", compiler, end.not_started));
    if (end.too_long) {
        throw RecipeError(fmt::format("{}: {} takes more than {} s to compile it", file.string(), compiler, compile_limit));
    }
    if (end.exit_code != 0) throw_compile_error(file, compiler, text_of(messages));
}

KeptObject kept_shared_object(const std::filesystem::path& file, const std::string& text,
                              const std::vector<std::string>& options, const std::string& kind, const std::string& made_with,
                              const std::filesystem::path& folder) {
    std::string all = text + "\n" + made_with + "\n" + processor();
    for (const std::string& word : host_compiler()) all += "\n" + word;
    for (const std::string& word : options) all += "\n" + word;
    std::set<std::filesystem::path> known;
    add_includes(text, std::filesystem::absolute(file).parent_path(), known, all);

    const std::string name = fmt::format("{}-{}.so", file.stem().string(), checksum_of(all));
    const std::filesystem::path keeping = private_folder(kind);
    std::filesystem::path kept = keeping / name;
    std::error_code failure;
    if (!keeping.empty() && std::filesystem::is_regular_file(kept, failure)) return {kept, false};
    std::filesystem::path made = folder / name;
    compile_shared_object(file, text, options, folder, made);
    if (keeping.empty()) return {made, true};
    // A copy under another name is renamed, so that no process finds half a file.
    const std::filesystem::path copy = fmt::format("{}.{}", kept.string(), getpid());
    std::filesystem::copy_file(made, copy, std::filesystem::copy_options::overwrite_existing, failure);
    if (!failure) std::filesystem::rename(copy, kept, failure);
    if (!failure) return {kept, true};
    std::error_code ignored;
    std::filesystem::remove(copy, ignored);
    return {made, true};
}

std::string kept_bytes(const std::string& kind, const std::string& name, const std::function<std::string()>& make) {
    const std::filesystem::path keeping = private_folder(kind);
    if (keeping.empty()) return make();
    const std::filesystem::path kept = keeping / name;
    if (std::ifstream file(kept, std::ios::binary); file) return {std::istreambuf_iterator<char>(file), {}};
    std::string bytes = make();
    try {
        write_whole_file(kept, bytes);
    } catch (const std::exception&) {  // it is made again the next time
    }
    return bytes;
}

std::atomic<double>& seconds_of_compiling_kernels() {
    static std::atomic<double> seconds = 0;
    return seconds;
}

std::filesystem::path cache_folder() {
    const auto value_of = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::filesystem::path(value == nullptr ? "" : value);
    };
    std::filesystem::path folder = value_of("XDG_CACHE_HOME");
    if (!folder.is_absolute() && value_of("HOME").is_absolute()) folder = value_of("HOME") / ".cache";
    if (folder.is_absolute()) return folder / "spmv-workbench";
    return std::filesystem::temp_directory_path() / fmt::format("spmv-workbench-{}", geteuid());
}

}  // namespace workbench
