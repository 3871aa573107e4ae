#include "pipeline/recipe/recipe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t longest_recipe = std::size_t{1} << 20;  // bytes
constexpr std::size_t most_stages = 1000;
constexpr std::array backends = {Backend::kokkos, Backend::eigen, Backend::cuda, Backend::cusparse};

std::string read_file(const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& reason) {
        throw RecipeError(fmt::format("error: {}: {}", file.string(), reason));
    };
    std::error_code failure;
    const auto status = std::filesystem::status(file, failure);
    if (!std::filesystem::exists(status)) refuse("no such file; expected a recipe");
    if (std::filesystem::is_directory(status)) refuse("a folder; expected a recipe");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) refuse("cannot be read");
    std::string text(longest_recipe + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad()) refuse("cannot be read");
    return text;
}

template <typename Found>
std::vector<std::string> names_of(const std::vector<Found>& entries) {
    std::vector<std::string> names;
    for (const Found& entry : entries) names.push_back(entry.name);
    return names;
}

/// The entry that `use` names. Null, with an error, where there is none.
template <typename Found>
const Found* check_use(const RecipeTable& table, std::string_view what, const std::vector<Found>& known,
                       Diagnostics& diagnostics) {
    const std::vector<std::string> names = names_of(known);
    const std::string* name = table.text("use");
    if (name == nullptr) {
        const Setting* use = table.find("use");
        const std::string problem = use == nullptr ? fmt::format("a {} without 'use'", what) : "use: " + found_text(*use);
        diagnostics.add(table.place_of("use"), fmt::format("{}; expected use = \"NAME\" with one of {}", problem, join(names)));
        return nullptr;
    }
    const auto found = std::find_if(known.begin(), known.end(), [&](const Found& entry) { return entry.name == *name; });
    if (found != known.end()) return &*found;
    const std::string suggestion = did_you_mean(*name, names);
    diagnostics.add(table.place_of("use"), fmt::format("unknown {} '{}'{}", what, printable(*name, 40),
                                                       suggestion.empty() ? "; expected one of " + join(names) : suggestion));
    return nullptr;
}

/// A stage or a layout: its name, its parameters, and what `facts_of` (contract or needs) says about them.
template <typename Facts, typename Found>
Checked<Found, Facts> check_entry(const RecipeTable& table, std::string_view what, const std::vector<Found>& known,
                                  Facts (*Found::*facts_of)(const Parameters&), Diagnostics& diagnostics) {
    Checked<Found, Facts> checked;
    checked.entry = check_use(table, what, known, diagnostics);
    if (checked.entry == nullptr) return checked;
    const std::string owner = fmt::format("{} '{}'", what, checked.entry->name);
    checked.parameters = check_parameters(table, owner, checked.entry->parameters, {"use", "id"}, diagnostics);
    if (!checked.parameters) return checked;
    try {
        checked.facts = (checked.entry->*facts_of)(*checked.parameters);
    } catch (const ParameterError& wrong) {
        const bool given = table.find(wrong.parameter) != nullptr;
        diagnostics.add(table.place_of(given ? wrong.parameter : "use"),
                        fmt::format("{}, {}: {}", owner, wrong.parameter, wrong.what()));
    }
    return checked;
}

bool is_built(const Catalogue& catalogue, Backend backend) {
    const auto has = [&](const LayoutEntry& layout) {
        return std::any_of(layout.kernels.begin(), layout.kernels.end(),
                           [&](const auto& kernel) { return kernel.backend == backend; });
    };
    return std::any_of(catalogue.layouts.begin(), catalogue.layouts.end(), has);
}

std::vector<std::string> kernels_of(const LayoutEntry& layout, Backend backend) {
    std::vector<std::string> names;
    for (const KernelEntry& kernel : layout.kernels) {
        if (kernel.backend == backend) names.push_back(kernel.name);
    }
    return names;
}

void check_kernel(const Setting& setting, Backend backend, const LayoutEntry& layout, const Catalogue& catalogue,
                  Diagnostics& diagnostics) {
    const std::vector<std::string> names = kernels_of(layout, backend);
    const std::string* name = setting.value ? std::get_if<std::string>(&*setting.value) : nullptr;
    if (name != nullptr && std::find(names.begin(), names.end(), *name) != names.end()) return;
    if (name == nullptr) {
        diagnostics.add(setting.value_place,
                        fmt::format("[kernel], {}: {}, expected the name of a kernel", setting.key, found_text(setting)));
    } else if (!names.empty()) {
        diagnostics.add(setting.value_place, fmt::format("layout '{}' has no {} kernel '{}'{}", layout.name, setting.key,
                                                         printable(*name, 40), expected_one_of(*name, names)));
    } else if (is_built(catalogue, backend)) {
        diagnostics.add(setting.key_place, fmt::format("layout '{}' has no {} kernels", layout.name, setting.key));
    }
}

/// The kernels that the recipe chooses. A choice for a backend that this program was built without is kept as it is.
std::map<Backend, std::string> check_kernels(const RecipeTable& table, const LayoutEntry* layout, const Catalogue& catalogue,
                                             Diagnostics& diagnostics) {
    std::map<Backend, std::string> kernels;
    std::vector<std::string> names;
    for (const Backend backend : backends) {
        const std::string name(name_of(backend));
        names.push_back(name);
        if (layout == nullptr) continue;
        if (const Setting* setting = table.find(name)) check_kernel(*setting, backend, *layout, catalogue, diagnostics);
        if (const std::string* chosen = table.text(name)) kernels[backend] = *chosen;
    }
    for (const ParameterDeclaration& of_source : source_parameters()) names.push_back(of_source.name);
    for (const Setting& setting : table.settings) {
        if (std::find(names.begin(), names.end(), setting.key) != names.end()) continue;
        diagnostics.add(setting.key_place,
                        fmt::format("[kernel] has no '{}'{}", printable(setting.key, 40), expected_one_of(setting.key, names)));
    }
    return kernels;
}

