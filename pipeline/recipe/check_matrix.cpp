#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "pipeline/contract/suggestion.hpp"
#include "pipeline/input/inline_matrix.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// Has the generator a parameter `rows`? Then that word of a recipe is not the matrix itself.
bool counts_rows(const GeneratorEntry* generator) {
    if (generator == nullptr) return false;
    const auto& all = generator->parameters;
    return std::any_of(all.begin(), all.end(), [](const ParameterDeclaration& each) { return each.name == "rows"; });
}

ParameterDeclaration node_size_declaration() {
    return {.name = "node_size",
            .type = ParameterType::integer,
            .default_value = std::int64_t{1},
            .minimum = 1,
            .maximum = std::numeric_limits<Index>::max(),
            .unit = "rows",
            .help = "consecutive rows that belong to one mesh node"};
}

std::vector<ParameterDeclaration> declarations_of(const GeneratorEntry* generator) {
    std::vector<ParameterDeclaration> all = {
        {.name = "path", .type = ParameterType::text, .optional = true, .help = "a file, relative to the recipe"},
        {.name = "member", .type = ParameterType::text, .optional = true, .help = "of an archive: the file in it"},
        {.name = "generate", .type = ParameterType::text, .optional = true, .help = "the generator that makes the matrix"},
        node_size_declaration(),
    };
    if (!counts_rows(generator)) {
        all.insert(all.begin() + 2,
                   {.name = "rows", .type = ParameterType::text, .optional = true, .help = "the matrix itself, a text a row"});
    }
    if (generator != nullptr) all.insert(all.end(), generator->parameters.begin(), generator->parameters.end());
    return all;
}

void check_one_source(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* first = nullptr;
    for (const Setting& setting : table.settings) {
        if (!names_matrix(setting)) continue;
        if (first != nullptr) {
            diagnostics.add(setting.key_place,
                            fmt::format("[matrix] names a second matrix, '{}' after '{}'; expected one of {}", setting.key,
                                        first->key, "path, rows, generate"));
            return;
        }
        first = &setting;
    }
}

InlineMatrix check_rows(const Setting& setting, Diagnostics& diagnostics) {
    InlineMatrix matrix;
    if (!setting.texts) {
        diagnostics.add(setting.value_place, fmt::format(R"([matrix], rows: {}, expected a list of texts: ["1 . 2", ". 3 ."])",
                                                         found_text(setting)));
        return matrix;
    }
    for (const TextItem& item : *setting.texts) matrix.rows.push_back(item.text);
    try {
        static_cast<void>(csr_from_rows(matrix.rows));
    } catch (const InlineMatrixError& wrong) {
        Place place = (*setting.texts)[wrong.row].place;
        const std::string before = matrix.rows[wrong.row].substr(0, wrong.character);
        if (place.option < 0) place.column += 1 + static_cast<int>(characters(before).size());  // after the quote
        diagnostics.add(place, wrong.what());
    }
    return matrix;
}

MatrixFile check_path(const RecipeTable& table, const std::filesystem::path& folder, Diagnostics& diagnostics) {
    const std::string& text = *table.text("path");
    const Place place = table.place_of("path");
    if (text.empty() || text.find('\0') != std::string::npos) {
        diagnostics.add(place, "[matrix], path: expected the name of a file");
        return {};
    }
    const bool of_file = place.option < 0;
    const std::string* member = table.text("member");
    return {of_file ? (folder / text).lexically_normal() : std::filesystem::path(text), member == nullptr ? "" : *member};
}

/// Without the keys that only a generator could have declared: which one was meant is not known.
RecipeTable known_entries(const RecipeTable& table) {
    RecipeTable known = table;
    known.settings.clear();
    for (const ParameterDeclaration& declaration : declarations_of(nullptr)) {
        if (const Setting* setting = table.find(declaration.name)) known.settings.push_back(*setting);
    }
    return known;
}

std::string unknown_generator(const std::string& name) {
    std::vector<std::string> names;
    for (const GeneratorEntry& entry : generators()) names.push_back(entry.name);
    return fmt::format("unknown generator '{}'{}", printable(name, 40), expected_one_of(name, names));
}

