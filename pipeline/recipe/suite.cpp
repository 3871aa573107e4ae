#include "pipeline/recipe/suite.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// The strings of a list; empty if the key is missing.
std::vector<TextItem> check_list(const RecipeTable& table, const std::string& key, Diagnostics& diagnostics) {
    const Setting* setting = table.find(key);
    if (setting == nullptr) return {};
    if (setting->texts) return *setting->texts;
    diagnostics.add(setting->value_place, "[suite], {}: {}, expected a list of strings", key, found_text(*setting));
    return {};
}

std::vector<SuiteItem> check_paths(const RecipeTable& table, const std::string& key, const std::filesystem::path& folder,
                                   bool folders_too, Diagnostics& diagnostics) {
    std::vector<SuiteItem> paths;
    for (const TextItem& item : check_list(table, key, diagnostics)) {
        const std::filesystem::path path = folder / item.text;
        std::error_code unknown;
        const bool good =
            std::filesystem::is_regular_file(path, unknown) || (folders_too && std::filesystem::is_directory(path, unknown));
        if (!good) {
            diagnostics.add(item.place, "[suite], {}: '{}' does not exist; expected a file{}, relative to the suite", key,
                            printable(item.text, 200), folders_too ? " or a folder" : "");
        }
        paths.push_back({path.lexically_normal().string(), diagnostics.where(item.place)});
    }
    return paths;
}

/// The values that a list names.
template <typename Value, std::size_t count>
std::vector<Value> check_words(const RecipeTable& table, const std::string& key, const std::array<Value, count>& known,
                               Diagnostics& diagnostics) {
    std::vector<std::string> names;
    for (const Value value : known) names.emplace_back(name_of(value));
    std::vector<Value> values;
    if (const Setting* list = table.find(key); list != nullptr && list->texts && list->texts->empty()) {
        diagnostics.add(list->value_place, "[suite], {}: found an empty list{}", key, expected_one_of("", names));
    }
    for (const TextItem& item : check_list(table, key, diagnostics)) {
        const auto found = std::ranges::find(names, item.text);
        if (found == names.end()) {
            diagnostics.add(item.place, "[suite], {}: found '{}'{}", key, printable(item.text, 40),
                            expected_one_of(item.text, names));
        } else if (const Value value = known.at(static_cast<std::size_t>(found - names.begin()));
                   std::ranges::count(values, value) == 0) {
            values.push_back(value);
        }
    }
    return values;
}

constexpr const char* matrix_name = "GROUP/NAME of the SuiteSparse collection, or NAME, made of letters, digits and _ - + .";

std::vector<SuiteMatrix> check_named(const RecipeTable& table, Diagnostics& diagnostics) {
    const Setting* list = table.find("named");
    if (list == nullptr) return {};
    if (list->tables.empty()) {
        diagnostics.add(list->value_place,
                        "[suite], named: {}, expected [{{ name = \"GROUP/NAME\" }}, ...], with rows and "
                        "nonzeros if known",
                        found_text(*list));
    }
    std::vector<SuiteMatrix> named;
    for (const RecipeTable& one : list->tables) {
        const auto parameters =
            check_parameters(one, "a matrix of [suite], named", named_matrix_declarations(), {}, diagnostics);
        if (!parameters) continue;
        auto matrix = read_matrix_name(parameters->text("name"));
        if (!matrix) {
            diagnostics.add(one.place_of("name"), "[suite], named: found '{}', expected {}",
                            printable(parameters->text("name"), 60), matrix_name);
            continue;
        }
        const auto same = std::ranges::find(named, matrix->full_name(), &SuiteMatrix::full_name);
        if (same != named.end()) {
            diagnostics.add(one.place_of("name"), "[suite], named: '{}' is already listed at {}; expected it once",
                            matrix->full_name(), same->where);
        }
        if (parameters->has("rows")) matrix->rows = parameters->integer("rows");
        if (parameters->has("nonzeros")) matrix->nonzeros = parameters->integer("nonzeros");
        matrix->where = diagnostics.where(one.place_of("name"));
        named.push_back(std::move(*matrix));
    }
    return named;
}

