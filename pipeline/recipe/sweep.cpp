#include "pipeline/recipe/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_points = 1000;
constexpr std::size_t most_values = 1000;  // of a range
constexpr std::size_t longest_folder = 100;

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
    for (LayoutTables& layout : document.layouts) {
        const std::string* share = layout.own.text("share");
        const std::string name = "layout." + (share == nullptr ? std::string() : printable(*share, 80));
        tables.push_back({name, &layout.own});
        tables.push_back({name + ".kernel", &layout.kernel});
    }
    return tables;
}

bool same_value(const Setting& a, const Setting& b) {
    const bool same_texts = a.texts.has_value() == b.texts.has_value() &&
                            (!a.texts || std::ranges::equal(*a.texts, *b.texts, {}, &TextItem::text, &TextItem::text));
    return a.value == b.value && a.list == b.list && same_texts && (a.value || a.texts || a.list);
}

/// Why this cannot be swept; empty if it can.
std::string reason_against(const NamedTable& table, const Setting& setting) {
    if (!setting.sweep_problem.empty()) return fmt::format("{}, sweep: {}", printable(setting.key, 40), setting.sweep_problem);
    if (table.name == "recipe" && setting.key != "device") {
        return fmt::format("[recipe], {}: it cannot be swept", printable(setting.key, 40));
    }
    if (setting.key == "id") return "the id of a stage cannot be swept";
    if (setting.key == "share" && table.name.starts_with("layout")) {
        return "the share of a [[layout]] cannot be swept";
    }
    if (setting.key == "use" && table.name == "stage.") return "a stage whose 'use' is swept needs an id";
    return "";
}

bool check_values(const Setting& setting, Diagnostics& diagnostics) {
    bool correct = true;
    for (std::size_t i = 1; i < setting.sweep.size(); ++i) {
        const Setting& value = setting.sweep[i];
        const bool twice = std::any_of(setting.sweep.begin(), setting.sweep.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Setting& before) { return same_value(before, value); });
        if (!twice) continue;
        correct = false;
        const std::string text = value.value   ? printable(to_text(*value.value), 60)
                                 : value.texts ? "the list of strings"
                                               : fmt::format("[{}]", *value.list);
        diagnostics.add(value.value_place, "{}: found {} twice among the values to try; expected it once", setting.key, text);
    }
    return correct;
}

std::string text_of(const Setting& setting, std::size_t number) {
    if (!setting.value && setting.list && !setting.texts) return fmt::format("[{}]", printable(*setting.list, 40));
    if (!setting.value) return std::to_string(number);
    const auto* text = setting.as<std::string>();
    return printable(text == nullptr ? to_text(*setting.value) : *text, 40);
}

/// The texts of values in labels; paths are shortened to file names if these differ.
std::vector<std::string> texts_of(const std::string& name, const std::vector<Setting>& values) {
    std::vector<std::string> texts;
    std::vector<std::string> files;
    for (std::size_t i = 0; i < values.size(); ++i) {
        texts.push_back(text_of(values[i], i + 1));
        files.push_back(std::filesystem::path(texts.back()).filename().string());
    }
    return name == "matrix.path" && std::set(files.begin(), files.end()).size() == files.size() ? files : texts;
}

/// The last words of a name: "row_sort.window" of "stage.row_sort.window" for 2.
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

/// Appends numbers to duplicate texts.
void make_different(std::vector<SweepPoint>& points, std::string SweepPoint::*text) {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < points.size(); ++i) {
        while (!taken.insert(points[i].*text).second) points[i].*text += fmt::format("-{}", i + 1);
    }
}

struct SweepRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool factor = false;
    std::int64_t step = 1;
};

/// Removes an integer from the front of the text.
bool take_number(std::string_view& text, std::int64_t& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

std::optional<SweepRange> parse_range(std::string_view text) {
    SweepRange range;
    if (!take_number(text, range.first) || !text.starts_with("..")) return std::nullopt;
    text.remove_prefix(2);
    if (!take_number(text, range.last)) return std::nullopt;
    if (text.empty()) return range;
    range.factor = text.front() == '*';
    if (!range.factor && text.front() != '+') return std::nullopt;
    text.remove_prefix(1);
    if (!take_number(text, range.step) || !text.empty()) return std::nullopt;
    return range;
}

std::string problem_of(const SweepRange& range) {
    if (range.last < range.first) return fmt::format("expected an end of at least {}", range.first);
    if (range.factor && range.step < 2) return "expected a factor of at least 2";
    if (range.factor && range.first < 1) return "expected a start of at least 1 with a factor";
    return range.step < 1 ? "expected a step of at least 1" : "";
}

}  // namespace

