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

constexpr std::string_view side_by_side = "side_by_side";  // of several layouts: the one key of [kernel]
constexpr std::size_t most_problems = 2000;                // of all points of a sweep: more are not looked for
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

/// A stage or a layout: its name, its parameters, and what `facts_of` (contract or needs) says about them. `others`: its keys
/// that are no parameters.
template <typename Facts, typename Found>
Checked<Found, Facts> check_entry(const RecipeTable& table, std::string_view what, const std::vector<Found>& known,
                                  Facts (*Found::*facts_of)(const Parameters&), const std::vector<std::string>& others,
                                  Diagnostics& diagnostics) {
    Checked<Found, Facts> checked;
    checked.entry = check_use(table, what, known, diagnostics);
    if (checked.entry == nullptr) return checked;
    const std::string owner = fmt::format("{} '{}'", what, checked.entry->name);
    checked.parameters = check_parameters(table, owner, checked.entry->parameters, others, diagnostics);
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
        {.name = "extends", .type = ParameterType::text, .optional = true, .help = "a recipe that this one changes"},
        {.name = "device",
         .type = ParameterType::choice,
         .optional = true,
         .words = device_model_names(),
         .help = "the model that stages decide for; the GPU of this machine where nothing is said"},
        {.name = "prepare",
         .type = ParameterType::choice,
         .optional = true,
         .words = {"cpu", "gpu"},
         .help = "gpu: the GPU sorts, reorders, splits and slices for stages and layouts; --prepare goes before"},
    };
    recipe.name = recipe.file.stem().string();
    const auto parameters = check_parameters(table, "[recipe]", declarations, {}, diagnostics);
    if (parameters && parameters->has("name")) recipe.name = parameters->text("name");
    if (parameters && parameters->has("source")) recipe.source = parameters->text("source");
    if (const Setting* extends = table.find("extends")) {  // that of a file has been followed before
        diagnostics.add(extends->key_place, "[recipe], extends: it cannot be set; expected it in a file");
    }
    if (parameters && parameters->has("device")) recipe.device = parameters->text("device");
    if (parameters && parameters->has("prepare")) recipe.prepare = parameters->text("prepare");
    if (recipe.name != printable(recipe.name, 80)) {
        diagnostics.add(table.place_of("name"), "[recipe], name: expected one line of at most 80 characters");
    }
}

std::vector<CheckedStage> check_stages(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    std::vector<CheckedStage> stages;
    for (const RecipeTable& table : document.stages) {
        stages.push_back(check_entry(table, "stage", catalogue.stages, &StageEntry::contract, {"use", "id"}, diagnostics));
    }
    return stages;
}

/// The share that one of a list of layouts takes.
std::optional<ShareId> check_share(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* setting = table.find("share");
    if (setting == nullptr) {
        diagnostics.add(table.place, "a layout of several without 'share'; expected share = \"NAME\" with a share of a stage");
        return std::nullopt;
    }
    const std::string* name = table.text("share");
    const std::optional<ShareId> share = name == nullptr ? std::nullopt : single_share(*name);
    if (share) return share;
    const std::optional<ShareChoice> many = name == nullptr ? std::nullopt : share_choice(*name);
    std::vector<std::string> names;
    for (const ShareKind kind : kinds_of_shares) {
        if (!has_places(kind)) names.emplace_back(name_of(kind));
    }
    diagnostics.add(setting->value_place,
                    many ? fmt::format("share: found \"{}\", of which there may be any number; in a list, a layout takes one "
                                       "share of stage split",
                                       name_of(*many))
                         : fmt::format("share: {}, expected a share: {}, or one split again as \"short/first\"{}",
                                       found_text(*setting), join(names), name == nullptr ? "" : did_you_mean(*name, names)));
    return std::nullopt;
}

/// [layout], or each of [[layout]].
std::vector<CheckedChoice> check_layouts(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    const auto check = [&](const RecipeTable& table, const std::vector<std::string>& others) {
        return check_entry(table, "layout", catalogue.layouts, &LayoutEntry::needs, others, diagnostics);
    };
    std::vector<CheckedChoice> layouts;
    for (const LayoutTables& tables : document.layouts) {
        CheckedChoice choice{&tables.own, &tables.kernel, check(tables.own, {"use", "share", "kernel"}), {}};
        if (const Setting* kernel = tables.own.find("kernel")) {
            diagnostics.add(kernel->value_place,
                            fmt::format("kernel: {}, expected a backend with it: kernel.cuda = \"NAME\"", found_text(*kernel)));
        }
        // A list of one may take everything.
        if (document.layouts.size() > 1 || tables.own.find("share") != nullptr) {
            choice.share = check_share(tables.own, diagnostics);
        }
        layouts.push_back(std::move(choice));
    }
    if (!layouts.empty()) {
        for (const Setting& setting : document.kernel.settings) {
            if (setting.key == side_by_side) continue;
            diagnostics.add(setting.key_place,
                            fmt::format("[kernel] of several layouts has only {}; found {}; in each [[layout]] "
                                        "say kernel.cuda = \"NAME\"",
                                        side_by_side, printable(setting.key, 40)));
        }
        return layouts;
    }
    CheckedChoice choice{&document.layout, &document.kernel, {}, {}};
    const bool present = document.layout.place.line > 0 || !document.layout.settings.empty();
    if (!document.layout.broken && present) {
        choice.layout = check(document.layout, {"use", "id"});
    } else if (!document.layout.broken) {
        diagnostics.add(
            {}, fmt::format("no [layout]; expected one with use = \"NAME\", one of {}", join(names_of(catalogue.layouts))));
    }
    return {choice};
}

