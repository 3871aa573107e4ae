// Reads the places of a space: the alternatives of each stage and layout, with all combinations of their values.
#include <fmt/core.h>

#include <algorithm>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/space_data.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_options = 10'000;  // of a place
constexpr std::size_t most_problems = 1000;   // of which only some are shown; later options are not checked

/// The values to try of a setting: those of a sweep or a list, or the setting itself.
std::vector<Setting> values_of(const Setting& setting, bool takes_list) {
    std::vector<Setting> values;
    if (setting.swept) {
        values = setting.sweep;
    } else if (takes_list || (!setting.texts && setting.items.empty())) {
        return {setting};
    } else if (setting.texts) {
        for (const TextItem& item : *setting.texts) {
            Setting& value = values.emplace_back();
            value.value = item.text;
            value.value_place = item.place;
        }
    } else {
        values = setting.items;
    }
    for (Setting& value : values) {
        value.key = setting.key;
        value.key_place = setting.key_place;
    }
    return values;
}

/// Adds an error and returns false if the values to try have no proper form, or are none.
bool check_values(const Setting& setting, bool takes_list, Diagnostics& diagnostics) {
    if (!setting.sweep_problem.empty()) {
        diagnostics.add(setting.value_place, "{}, sweep: {}", printable(setting.key, 40), setting.sweep_problem);
        return false;
    }
    if (takes_list || !setting.texts || !setting.texts->empty()) return true;
    diagnostics.add(setting.value_place, "{}: found an empty list, expected values to try", printable(setting.key, 40));
    return false;
}

/// Takes the table `kernel` out of a table. Adds an error if it is none.
RecipeTable take_kernel(RecipeTable& table, Diagnostics& diagnostics) {
    const std::optional<Setting> kernel = table.take("kernel");
    if (!kernel) return {};
    if (!kernel->table.empty()) return kernel->table.front();
    diagnostics.add(kernel->value_place, "kernel: {}, expected a backend as in kernel.cuda = \"NAME\"", found_text(*kernel));
    return {};
}

/// A table of the space for an alternative: one word, or a table with `use`.
std::optional<RecipeTable> read_alternative(const Setting& alternative, std::string_view what, Diagnostics& diagnostics) {
    RecipeTable table;
    table.place = alternative.value_place;
    if (alternative.value) {
        table.settings.push_back(alternative);
        return table;
    }
    if (alternative.table.empty()) {
        diagnostics.add(alternative.value_place, "use: {}, expected a {}: \"NAME\", or {{ use = \"NAME\", ... }}",
                        found_text(alternative), what);
        return std::nullopt;
    }
    table.settings = alternative.table.front().settings;
    return table;
}

/// The parameters that an alternative declares. An unknown one declares none, and may have any key.
DeclaredParameters declared_by(const Catalogue& catalogue, const RecipeTable& alternative, bool is_stage) {
    const std::string* name = alternative.text("use");
    if (name == nullptr) return {};
    if (is_stage) {
        const StageEntry* const stage = catalogue.find_stage(*name);
        return stage == nullptr ? DeclaredParameters() : DeclaredParameters{stage->parameters, stage->takes_other_keys};
    }
    const LayoutEntry* const layout = catalogue.find_layout(*name);
    return layout == nullptr ? DeclaredParameters() : DeclaredParameters{layout->parameters, false};
}

bool may_have(const DeclaredParameters& declared, const std::string& key) {
    return declared.takes_other_keys || std::ranges::count(declared.parameters, key, &ParameterDeclaration::name) > 0;
}

/// A text that is the same for options with the same parameters and kernels.
std::string key_of(const SpaceChoice& choice, bool is_stage) {
    const SpaceVariant* const variant = choice.ties.empty() ? &choice.variants.begin()->second : nullptr;
    const std::string* const use = choice.table.text("use");
    std::string key = use == nullptr ? "source" : *use;
    if (variant != nullptr && variant->legal) {
        const Parameters& parameters = is_stage ? *variant->stage.parameters : *variant->layout.parameters;
        for (const auto& [name, value] : parameters.values()) key += fmt::format("\n{} = {}", name, to_text(value));
    }
    for (const RecipeTable* table : {&choice.table, &choice.kernel}) {
        if (table == &choice.table && variant != nullptr && variant->legal) continue;
        for (const Setting& setting : table->settings) {
            key += fmt::format("\n{} = {}{}", setting.key, setting.same_as, setting.value ? to_text(*setting.value) : "");
        }
    }
    return key;
}

