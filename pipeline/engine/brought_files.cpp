#include "pipeline/engine/brought_files.hpp"

#include <fmt/format.h>

#include "core/system/compile.hpp"
#include "pipeline/keep/kept_result.hpp"

namespace workbench {

std::string contents_of_files(const Recipe& recipe) {
    std::string text;
    const auto add_source = [&text](const std::filesystem::path& file) {
        if (!file.empty()) text += fmt::format("; {} {}", file.filename().string(), checksum_of_source(file));
    };
    for (const RecipeStage& stage : recipe.stages) text += contents_of_files(stage.entry->parameters, stage.parameters);
    for (const RecipeLayout& layout : recipe.layouts) {
        add_source(layout.entry->file);
        text += contents_of_files(layout.entry->parameters, layout.parameters);
        for (const KernelSource& kernel : layout.sources) add_source(kernel.file);
    }
    return text.empty() ? "" : text.substr(2);
}

}  // namespace workbench
