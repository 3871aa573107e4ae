#include "pipeline/recipe/recipe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/sweep.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::array backends = {Backend::kokkos, Backend::eigen, Backend::cuda, Backend::cusparse};

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
        diagnostics.add_unmatched(setting.value_place,
                                  fmt::format("layout '{}' has no {} kernel '{}'{}", layout.name, setting.key,
                                              printable(*name, 40), expected_one_of(*name, names)));
    } else if (is_built(catalogue, backend)) {
        diagnostics.add_unmatched(setting.key_place, fmt::format("layout '{}' has no {} kernels", layout.name, setting.key));
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
    for (const Setting& setting : table.settings) {
        if (std::find(names.begin(), names.end(), setting.key) != names.end()) continue;
        diagnostics.add(setting.key_place,
                        fmt::format("unknown backend '{}'{}", printable(setting.key, 40), expected_one_of(setting.key, names)));
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

/// None where there was an error.
std::optional<Recipe> check_document(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    Recipe recipe;
    recipe.file = document.files.front();
    recipe.bases.assign(document.files.begin() + 1, document.files.end());
    check_header(document.recipe, recipe, diagnostics);
    recipe.matrix = check_matrix(document.matrix, document.files, catalogue, &recipe.node_size, diagnostics);
    std::vector<CheckedStage> stages = check_stages(document, catalogue, diagnostics);
    CheckedLayout layout = check_layout(document.layout, catalogue, diagnostics);
    recipe.kernels = check_kernels(document.kernel, layout.entry, catalogue, diagnostics);
    check_needs(document, stages, layout, catalogue, diagnostics);
    if (!diagnostics.empty()) return std::nullopt;

    for (std::size_t i = 0; i < stages.size(); ++i) {
        const RecipeTable& table = document.stages[i];
        recipe.stages.push_back(
            {table.id, stages[i].entry, std::move(*stages[i].parameters), std::move(*stages[i].facts), table.place});
    }
    recipe.layout = {layout.entry, std::move(*layout.parameters), document.layout.place};
    return recipe;
}

/// Each point of the sweeps, checked. What is wrong is added to the diagnostics.
std::vector<Recipe> check_points(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    const Sweeps sweeps(document, diagnostics);
    const std::vector<RecipeProblem> before = diagnostics.take();
    std::vector<Recipe> points;
    std::vector<std::vector<RecipeProblem>> problems;
    for (std::size_t i = 0; i < sweeps.count(); ++i) {
        if (std::optional<Recipe> recipe = check_document(sweeps.document(i), catalogue, diagnostics)) {
            recipe->sweep = sweeps.point(i);
            points.push_back(std::move(*recipe));
        }
        problems.push_back(diagnostics.take());
    }
    diagnostics.add_all(before);
    sweeps.add_problems(problems, diagnostics);
    return points;
}

/// The changes that found nothing to change, each once, of all that is wrong.
std::vector<UnmatchedChange> unmatched_of(const std::vector<RecipeProblem>& problems, const RecipeChanges& changes,
                                          const Diagnostics& diagnostics) {
    std::vector<UnmatchedChange> unmatched;
    for (const RecipeProblem& problem : problems) {
        const std::optional<std::size_t> number = problem.unmatched ? diagnostics.change_of(problem.place) : std::nullopt;
        const auto known = [number](const UnmatchedChange& other) { return other.number == *number; };
        if (!number || std::any_of(unmatched.begin(), unmatched.end(), known)) continue;
        const std::size_t overrides = changes.overrides.size();
        const std::string option =
            *number < overrides ? "--set " + changes.overrides[*number] : "--sweep " + changes.sweeps[*number - overrides];
        unmatched.push_back({*number, printable(option, 120), problem.message});
    }
    return unmatched;
}

}  // namespace

std::string Recipe::line_of(Place place) const {
    const std::filesystem::path& in = place.file == 0 ? file : bases[static_cast<std::size_t>(place.file) - 1];
    return fmt::format("{}:{}", in.string(), place.line);
}

LoadedRecipe parse_points(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                          const RecipeChanges& changes, Unmatched unmatched) {
    Diagnostics diagnostics(printable(file.string(), 1000), std::string(text));
    const RecipeDocument document = read_with_bases(file, diagnostics);
    const std::vector<RecipeProblem> of_document = diagnostics.take();

    LoadedRecipe loaded;
    for (;;) {
        RecipeDocument changed = document;
        apply_changes(changed, changes, loaded.unmatched, diagnostics);
        loaded.points = check_points(changed, catalogue, diagnostics);
        std::vector<RecipeProblem> problems = diagnostics.take();
        const auto found =
            unmatched == Unmatched::noted ? unmatched_of(problems, changes, diagnostics) : std::vector<UnmatchedChange>();
        if (found.empty()) {
            diagnostics.add_all(of_document);
            diagnostics.add_all(problems);
            break;
        }
        loaded.unmatched.insert(loaded.unmatched.end(), found.begin(), found.end());  // and once more without them
    }
    diagnostics.throw_if_any();
    std::sort(loaded.unmatched.begin(), loaded.unmatched.end(),
              [](const UnmatchedChange& a, const UnmatchedChange& b) { return a.number < b.number; });
    for (Recipe& point : loaded.points) {
        for (const UnmatchedChange& change : loaded.unmatched) {
            point.notes.push_back(fmt::format("{} changes nothing here: {}", change.option, change.reason));
        }
    }
    return loaded;
}

LoadedRecipe load_points(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes,
                         Unmatched unmatched) {
    return parse_points(read_recipe_file(file), file, catalogue, changes, unmatched);
}

Recipe parse_recipe(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                    const RecipeChanges& changes) {
    LoadedRecipe loaded = parse_points(text, file, catalogue, changes);
    if (loaded.points.size() == 1) return std::move(loaded.points.front());
    std::string names;
    for (const SweptValue& value : loaded.points.front().sweep.values) {
        names += fmt::format("{}--set {}=VALUE", names.empty() ? "" : " ", value.name);
    }
    throw RecipeError(fmt::format("error: {}: a sweep of {} recipes; expected a single one: {}", printable(file.string(), 1000),
                                  loaded.points.size(), names));
}

Recipe load_recipe(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes) {
    return parse_recipe(read_recipe_file(file), file, catalogue, changes);
}

void check_matched(const std::vector<LoadedRecipe>& recipes) {
    std::string text;
    for (const UnmatchedChange& change : recipes.empty() ? std::vector<UnmatchedChange>() : recipes.front().unmatched) {
        std::string reasons;
        const auto misses = [&](const LoadedRecipe& recipe) {
            for (const UnmatchedChange& other : recipe.unmatched) {
                if (other.number != change.number) continue;
                reasons += fmt::format("  {}: {}\n", recipe.points.front().file.string(), other.reason);
                return true;
            }
            return false;
        };
        if (!std::all_of(recipes.begin(), recipes.end(), misses)) continue;
        text +=
            fmt::format("error: {}: it changes nothing in any of these {} recipes\n{}", change.option, recipes.size(), reasons);
    }
    if (text.empty()) return;
    text.pop_back();  // whoever prints the text adds a line end
    throw RecipeError(text);
}

void check_against(const Recipe& recipe, Index rows, Index columns) {
    std::vector<std::string> askers;
    for (const RecipeStage& stage : recipe.stages) {
        const bool asks = stage.contract.needs.square || stage.contract.acts == Acts::symmetric;
        if (asks) askers.push_back(fmt::format("stage '{}' ({})", stage.id, recipe.line_of(stage.place)));
    }
    if (recipe.layout.entry->needs(recipe.layout.parameters).square) {
        askers.push_back(fmt::format("layout '{}' ({})", recipe.layout.entry->name, recipe.line_of(recipe.layout.place)));
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
