// The checks of a document, table by table: what its names refer to, and the recipe that results.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <span>

#include "core/contract/device.hpp"
#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checked_text.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::string_view side_by_side = "side_by_side";  // the only key of [kernel] with several layouts
constexpr std::array backends = {Backend::kokkos, Backend::eigen, Backend::cuda, Backend::cusparse};

/// The entry that `use` names; null after an error.
template <typename Found>
const Found* check_use(const RecipeTable& table, std::string_view what, const std::vector<Found>& known,
                       Diagnostics& diagnostics) {
    const RecipePlace place = table.place_of("use");
    const std::string* name = table.text("use");
    if (name == nullptr) {
        const Setting* use = table.find("use");
        diagnostics.add(place, "{}; expected use = \"NAME\" with one of {}",
                        use == nullptr ? fmt::format("found a {} without 'use'", what) : "use: " + found_text(*use),
                        join(names_of(known)));
        return nullptr;
    }
    const auto found = std::ranges::find(known, *name, &Found::name);
    if (found != known.end()) return &*found;
    const std::string suggestion = did_you_mean(*name, names_of(known));
    diagnostics.add(place, "unknown {} '{}'{}", what, printable(*name, 40),
                    suggestion.empty() ? "; expected one of " + join(names_of(known)) : suggestion);
    return nullptr;
}

/// Stands for a format that is neither compiled nor loaded: every value that the table sets is one of a parameter, and nothing
/// else is known.
const LayoutEntry& unread_format(const std::filesystem::path& file, const RecipeTable& table,
                                 const std::vector<std::string>& others) {
    static std::deque<LayoutEntry> all;  // recipes refer to them
    LayoutEntry& entry = all.emplace_back();
    entry.name = file.stem().string();
    entry.file = std::filesystem::canonical(file);
    entry.needs = [](const Parameters&) { return Needs(); };
    for (const Setting& setting : table.settings) {
        if (!setting.value || std::ranges::count(others, setting.key) > 0) continue;
        entry.parameters.push_back({.name = setting.key, .type = type_of(*setting.value)});
    }
    return entry;
}

bool is_unread(const LayoutEntry& entry) { return !entry.file.empty() && entry.build.f64 == nullptr; }

/// The entry of a format in a file beside the recipe; null after an error. Compiles and loads it, unless it is to be refused or
/// remains unread.
const LayoutEntry* check_format(const Setting& source, const RecipeTable& table, const std::vector<std::string>& others,
                                std::span<const std::filesystem::path> files, const CheckedWith& with,
                                Diagnostics& diagnostics) {
    if (table.find("use") != nullptr) {
        diagnostics.add(source.key_place, "found 'source' beside 'use'; expected one of them");
        return nullptr;
    }
    if (source.as<std::string>() == nullptr) {
        diagnostics.add(source.value_place, "source: {}, expected the file of a format", found_text(source));
        return nullptr;
    }
    if (with.catalogue.format_from_file == nullptr) {
        diagnostics.add(source.key_place, "this program cannot compile formats; expected use = \"NAME\"");
        return nullptr;
    }
    const std::filesystem::path file = check_source_file(source, files, "[layout]", "a format", diagnostics);
    if (file.empty()) return nullptr;
    const RecipeCode code{fmt::format("layout: source {}", printable(file.string(), 200)), source.value_place};
    if (refuse_code({&code, 1}, with, diagnostics)) return nullptr;
    try {
        const LayoutEntry& format =
            with.unread_formats ? unread_format(file, table, others) : with.catalogue.format_from_file(file);
        if (with.catalogue.find_layout(format.name) == nullptr) return &format;
        diagnostics.add(source.value_place, "the workbench has a layout '{}'; expected another name, of the file and in it",
                        format.name);
    } catch (const RecipeError& error) {
        diagnostics.add(source.value_place, "{}", error.what());
    }
    return nullptr;
}

/// Checks the parameters of a stage or layout, and calls `facts_of` (contract or needs). `others` are its keys that are not
/// parameters.
template <typename Facts, typename Found>
Checked<Found, Facts> check_facts(const RecipeTable& table, const Found& entry, const std::string& owner,
                                  const std::vector<ParameterDeclaration>& declarations,
                                  Facts (*Found::*facts_of)(const Parameters&), const std::vector<std::string>& others,
                                  Diagnostics& diagnostics) {
    Checked<Found, Facts> checked;
    checked.entry = &entry;
    checked.parameters = check_parameters(table, owner, declarations, others, diagnostics);
    if (!checked.parameters) return checked;
    try {
        checked.facts = (entry.*facts_of)(*checked.parameters);
    } catch (const ParameterError& wrong) {
        const bool given = table.find(wrong.parameter) != nullptr;
        diagnostics.add(table.place_of(given ? wrong.parameter : "use"), "{}, {}: {}", owner, wrong.parameter, wrong.what());
    }
    return checked;
}

