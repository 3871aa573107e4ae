// All that a recipe can name. The program is handed one; only pipeline/catalogue knows what is in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/contract/generator.hpp"
#include "pipeline/contract/kernel_source.hpp"
#include "pipeline/contract/layout.hpp"
#include "pipeline/contract/stage.hpp"

namespace workbench {

/// A kernel that a recipe brings along, as the layouts list theirs.
using KernelFromSource = KernelEntry (*)(const KernelSource&);

struct Catalogue {
    std::vector<StageEntry> stages = {};
    std::vector<LayoutEntry> layouts = {};
    std::vector<GeneratorEntry> generators = {};
    std::string baseline_layout = {};  // break-even and speed-up are against its kernels, in input order
    KernelFromSource kernel_from_source = nullptr;

    [[nodiscard]] const StageEntry* find_stage(std::string_view name) const;
    [[nodiscard]] const LayoutEntry* find_layout(std::string_view name) const;
    [[nodiscard]] const GeneratorEntry* find_generator(std::string_view name) const;
};

}  // namespace workbench