GeneratedMatrix generated(const GeneratorEntry& generator, const Parameters& parameters, const std::string& where) {
    std::map<std::string, ParameterValue> values;
    for (const ParameterDeclaration& declaration : generator.parameters) {
        if (parameters.has(declaration.name)) values.emplace(declaration.name, parameters.values().at(declaration.name));
    }
    return {&generator, Parameters(generator.parameters, std::move(values)), where};
}

/// Settings NAME=VALUE as a table, each name once.
RecipeTable table_of(std::span<const std::string> settings, Diagnostics& diagnostics) {
    RecipeTable table;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const Place place{0, 0, static_cast<int>(i)};
        const std::size_t equals = settings[i].find('=');
        const std::string key = settings[i].substr(0, equals);
        if (equals == std::string::npos || key.empty()) {
            diagnostics.add({}, fmt::format("found '{}'; expected NAME=VALUE", printable(settings[i], 40)));
        } else if (table.find(key) != nullptr) {
            diagnostics.add(place, fmt::format("'{}' is given twice", printable(key, 40)));
        } else {
            Setting setting = read_value(std::string_view(settings[i]).substr(equals + 1), place);
            setting.key = key;
            setting.key_place = place;
            table.settings.push_back(std::move(setting));
        }
    }
    return table;
}

}  // namespace

bool names_matrix(const Setting& setting) {
    return setting.key == "path" || setting.key == "generate" || (setting.key == "rows" && setting.texts);
}

MatrixSource generated_matrix(const std::string& generator, std::span<const std::string> settings, const std::string& option,
                              bool takes_node_size) {
    const std::string where = option + printable(generator, 40);
    Diagnostics diagnostics(where, "", settings, option);
    const GeneratorEntry* entry = find_generator(generator);
    if (entry == nullptr) diagnostics.add({}, unknown_generator(generator));
    diagnostics.throw_if_any();
    const RecipeTable table = table_of(settings, diagnostics);
    std::vector<ParameterDeclaration> declarations = entry->parameters;
    if (takes_node_size) declarations.push_back(node_size_declaration());
    const auto parameters = check_parameters(table, fmt::format("generator '{}'", entry->name), declarations, {}, diagnostics);
    diagnostics.throw_if_any();
    MatrixSource matrix{generated(*entry, *parameters, where)};
    if (takes_node_size) matrix.node_size = static_cast<Index>(parameters->integer("node_size"));
    return matrix;
}

MatrixSource check_matrix(const RecipeTable& table, const std::filesystem::path& folder, Diagnostics& diagnostics) {
    check_one_source(table, diagnostics);
    MatrixSource matrix;
    const std::string* name = table.text("generate");
    const GeneratorEntry* generator = name == nullptr ? nullptr : find_generator(*name);
    const bool unknown = name != nullptr && generator == nullptr;
    if (unknown) diagnostics.add(table.place_of("generate"), unknown_generator(*name));
    const std::string owner = generator == nullptr ? "[matrix]" : fmt::format("[matrix] with generator '{}'", generator->name);
    const bool inline_rows = !counts_rows(generator);
    const std::vector<std::string> others = inline_rows ? std::vector<std::string>{"rows"} : std::vector<std::string>{};
    auto parameters =
        check_parameters(unknown ? known_entries(table) : table, owner, declarations_of(generator), others, diagnostics);
    if (const Setting* rows = table.find("rows"); rows != nullptr && inline_rows) matrix.from = check_rows(*rows, diagnostics);
    if (table.text("path") != nullptr) {
        matrix.from = check_path(table, folder, diagnostics);
    } else if (table.text("member") != nullptr) {
        diagnostics.add(table.place_of("member"), "[matrix], member: expected the archive that it is in, as 'path'");
    }
    if (!parameters) return matrix;
    matrix.node_size = static_cast<Index>(parameters->integer("node_size"));
    if (generator != nullptr) {
        matrix.from = generated(*generator, *parameters, diagnostics.where(table.place_of("generate")));
    }
    return matrix;
}

}  // namespace workbench