/// True if this program was built with kernels for the backend.
bool is_built(const Catalogue& catalogue, Backend backend) {
    return std::ranges::any_of(catalogue.layouts, [&](const LayoutEntry& layout) {
        return std::ranges::count(layout.kernels, backend, &KernelEntry::backend) > 0;
    });
}

void check_kernel(const Setting& setting, Backend backend, const LayoutEntry& layout, const Catalogue& catalogue,
                  Diagnostics& diagnostics) {
    std::vector<std::string> names;
    for (const KernelEntry& kernel : layout.kernels) {
        if (kernel.backend == backend) names.push_back(kernel.name);
    }
    const auto* name = setting.as<std::string>();
    if (name != nullptr && std::ranges::count(names, *name) > 0) return;
    if (name == nullptr) {
        diagnostics.add(setting.value_place, "[kernel], {}: {}, expected the name of a kernel", setting.key,
                        found_text(setting));
    } else if (!names.empty()) {
        diagnostics.add_unmatched(setting.value_place, "layout '{}' has no {} kernel '{}'{}", layout.name, setting.key,
                                  printable(*name, 40), expected_one_of(*name, names));
    } else if (is_built(catalogue, backend)) {
        diagnostics.add_unmatched(setting.key_place, "layout '{}' has no {} kernels", layout.name, setting.key);
    }
}

/// The kernels that the recipe chooses. A choice for a backend that this program was built without is not checked.
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
    for (const std::string& name : names_of(source_parameters())) names.push_back(name);
    for (const Setting& setting : table.settings) {
        if (std::ranges::count(names, setting.key) > 0) continue;
        diagnostics.add(setting.key_place, "[kernel] has no '{}'{}", printable(setting.key, 40),
                        expected_one_of(setting.key, names));
    }
    return kernels;
}

/// A share has at most one kernel per kind of device.
void check_one_kernel_a_device(const RecipeTable& table, Diagnostics& diagnostics) {
    constexpr std::array<std::array<const char*, 3>, 2> keys = {
        {{"kokkos", "eigen", "cpu_source"}, {"cuda", "cusparse", "cuda_source"}}};
    for (const auto& of_device : keys) {
        std::vector<std::string> given;
        for (const char* key : of_device) {
            if (table.text(key) != nullptr) given.emplace_back(key);
        }
        if (given.size() < 2) continue;
        diagnostics.add(table.place_of(given[1]), "found kernels of {1} and {2} for one share on {0}; expected one of them",
                        &of_device == &keys.front() ? "the host" : "a GPU", given[0], given[1]);
    }
}

}  // namespace

bool refuse_code(std::span<const RecipeCode> all, const CheckedWith& with, Diagnostics& diagnostics) {
    if (with.no_code_because.empty()) return false;
    for (const RecipeCode& code : all) {
        diagnostics.add(code.place, "{}: found code beside the recipe; expected none, because {}", code.what,
                        with.no_code_because);
    }
    return !all.empty();
}

std::vector<ParameterDeclaration> recipe_declarations() {
    return {
        declare("name", ParameterType::text, not_required, {}, "name in reports"),
        declare("source", ParameterType::text, not_required, {}, "source of the idea"),
        declare("extends", ParameterType::text, not_required, {}, "recipe that this one changes"),
        choice_parameter("device", not_required, device_model_names(),
                         "device model that stages optimize for; default: the GPU of this machine"),
        choice_parameter(
            "prepare", not_required, {"cpu", "gpu"},
            "gpu: preprocessing (sorting, reordering, splitting, slicing) runs on the GPU; --prepare overrides it"),
    };
}

