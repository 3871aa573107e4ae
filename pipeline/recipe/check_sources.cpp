// Kernels that lie beside the recipe: [kernel] cuda_source and cpu_source.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

struct SourceKey {
    const char* key;
    Backend backend;
};
constexpr std::array source_keys = {SourceKey{"cuda_source", Backend::cuda}, SourceKey{"cpu_source", Backend::cpu}};

/// The path of a source, or the empty one with an error.
std::filesystem::path check_file(const Setting& setting, std::span<const std::filesystem::path> files,
                                 Diagnostics& diagnostics) {
    const auto& text = std::get<std::string>(*setting.value);
    const bool from_file = setting.value_place.option < 0;
    std::filesystem::path file = from_file ? files[static_cast<std::size_t>(setting.value_place.file)].parent_path() / text
                                           : std::filesystem::path(text);
    const auto refuse = [&](const std::string& reason) {
        diagnostics.add(setting.value_place,
                        fmt::format("[kernel], {}: {}; expected the source of a kernel, relative to the {}", setting.key,
                                    reason, from_file ? "recipe" : "present folder"));
        return std::filesystem::path();
    };
    std::error_code failure;
    const auto status = std::filesystem::status(file, failure);
    const std::string shown = printable(file.string(), 200);
    if (!std::filesystem::exists(status)) return refuse(fmt::format("no file {}", shown));
    if (std::filesystem::is_directory(status)) return refuse(fmt::format("{} is a folder", shown));
    if (const std::string name = file.stem().string(); name != printable(name, 60)) {
        return refuse(fmt::format("{} is a name that does not fit into a table", shown));
    }
    return file;
}

/// What the kernel takes must exist, and its name be its own.
void check_layout(const Setting& setting, const KernelSource& source, const LayoutEntry& layout, Diagnostics& diagnostics) {
    if (layout.fields.f64 == nullptr) {
        diagnostics.add(
            setting.key_place,
            fmt::format("[kernel], {}: layout '{}' has no list of fields that a kernel could take", setting.key, layout.name));
    }
    for (const KernelEntry& kernel : layout.kernels) {
        if (kernel.name != source.name()) continue;
        diagnostics.add(setting.value_place,
                        fmt::format("[kernel], {}: layout '{}' has a kernel '{}' of its own; give the file another name",
                                    setting.key, layout.name, kernel.name));
    }
}

/// Does the expression name what the layout has, whichever of its lists of fields it takes?
void check_threads(const Setting& setting, const std::string& threads, const LayoutEntry& layout, Diagnostics& diagnostics) {
    if (layout.fields.f64 == nullptr) return;
    std::map<std::string, Offset> names;
    // Any numbers will do that do not make a sensible expression negative.
    for (const std::vector<LayoutField>& fields : layout.fields.f64()) names.merge(launch_names(fields, 1, 1));
    for (auto& [name, value] : names) value = 1;
    try {
        (void)thread_count(threads, names);
    } catch (const Unsuitable& wrong) {
        diagnostics.add(setting.value_place, fmt::format("[kernel], threads: {}", wrong.what()));
    }
}

}  // namespace

const std::vector<ParameterDeclaration>& source_parameters() {
    static const std::vector<ParameterDeclaration> all = {
        {.name = "cuda_source", .type = ParameterType::text, .optional = true, .help = "a kernel in CUDA, beside the recipe"},
        {.name = "cpu_source", .type = ParameterType::text, .optional = true, .help = "a kernel in C++, beside the recipe"},
        {.name = "threads",
         .type = ParameterType::text,
         .default_value = std::string("rows"),
         .help = "how many threads of a GPU it takes: an expression"},
        {.name = "threads_per_row",
         .type = ParameterType::integer,
         .default_value = std::int64_t{1},
         .minimum = 1,
         .maximum = 1024,
         .help = "so many times as many"},
        {.name = "threads_per_block",
         .type = ParameterType::integer,
         .default_value = std::int64_t{256},
         .minimum = 1,
         .maximum = 1024,
         .help = "threads of a block"},
        {.name = "shared_bytes",
         .type = ParameterType::integer,
         .default_value = std::int64_t{0},
         .minimum = 0,
         .maximum = 1 << 20,
         .unit = "bytes",
         .help = "dynamic shared memory of a block"},
        {.name = "zero_y",
         .type = ParameterType::boolean,
         .default_value = false,
         .help = "y is set to zero before each product: for kernels that add to it atomically"},
        {.name = "limit_seconds",
         .type = ParameterType::real,
         .default_value = 10.0,
         .minimum = 0.001,
         .maximum = 86400,
         .unit = "s",
         .help = "a product that takes longer counts as one that never ends"},
    };
    return all;
}

void refuse_sources(const RecipeTable& table, Diagnostics& diagnostics) {
    for (const ParameterDeclaration& of_source : source_parameters()) {
        if (const Setting* setting = table.find(of_source.name)) {
            diagnostics.add(setting->key_place,
                            fmt::format("kernel.{}: a kernel beside the recipe takes all nonzeros; expected "
                                        "one [layout], with [kernel]",
                                        of_source.name));
        }
    }
}

std::vector<KernelSource> check_sources(const RecipeTable& table, std::span<const std::filesystem::path> files,
                                        const LayoutEntry* layout, Diagnostics& diagnostics) {
    RecipeTable of_sources;  // the other keys are somebody else's
    of_sources.place = table.place;
    for (const Setting& setting : table.settings) {
        const auto& all = source_parameters();
        const bool known = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == setting.key; });
        if (!known) continue;
        of_sources.settings.push_back(setting);
        auto& value = of_sources.settings.back().value;
        if (setting.key == "threads" && value && std::holds_alternative<std::int64_t>(*value)) value = to_text(*value);
    }
    const auto parameters = check_parameters(of_sources, "[kernel]", source_parameters(), {}, diagnostics);
    if (!parameters) return {};

    std::vector<KernelSource> sources;
    for (const auto& [key, backend] : source_keys) {
        if (!parameters->has(key)) continue;
        const Setting& setting = *of_sources.find(key);
        KernelSource source{.file = check_file(setting, files, diagnostics),
                            .layout = layout == nullptr ? "" : layout->name,
                            .backend = backend,
                            .threads = parameters->text("threads"),
                            .threads_per_row = static_cast<int>(parameters->integer("threads_per_row")),
                            .threads_per_block = static_cast<int>(parameters->integer("threads_per_block")),
                            .shared_bytes = static_cast<int>(parameters->integer("shared_bytes")),
                            .zero_y = parameters->boolean("zero_y"),
                            .limit_seconds = parameters->real("limit_seconds")};
        if (layout != nullptr && !source.file.empty()) check_layout(setting, source, *layout, diagnostics);
        sources.push_back(std::move(source));
    }
    const Setting* threads = of_sources.find("threads");
    if (threads != nullptr && layout != nullptr) check_threads(*threads, parameters->text("threads"), *layout, diagnostics);
    if (sources.empty() && !of_sources.settings.empty()) {
        const Setting& first = of_sources.settings.front();
        diagnostics.add(first.key_place, fmt::format("[kernel], {}: it is about a kernel beside the recipe, but there is none; "
                                                     "expected cuda_source or cpu_source, too",
                                                     first.key));
    }
    return sources;
}

}  // namespace workbench
