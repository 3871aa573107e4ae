#include "studies/bench/tell_apart.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

namespace workbench {
namespace {

using Facts = std::map<std::string, std::string>;

/// "window" of "stage.row_sort.window", "layout" of "layout.use".
std::string last_word(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return name;
    return name.substr(dot + 1) == "use" ? last_word(name.substr(0, dot)) : name.substr(dot + 1);
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string without_quotes(const std::string& value) {
    const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

/// True for a fact from the resolved recipe, which a record lacks if its recipe has no such setting; other facts may be
/// unknown.
bool is_setting(const std::string& key) { return key.find('.') != std::string::npos; }

Facts settings_of(const Record& record) {
    Facts settings;
    for (const auto& [key, value] : record.facts) {
        if (is_setting(key)) settings.emplace(key, value);
    }
    return settings;
}

std::string fact_of(const Record& record, const std::string& key) {
    const auto found = record.facts.find(key);
    return found == record.facts.end() ? "" : found->second;
}

/// The facts in which the records of one name differ.
class Differences {
public:
    explicit Differences(const std::vector<Record*>& group) {
        std::map<std::string, std::set<std::string>> values;
        std::map<std::string, std::set<Facts>> of_file;
        for (const Record* record : group) {
            of_file[fact_of(*record, "file")].insert(settings_of(*record));
            for (const auto& [key, value] : record->facts) values[key].insert(value);
        }
        for (auto& [key, all] : values) {
            const auto lacks = [&key = key](const Record* record) { return !record->facts.contains(key); };
            if (is_setting(key) && std::any_of(group.begin(), group.end(), lacks)) all.insert("");
        }
        // A file says more than a list of settings, if there is one recipe in each file.
        const bool by_file = std::all_of(of_file.begin(), of_file.end(),
                                         [](const auto& one) { return !one.first.empty() && one.second.size() == 1; });
        for (const auto& [key, all] : values) {
            const bool shown = key == "file" ? by_file : !(is_setting(key) && by_file);
            if (shown && all.size() > 1) keys_.push_back(key);
        }
        for (const std::string& key : keys_) ++uses_of_word_[last_word(key)];
    }

    /// "slice_height=32, warm"; empty if nothing differs.
    [[nodiscard]] std::string text(const Record& record) const {
        std::string text;
        for (const std::string& key : keys_) {
            const auto fact = record.facts.find(key);
            if (fact != record.facts.end()) text += (text.empty() ? "" : ", ") + shown(key, without_quotes(fact->second));
        }
        return text;
    }

private:
    [[nodiscard]] std::string shown(const std::string& key, const std::string& value) const {
        if (key == "threads") return value + (value == "1" ? " thread" : " threads");
        if (!is_setting(key)) return value;
        const std::string word = last_word(key);
        return fmt::format("{}={}", uses_of_word_.at(word) == 1 ? word : key, value);
    }

    std::vector<std::string> keys_;
    std::map<std::string, int> uses_of_word_;
};

/// True if the later record is of the same experiment, whose recipe, matrix and precision are known to be the same. A record
/// without a device or machine, because its run failed, agrees with every other.
bool replaces(const Record& later, const Record& record) {
    const auto agree = [](const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; };
    if (later.report == record.report || !agree(later.device, record.device)) return false;
    for (const char* key : {"cache", "vectors", "threads", "host", "gpu"}) {
        if (!agree(fact_of(later, key), fact_of(record, key))) return false;
    }
    return true;
}

void keep_last(std::vector<Record>& records) {
    std::vector<Record> last;
    std::map<std::tuple<std::string, std::string, std::string, std::string, Facts>, std::vector<std::size_t>> same;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        std::vector<std::size_t>& later =
            same[{record->name, record->matrix, record->precision, fact_of(*record, "file"), settings_of(*record)}];
        if (std::any_of(later.begin(), later.end(), [&](std::size_t i) { return replaces(last[i], *record); })) continue;
        later.push_back(last.size());
        last.push_back(std::move(*record));
    }
    std::reverse(last.begin(), last.end());
    records = std::move(last);
}

}  // namespace

std::map<std::string, std::string> facts_of_recipe(const std::string& resolved) {
    static const std::set<std::string> names{"recipe.name", "recipe.source"};
    Facts facts;
    std::string table;
    std::string stages;
    bool in_stage = false;
    std::istringstream lines(resolved);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("[")) {
            const std::size_t begin = std::min(line.find_first_not_of('['), line.size());
            table = line.substr(begin, line.find(']') - begin);
            in_stage = table == "stage";
            if (line.starts_with("[[")) table += '.';  // the name follows
            continue;
        }
        const std::size_t equals = line.find(" = ");
        if (equals == std::string::npos) continue;
        const std::string key = trimmed(line.substr(0, equals));
        const std::string value = trimmed(line.substr(equals + 3));
        if (table == "matrix" && key != "node_size") continue;
        if (in_stage && key == "use") stages += (stages.empty() ? "" : "+") + without_quotes(value);
        if (table.ends_with('.')) table += without_quotes(value);  // an id, a use or a share
        if (in_stage && (key == "use" || key == "id")) continue;
        if (const std::string name = table + "." + key; !names.contains(name)) facts[name] = value;
    }
    facts["recipe.stages"] = stages.empty() ? "none" : stages;
    return facts;
}

void keep_last_and_tell_apart(std::vector<Record>& records) {
    keep_last(records);
    std::map<std::string, std::vector<Record*>> groups;
    for (Record& record : records) groups[record.name].push_back(&record);
    for (const auto& [name, group] : groups) {
        const Differences differences(group);
        for (Record* record : group) {
            const std::string what = differences.text(*record);
            record->recipe =
                what.empty() ? name : fmt::format("{}{}{}", name, name.find(": ") == std::string::npos ? ": " : ", ", what);
        }
    }
}

void tell_names_apart(std::vector<Recipe>& recipes, std::size_t kept) {
    std::map<std::string, std::set<std::filesystem::path>> files;
    std::map<std::string, int> uses;
    for (const Recipe& recipe : recipes) {
        ++uses[recipe.name];
        files[recipe.name].insert(recipe.file.filename());
    }
    for (std::size_t i = kept; i < recipes.size(); ++i) {
        Recipe& recipe = recipes[i];
        const int count = uses[recipe.name];
        if (count < 2) continue;
        const bool by_name = static_cast<int>(files[recipe.name].size()) == count;
        recipe.name += fmt::format(" ({})", (by_name ? recipe.file.filename() : recipe.file).string());
    }
}

}  // namespace workbench
