// Kernels in source files next to the recipe: [kernel] cuda_source and cpu_source.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/core.h>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checked_text.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

struct SourceKey {
    const char* key;
    Backend backend;
};
constexpr std::array source_keys = {SourceKey{"cuda_source", Backend::cuda}, SourceKey{"cpu_source", Backend::cpu}};

/// The layout must list its fields, and the kernel name must be unique.
void check_layout(const Setting& setting, const KernelSource& source, const LayoutEntry& layout, Diagnostics& diagnostics) {
    if (layout.fields.f64 == nullptr) {
        diagnostics.add(setting.key_place, "[kernel], {}: layout '{}' has no list of fields to pass to a kernel", setting.key,
                        layout.name);
    }
    if (std::ranges::count(layout.kernels, source.name(), &KernelEntry::name) > 0) {
        diagnostics.add(setting.value_place, "[kernel], {}: layout '{}' already has a kernel '{}'; expected another file name",
                        setting.key, layout.name, source.name());
    }
}

/// Adds an error unless the expression uses only names that the layout has in some of its lists of fields.
void check_expression(const Setting& setting, const std::string& expression, const LayoutEntry& layout,
                      Diagnostics& diagnostics) {
    if (layout.fields.f64 == nullptr) return;
    std::map<std::string, Offset> names;
    for (const std::vector<LayoutField>& fields : layout.fields.f64()) names.merge(launch_names(fields, 1, 1));
    for (auto& [name, value] : names) value = 1;  // any positive number
    try {
        (void)thread_count(expression, names);
    } catch (const Unsuitable& wrong) {
        diagnostics.add(setting.value_place, "[kernel], {}: {}", setting.key, printable(wrong.what(), 500));
    }
}

/// True if the setting names a share, which stages without a parameter `share` cannot work on.
bool selects_share(const Setting& setting) {
    const auto* text = setting.as<std::string>();
    return setting.key == "share" && text != nullptr && share_choice(*text).has_value();
}

std::string unknown_key(const Setting& setting, const std::string& owner, const std::vector<ParameterDeclaration>& known) {
    const std::string& key = setting.key;
    const std::string shown = printable(key, 40);
    if (selects_share(setting)) return fmt::format("{} cannot work on a share", owner);
    const auto renamed = std::ranges::find(known, key, &ParameterDeclaration::formerly);
    if (!key.empty() && renamed != known.end()) return fmt::format("{}: '{}' is now called '{}'", owner, shown, renamed->name);
    if (known.empty()) return fmt::format("{} has no parameters; found '{}'", owner, shown);
    return fmt::format("{} has no '{}'{}", owner, shown, expected_one_of(key, names_of(known)));
}

/// The value of a setting for this declaration, if it has the form of one.
std::optional<ParameterValue> value_for(const ParameterDeclaration& declaration, const Setting& setting) {
    if (!is_list(declaration.type)) return setting.value;
    if (const auto* only = setting.as<std::int64_t>()) return std::to_string(*only);
    return setting.list ? std::optional<ParameterValue>(*setting.list) : setting.value;
}

std::string reason_to_refuse(const ParameterDeclaration& declaration, const Setting& setting) {
    if (const std::optional<ParameterValue> value = value_for(declaration, setting))
        return reason_to_refuse(declaration, *value);
    return fmt::format("{}, expected {}", found_text(setting), accepted_values(declaration));
}

}  // namespace

std::filesystem::path check_source_file(const Setting& setting, std::span<const std::filesystem::path> files,
                                        std::string_view table, std::string_view of, Diagnostics& diagnostics) {
    const auto& text = *setting.as<std::string>();
    const bool from_file = setting.value_place.option < 0;
    std::filesystem::path file = from_file ? files[static_cast<std::size_t>(setting.value_place.file)].parent_path() / text
                                           : std::filesystem::path(text);
    const auto refuse = [&](const std::string& reason) {
        diagnostics.add(setting.value_place, "{}, {}: {}; expected the source of {}, relative to the {}", table, setting.key,
                        reason, of, from_file ? "recipe" : "current folder");
        return std::filesystem::path();
    };
    std::error_code failure;
    const auto status = std::filesystem::status(file, failure);
    const std::string shown = printable(file.string(), 200);
    if (!std::filesystem::exists(status)) return refuse(fmt::format("no file {}", shown));
    if (std::filesystem::is_directory(status)) return refuse(fmt::format("{} is a folder", shown));
    if (const std::string name = file.stem().string(); name != printable(name, 60)) {
        return refuse(fmt::format("the name {} is too long for a table, or not printable", shown));
    }
    return file;
}