void check_header(const RecipeTable& table, const std::string& owner, Recipe& recipe, Diagnostics& diagnostics) {
    std::vector<ParameterDeclaration> declarations = recipe_declarations();
    if (owner != "[recipe]") std::erase_if(declarations, [](const auto& each) { return each.name == "extends"; });
    recipe.name = recipe.file.stem().string();
    const std::vector<std::string> others = owner == "[space]" ? std::vector<std::string>{"start"} : std::vector<std::string>{};
    const auto parameters = check_parameters(table, owner, declarations, others, diagnostics);
    const auto take = [&](const char* key, std::string& text) {
        if (parameters && parameters->has(key)) text = parameters->text(key);
    };
    take("name", recipe.name);
    take("source", recipe.source);
    take("device", recipe.device);
    take("prepare", recipe.prepare);
    if (const Setting* extends = table.find("extends");
        extends != nullptr && owner == "[recipe]") {  // from the command line: that of a file has been merged
        diagnostics.add(extends->key_place, "{}, extends: it cannot be set; expected it in a file", owner);
    }
    if (recipe.name != printable(recipe.name, longest_recipe_name)) {
        diagnostics.add(table.place_of("name"), "{}, name: expected one line of at most {} characters", owner,
                        longest_recipe_name);
    }
}

CheckedStage check_stage(const RecipeTable& table, const RecipeDocument& document, const Catalogue& catalogue,
                         Diagnostics& diagnostics) {
    const StageEntry* entry = check_use(table, "stage", catalogue.stages, diagnostics);
    if (entry == nullptr) return {};
    const std::string owner = fmt::format("stage '{}'", entry->name);
    const RecipeTable whole = with_absolute_paths(table, document, owner, entry->parameters, diagnostics);
    return check_facts(whole, *entry, owner, declarations_of(*entry, table), &StageEntry::contract, {"use", "id"}, diagnostics);
}

std::optional<ShareId> check_share(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* setting = table.find("share");
    if (setting == nullptr) {
        diagnostics.add(table.place,
                        "found one of several layouts without 'share'; expected share = \"NAME\" with a share of a stage");
        return std::nullopt;
    }
    const std::string* name = table.text("share");
    const std::optional<ShareId> share = name == nullptr ? std::nullopt : single_share(*name);
    if (share) return share;
    const std::optional<ShareChoice> many = name == nullptr ? std::nullopt : share_choice(*name);
    const std::vector<std::string> names = listed_kinds_without_places();
    if (many) {
        diagnostics.add(setting->value_place, "share: found \"{}\"; only single shares can have a [[layout]], such as {}",
                        name_of(*many), join(names));
    } else {
        diagnostics.add(setting->value_place, "share: {}, expected a share: {}, or one split again such as \"short/first\"{}",
                        found_text(*setting), join(names), name == nullptr ? "" : did_you_mean(*name, names));
    }
    return std::nullopt;
}

CheckedLayout check_layout_table(const RecipeTable& table, const std::vector<std::string>& others,
                                 std::span<const std::filesystem::path> files, const CheckedWith& with,
                                 Diagnostics& diagnostics) {
    const Setting* const source = table.find("source");
    const LayoutEntry* const entry = source != nullptr ? check_format(*source, table, others, files, with, diagnostics)
                                                       : check_use(table, "layout", with.catalogue.layouts, diagnostics);
    if (entry == nullptr) return {};
    const std::string owner = fmt::format("layout '{}'", entry->name);
    return check_facts(table, *entry, owner, entry->parameters, &LayoutEntry::needs, others, diagnostics);
}

bool check_side_by_side(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* setting = table.find(side_by_side);
    if (setting == nullptr) return false;
    if (const bool* value = setting->as<bool>()) return *value;
    diagnostics.add(setting->value_place, "[kernel], {}: {}, expected true or false", side_by_side, found_text(*setting));
    return false;
}

RecipeLayout check_kernel_table(const CheckedChoice& choice, std::span<const std::filesystem::path> files,
                                const Catalogue& catalogue, Diagnostics& diagnostics) {
    RecipeLayout layout;
    layout.share = choice.share;
    const LayoutEntry* const found = choice.layout.entry;
    const LayoutEntry* const entry = found == nullptr || is_unread(*found) ? nullptr : found;
    layout.kernels = check_kernels(*choice.kernel, entry, catalogue, diagnostics);
    if (choice.share) check_one_kernel_a_device(*choice.kernel, diagnostics);
    layout.sources = check_sources(*choice.kernel, files, entry, diagnostics);
    return layout;
}

RecipeStage stage_of(const RecipeTable& table, CheckedStage checked) {
    RecipeStage stage{table.id, checked.entry, std::move(*checked.parameters), std::move(*checked.facts), table.place};
    for (const Setting& setting : table.settings) stage.written.push_back(setting.key);
    return stage;
}