void check_suite(const RecipeTable& table, const std::filesystem::path& folder, Suite& suite, Diagnostics& diagnostics) {
    const std::vector<std::string> lists = {"recipes", "matrices", "named", "generate", "precisions", "backends"};
    std::vector<std::string> known = lists;
    for (const std::string& name : names_of(suite_declarations())) known.push_back(name);
    std::vector<std::string> others = lists;
    for (const Setting& setting : table.settings) {
        if (std::ranges::count(known, setting.key) > 0) continue;
        others.push_back(setting.key);
        diagnostics.add(setting.key_place, "[suite]: unknown key '{}'{}", printable(setting.key, 40),
                        expected_one_of(setting.key, known));
    }
    const auto parameters = check_parameters(table, "[suite]", suite_declarations(), others, diagnostics);
    if (parameters) {
        if (parameters->has("name")) {
            suite.name = parameters->text("name");
            // NAME.jsonl has the results unless --out names a file.
            if (suite.name.empty() || suite.name.front() == '.' || suite.name.find('/') != std::string::npos) {
                diagnostics.add(table.place_of("name"), "[suite], name: found '{}', expected a name without '/', no '.' first",
                                printable(suite.name, 60));
            }
        }
        if (parameters->has("source")) suite.source = parameters->text("source");
        suite.cache = parameters->text("cache");
        if (parameters->has("inside")) suite.inside = parameters->text("inside");
        if (!suite.inside.empty() && table.find("cache") != nullptr) {
            diagnostics.add(table.place_of("inside"),
                            "[suite], inside: the iteration determines the state of the caches; expected no 'cache'");
        }
        suite.samples = parameters->integer("samples");
        suite.seconds = parameters->real("seconds");
        suite.limit_seconds = parameters->real("limit");
    }
    suite.recipes = check_paths(table, "recipes", folder, false, diagnostics);
    suite.matrices = check_paths(table, "matrices", folder, true, diagnostics);
    suite.named = check_named(table, diagnostics);
    for (const TextItem& item : check_list(table, "generate", diagnostics)) {
        suite.generated.push_back({item.text, diagnostics.where(item.place)});
    }
    suite.backends =
        check_words(table, "backends",
                    std::array{Backend::kokkos, Backend::eigen, Backend::cpu, Backend::cuda, Backend::cusparse}, diagnostics);
    const auto precisions = check_words(table, "precisions", std::array{Precision::f64, Precision::f32}, diagnostics);
    if (!precisions.empty()) suite.precisions = precisions;
    if (table.find("recipes") == nullptr) {
        diagnostics.add(table.place, "[suite]: no 'recipes'; expected recipes = [\"FILE\", ...]");
    }
}

}  // namespace

const std::vector<ParameterDeclaration>& suite_declarations() {
    static const std::vector<ParameterDeclaration> all = {
        declare("name", ParameterType::text, not_required, {}, "name in reports"),
        declare("source", ParameterType::text, not_required, {}, "the figure or table that it reproduces"),
        choice_parameter("cache", by_default(std::string("warm")), {"cold", "warm"}, "state of the caches before each product"),
        choice_parameter("inside", not_required, {"cg"}, "time each product in an iteration of this solver, instead of alone"),
        integer_parameter("samples", by_default(std::int64_t{20}), between(1, 1e6), "least number of timed products"),
        real_parameter("seconds", by_default(0.2), between(0, 3600, "s"), "least time of the timed products of a kernel"),
        real_parameter("limit", by_default(0.0), between(0, 1e7, "s"), "time limit of a matrix; 0: none"),
    };
    return all;
}

const std::vector<ParameterDeclaration>& named_matrix_declarations() {
    static const std::vector<ParameterDeclaration> all = {
        declare("name", ParameterType::text, required, {}, matrix_name),
        integer_parameter("rows", not_required, at_least(0), "as the source states"),
        integer_parameter("nonzeros", not_required, at_least(0), "as the source states"),
    };
    return all;
}

std::optional<SuiteMatrix> read_matrix_name(std::string_view text) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.";
    // Names become parts of file names and URLs.
    const auto is_word = [&](std::string_view word) {
        return !word.empty() && word.front() != '.' && word.front() != '-' &&
               word.find_first_not_of(letters) == std::string_view::npos;
    };
    const std::size_t slash = text.find('/');
    const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (!is_word(name) || (slash != std::string_view::npos && !is_word(text.substr(0, slash)))) return std::nullopt;
    SuiteMatrix matrix;
    if (slash != std::string_view::npos) matrix.group = text.substr(0, slash);
    matrix.name = name;
    return matrix;
}

bool is_suite(const std::filesystem::path& file) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) return false;
    // Does not parse the file, because errors are reported by the reader of suites or that of recipes.
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
        if (line.compare(first, 7, "[suite]") == 0) return true;
    }
    return false;
}

Suite parse_suite(std::string_view text, const std::filesystem::path& file) {
    Diagnostics diagnostics(printable(file.string(), 1000), std::string(text));
    Suite suite;
    suite.name = file.stem().string();
    bool found = false;
    for (const auto& [name, table] : read_tables(0, diagnostics)) {
        if (name == "suite") {
            check_suite(table, file.parent_path(), suite, diagnostics);
            found = true;
        } else {
            diagnostics.add(table.place, "unknown table '{}'; expected [suite]", printable(name, 40));
        }
    }
    if (!found) diagnostics.add({}, "no [suite]; expected one with recipes = [\"FILE\", ...]");
    diagnostics.throw_if_any();
    return suite;
}

Suite load_suite(const std::filesystem::path& file) { return parse_suite(read_recipe_file(file, "suite"), file); }

}  // namespace workbench