/// Adds each problem that the diagnostics do not contain yet.
void add_new(const std::vector<RecipeProblem>& problems, Diagnostics& diagnostics) {
    std::vector<RecipeProblem> all = diagnostics.take();
    for (const RecipeProblem& problem : problems) {
        if (all.size() < most_problems && std::ranges::count(all, problem) == 0) all.push_back(problem);
    }
    diagnostics.add_all(all);
}

}  // namespace

void SpaceReader::read() {
    for (const auto& [name, is_truth] : names_of_facts()) {
        names_[name] = {.is_fact = true, .is_truth = is_truth, .is_number = !is_truth};
    }
    for (const RecipeTable& stage : document_.stages) read_stage(stage);
    data_.stages = data_.places.size();
    read_layouts();
    data_.side_by_side = check_side_by_side(document_.kernel, diagnostics_);
    for (const Setting& setting : document_.kernel.settings) {
        if (setting.key == "side_by_side") continue;
        diagnostics_.add(setting.key_place,
                         "found {} in [kernel] of a space; expected only side_by_side, and kernel.cuda = \"NAME\" in a layout",
                         printable(setting.key, 40));
    }
}

void SpaceReader::read_stage(const RecipeTable& stage) {
    SpaceSlot slot;
    slot.is_stage = true;
    RecipeTable whole = stage;
    if (const auto optional = whole.take("optional")) {
        if (const bool* value = optional->as<bool>()) {
            slot.optional = *value;
        } else {
            diagnostics_.add(optional->value_place, "optional: {}, expected true or false", found_text(*optional));
        }
    }
    if (const auto when = whole.take("when")) slot.presence = read_condition(*when);
    if (whole.id.empty() && whole.find("use") != nullptr && whole.find("id") == nullptr) {
        diagnostics_.add(whole.place_of("use"), "a stage whose 'use' is one of several needs an id");
    }
    whole.take("id");
    add_choices(whole, {}, slot);
    add_place("stage." + stage.id, std::move(slot));
}

void SpaceReader::read_layouts() {
    struct Tables {
        RecipeTable own;
        RecipeTable kernel;
    };
    std::vector<std::pair<std::string, std::vector<Tables>>> places;  // by name
    std::map<std::string, std::optional<ShareId>> shares;
    const auto add = [&](RecipeTable own, RecipeTable kernel) {
        std::string name = "layout";
        if (own.find("share") != nullptr) {
            const std::optional<ShareId> share = check_share(own, diagnostics_);
            if (!share) return;
            name += "." + name_of(*share);
            shares[name] = share;
            own.take("share");
        }
        auto place = std::ranges::find(places, name, &decltype(places)::value_type::first);
        if (place == places.end()) place = places.insert(name == "layout" ? places.begin() : places.end(), {name, {}});
        place->second.push_back({std::move(own), std::move(kernel)});
    };
    for (const LayoutTables& tables : document_.layouts) add(tables.own, tables.kernel);
    if (!document_.layout.settings.empty() || document_.layout.place.line > 0) {
        RecipeTable own = document_.layout;
        RecipeTable kernel = take_kernel(own, diagnostics_);
        add(std::move(own), std::move(kernel));
    } else if (document_.layouts.empty() && !document_.layout.broken) {
        diagnostics_.add({}, "no [layout]; expected one with use = \"NAME\", one of {}",
                         join(names_of(with_.catalogue.layouts)));
    }
    for (auto& [name, tables] : places) {
        SpaceSlot slot;
        slot.share = shares[name];
        slot.optional = places.size() > 1;
        for (const Tables& each : tables) add_choices(each.own, each.kernel, slot);
        add_place(name, std::move(slot));
    }
}

void SpaceReader::add_place(const std::string& name, SpaceSlot slot) {
    if (slot.optional || slot.presence) {
        slot.choices.insert(slot.choices.begin(), SpaceChoice{.left_out = true});
    }
    join_repetitions(slot);
    data_.places.push_back({name, {}});
    data_.slots.push_back(std::move(slot));
    learn_names(name, data_.places.size() - 1);
}

