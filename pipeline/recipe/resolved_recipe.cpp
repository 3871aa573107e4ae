#include <fmt/core.h>

#include <algorithm>

#include "core/contract/rounding.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string quoted(const std::string& text) { return to_text(ParameterValue(text)); }

std::string quoted(const std::filesystem::path& path, FileNames names) {
    return quoted(names == FileNames::from_here ? seen_from_here(path)
                                                : std::filesystem::absolute(path).lexically_normal().string());
}

void add_parameters(Lines& lines, const std::vector<ParameterDeclaration>& declarations, const Parameters& parameters,
                    FileNames names) {
    const Parameters shown = names == FileNames::from_here ? parameters.seen_from_here(declarations) : parameters;
    for (const ParameterDeclaration& declaration : declarations) {
        const auto value = shown.values().find(declaration.name);
        if (value != shown.values().end()) lines.emplace_back(declaration.name, to_text(value->second));
    }
}

/// A table with aligned equals signs.
std::string table(std::string_view header, const Lines& lines) {
    std::size_t width = 0;
    for (const auto& [key, value] : lines) width = std::max(width, key.size());
    std::string text = fmt::format("{}\n", header);
    for (const auto& [key, value] : lines) text += fmt::format("{:{}} = {}\n", key, width, value);
    return text;
}

std::string list_of_rows(const std::vector<std::string>& rows) {
    std::string text = "[\n";
    for (const std::string& row : rows) text += fmt::format("    {},\n", quoted(row));
    return text + "]";
}

Lines matrix_lines(const MatrixChoice& matrix, Index node_size, FileNames names) {
    Lines lines;
    if (const auto* file = std::get_if<MatrixFile>(&matrix.from)) {
        lines.emplace_back("path", quoted(file->path, names));
        if (!file->member.empty()) lines.emplace_back("member", quoted(file->member));
    } else if (const auto* written = std::get_if<InlineMatrix>(&matrix.from)) {
        lines.emplace_back("rows", list_of_rows(written->rows));
    } else if (const auto* generated = std::get_if<GeneratedMatrix>(&matrix.from)) {
        lines.emplace_back("generate", quoted(generated->generator->name));
        add_parameters(lines, generated->generator->parameters, generated->parameters, names);
    }
    lines.emplace_back("node_size", std::to_string(node_size));
    return lines;
}

void add_sources(Lines& lines, const std::vector<KernelSource>& sources, const std::string& prefix, FileNames names) {
    const auto add = [&](const char* key, std::string value) { lines.emplace_back(prefix + key, std::move(value)); };
    for (const KernelSource& source : sources) {
        add(source.backend == Backend::cuda ? "cuda_source" : "cpu_source", quoted(source.file, names));
    }
    if (sources.empty()) return;
    const KernelSource& any = sources.front();  // the other keys are the same for all sources
    add("threads", quoted(any.threads));
    add("threads_per_row", std::to_string(any.threads_per_row));
    add("threads_per_block", std::to_string(any.threads_per_block));
    add("shared_bytes", std::to_string(any.shared_bytes));
    if (any.prepared_bytes != KernelSource().prepared_bytes) add("prepared_bytes", quoted(any.prepared_bytes));
    add("zero_y", to_text(ParameterValue(any.zero_y)));
    add("accumulate", to_text(ParameterValue(any.accumulate)));
    add("limit_seconds", to_text(ParameterValue(any.limit_seconds)));
}

/// The keys of a layout, including its kernels.
Lines lines_of(const RecipeLayout& layout, FileNames names) {
    Lines lines;
    if (layout.share) lines.emplace_back("share", quoted(name_of(*layout.share)));
    if (layout.entry->file.empty()) {
        lines.emplace_back("use", quoted(layout.entry->name));
    } else {
        lines.emplace_back("source", quoted(layout.entry->file, names));
    }
    add_parameters(lines, layout.entry->parameters, layout.parameters, names);
    for (const auto& [backend, name] : layout.kernels) {
        lines.emplace_back(fmt::format("kernel.{}", name_of(backend)), quoted(name));
    }
    add_sources(lines, layout.sources, "kernel.", names);
    return lines;
}

}  // namespace

std::string resolved_recipe(const Recipe& recipe, FileNames names) {
    Lines header = {{"name", quoted(unmarked(recipe.name))}};
    if (!recipe.source.empty()) header.emplace_back("source", quoted(recipe.source));
    if (!recipe.device.empty()) header.emplace_back("device", quoted(recipe.device));
    if (!recipe.prepare.empty()) header.emplace_back("prepare", quoted(recipe.prepare));
    std::string text =
        table("[recipe]", header) + "\n" + table("[matrix]", matrix_lines(recipe.matrix, recipe.node_size, names)) + "\n";
    for (const RecipeStage& stage : recipe.stages) {
        Lines lines;
        if (stage.id != stage.entry->name) lines.emplace_back("id", quoted(stage.id));
        lines.emplace_back("use", quoted(stage.entry->name));
        add_parameters(lines, stage.entry->parameters, stage.parameters, names);
        for (const auto& [name, value] : undeclared_values(*stage.entry, stage.parameters)) {
            lines.emplace_back(name, to_text(value));
        }
        text += table("[[stage]]", lines) + "\n";
    }
    if (recipe.is_hybrid()) {
        for (const RecipeLayout& layout : recipe.layouts) {
            const std::string before = &layout == &recipe.layouts.front() ? "" : "\n";
            text += before + table("[[layout]]", lines_of(layout, names));
        }
        return recipe.side_by_side ? text + "\n" + table("[kernel]", {{"side_by_side", "true"}}) : text;
    }
    RecipeLayout layout = recipe.layouts.front();
    Lines kernels;
    for (const auto& [backend, name] : layout.kernels) kernels.emplace_back(name_of(backend), quoted(name));
    add_sources(kernels, layout.sources, "", names);
    layout.kernels.clear();
    layout.sources.clear();
    text += table("[layout]", lines_of(layout, names));
    return kernels.empty() ? text : text + "\n" + table("[kernel]", kernels);
}

}  // namespace workbench