const std::vector<ParameterDeclaration>& source_parameters() {
    const auto integer = [](const char* name, std::int64_t default_value, double minimum, double maximum, const char* help,
                            const char* unit = "") {
        return ParameterDeclaration{
            .name = name, .default_value = default_value, .minimum = minimum, .maximum = maximum, .unit = unit, .help = help};
    };
    static const std::vector<ParameterDeclaration> all = {
        declare("cuda_source", ParameterType::text, not_required, {}, "CUDA kernel, a file next to the recipe"),
        declare("cpu_source", ParameterType::text, not_required, {}, "C++ kernel, a file next to the recipe"),
        declare("threads", ParameterType::text, by_default("rows"), {}, "expression for the number of GPU threads"),
        integer("threads_per_row", 1, 1, 1024, "factor of the number of threads"),
        integer("threads_per_block", 256, 1, 1024, "threads per block"),
        integer("shared_bytes", 0, 0, 1 << 20, "dynamic shared memory per block", "bytes"),
        {.name = "prepared_bytes",
         .type = ParameterType::text,
         .default_value = std::string("0"),
         .unit = "bytes",
         .help = "expression for the GPU memory that the function prepare of a CUDA file fills"},
        declare("zero_y", ParameterType::boolean, by_default(false), {},
                "set y to zero before each product, for kernels that add to it atomically"),
        declare("accumulate", ParameterType::boolean, by_default(true), {},
                "false: the kernel computes y = A x alone; y += A x goes through a buffer"),
        real_parameter("limit_seconds", by_default(10.0), between(0.001, 86400, "s"), "abort a product after this time"),
    };
    return all;
}

std::vector<KernelSource> check_sources(const RecipeTable& table, std::span<const std::filesystem::path> files,
                                        const LayoutEntry* layout, Diagnostics& diagnostics) {
    RecipeTable of_sources;  // only the keys about sources
    of_sources.place = table.place;
    for (const Setting& setting : table.settings) {
        if (std::ranges::count(source_parameters(), setting.key, &ParameterDeclaration::name) == 0) continue;
        of_sources.settings.push_back(setting);
        if ((setting.key == "threads" || setting.key == "prepared_bytes") && setting.as<std::int64_t>() != nullptr) {
            of_sources.settings.back().value = to_text(*setting.value);
        }
    }
    const auto parameters = check_parameters(of_sources, "[kernel]", source_parameters(), {}, diagnostics);
    if (!parameters) return {};

    std::vector<KernelSource> sources;
    for (const auto& [key, backend] : source_keys) {
        if (!parameters->has(key)) continue;
        const Setting& setting = *of_sources.find(key);
        KernelSource source{.file = check_source_file(setting, files, "[kernel]", "a kernel", diagnostics),
                            .layout = layout == nullptr ? "" : layout->name,
                            .backend = backend,
                            .threads = parameters->text("threads"),
                            .threads_per_row = static_cast<int>(parameters->integer("threads_per_row")),
                            .threads_per_block = static_cast<int>(parameters->integer("threads_per_block")),
                            .shared_bytes = static_cast<int>(parameters->integer("shared_bytes")),
                            .prepared_bytes = parameters->text("prepared_bytes"),
                            .zero_y = parameters->boolean("zero_y"),
                            .accumulate = parameters->boolean("accumulate"),
                            .limit_seconds = parameters->real("limit_seconds")};
        if (layout != nullptr && !source.file.empty()) check_layout(setting, source, *layout, diagnostics);
        sources.push_back(std::move(source));
    }
    for (const char* expression : {"threads", "prepared_bytes"}) {
        const Setting* setting = of_sources.find(expression);
        if (setting != nullptr && layout != nullptr)
            check_expression(*setting, parameters->text(expression), *layout, diagnostics);
    }
    if (sources.empty() && !of_sources.settings.empty()) {
        const Setting& first = of_sources.settings.front();
        diagnostics.add(first.key_place, "[kernel], {}: no kernel next to the recipe; expected cuda_source or cpu_source",
                        first.key);
    }
    return sources;
}

std::optional<Parameters> check_parameters(const RecipeTable& table, const std::string& owner,
                                           const std::vector<ParameterDeclaration>& declarations,
                                           const std::vector<std::string>& others, Diagnostics& diagnostics) {
    bool correct = true;
    std::map<std::string, ParameterValue> given;
    for (const Setting& setting : table.settings) {
        if (std::ranges::count(others, setting.key) > 0) continue;
        const auto declaration = std::ranges::find(declarations, setting.key, &ParameterDeclaration::name);
        if (declaration == declarations.end()) {
            diagnostics.add_unmatched(setting.key_place, "{}", unknown_key(setting, owner, declarations));
            correct = false;
        } else if (const std::string reason = reason_to_refuse(*declaration, setting); !reason.empty()) {
            diagnostics.add(setting.value_place, "{}, {}: {}", owner, setting.key, reason);
            correct = false;
        } else {
            given.emplace(setting.key, *value_for(*declaration, setting));
        }
    }
    for (const ParameterDeclaration& declaration : declarations) {
        const bool needed = !declaration.default_value && !declaration.optional;
        if (!needed || table.find(declaration.name) != nullptr) continue;
        diagnostics.add(table.place_of("use"), "{} needs '{}': {}", owner, declaration.name, accepted_values(declaration));
        correct = false;
    }
    return correct ? std::optional(Parameters(declarations, std::move(given))) : std::nullopt;
}

}  // namespace workbench
