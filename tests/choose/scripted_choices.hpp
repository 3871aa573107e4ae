// Choices among recipes on a scripted machine with given times and bytes.
#pragma once

#include <doctest/doctest.h>

#include <cctype>
#include <deque>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/forecast/forecast.hpp"
#include "studies/choose/choose.hpp"
#include "support/golden.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {

inline CsrMatrix example_matrix() {
    return csr_from_entries(
        4, 4, std::vector<Entry>{{0, 0, 1.5}, {0, 2, 2.5}, {1, 1, 3.5}, {2, 0, 4.5}, {2, 3, 5.5}, {3, 1, 6.5}, {3, 3, 0.25}});
}

inline Recipe recipe_of(const std::string& text) { return parse_recipe(text, "recipes/test.toml", scripted_catalogue()); }

inline Recipe csr() { return recipe_of("[recipe]\nname = 'CSR'\n[layout]\nuse = 'csr'\n"); }

inline Recipe plain(const std::string& name, const std::string& kernel, const std::string& stage = "") {
    const std::string first = stage.empty() ? "" : "[[stage]]\nuse = '" + stage + "'\n";
    return recipe_of("[recipe]\nname = '" + name + "'\n" + first + "[layout]\nuse = 'plain'\n[kernel]\nkokkos = '" + kernel +
                     "'\n");
}

inline ChooseOptions options_of(double budget = 1e9) {
    ChooseOptions options;
    options.budget_seconds = budget;
    options.backends = {Backend::kokkos};
    options.confirm = false;
    options.timing = {CacheState::cold, 5, 0, 1e9, scripted_clock()};
    return options;
}

inline Choice choose(const std::vector<Recipe>& recipes, const ChooseOptions& options, const Catalogue& known,
                     const CsrMatrix& matrix = example_matrix()) {
    ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0}, {376, 752});
    return choose(matrix, known, {host}, recipes, options);
}

inline Choice choose(const std::vector<Recipe>& recipes, const ChooseOptions& options,
                     const CsrMatrix& matrix = example_matrix()) {
    return choose(recipes, options, scripted_catalogue(), matrix);
}

/// By the number of a foreseen layout.
inline std::map<std::int64_t, LayoutCost>& foreseen_costs() {
    static std::map<std::int64_t, LayoutCost> costs;
    return costs;
}

/// With a layout `foreseen`: plain, whose cost is foreseen_costs()[number].
inline const Catalogue& foreseen_catalogue() {
    static const Catalogue known = [] {
        Catalogue all = scripted_catalogue();
        LayoutEntry layout = *all.find_layout("plain");
        layout.name = "foreseen";
        layout.parameters = {integer_parameter("number", required, at_least(0), "of its cost")};
        layout.predict = [](const PatternForecast&, const Parameters& parameters, Precision) {
            return foreseen_costs().at(parameters.integer("number"));
        };
        all.layouts.push_back(std::move(layout));
        return all;
    }();
    return known;
}

/// A recipe with the kernel `fast`, whose layout states that it moves these bytes.
inline Recipe foreseen(const std::string& name, int number, std::int64_t bytes) {
    foreseen_costs()[number] = {.slots = 1, .array_bytes = bytes, .exact = true};
    return parse_recipe("[recipe]\nname = '" + name + "'\n[layout]\nuse = 'foreseen'\nnumber = " + std::to_string(number) +
                            "\n[kernel]\nkokkos = 'fast'\n",
                        "recipes/test.toml", foreseen_catalogue());
}

using Names = std::vector<std::string>;

inline Names names_of(const Choice& choice) {
    Names names;
    for (const Timed& one : choice.ranking) names.push_back(one.recipe.name);
    return names;
}

/// The recipes that were timed, in the order of their trials.
inline Names order_of(const Choice& choice) {
    Names names;
    for (const RunReport& report : choice.reports) names.push_back(report.recipe_name);
    return names;
}

inline Names not_timed_of(const Choice& choice) {
    Names names;
    for (const NotTimed& one : choice.not_timed) names.push_back(one.recipe + ": " + one.reason);
    return names;
}

inline const MatrixReport matrix_report{"a.mtx", 4, 4, 7, 0};

/// A product of the baseline takes 16 s. `fast` takes 2, 4, 4, 4, 8 s in its five rounds and 500 s to prepare; `slow` takes 3,
/// 5, 5, 5, 5 s and 1 s: their intervals overlap.
inline void script_a_tie() {
    Script& script = new_script();
    script.seconds["run usual"] = {16};
    const int before = ExactProblem(example_matrix()).vector_count() + 4;  // products of verifying and preparing
    const auto samples = [&](const std::string& kernel, const std::vector<double>& each) {
        std::deque<double>& seconds = script.seconds["run " + kernel];
        seconds.assign(before, 1);
        seconds.insert(seconds.end(), each.begin(), each.end());
    };
    samples("fast", {2, 4, 4, 4, 8});
    samples("slow", {3, 5, 5, 5, 5});
    script.seconds["prepare fast"] = {500};
    script.seconds["prepare slow"] = {1};
}

/// What the table says under "pays after", by row.
inline Names last_column_of(const Choice& choice, const ChooseOptions& options) {
    Names cells;
    std::istringstream lines(choice_text(choice, options, matrix_report));
    for (std::string line; std::getline(lines, line);) {
        const bool is_row = line.size() > 3 && line.starts_with("  ") && std::isdigit(static_cast<unsigned char>(line[2])) != 0;
        if (is_row) cells.push_back(line.substr(line.rfind(' ') + 1));
    }
    return cells;
}

inline void compare_choice(const std::string& name, const std::string& text) {
    compare_with_golden(std::filesystem::path(WORKBENCH_SOURCE_DIR) / "tests/golden/bench" / name, text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
}

}  // namespace workbench
