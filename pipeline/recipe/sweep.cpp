#include "pipeline/recipe/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_points = 1000;
constexpr std::size_t longest_folder = 100;
constexpr std::size_t most_problems = 1000;

struct NamedTable {
    std::string name;  // "stage.metis_partition"
    RecipeTable* table;
};

/// All tables, in the order in which their sweeps are nested.
std::vector<NamedTable> tables_of(RecipeDocument& document) {
    std::vector<NamedTable> tables{{"matrix", &document.matrix}, {"recipe", &document.recipe}};
    for (RecipeTable& stage : document.stages) tables.push_back({"stage." + stage.id, &stage});
    tables.push_back({"layout", &document.layout});
    tables.push_back({"kernel", &document.kernel});
    return tables;
}

bool same_value(const Setting& a, const Setting& b) {
    const auto same_text = [](const TextItem& x, const TextItem& y) { return x.text == y.text; };
    const bool same_texts =
        a.texts.has_value() == b.texts.has_value() &&
        (!a.texts || std::equal(a.texts->begin(), a.texts->end(), b.texts->begin(), b.texts->end(), same_text));
    return a.value == b.value && same_texts && (a.value || a.texts);
}

/// Why this cannot be swept; empty: it can.
std::string reason_against(const NamedTable& table, const Setting& setting) {
    if (!setting.sweep_problem.empty()) return fmt::format("{}, sweep: {}", printable(setting.key, 40), setting.sweep_problem);
    if (table.name == "recipe" && setting.key != "device") return fmt::format("[recipe], {}: it cannot be swept", setting.key);
    if (setting.key == "id") return "an id is for naming a stage; it cannot be swept";
    if (setting.key == "use" && table.name == "stage.") return "a stage whose 'use' is swept needs an id";
    return "";
}

bool check_values(const Setting& setting, Diagnostics& diagnostics) {
    bool fine = true;
    for (std::size_t i = 1; i < setting.sweep.size(); ++i) {
        const Setting& value = setting.sweep[i];
        const bool twice = std::any_of(setting.sweep.begin(), setting.sweep.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Setting& before) { return same_value(before, value); });
        if (!twice) continue;
        fine = false;
        const std::string text = value.value ? printable(to_text(*value.value), 60) : "a list of texts";
        diagnostics.add(value.value_place, fmt::format("{}: {} is among the values to try already", setting.key, text));
    }
    return fine;
}

std::string text_of(const Setting& setting, std::size_t number) {
    if (!setting.value) return std::to_string(number);
    const auto* text = std::get_if<std::string>(&*setting.value);
    return printable(text == nullptr ? to_text(*setting.value) : *text, 40);
}

/// As they stand in labels: of paths only the names of the files, where these differ.
std::vector<std::string> texts_of(const std::string& name, const std::vector<Setting>& values) {
    std::vector<std::string> texts;
    std::vector<std::string> files;
    for (std::size_t i = 0; i < values.size(); ++i) {
        texts.push_back(text_of(values[i], i + 1));
        files.push_back(std::filesystem::path(texts.back()).filename().string());
    }
    return name == "matrix.path" && std::set(files.begin(), files.end()).size() == files.size() ? files : texts;
}

/// "stage.row_sort.window" with 2 words: "row_sort.window".
std::string last_words(const std::string& name, int words) {
    std::size_t from = name.size();
    for (int i = 0; i < words && from != std::string::npos; ++i) from = from == 0 ? from : name.rfind('.', from - 1);
    return from == std::string::npos ? name : name.substr(from + 1);
}

std::string folder_of(const std::string& label) {
    std::string folder;
    for (std::size_t i = 0; i < label.size() && folder.size() < longest_folder; ++i) {
        const char letter = label[i];
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') ||
                           std::string_view("._-+=,").find(letter) != std::string_view::npos;
        if (letter != ' ') folder += plain ? letter : '_';
    }
    return folder;
}

/// Numbers those that are like an earlier one.
void make_different(std::vector<SweepPoint>& points, std::string SweepPoint::*text) {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < points.size(); ++i) {
        while (!taken.insert(points[i].*text).second) points[i].*text += fmt::format("-{}", i + 1);
    }
}

}  // namespace

