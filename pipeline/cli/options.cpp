#include "pipeline/cli/options.hpp"

#include <cmath>
#include <cstdint>
#include <regex>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/prepare/gpu_preparer.hpp"
#include "pipeline/cli/provenance.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

/// CLI11's own check takes -1 for 2^64 - 1.
std::string check_size(const std::string& text) {
    static const std::regex size(R"(\d+\s*([kmgtpe]i?)?b?)", std::regex::icase);
    return std::regex_match(text, size) ? "" : "found '" + text + "', expected a number of bytes, such as 500M or 8G";
}

}  // namespace

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value, std::vector<std::string> words,
                        const std::string& help) {
    CLI::Option* option = command.add_option(name, value, help)->check(CLI::IsMember(std::move(words)))->type_name("WHICH");
    return value.empty() ? option : option->capture_default_str();
}

CLI::Option* add_backends(CLI::App& command, std::vector<std::string>& names, const std::string& help) {
    return command.add_option("--backend", names, help)
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->type_name("LIST");
}

void add_read_options(CLI::App& command, std::string& member) {
    command.add_option("--member", member, "File to read from an archive (.tar.gz) with several matrices")->type_name("NAME");
    add_memory_option(command);
}

void add_memory_option(CLI::App& command) {
    command
        .add_option_function<std::uint64_t>(
            "--max-memory", limit_host_memory,
            "Refuse work that needs more resident memory than this, such as 500M or 8G (default: the free memory)")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->transform(CLI::Validator(check_size, ""))  // CLI11 runs the last validator first
        ->type_name("SIZE");
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
    add_choice(command, "--prepare", where, {as_recipes_ask, "cpu", "gpu"},
               "Where stages and layouts do their work; gpu: sorting, reordering, splitting and slicing run on the GPU, with "
               "bit-identical results; recipe: as [recipe] prepare says, or on the CPU");
}

std::string where_to_prepare(const std::string& where, std::span<const Recipe> recipes) {
    if (where != as_recipes_ask) return where;
    const Recipe* asks = nullptr;
    for (const Recipe& recipe : recipes) {
        if (recipe.prepare.empty()) continue;
        if (asks != nullptr && asks->prepare != recipe.prepare) {
            throw RecipeError(
                fmt::format("{} asks for prepare = \"{}\", {} for \"{}\", but recipes of one run share their stages; "
                            "use --prepare, or run the recipes separately",
                            asks->file.string(), asks->prepare, recipe.file.string(), recipe.prepare));
        }
        asks = &recipe;
    }
    return asks == nullptr ? "cpu" : asks->prepare;
}

std::unique_ptr<Preparer> preparer_for(const std::string& where, std::span<const Recipe> recipes) {
    if (where_to_prepare(where, recipes) != "gpu") return nullptr;
    std::unique_ptr<Preparer> preparer = make_gpu_preparer();
    if (preparer != nullptr) return preparer;
    const bool of_recipe = where == as_recipes_ask;
    throw MachineError(fmt::format("{}: {}{}", of_recipe ? "[recipe] prepare = \"gpu\"" : "--prepare gpu",
                                   cuda_absence_reason(), of_recipe ? "; --prepare cpu prepares on the CPU" : ""));
}

void check_finite(const std::string& option, double value) {
    if (!std::isfinite(value)) throw RecipeError(option + ": found a number that is not finite");
}

}  // namespace workbench
