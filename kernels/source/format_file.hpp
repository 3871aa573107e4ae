// Formats beside a recipe: one header in the shape of kernels/formats/dia, compiled when a recipe names it
// (docs/beside_the_recipe.md).
#pragma once

#include <filesystem>

#include "core/contract/layout.hpp"

namespace workbench {

/// For Catalogue::format_from_file. Compiles the format, tries it on small matrices in a process of its own and loads it. A
/// text that was compiled before, by any run, is read from the folder `formats` of cache_folder(). The entry lives until the
/// program ends. Throws RecipeError with the compiler's messages or the fault that was found, and MachineError if the machine
/// lacks a compiler or the headers.
[[nodiscard]] const LayoutEntry& format_from_file(const std::filesystem::path& file);

/// Throws std::logic_error if the entry of a format with this name lacks what every layout has.
void require_complete(const LayoutEntry& entry, const std::string& name);

}  // namespace workbench
