#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "core/input/inline_matrix.hpp"
#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checked_text.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// True if the generator has a parameter `rows`, so that the key `rows` is not an inline matrix.
bool counts_rows(const GeneratorEntry* generator) {
    return generator != nullptr && std::ranges::count(generator->parameters, "rows", &ParameterDeclaration::name) > 0;
}

void check_one_source(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* first = nullptr;
    for (const Setting& setting : table.settings) {
        if (!names_matrix(setting)) continue;
        if (first != nullptr) {
            diagnostics.add(setting.key_place,
                            "[matrix] selects a second matrix, '{}' after '{}'; expected one of path, rows, generate",
                            setting.key, first->key);
            return;
        }
        first = &setting;
    }
}

InlineMatrix check_rows(const Setting& setting, Diagnostics& diagnostics) {
    InlineMatrix matrix;
    if (!setting.texts) {
        diagnostics.add(setting.value_place, R"([matrix], rows: {}, expected a list of strings: ["1 . 2", ". 3 ."])",
                        found_text(setting));
        return matrix;
    }
    for (const TextItem& item : *setting.texts) matrix.rows.push_back(item.text);
    try {
        static_cast<void>(csr_from_rows(matrix.rows));
    } catch (const InlineMatrixError& wrong) {
        RecipePlace place = (*setting.texts)[wrong.row].place;
        const std::string before = matrix.rows[wrong.row].substr(0, wrong.character);
        if (place.option < 0) place.column += 1 + static_cast<int>(characters(before).size());  // after the quote
        diagnostics.add(place, "{}", wrong.what());
    }
    return matrix;
}

MatrixFile check_path(const RecipeTable& table, std::span<const std::filesystem::path> files, Diagnostics& diagnostics) {
    const std::string& text = *table.text("path");
    const RecipePlace place = table.place_of("path");
    if (text.empty() || text.find('\0') != std::string::npos) {
        diagnostics.add(place, "[matrix], path: expected the name of a file");
        return {};
    }
    const bool of_file = place.option < 0 && static_cast<std::size_t>(place.file) < files.size();
    const std::string* member = table.text("member");
    return {of_file ? (files[static_cast<std::size_t>(place.file)].parent_path() / text).lexically_normal()
                    : std::filesystem::path(text),
            member == nullptr ? "" : *member};
}

/// The table without keys that an unknown generator might have declared.
RecipeTable known_entries(const RecipeTable& table, const std::vector<ParameterDeclaration>& declarations) {
    RecipeTable known = table;
    known.settings.clear();
    for (const ParameterDeclaration& declaration : declarations) {
        if (const Setting* setting = table.find(declaration.name)) known.settings.push_back(*setting);
    }
    return known;
}

GeneratedMatrix generated(const GeneratorEntry& generator, const Parameters& parameters) {
    std::map<std::string, ParameterValue> values;
    for (const ParameterDeclaration& declaration : generator.parameters) {
        if (parameters.has(declaration.name)) values.emplace(declaration.name, parameters.values().at(declaration.name));
    }
    return {&generator, Parameters(generator.parameters, std::move(values))};
}

/// The parameters of the generator and, unless null, node_size.
std::optional<Parameters> check_generator(const RecipeTable& table, const GeneratorEntry& generator,
                                          const ParameterDeclaration* node_size, Diagnostics& diagnostics) {
    RecipeTable of_generator = table;
    const bool of_file = table.place_of("generate").option < 0;
    if (!of_file) of_generator.place = table.place_of("generate");  // where a missing parameter is reported
    std::vector<ParameterDeclaration> declarations = generator.parameters;
    if (node_size != nullptr) declarations.push_back(*node_size);
    std::vector<std::string> others{"generate", "path", "member"};
    if (!counts_rows(&generator)) others.emplace_back("rows");
    return check_parameters(of_generator, fmt::format("{}generator '{}'", of_file ? "[matrix] with " : "", generator.name),
                            declarations, others, diagnostics);
}

/// The absolute path without "." and ".."; links are followed as far as the path exists.
std::filesystem::path resolved_path(const std::filesystem::path& path) {
    const std::filesystem::path whole = std::filesystem::absolute(path);
    std::error_code failure;
    const std::filesystem::path followed = std::filesystem::weakly_canonical(whole, failure);
    return failure ? whole.lexically_normal() : followed;
}

}  // namespace

std::vector<ParameterDeclaration> matrix_declarations() {
    return {
        declare("path", ParameterType::text, not_required, {}, "file, relative to the recipe"),
        declare("member", ParameterType::text, not_required, {}, "matrix in an archive, .mat or .h5 with several"),
        declare("rows", ParameterType::text, not_required, {}, "the matrix itself, one string per row"),
        declare("generate", ParameterType::text, not_required, {}, "generator of the matrix"),
        integer_parameter("node_size", by_default(1), between(1, std::numeric_limits<Index>::max(), "rows"),
                          "consecutive rows that belong to one mesh node"),
    };
}

bool operator==(const MatrixFile& a, const MatrixFile& b) {
    return a.member == b.member && resolved_path(a.path) == resolved_path(b.path);
}

bool names_matrix(const Setting& setting) {
    const bool written_out =
        setting.swept && !setting.sweep.empty() ? setting.sweep.front().texts.has_value() : setting.texts.has_value();
    return setting.key == "path" || setting.key == "generate" || (setting.key == "rows" && written_out);
}

MatrixChoice check_matrix(const RecipeTable& table, std::span<const std::filesystem::path> files, const Catalogue& catalogue,
                          Index* node_size, Diagnostics& diagnostics) {
    check_one_source(table, diagnostics);
    const std::string* name = table.text("generate");
    const GeneratorEntry* generator = name == nullptr ? nullptr : catalogue.find_generator(*name);
    const bool unknown = name != nullptr && generator == nullptr;
    if (unknown) {
        diagnostics.add(table.place_of("generate"), "unknown generator '{}'{}", printable(*name, 40),
                        expected_one_of(*name, names_of(catalogue.generators)));
    }

    std::optional<Parameters> parameters;
    const ParameterDeclaration nodes = matrix_declarations().back();
    if (generator != nullptr) {
        parameters = check_generator(table, *generator, node_size == nullptr ? nullptr : &nodes, diagnostics);
    } else {
        std::vector<ParameterDeclaration> declarations = matrix_declarations();
        if (node_size == nullptr) declarations.pop_back();
        parameters = check_parameters(unknown ? known_entries(table, declarations) : table, "[matrix]", declarations, {"rows"},
                                      diagnostics);
    }
    if (parameters && node_size != nullptr) *node_size = static_cast<Index>(parameters->integer("node_size"));

    MatrixChoice choice;
    const auto chosen = [&](const char* key) { choice.where = diagnostics.where(table.place_of(key)); };
    if (const Setting* rows = table.find("rows"); rows != nullptr && !counts_rows(generator)) {
        choice.from = check_rows(*rows, diagnostics);
        chosen("rows");
    }
    if (table.text("path") != nullptr) {
        choice.from = check_path(table, files, diagnostics);
        chosen("path");
    } else if (table.find("member") != nullptr) {
        const RecipePlace place = table.place_of("member");
        diagnostics.add(place, "{}",
                        place.option < 0 ? "[matrix], member: found no 'path'; expected that of the archive"
                                         : "the matrix is not read from a file; expected an archive");
    }
    if (generator != nullptr && parameters) {
        choice.from = generated(*generator, *parameters);
        chosen("generate");
    }
    return choice;
}

}  // namespace workbench