void SpaceReader::add_choices(const RecipeTable& whole, const RecipeTable& kernel, SpaceSlot& slot) {
    RecipeTable shared = whole;
    const std::string_view what = slot.is_stage ? "stage" : "layout";
    std::vector<std::size_t> conditions;
    if (const auto when = shared.take("when")) {  // of a layout
        if (const auto condition = read_condition(*when)) conditions.push_back(*condition);
    }
    const std::optional<Setting> use = shared.take("use");
    std::vector<RecipeTable> alternatives;
    if (use && !check_values(*use, false, diagnostics_)) return;
    for (const Setting& value : use ? values_of(*use, false) : std::vector<Setting>()) {
        if (auto alternative = read_alternative(value, what, diagnostics_)) alternatives.push_back(std::move(*alternative));
    }
    if (!use) alternatives.emplace_back();  // a format in a file, or an error
    for (const Setting& setting : shared.settings) {
        const bool known = std::ranges::any_of(alternatives, [&](const RecipeTable& alternative) {
            return alternatives.size() == 1 || alternative.find(setting.key) != nullptr ||
                   may_have(declared_by(with_.catalogue, alternative, slot.is_stage), setting.key);
        });
        if (known || alternatives.empty()) continue;
        diagnostics_.add(setting.key_place, "none of the alternatives has a parameter '{}'; expected one that a {} declares",
                         printable(setting.key, 40), what);
    }
    for (RecipeTable& alternative : alternatives) {
        if (slot.is_stage) use_of_code(alternative);
        const bool of_code = slot.is_stage && (alternative.find("program") != nullptr || alternative.find("source") != nullptr);
        if (const Setting* id = alternative.find("id"); id != nullptr && !of_code) {
            diagnostics_.add(id->key_place, "found the id of an alternative; expected the id of the stage beside 'use'");
        }
        alternative.take("id");
        std::vector<std::size_t> own_conditions = conditions;
        if (const auto when = alternative.take("when")) {
            if (const auto condition = read_condition(*when)) own_conditions.push_back(*condition);
        }
        RecipeTable own_kernel = kernel;
        for (const Setting& setting : take_kernel(alternative, diagnostics_).settings) own_kernel.set(setting);
        const DeclaredParameters declared = declared_by(with_.catalogue, alternative, slot.is_stage);
        for (const Setting& setting : shared.settings) {
            const bool changed = setting.key_place.option >= 0;  // by the command line
            const bool belongs = alternatives.size() == 1 || may_have(declared, setting.key);
            if (belongs && (changed || alternative.find(setting.key) == nullptr)) alternative.set(setting);
        }
        alternative.place = whole.place;
        alternative.id = whole.id;
        add_combinations(alternative, own_kernel, own_conditions, declared, slot);
    }
}

void SpaceReader::add_combinations(const RecipeTable& alternative, const RecipeTable& kernel,
                                   const std::vector<std::size_t>& conditions, const DeclaredParameters& declared,
                                   SpaceSlot& slot) {
    struct Dimension {
        bool of_kernel;
        std::vector<Setting> values;
    };
    std::vector<Dimension> dimensions;
    std::size_t count = 1;
    for (const bool of_kernel : {false, true}) {
        for (const Setting& setting : (of_kernel ? kernel : alternative).settings) {
            const bool takes_list = !of_kernel && std::ranges::any_of(declared.parameters, [&](const auto& declaration) {
                return declaration.name == setting.key &&
                       (is_list(declaration.type) || declaration.type == ParameterType::command);
            });
            if (!check_values(setting, takes_list, diagnostics_)) return;
            dimensions.push_back({of_kernel, values_of(setting, takes_list)});
            count *= dimensions.back().values.size();
            if (slot.choices.size() + count <= most_options) continue;
            diagnostics_.add(setting.value_place, "found more than {} options of one place with {}; expected at most that many",
                             most_options, printable(setting.key, 40));
            return;
        }
    }
    const std::size_t first = slot.choices.size();
    std::vector<RecipeProblem> contradictions;
    for (std::size_t number = 0; number < count && diagnostics_.count() < most_problems; ++number) {
        SpaceChoice choice;
        choice.table.place = choice.kernel.place = alternative.place;
        choice.table.id = alternative.id;
        choice.conditions = {conditions};
        std::size_t rest = number;
        std::size_t combinations = count;
        for (const Dimension& dimension : dimensions) {
            combinations /= dimension.values.size();
            (dimension.of_kernel ? choice.kernel : choice.table).settings.push_back(dimension.values[rest / combinations]);
            rest %= combinations;
        }
        bool fine = true;
        for (const Setting& setting : choice.table.settings) {
            if (setting.same_as.empty()) continue;
            const std::optional<SpaceTie> tie = read_tie(setting);
            fine = fine && tie.has_value();
            if (tie) choice.ties.push_back(*tie);
        }
        if (!fine) continue;
        if (choice.ties.empty()) check_variant(choice, slot, choice.table, {}, &contradictions);
        slot.choices.push_back(std::move(choice));
    }
    // Combinations of values that contradict each other are left out, unless nothing remains.
    const auto is_usable = [](const SpaceChoice& choice) {
        return !choice.ties.empty() || choice.variants.begin()->second.legal;
    };
    const auto begin = slot.choices.begin() + static_cast<std::ptrdiff_t>(first);
    if (diagnostics_.empty() && std::none_of(begin, slot.choices.end(), is_usable)) add_new(contradictions, diagnostics_);
    slot.choices.erase(std::remove_if(begin, slot.choices.end(), [&](const auto& choice) { return !is_usable(choice); }),
                       slot.choices.end());
}

