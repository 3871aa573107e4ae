#include "pipeline/recipe/document.hpp"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

RecipePlace place_of(const toml::source_region& region) {
    return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

/// Rewords toml++'s messages, such as "Error while parsing key-value pair: expected '=', saw 'x'".
std::string in_plain_words(std::string message) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 13> words = {{
        {"Error while parsing ", "invalid TOML in a "},
        {"in a root table: ", ""},
        {"in a array", "in an array"},
        {"in a inline table", "in an inline table"},
        {"saw '\\n'", "found the end of the line"},
        {"saw ", "found "},
        {"encountered end-of-file", "found the end of the file"},
        {"key-value pair", "line 'key = value'"},
        {"expected a comment or whitespace", "expected the end of the line"},
        {"value-terminator", "the end of the value"},
        {"unescaped control characters other than TAB (U+0009) are explicitly prohibited", "the closing quote is missing"},
        {"cannot redefine existing", "already defined:"},
        {"control characters other than TAB (U+0009) are explicitly prohibited", "the closing quote is missing"},
    }};
    for (const auto& [theirs, ours] : words) {
        const std::size_t at = message.find(theirs);
        if (at != std::string::npos) message.replace(at, theirs.size(), ours);
    }
    return printable(message, 300);
}

std::optional<std::vector<TextItem>> texts_of(const toml::array& list) {
    std::vector<TextItem> texts;
    for (const toml::node& item : list) {
        const auto* text = item.as_string();
        if (text == nullptr) return std::nullopt;
        texts.push_back({text->get(), place_of(item.source())});
    }
    return texts;
}

/// "4, mean, 64": the integers and strings of a list; none if it has other items, or strings with commas.
std::optional<std::string> joined_items(const toml::array& list) {
    std::string joined;
    for (const toml::node& item : list) {
        const auto* integer = item.as_integer();
        const auto* text = item.as_string();
        if (integer == nullptr && (text == nullptr || text->get().find(',') != std::string::npos)) return std::nullopt;
        joined += (joined.empty() ? "" : ", ") + (integer == nullptr ? text->get() : std::to_string(integer->get()));
    }
    return joined;
}

/// The node as a nonempty list of tables, such as [[layout]]; otherwise null.
const toml::array* list_of_tables(const toml::node& node) {
    const auto* list = node.as_array();
    return list != nullptr && list->is_array_of_tables() ? list : nullptr;
}

void read_node(const toml::node& node, Setting& setting);
RecipeTable read_table(const toml::table& source);

/// { sweep = [132, 264] } or { sweep = "32..1024*2" }.
void read_sweep(const toml::table& source, Setting& setting) {
    setting.begin_sweep();
    const toml::node& values = *source.get("sweep");
    if (source.size() > 1) {
        setting.sweep_problem = "found other keys beside 'sweep'; expected { sweep = [VALUE, VALUE, ...] }";
    } else if (const auto* list = values.as_array()) {
        for (const toml::node& item : *list) read_node(item, setting.sweep.emplace_back());
        if (list->empty()) setting.sweep_problem = "found an empty list, expected values to try";
    } else if (const auto* range = values.as_string()) {
        read_range(range->get(), place_of(values.source()), setting);
    } else {
        setting.sweep_problem = "expected a list of values to try, or a range such as \"32..1024*2\" or \"8..64+8\"";
    }
}

void read_node(const toml::node& node, Setting& setting) {
    setting.value_place = place_of(node.source());
    if (const auto* boolean = node.as_boolean()) {
        setting.value = boolean->get();
    } else if (const auto* integer = node.as_integer()) {
        setting.value = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
        setting.value = real->get();
    } else if (const auto* text = node.as_string()) {
        setting.value = text->get();
    } else if (const auto* list = node.as_array()) {
        setting.texts = texts_of(*list);
        setting.list = joined_items(*list);
        if (list_of_tables(node) != nullptr) {
            for (const toml::node& item : *list) setting.tables.push_back(read_table(*item.as_table()));
        }
        if (!setting.texts) {
            for (const toml::node& item : *list) read_node(item, setting.items.emplace_back());
        }
    } else if (const auto* table = node.as_table(); table != nullptr && table->contains("sweep")) {
        read_sweep(*table, setting);
    } else if (table != nullptr && table->size() == 1 && table->get("same_as") != nullptr) {
        setting.same_as = table->get("same_as")->value_or(std::string());
        if (!setting.same_as.empty()) setting.kind = "a reference";
    }
    if (const auto* table = node.as_table(); table != nullptr && setting.kind.empty()) setting.table = {read_table(*table)};
    if (!setting.value && !setting.texts && setting.kind.empty()) setting.kind = node.is_table() ? "a table" : "a list";
}

