#include "pipeline/cli/prepare.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/prepare/gpu_preparer.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {

void add_prepare_option(CLI::App& command, std::string& where) {
    command
        .add_option("--prepare", where,
                    "gpu: the GPU sorts, reorders, splits and slices for stages and layouts, with the same results to the bit; "
                    "recipe: where [recipe] prepare = \"gpu\" asks for it")
        ->check(CLI::IsMember({as_recipes_ask, std::string("cpu"), std::string("gpu")}))
        ->type_name("WHERE")
        ->capture_default_str();
}

std::string where_to_prepare(const std::string& where, std::span<const Recipe> recipes) {
    if (where != as_recipes_ask) return where;
    const Recipe* asks = nullptr;
    for (const Recipe& recipe : recipes) {
        if (recipe.prepare.empty()) continue;
        if (asks != nullptr && asks->prepare != recipe.prepare) {
            throw RecipeError(
                fmt::format("{} asks for prepare = \"{}\", {} for \"{}\", but recipes of one run share their stages; "
                            "give --prepare, or run them one after the other",
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
                                   cuda_absence_reason(), of_recipe ? "; --prepare cpu does without" : ""));
}

}  // namespace workbench