std::optional<std::size_t> SpaceReader::read_condition(const Setting& setting) {
    auto condition = SpaceCondition::parse(setting, names_, diagnostics_);
    if (!condition) return std::nullopt;
    data_.conditions.push_back(std::move(*condition));
    return data_.conditions.size() - 1;
}

std::optional<SpaceTie> SpaceReader::read_tie(const Setting& setting) {
    const std::string& name = setting.same_as;
    for (std::size_t place = 0; place < data_.places.size(); ++place) {
        const std::string before = data_.places[place].name + ".";
        if (!data_.slots[place].is_stage || !name.starts_with(before)) continue;
        const std::string key = name.substr(before.size());
        const bool given = std::ranges::any_of(data_.slots[place].choices, [&](const SpaceChoice& choice) {
            const Setting* const value = choice.table.find(key);
            return value != nullptr && value->same_as.empty();
        });
        if (given && key != "use") return SpaceTie{setting.key, place, key};
    }
    add_new({{setting.value_place, fmt::format("{}: '{}' is not given; expected the name of a value of an earlier stage, as in "
                                               "--set",
                                               printable(setting.key, 40), printable(name, 80))}},
            diagnostics_);
    return std::nullopt;
}

void SpaceReader::check_variant(SpaceChoice& choice, const SpaceSlot& slot, const RecipeTable& table,
                                const std::vector<std::uint32_t>& ties, std::vector<RecipeProblem>* contradictions) {
    SpaceVariant& variant = choice.variants[ties];
    variant.table = table;
    const std::vector<RecipeProblem> before = diagnostics_.take();
    bool contradictory = false;
    if (slot.is_stage) {
        variant.stage = check_stage(variant.table, document_, with_.catalogue, diagnostics_);
        contradictory = variant.stage.parameters && !variant.stage.facts;
        variant.legal = variant.stage.parameters && variant.stage.facts;
    } else {
        variant.layout = check_layout_table(variant.table, {"use", "source"}, document_.files, with_, diagnostics_);
        contradictory = variant.layout.parameters && !variant.layout.facts;
        variant.legal = variant.layout.parameters && variant.layout.facts;
    }
    if (contradictory) {
        const std::vector<RecipeProblem> problems = diagnostics_.take();
        if (contradictions != nullptr) contradictions->insert(contradictions->end(), problems.begin(), problems.end());
    }
    if (variant.legal) complete_variant(variant, choice, slot);
    const std::vector<RecipeProblem> problems = diagnostics_.take();
    diagnostics_.add_all(before);
    add_new(problems, diagnostics_);
}

void SpaceReader::complete_variant(SpaceVariant& variant, const SpaceChoice& choice, const SpaceSlot& slot) {
    RecipeDocument document;
    Recipe recipe;
    if (slot.is_stage) {
        variant.kind = kind_of(*variant.stage.facts);
        variant.recipe_stage = stage_of(variant.table, variant.stage);
        document.stages = {variant.table};
        recipe.stages = {variant.recipe_stage};
    } else {
        const CheckedChoice checked{&variant.table, &choice.kernel, variant.layout, slot.share};
        variant.kind = kind_of(*variant.layout.facts, variant.layout.entry->rows_of_share);
        variant.recipe_layout = check_kernel_table(checked, document_.files, with_.catalogue, diagnostics_);
        if (diagnostics_.empty()) complete_layout(variant.recipe_layout, checked, with_.catalogue);
        document.layout = variant.table;
        document.kernel = choice.kernel;
        recipe.layouts = {variant.recipe_layout};
        recipe.layouts.front().entry = variant.layout.entry;
    }
    variant.code = code_of(document, recipe);
    refuse_code(variant.code, with_, diagnostics_);
}

void SpaceReader::add_variant(std::size_t place, std::uint32_t option, const SpacePoint& point) {
    SpaceSlot& slot = data_.slots[place];
    SpaceChoice& choice = slot.choices[option];
    const std::vector<std::uint32_t> ties = Space::Data::options_of_ties(choice, point);
    if (choice.left_out || choice.variants.contains(ties)) return;
    RecipeTable table = choice.table;
    for (const SpaceTie& tie : choice.ties) {
        const SpaceVariant* const source = data_.variant_of(point, tie.place);
        const Setting* const value = source == nullptr ? nullptr : source->table.find(tie.of);
        if (value == nullptr) {
            choice.variants[ties];  // not legal
            return;
        }
        Setting filled = *value;
        filled.key = tie.key;
        filled.key_place = table.find(tie.key)->key_place;
        *std::ranges::find(table.settings, tie.key, &Setting::key) = filled;
    }
    check_variant(choice, slot, table, ties, nullptr);
}