RecipeTable read_table(const toml::table& source) {
    RecipeTable table;
    table.place = place_of(source.source());
    for (const auto& [key, node] : source) {
        Setting setting;
        setting.key = std::string(key.str());
        setting.key_place = place_of(key.source());
        read_node(node, setting);
        table.settings.push_back(std::move(setting));
    }
    std::ranges::sort(table.settings, {},
                      [](const Setting& each) { return std::pair(each.key_place.line, each.key_place.column); });
    return table;
}

std::vector<RecipeTable> read_stages(const toml::node& node, RecipePlace place, Diagnostics& diagnostics) {
    std::vector<RecipeTable> stages;
    const auto* list = node.as_array();
    if (list == nullptr || !std::ranges::all_of(*list, &toml::node::is_table)) {
        diagnostics.add(place, "stages are a list; expected each to begin with [[stage]]");
        return stages;
    }
    for (const toml::node& item : *list) stages.push_back(read_table(*item.as_table()));
    return stages;
}

/// The tables of each [[layout]].
std::vector<LayoutTables> read_layouts(const toml::array& list) {
    std::vector<LayoutTables> layouts;
    for (const toml::node& item : list) {
        const toml::table& source = *item.as_table();
        LayoutTables tables{read_table(source), {}};
        if (const auto* kernel = source.get_as<toml::table>("kernel")) {
            tables.kernel = read_table(*kernel);
            tables.own.take("kernel");
        }
        layouts.push_back(std::move(tables));
    }
    return layouts;
}

toml::table parse(int file, Diagnostics& diagnostics) {
    const std::string_view text = diagnostics.text(file);
    const auto refuse = [&](RecipePlace place, const std::string& message) {
        place.file = file;
        diagnostics.add(place, "{}", message);
    };
    if (text.size() > longest_recipe) {
        refuse({}, fmt::format("found a file of more than {} bytes; expected a shorter one", longest_recipe));
    } else if (const auto error = first_text_error(text)) {
        refuse(error->place, error->message);
    } else {
        try {
            return toml::parse(text);
        } catch (const toml::parse_error& wrong) {
            refuse(place_of(wrong.source()), in_plain_words(std::string(wrong.description())));
        }
    }
    diagnostics.throw_if_any();
    return {};
}

/// True for an integer of more than 64 bits.
bool is_too_large(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc::result_out_of_range && end == text.data() + text.size();
}

void set_file(RecipeTable& table, int file) {
    table.place.file = file;
    for (Setting& setting : table.settings) setting.for_each_place([file](RecipePlace& place) { place.file = file; });
}

/// The document of a file whose first table is called `header`, "recipe" or "space".
RecipeDocument read_document_of(const toml::table& root, const std::string& header, int file, Diagnostics& diagnostics) {
    RecipeDocument document;
    std::vector<std::string> names = table_names();
    names.front() = header;
    for (const auto& [key, node] : root) {
        const std::string name = printable(key.str(), 40);
        RecipePlace place = place_of(key.source());
        place.file = file;
        RecipeTable* table = name == header ? &document.recipe : name == "recipe" ? nullptr : document.find(name);
        if (table != nullptr && node.is_table()) {
            *table = read_table(*node.as_table());
            set_file(*table, file);
        } else if (const toml::array* list = list_of_tables(node); list != nullptr && name == "layout") {
            document.layouts = read_layouts(*list);
            for (LayoutTables& tables : document.layouts) {
                set_file(tables.own, file);
                set_file(tables.kernel, file);
            }
        } else if (table != nullptr) {
            diagnostics.add(place, "'{0}' is a single table; expected [{0}]", name);
            table->broken = true;
        } else if (name == "stage") {
            document.stages = read_stages(node, place, diagnostics);
            for (RecipeTable& stage : document.stages) set_file(stage, file);
        } else {
            diagnostics.add(place, "unknown {} '{}'{}", node.is_table() ? "table" : "key", name, expected_one_of(name, names));
        }
    }
    return document;
}

}  // namespace