void complete_layout(RecipeLayout& layout, CheckedChoice choice, const Catalogue& catalogue) {
    layout.entry = choice.layout.entry;
    layout.parameters = std::move(*choice.layout.parameters);
    layout.place = choice.table->place;
    if (catalogue.kernel_from_source == nullptr) return;
    for (const KernelSource& source : layout.sources) layout.own_kernels.push_back(catalogue.kernel_from_source(source));
}

namespace {

std::vector<CheckedStage> check_stages(const RecipeDocument& document, const Catalogue& catalogue, Diagnostics& diagnostics) {
    std::vector<CheckedStage> stages;
    for (const RecipeTable& table : document.stages) stages.push_back(check_stage(table, document, catalogue, diagnostics));
    return stages;
}

/// The [layout], or each [[layout]].
std::vector<CheckedChoice> check_layouts(const RecipeDocument& document, const CheckedWith& with, Diagnostics& diagnostics) {
    const auto check = [&](const RecipeTable& table, const std::vector<std::string>& others) {
        return check_layout_table(table, others, document.files, with, diagnostics);
    };
    std::vector<CheckedChoice> layouts;
    for (const LayoutTables& tables : document.layouts) {
        CheckedChoice choice{&tables.own, &tables.kernel, check(tables.own, {"use", "source", "share", "kernel"}), {}};
        if (const Setting* kernel = tables.own.find("kernel")) {
            diagnostics.add(kernel->value_place, "kernel: {}, expected a backend as in kernel.cuda = \"NAME\"",
                            found_text(*kernel));
        }
        // A single [[layout]] may omit the share and store all nonzeros.
        if (document.layouts.size() > 1 || tables.own.find("share") != nullptr) {
            choice.share = check_share(tables.own, diagnostics);
        }
        layouts.push_back(std::move(choice));
    }
    if (!layouts.empty()) {
        for (const Setting& setting : document.kernel.settings) {
            if (setting.key == side_by_side) continue;
            diagnostics.add(
                setting.key_place,
                "found {} in [kernel] with several layouts; expected only {}, and kernel.cuda = \"NAME\" in a [[layout]]",
                printable(setting.key, 40), side_by_side);
        }
        return layouts;
    }
    CheckedChoice choice{&document.layout, &document.kernel, {}, {}};
    const bool present = document.layout.place.line > 0 || !document.layout.settings.empty();
    if (!document.layout.broken && present) {
        choice.layout = check(document.layout, {"use", "source", "id"});
    } else if (!document.layout.broken) {
        diagnostics.add({}, "no [layout]; expected one with use = \"NAME\", one of {}", join(names_of(with.catalogue.layouts)));
    }
    return {choice};
}

}  // namespace

std::optional<Recipe> check_document(const RecipeDocument& document, const CheckedWith& with, Diagnostics& diagnostics) {
    const Catalogue& catalogue = with.catalogue;
    Recipe recipe;
    recipe.file = document.files.front();
    recipe.bases.assign(document.files.begin() + 1, document.files.end());
    check_header(document.recipe, "[recipe]", recipe, diagnostics);
    recipe.matrix = check_matrix(document.matrix, document.files, catalogue, &recipe.node_size, diagnostics);
    std::vector<CheckedStage> stages = check_stages(document, catalogue, diagnostics);
    std::vector<CheckedChoice> layouts = check_layouts(document, with, diagnostics);
    for (const CheckedChoice& choice : layouts) {
        recipe.layouts.push_back(check_kernel_table(choice, document.files, catalogue, diagnostics));
    }
    if (!document.layouts.empty()) recipe.side_by_side = check_side_by_side(document.kernel, diagnostics);
    check_needs(document, stages, layouts, catalogue, diagnostics);
    const bool complete =
        std::ranges::all_of(stages, [](const CheckedStage& stage) { return stage.parameters && stage.facts; }) &&
        std::ranges::all_of(layouts, [](const CheckedChoice& choice) { return choice.layout.parameters.has_value(); });
    if (!diagnostics.empty() || !complete) return std::nullopt;

    for (std::size_t i = 0; i < stages.size(); ++i) {
        recipe.stages.push_back(stage_of(document.stages[i], std::move(stages[i])));
    }
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        complete_layout(recipe.layouts[i], std::move(layouts[i]), catalogue);
        if (!is_unread(*recipe.layouts[i].entry)) continue;
        recipe.notes.push_back(
            fmt::format("layout '{}' was not compiled, so that its parameters, kernels and needs were not checked; --sources "
                        "compiles and loads it",
                        recipe.layouts[i].entry->name));
    }
    recipe.code = code_of(document, recipe);
    mark_rounding(recipe);
    return recipe;
}

}  // namespace workbench
