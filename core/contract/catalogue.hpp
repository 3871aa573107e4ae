// The stages, layouts and generators that a recipe can name. Only pipeline/catalogue lists them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/generator.hpp"
#include "core/contract/kernel_source.hpp"
#include "core/contract/layout.hpp"
#include "core/contract/stage.hpp"

namespace workbench {

/// Makes an entry, like those that layouts list, for a kernel from a source file beside the recipe.
using KernelFromSource = KernelEntry (*)(const KernelSource&);

/// The entry of a format in a file beside the recipe. It lives until the program ends. Throws RecipeError.
using FormatFromFile = const LayoutEntry& (*)(const std::filesystem::path&);

/// The names of the stages and layouts that runs on several ranks need.
struct AcrossRanks {
    std::string layout_of_others = {};                   // stores the columns that other ranks own
    std::string nodes = {};                              // the stage that finds the unknowns of a node, which stay together
    std::map<std::string, std::string> partitions = {};  // --rows-to-ranks WORD: the stage that assigns rows to ranks
};

struct Catalogue {
    std::vector<StageEntry> stages = {};
    std::vector<LayoutEntry> layouts = {};
    std::vector<GeneratorEntry> generators = {};
    std::string baseline_layout = {};  // speed-up and break-even are relative to its kernels in input order
    std::string baseline_order = {};   // the stage after which rivals are also timed
    AcrossRanks across_ranks = {};
    KernelFromSource kernel_from_source = nullptr;
    FormatFromFile format_from_file = nullptr;  // null: this program cannot compile formats
    std::string layout_title = {};              // of the baseline layout and order, in names of recipes: "CSR"
    std::string order_title = {};
    std::vector<std::string> calibration = {};  // recipes whose times calibrate the predictions, in the order of trials

    [[nodiscard]] const StageEntry* find_stage(std::string_view name) const;
    [[nodiscard]] const LayoutEntry* find_layout(std::string_view name) const;
    [[nodiscard]] const GeneratorEntry* find_generator(std::string_view name) const;
};

}  // namespace workbench