std::string found_text(const Setting& setting) {
    if (setting.value) return "found " + printable(to_text(*setting.value), 60);
    if (!setting.texts) return "found " + setting.kind;
    return setting.texts->empty() ? "found an empty list" : "found a list of strings";
}

void Setting::for_each_place(const std::function<void(RecipePlace&)>& act) {
    act(key_place);
    act(value_place);
    if (texts) {
        for (TextItem& item : *texts) act(item.place);
    }
    for (Setting& value_to_try : sweep) value_to_try.for_each_place(act);
    for (Setting& item : items) item.for_each_place(act);
    for (std::vector<RecipeTable>* list : {&tables, &table}) {
        for (RecipeTable& each : *list) {
            act(each.place);
            for (Setting& setting : each.settings) setting.for_each_place(act);
        }
    }
}

const Setting* RecipeTable::find(std::string_view key) const {
    const auto found = std::ranges::find(settings, key, &Setting::key);
    return found == settings.end() ? nullptr : &*found;
}

const std::string* RecipeTable::text(std::string_view key) const {
    const Setting* setting = find(key);
    return setting == nullptr ? nullptr : setting->as<std::string>();
}

RecipePlace RecipeTable::place_of(std::string_view key) const {
    const Setting* setting = find(key);
    return setting == nullptr ? place : setting->value_place;
}

void RecipeTable::set(const Setting& setting) {
    static_cast<void>(take(setting.key));
    settings.push_back(setting);
}

std::optional<Setting> RecipeTable::take(std::string_view key) {
    const Setting* found = find(key);
    if (found == nullptr) return std::nullopt;
    std::optional<Setting> taken = *found;
    std::erase_if(settings, [key](const Setting& setting) { return setting.key == key; });
    return taken;
}

const std::vector<std::string>& table_names() {
    static const std::vector<std::string> names = {"recipe", "matrix", "stage", "layout", "kernel"};
    return names;
}

RecipeTable* RecipeDocument::find(std::string_view name) {
    if (name == "recipe") return &recipe;
    if (name == "matrix") return &matrix;
    if (name == "layout") return &layout;
    return name == "kernel" ? &kernel : nullptr;
}

RecipeDocument read_document(int file, Diagnostics& diagnostics) {
    const toml::table root = parse(file, diagnostics);
    if (const auto space = root.find("space"); space != root.end() && space->second.is_table()) {
        RecipePlace place = place_of(space->first.source());
        place.file = file;
        diagnostics.add(place,
                        "found a space of recipes; expected a recipe: 'workbench check', 'choose' and 'bench' take spaces");
        diagnostics.throw_if_any();
    }
    return read_document_of(root, "recipe", file, diagnostics);
}

RecipeDocument read_space_document(Diagnostics& diagnostics) {
    return read_document_of(parse(0, diagnostics), "space", 0, diagnostics);
}

bool has_space_table(std::string_view text) {
    if (text.size() > longest_recipe || first_text_error(text)) return false;
    try {
        return toml::parse(text).get_as<toml::table>("space") != nullptr;
    } catch (const toml::parse_error&) {
        return false;
    }
}

std::vector<std::pair<std::string, RecipeTable>> read_tables(int file, Diagnostics& diagnostics) {
    const toml::table root = parse(file, diagnostics);
    std::vector<std::pair<std::string, RecipeTable>> tables;
    for (const auto& [key, node] : root) {
        if (node.is_table()) {
            tables.emplace_back(key.str(), read_table(*node.as_table()));
        } else {
            diagnostics.add(place_of(key.source()), "'{}': expected a table", printable(key.str(), 40));
        }
    }
    return tables;
}

Setting read_value(std::string_view text, RecipePlace place) {
    Setting setting;
    const bool one_line = text.find('\n') == std::string_view::npos && text.find('#') == std::string_view::npos;
    const std::string assignment = "value = " + std::string(text);
    if (one_line && !first_text_error(assignment)) {
        try {
            read_node(*toml::parse(assignment).get("value"), setting);
        } catch (const toml::parse_error&) {  // a bare word
        }
    }
    if (!setting.value && !setting.texts && !setting.list && !setting.swept && setting.same_as.empty()) {
        if (is_too_large(text)) {
            setting.kind = fmt::format("{}, too {} for an integer", printable(text, 60), text[0] == '-' ? "small" : "large");
        } else {
            setting.value = std::string(text);
        }
    }
    setting.for_each_place([place](RecipePlace& each) { each = place; });
    return setting;
}

}  // namespace workbench