void SpaceReader::join_repetitions(SpaceSlot& slot) {
    std::vector<SpaceChoice> joined;
    std::map<std::string, std::size_t> known;
    for (SpaceChoice& choice : slot.choices) {
        std::string key = choice.left_out ? "none" : key_of(choice, slot.is_stage);
        const auto [first, fresh] = known.emplace(key, joined.size());
        if (fresh) {
            joined.push_back(std::move(choice));
            continue;
        }
        SpaceChoice& other = joined[first->second];
        if (other.conditions.front().empty() || choice.conditions.front().empty()) {
            const RecipePlace place = choice.table.place_of("use");
            add_new(
                {{place, fmt::format("found '{}' with the same parameters twice; the first is on {}",
                                     key.substr(0, key.find('\n')), diagnostics_.line(other.table.place_of("use"), place))}},
                diagnostics_);
        } else {
            other.conditions.push_back(choice.conditions.front());
        }
    }
    slot.choices = std::move(joined);
}

void SpaceReader::learn_names(const std::string& name, std::size_t place) {
    const SpaceSlot& slot = data_.slots[place];
    ConditionName use{.place = place, .key = "use"};
    const auto add_word = [](ConditionName& what, const std::string& word) {
        if (std::ranges::count(what.words, word) == 0) what.words.push_back(word);
    };
    for (const SpaceChoice& choice : slot.choices) {
        const std::string* const word = choice.table.text("use");
        if (choice.left_out) add_word(use, "none");
        if (word != nullptr) add_word(use, *word);
        for (const ParameterDeclaration& declaration : declared_by(with_.catalogue, choice.table, slot.is_stage).parameters) {
            ConditionName& what = names_[fmt::format("{}.{}", name, declaration.name)];
            what.place = place;
            what.key = declaration.name;
            switch (declaration.type) {
                case ParameterType::boolean: what.is_truth = true; break;
                case ParameterType::length: what.any_word = what.is_number = true; break;
                case ParameterType::integer:
                case ParameterType::real: what.is_number = true; break;
                case ParameterType::choice: break;
                default: what.any_word = true;
            }
            for (const std::string& each : declaration.words) add_word(what, each);
        }
    }
    names_[name] = names_[name + ".use"] = use;
}

std::uint32_t SpaceReader::kind_of(const Needs& needs, RowsOfShare rows) {
    const auto& [square, cuts, shares, unsplit, columns_by_density] = needs;
    std::string key = fmt::format("layout {} {} {} {}", square, unsplit, columns_by_density, rows == RowsOfShare::all);
    for (const CutKind cut : cuts) key += fmt::format(" cuts {}", name_of(cut));
    for (const ShareChoice& share : shares) key += fmt::format(" share {}", name_of(share));
    return kinds_.emplace(key, static_cast<std::uint32_t>(kinds_.size())).first->second;
}

std::uint32_t SpaceReader::kind_of(const StageContract& contract) {
    const auto& [needs, acts, keeps, gives_cuts, most_pieces, gives_shares, splits, unites, depends_on_precision,
                 gives_columns_by_density] = contract;
    std::string key = fmt::format("stage {} {} {} {}", kind_of(needs, RowsOfShare::present), acts ? name_of(*acts) : "",
                                  depends_on_precision, gives_columns_by_density);
    for (const CutKind cut : keeps) key += fmt::format(" keeps {}", name_of(cut));
    for (const CutKind cut : gives_cuts) key += fmt::format(" cuts {}", name_of(cut));
    for (const auto& [cut, most] : most_pieces) key += fmt::format(" at most {} {}", most, name_of(cut));
    for (const auto& [kind, only_with, only_without] : gives_shares) {
        key += fmt::format(" share {}", name_of(kind));
        if (only_with) key += fmt::format(" with {}", name_of(*only_with));
        if (only_without) key += fmt::format(" without {}", name_of(*only_without));
    }
    if (splits) key += fmt::format(" splits {}", name_of(*splits));
    for (const ShareId& share : unites) key += fmt::format(" unites {}", name_of(share));
    return kinds_.emplace(key, static_cast<std::uint32_t>(kinds_.size())).first->second;
}

}  // namespace workbench