void check_header(const RecipeTable& table, Recipe& recipe, Diagnostics& diagnostics) {
    const std::vector<ParameterDeclaration> declarations = {
        {.name = "name", .type = ParameterType::text, .optional = true, .help = "how the recipe is called in reports"},
        {.name = "source", .type = ParameterType::text, .optional = true, .help = "where the idea comes from"},
        {.name = "device",
         .type = ParameterType::choice,
         .optional = true,
         .words = device_model_names(),
         .help = "the model that stages decide for; the GPU of this machine where nothing is said"},
    };
    recipe.name = recipe.file.stem().string();
    const auto parameters = check_parameters(table, "[recipe]", declarations, {}, diagnostics);
    if (parameters && parameters->has("name")) recipe.name = parameters->text("name");
    if (parameters && parameters->has("source")) recipe.source = parameters->text("source");
    if (parameters && parameters->has("device")) recipe.device = parameters->text("device");
    if (recipe.name != printable(recipe.name, 80)) {
        diagnostics.add(table.place_of("name"), "[recipe], name: expected one line of at most 80 characters");
    }
}

std::vector<CheckedStage> check_stages(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    std::vector<CheckedStage> stages;
    for (const RecipeTable& table : document.stages) {
        stages.push_back(check_entry(table, "stage", catalogue.stages, &StageEntry::contract, diagnostics));
    }
    return stages;
}

CheckedLayout check_layout(const RecipeTable& table, const Catalogue& catalogue, Diagnostics& diagnostics) {
    if (table.broken) return {};
    const bool present = table.place.line > 0 || !table.settings.empty();
    if (present) return check_entry(table, "layout", catalogue.layouts, &LayoutEntry::needs, diagnostics);
    diagnostics.add({},
                    fmt::format("no [layout]; expected one with use = \"NAME\", one of {}", join(names_of(catalogue.layouts))));
    return {};
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                    const RecipeChanges& changes) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark is no character of the file
    Diagnostics diagnostics(printable(file.string(), 1000), text);
    if (text.size() > longest_recipe) {
        diagnostics.add({}, fmt::format("a file of more than {} bytes; expected a recipe", longest_recipe));
        diagnostics.throw_if_any();
    }
    RecipeDocument document = read_document(text, diagnostics);
    if (document.stages.size() > most_stages) {
        diagnostics.add({}, fmt::format("{} stages; expected at most {}", document.stages.size(), most_stages));
        diagnostics.throw_if_any();
    }
    name_stages(document, diagnostics);
    apply_changes(document, changes, diagnostics);

    Recipe recipe;
    recipe.file = file;
    check_header(document.recipe, recipe, diagnostics);
    recipe.matrix = check_matrix(document.matrix, file.parent_path(), catalogue, &recipe.node_size, diagnostics);
    std::vector<CheckedStage> stages = check_stages(document, catalogue, diagnostics);
    CheckedLayout layout = check_layout(document.layout, catalogue, diagnostics);
    recipe.kernels = check_kernels(document.kernel, layout.entry, catalogue, diagnostics);
    recipe.sources = check_sources(document.kernel, file.parent_path(), layout.entry, diagnostics);
    check_needs(document, stages, layout, catalogue, diagnostics);
    diagnostics.throw_if_any();

    for (std::size_t i = 0; i < stages.size(); ++i) {
        const RecipeTable& table = document.stages[i];
        recipe.stages.push_back(
            {table.id, stages[i].entry, std::move(*stages[i].parameters), std::move(*stages[i].facts), table.place});
    }
    recipe.layout = {layout.entry, std::move(*layout.parameters), document.layout.place};
    if (catalogue.kernel_from_source != nullptr) {
        for (const KernelSource& source : recipe.sources) recipe.own_kernels.push_back(catalogue.kernel_from_source(source));
    }
    return recipe;
}

Recipe load_recipe(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes) {
    return parse_recipe(read_file(file), file, catalogue, changes);
}

void check_against(const Recipe& recipe, Index rows, Index columns) {
    std::vector<std::string> askers;
    const auto place = [&](Place at) { return fmt::format("{}:{}", recipe.file.string(), at.line); };
    for (const RecipeStage& stage : recipe.stages) {
        const bool asks = stage.contract.needs.square || stage.contract.acts == Acts::symmetric;
        if (asks) askers.push_back(fmt::format("stage '{}' ({})", stage.id, place(stage.place)));
    }
    if (recipe.layout.entry->needs(recipe.layout.parameters).square) {
        askers.push_back(fmt::format("layout '{}' ({})", recipe.layout.entry->name, place(recipe.layout.place)));
    }
    const Index node_size = recipe.node_size;
    if (node_size > 1) askers.push_back(fmt::format("node_size = {} in [matrix]", node_size));
    if (rows != columns && !askers.empty()) {
        throw InputError(
            fmt::format("the matrix has {} rows and {} columns; expected a square one, for {}", rows, columns, join(askers)));
    }
    if (rows % node_size != 0) {
        throw InputError(fmt::format("the matrix has {} rows; expected a multiple of node_size = {} in [matrix] of {}", rows,
                                     node_size, recipe.file.string()));
    }
}

}  // namespace workbench