void fill_references(RecipeDocument& document, Diagnostics& diagnostics) {
    const std::vector<NamedTable> tables = tables_of(document);
    std::map<std::string, const Setting*> values;
    for (const NamedTable& table : tables) {
        for (const Setting& setting : table.table->settings) values.emplace(table.name + "." + setting.key, &setting);
    }
    for (const NamedTable& table : tables) {
        for (Setting& setting : table.table->settings) {
            if (setting.same_as.empty()) continue;
            const auto found = values.find(setting.same_as);
            if (found == values.end() || !found->second->same_as.empty()) {
                diagnostics.add(setting.value_place, "{}: '{}' is {}; expected the name of a value in this recipe, as in --set",
                                printable(setting.key, 40), printable(setting.same_as, 80),
                                found == values.end() ? "not given" : "a reference itself");
            } else {
                setting.value = found->second->value;
                setting.texts = found->second->texts;
                setting.list = found->second->list;
                setting.kind = found->second->kind;
            }
        }
    }
    // One error about a value is enough.
    const auto is_empty = [](const Setting& setting) {
        return !setting.same_as.empty() && !setting.value && !setting.texts && !setting.list;
    };
    for (const NamedTable& table : tables) std::erase_if(table.table->settings, is_empty);
}

bool is_range(std::string_view text) {
    std::int64_t number = 0;
    return take_number(text, number) && text.starts_with("..");
}

void read_range(std::string_view text, RecipePlace place, Setting& setting) {
    setting.begin_sweep();
    const std::string found = fmt::format("found '{}', ", printable(text, 60));
    const std::optional<SweepRange> range = parse_range(text);
    if (!range) {
        setting.sweep_problem = found + "expected a list of values to try, or a range such as 32..1024*2 or 8..64+8";
        return;
    }
    if (const std::string problem = problem_of(*range); !problem.empty()) {
        setting.sweep_problem = found + problem;
        return;
    }
    for (std::int64_t number = range->first;;) {
        if (setting.sweep.size() == most_values) {
            setting.sweep_problem = fmt::format("{}expected at most {} values", found, most_values);
            return;
        }
        Setting& value = setting.sweep.emplace_back();
        value.value = number;
        value.value_place = place;
        // Stop before the last number, which may be the largest integer.
        const auto distance = static_cast<std::uint64_t>(range->last) - static_cast<std::uint64_t>(number);
        if (range->factor ? number > range->last / range->step : static_cast<std::uint64_t>(range->step) > distance) return;
        number = range->factor ? number * range->step : number + range->step;
    }
}

Sweeps::Sweeps(const RecipeDocument& document, Diagnostics& diagnostics) : document_(document) {
    RecipeDocument copy = document;  // only the names of its tables are used
    const std::vector<NamedTable> tables = tables_of(copy);
    std::size_t count = 1;
    bool fine = true;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        for (const Setting& setting : tables[i].table->settings) {
            if (!setting.swept) continue;
            if (const std::string reason = reason_against(tables[i], setting); !reason.empty()) {
                diagnostics.add(setting.value_place, "{}", reason);
                continue;
            }
            fine = check_values(setting, diagnostics) && fine;
            const std::string name = tables[i].name + "." + setting.key;
            all_.push_back({i, setting.key, name, "", texts_of(name, setting.sweep), setting.sweep, setting.value_place});
            count *= setting.sweep.size();
            if (count <= most_points) continue;
            diagnostics.add(setting.value_place, "found more than {1} combinations with {0}; expected at most {1}",
                            printable(name, 80), most_points);
            return;
        }
    }
    if (!fine) return;
    for (const NamedTable& table : tables) {
        for (const Setting& setting : table.table->settings) {
            const auto of = std::ranges::find(all_, setting.same_as, &Swept::name);
            if (of != all_.end()) of->followers.push_back(table.name + "." + setting.key);
        }
    }
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
            const ParameterValue number_or_list =
                value.list && !value.texts ? ParameterValue(*value.list) : static_cast<std::int64_t>(number + 1);
            points_[i].values.push_back({swept.name, value.value.value_or(number_or_list)});
            for (const std::string& name : swept.followers) {
                points_[i].values.push_back({name, points_[i].values.back().value});
            }
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
            const RecipePlace key_place = setting.key_place;
            setting = all_[k].values[value_at(point, k)];
            setting.key = all_[k].key;
            // An option is reported with this value only.
            setting.key_place = key_place.option < 0 ? key_place : setting.value_place;
        }
    }
    return document;
}

std::string Sweeps::values_behind(const std::vector<std::size_t>& points, RecipePlace place) const {
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
    std::vector<std::vector<std::size_t>> points_with;  // by problem
    for (std::size_t i = 0; i < of_points.size(); ++i) {
        for (const RecipeProblem& problem : of_points[i]) {
            const auto known = i == 0 ? all.end() : std::find(all.begin(), all.end(), problem);
            if (known != all.end()) {
                points_with[static_cast<std::size_t>(known - all.begin())].push_back(i);
            } else {
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