/// What [kernel] says of several layouts.
bool check_side_by_side(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* setting = table.find(side_by_side);
    if (setting == nullptr) return false;
    const bool* value = setting->value ? std::get_if<bool>(&*setting->value) : nullptr;
    if (value != nullptr) return *value;
    diagnostics.add(setting->value_place,
                    fmt::format("[kernel], {}: {}, expected true or false", side_by_side, found_text(*setting)));
    return false;
}

/// A layout of several has one kernel on each kind of device.
void check_one_kernel_a_device(const RecipeTable& table, const std::map<Backend, std::string>& kernels,
                               Diagnostics& diagnostics) {
    for (const auto& [one, other] : {std::pair(Backend::kokkos, Backend::eigen), std::pair(Backend::cuda, Backend::cusparse)}) {
        if (!kernels.contains(one) || !kernels.contains(other)) continue;
        diagnostics.add(table.place_of(name_of(other)),
                        fmt::format("a share is multiplied by one kernel on {}, but both {} and {} are chosen; remove one",
                                    device_of(one) == DeviceKind::host ? "the host" : "a GPU", name_of(one), name_of(other)));
    }
}

/// None where there was an error.
std::optional<Recipe> check_document(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    Recipe recipe;
    recipe.file = document.files.front();
    recipe.bases.assign(document.files.begin() + 1, document.files.end());
    check_header(document.recipe, recipe, diagnostics);
    recipe.matrix = check_matrix(document.matrix, document.files, catalogue, &recipe.node_size, diagnostics);
    std::vector<CheckedStage> stages = check_stages(document, catalogue, diagnostics);
    std::vector<CheckedChoice> layouts = check_layouts(document, catalogue, diagnostics);
    for (const CheckedChoice& choice : layouts) {
        RecipeLayout& layout = recipe.layouts.emplace_back();
        layout.share = choice.share;
        layout.kernels = check_kernels(*choice.kernel, choice.layout.entry, catalogue, diagnostics);
        if (choice.share) check_one_kernel_a_device(*choice.kernel, layout.kernels, diagnostics);
    }
    const CheckedChoice& only = layouts.front();
    if (!document.layouts.empty()) recipe.side_by_side = check_side_by_side(document.kernel, diagnostics);
    if (only.share) {
        for (const CheckedChoice& choice : layouts) refuse_sources(*choice.kernel, diagnostics);
    } else {
        recipe.sources = check_sources(*only.kernel, document.files, only.layout.entry, diagnostics);
    }
    check_needs(document, stages, layouts, catalogue, diagnostics);
    // What is wrong with a broken table has been said before.
    const bool is_whole =
        std::all_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.parameters && stage.facts; }) &&
        std::all_of(layouts.begin(), layouts.end(), [](const auto& choice) { return choice.layout.parameters.has_value(); });
    if (!diagnostics.empty() || !is_whole) return std::nullopt;

    for (std::size_t i = 0; i < stages.size(); ++i) {
        const RecipeTable& table = document.stages[i];
        recipe.stages.push_back(
            {table.id, stages[i].entry, std::move(*stages[i].parameters), std::move(*stages[i].facts), table.place});
        for (const Setting& setting : table.settings) recipe.stages.back().written.push_back(setting.key);
    }
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        recipe.layouts[i].entry = layouts[i].layout.entry;
        recipe.layouts[i].parameters = std::move(*layouts[i].layout.parameters);
        recipe.layouts[i].place = layouts[i].table->place;
    }
    if (catalogue.kernel_from_source != nullptr) {
        for (const KernelSource& source : recipe.sources) recipe.own_kernels.push_back(catalogue.kernel_from_source(source));
    }
    return recipe;
}

/// Each point of the sweeps, checked. What is wrong is added to the diagnostics.
std::vector<Recipe> check_points(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    const Sweeps sweeps(document, diagnostics);
    const std::vector<RecipeProblem> before = diagnostics.take();
    std::vector<Recipe> points;
    std::vector<std::vector<RecipeProblem>> problems;
    std::size_t problem_count = 0;
    for (std::size_t i = 0; i < sweeps.count() && problem_count <= most_problems; ++i) {
        if (std::optional<Recipe> recipe = check_document(sweeps.document(i), catalogue, diagnostics)) {
            recipe->sweep = sweeps.point(i);
            points.push_back(std::move(*recipe));
        }
        problems.push_back(diagnostics.take());
        problem_count += problems.back().size();
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

std::string name_of_layouts(const Recipe& recipe) {
    std::string name;
    for (const RecipeLayout& layout : recipe.layouts) name += (name.empty() ? "" : " + ") + layout.entry->name;
    return name;
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
    for (const RecipeLayout& layout : recipe.layouts) {
        if (!layout.entry->needs(layout.parameters).square) continue;
        askers.push_back(fmt::format("layout '{}' ({})", layout.entry->name, recipe.line_of(layout.place)));
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