Sweeps::Sweeps(const RecipeDocument& document, Diagnostics& diagnostics) : document_(document) {
    RecipeDocument copy = document;  // for the tables' names only
    const std::vector<NamedTable> tables = tables_of(copy);
    std::size_t count = 1;
    bool fine = true;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        for (const Setting& setting : tables[i].table->settings) {
            if (!setting.swept) continue;
            if (const std::string reason = reason_against(tables[i], setting); !reason.empty()) {
                diagnostics.add(setting.value_place, reason);
                fine = false;
                continue;
            }
            fine = check_values(setting, diagnostics) && fine;
            const std::string name = tables[i].name + "." + setting.key;
            all_.push_back({i, setting.key, name, "", texts_of(name, setting.sweep), setting.sweep, setting.value_place});
            count *= setting.sweep.size();
            if (count <= most_points) continue;
            diagnostics.add(setting.value_place,
                            fmt::format("with {0} the combinations are more than {1}; expected at most {1}",
                                        printable(name, 80), most_points));
            return;
        }
    }
    if (!fine) return;
    label_all();
    points_.resize(count);
    make_points();
}

void Sweeps::label_all() {
    for (int words = 1; words <= 3; ++words) {
        std::map<std::string, int> uses;
        for (const Swept& swept : all_) ++uses[last_words(swept.name, words)];
        for (Swept& swept : all_) {
            const std::string label = last_words(swept.name, words);
            if (swept.label.empty() && (uses[label] == 1 || words == 3)) swept.label = label;
        }
    }
}

void Sweeps::make_points() {
    for (std::size_t i = 0; i < points_.size(); ++i) {
        for (std::size_t k = 0; k < all_.size(); ++k) {
            const Swept& swept = all_[k];
            const std::size_t number = value_at(i, k);
            const Setting& value = swept.values[number];
            points_[i].values.push_back(
                {swept.name, value.value.value_or(ParameterValue(static_cast<std::int64_t>(number + 1)))});
            points_[i].label += fmt::format("{}{}={}", k == 0 ? "" : ", ", swept.label, swept.texts[number]);
        }
        points_[i].folder = folder_of(points_[i].label);
    }
    make_different(points_, &SweepPoint::label);
    make_different(points_, &SweepPoint::folder);
}

std::size_t Sweeps::value_at(std::size_t point, std::size_t swept) const {
    for (std::size_t k = all_.size() - 1; k > swept; --k) point /= all_[k].values.size();
    return point % all_[swept].values.size();
}

RecipeDocument Sweeps::document(std::size_t point) const {
    RecipeDocument document = document_;
    const std::vector<NamedTable> tables = tables_of(document);
    for (std::size_t k = 0; k < all_.size(); ++k) {
        for (Setting& setting : tables[all_[k].table].table->settings) {
            if (setting.key != all_[k].key) continue;
            const Place key_place = setting.key_place;
            setting = all_[k].values[value_at(point, k)];
            setting.key = all_[k].key;
            // Of an option, the option with this value alone is what was given.
            setting.key_place = key_place.option < 0 ? key_place : setting.value_place;
        }
    }
    return document;
}

std::string Sweeps::values_behind(const std::vector<std::size_t>& points, Place place) const {
    std::string values;
    for (std::size_t k = 0; k < all_.size(); ++k) {
        std::set<std::size_t> numbers;
        for (const std::size_t point : points) numbers.insert(value_at(point, k));
        const Setting& value = all_[k].values[*numbers.begin()];
        if (numbers.size() == all_[k].values.size() || value.value_place == place) continue;
        values += fmt::format("{}{}={}", values.empty() ? "" : ", ", all_[k].label, all_[k].texts[*numbers.begin()]);
    }
    return values;
}

void Sweeps::add_problems(const std::vector<std::vector<RecipeProblem>>& of_points, Diagnostics& diagnostics) const {
    std::vector<RecipeProblem> all;
    std::vector<std::vector<std::size_t>> points_with;  // of each of them
    for (std::size_t i = 0; i < of_points.size(); ++i) {
        for (const RecipeProblem& problem : of_points[i]) {
            const auto known = of_points.size() == 1 ? all.end() : std::find(all.begin(), all.end(), problem);
            if (known != all.end()) {
                points_with[static_cast<std::size_t>(known - all.begin())].push_back(i);
            } else if (of_points.size() == 1 || all.size() < most_problems) {
                all.push_back(problem);
                points_with.push_back({i});
            }
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string behind = values_behind(points_with[i], all[i].place);
        if (!behind.empty()) all[i].message += fmt::format(" (with {})", behind);
    }
    diagnostics.add_all(all);
}

}  // namespace workbench
