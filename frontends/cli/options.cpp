#include "frontends/cli/options.hpp"

#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/contract/errors.hpp"
#include "core/system/checksum.hpp"
#include "core/system/host_memory.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/provenance.hpp"
#include "kernels/device/cuda_device.hpp"

namespace workbench {
namespace {

/// CLI11's own check takes -1 for 2^64 - 1.
std::string check_size(const std::string& text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string unit = text.substr(digits);
    unit.erase(0, unit.find_first_not_of(" \t"));
    const auto drop_last = [&unit](std::string_view letters) {
        if (!unit.empty() && letters.find(unit.back()) != std::string_view::npos) unit.pop_back();
    };
    drop_last("bB");
    if (unit.size() == 2) drop_last("iI");
    drop_last("kmgtpeKMGTPE");
    const bool is_size = digits > 0 && unit.empty();
    return is_size ? "" : "found '" + text + "', expected a number of bytes, such as 500M or 8G";
}

void limit_memory(const std::string& given) {
    std::string number = given;
    const std::string problem = CLI::AsSizeValue(false)(number);
    std::uint64_t bytes = 0;
    if (!problem.empty() || !CLI::detail::lexical_cast(number, bytes)) {
        throw CLI::ValidationError("--max-memory", problem);
    }
    if (const std::size_t used = resident_memory(); bytes < used) {
        throw CLI::ValidationError(
            "--max-memory", fmt::format("{} is less than the program uses already, {}", given, byte_count(double(used))));
    }
    limit_host_memory(bytes);
}

}  // namespace

std::string plain_integer(std::string text) {
    const auto number = text.find_first_of("eE") == std::string::npos ? std::nullopt : parse_real(text);
    constexpr double largest = 1e15;  // below which all integers are exact
    return number && std::abs(*number) <= largest && std::trunc(*number) == *number ? fmt::format("{:.0f}", *number) : text;
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value, std::vector<std::string> words,
                        const std::string& help) {
    CLI::Option* option = command.add_option(name, value, help)->check(CLI::IsMember(std::move(words)))->type_name("WHICH");
    return value.empty() ? option : option->capture_default_str();
}

void add_backends(CLI::App& command, std::vector<std::string>& names, const std::string& help) {
    command.add_option("--backend", names, help)
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->allow_extra_args(false)  // a file may follow
        ->type_name("LIST");
}

void add_read_options(CLI::App& command, std::string& member) {
    command.add_option("--member", member, "Matrix to read from an archive (.tar.gz), .mat or .h5 with several")
        ->type_name("NAME");
    add_memory_option(command);
}

void add_memory_option(CLI::App& command) {
    command
        .add_option_function<std::string>(
            "--max-memory", limit_memory,
            "Refuse work that needs more resident memory than this, such as 500M or 8G (default: the free memory)")
        ->check(CLI::Validator(check_size, ""))
        ->type_name("SIZE");
}

void add_force_option(CLI::App& command, bool& force) { command.add_flag("--force", force, "Replace a file that exists"); }

namespace {

/// Replaces "8.4cm" by its inches. Returns what is wrong.
std::string width_in_inches(std::string& text) {
    static const std::map<std::string, double> units{{"in", 1}, {"cm", 1 / 2.54}, {"mm", 1 / 25.4}, {"pt", 1 / 72.27}};
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    while (*end == ' ') ++end;
    const auto unit = units.find(end);
    const double inches = unit == units.end() ? 0 : number * unit->second;
    if (!(inches >= 1.5 && inches <= 20)) {
        return fmt::format("found {}, expected a width from 1.5in to 20in, in in, cm, mm or pt: 3.3in", text);
    }
    text = fmt::format("{}", inches);
    return "";
}

}  // namespace

CLI::Option* add_paper_options(CLI::App& command, PaperColumn& column, const std::string& description) {
    CLI::Option* option = command.add_option("--column", column.inches, description)
                              ->transform(CLI::Validator(width_in_inches, ""))
                              ->type_name("WIDTH");
    command.add_option("--font", column.font, "Font of what is drawn for a paper, TrueType or Type 1 (default: DejaVu Sans)")
        ->check(CLI::ExistingFile)
        ->type_name("FILE")
        ->needs(option);
    std::vector<std::string> palettes;
    for (const PaperPalette& palette : paper_palettes) palettes.emplace_back(palette.name);
    add_choice(
        command, "--palette", column.palette, palettes,
        "Colours of what is drawn for a paper; okabe-ito: those of Okabe and Ito, for readers with any kind of colour vision")
        ->needs(option);
    return option;
}

namespace {

/// The attribute of a file that says which command has written it, and with which contents.
constexpr const char* writer_attribute = "user.spmv_workbench.writer";

std::vector<std::filesystem::path>& new_files() {
    static std::vector<std::filesystem::path> files;
    return files;
}

std::string writer_of(const std::filesystem::path& file) {
    std::string line = command_line();
    if (const std::size_t at = line.find(" --force"); at != std::string::npos)
        line.erase(at, std::string_view(" --force").size());
    return checksum_of(line) + checksum_of_file(file);
}

/// False as well if the file system keeps no attributes.
bool is_as_this_command_wrote_it(const std::filesystem::path& file) {
    std::array<char, 256> found{};
    const ssize_t length = getxattr(file.c_str(), writer_attribute, found.data(), found.size());
    return length > 0 && std::string_view(found.data(), static_cast<std::size_t>(length)) == writer_of(file);
}

/// True if the file seems to be results of a command: a page whose script defines spmvPage, or JSON that begins with one of
/// the keys below.
bool has_results(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (file.extension() == ".html") {
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        return text.find("spmvPage") != std::string::npos;
    }
    char brace = 0;
    std::string key;
    stream >> brace >> std::quoted(key);
    constexpr std::array first_keys{"key", "matrix", "recipe", "runs", "verdict"};
    return brace == '{' && std::ranges::count(first_keys, key) > 0;
}

}  // namespace

void check_new(const std::filesystem::path& output, bool force) {
    std::error_code unknown;
    const bool folder = std::filesystem::is_directory(output, unknown);
    const bool taken = folder ? !std::filesystem::is_empty(output, unknown) : std::filesystem::is_regular_file(output, unknown);
    if (!folder) new_files().push_back(std::filesystem::absolute(output, unknown));
    if (force || !taken || (!folder && is_as_this_command_wrote_it(output))) return;
    throw RecipeError(fmt::format("{}: this {}; choose another one, or replace it with --force", output.string(),
                                  folder ? "folder is not empty" : "file exists"));
}

void mark_new_files() {
    for (const std::filesystem::path& file : new_files()) {
        std::error_code unknown;
        if (!std::filesystem::is_regular_file(file, unknown)) continue;
        const std::string writer = writer_of(file);
        (void)setxattr(file.c_str(), writer_attribute, writer.data(), writer.size(), 0);  // else the next one needs --force
    }
}

void check_results_file(const std::string& option, const std::string& file) {
    if (file.empty() || file == standard_output) return;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(file, unknown) && !std::filesystem::is_empty(file, unknown) && !has_results(file)) {
        throw RecipeError(
            fmt::format("{} {}: this file exists and has no results of this program; choose another one", option, file));
    }
    check_writable(file);
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void add_keep_option(CLI::App& command, std::string& folder) {
    command
        .add_option("--keep", folder,
                    "Keep the results of stages and layouts in this folder, and reuse those of earlier runs on the same matrix")
        ->type_name("FOLDER");
}

std::optional<KeepFolder> keep_folder(const std::string& folder, const Device& host) {
    if (folder.empty()) return std::nullopt;
    std::string maker;
    for (const auto& [name, version] : versions()) maker += fmt::format("{} {}, ", name, version);
    const DeviceProperties& properties = host.properties();
    return KeepFolder(folder, fmt::format("{}program {}, on {} threads of {}", maker, checksum_of_program(),
                                          properties.processors, properties.name));
}

void add_prepare_option(CLI::App& command, std::string& where) {
    add_choice(
        command, "--prepare", where, {as_recipes_ask, "cpu", "gpu"},
        "Where matrices are prepared for GPU kernels; gpu: in the memory of the GPU, with bit-identical results, if it has all "
        "stages and the layout of the recipe; if not, the GPU still finds the orders of graphs with which the recipe begins; "
        "recipe: as [recipe] prepare says, or on the CPU");
}

void set_preparation(const std::string& where, std::span<Recipe> recipes) {
    const bool of_recipe = where == as_recipes_ask;
    for (Recipe& recipe : recipes) {
        if (!of_recipe) recipe.prepare = where;
        const std::string absence = recipe.prepares_on_gpu() ? cuda_absence_reason() : "";
        if (absence.empty()) continue;
        throw MachineError(fmt::format("{}: {}{}", of_recipe ? "[recipe] prepare = \"gpu\"" : "--prepare gpu", absence,
                                       of_recipe ? "; --prepare cpu prepares on the CPU" : ""));
    }
}

void check_finite(const std::string& option, double value) {
    if (!std::isfinite(value)) throw RecipeError(option + ": found a number that is not finite");
}

}  // namespace workbench
