#include "frontends/schema/schema.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "frontends/schema/values.hpp"
#include "pipeline/recipe/checked_text.hpp"
#include "pipeline/recipe/suite.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::array schema_backends = {Backend::kokkos, Backend::eigen, Backend::cuda, Backend::cusparse};

SchemaJson described(std::string description, const SchemaJson& schema) {
    SchemaJson described{{"description", std::move(description)}};
    described.update(schema);
    return described;
}

SchemaJson text_schema(std::string description) { return {{"description", std::move(description)}, {"type", "string"}}; }

SchemaJson keyword(const char* name, SchemaJson value) {
    SchemaJson schema = SchemaJson::object();
    schema[name] = std::move(value);
    return schema;
}

SchemaJson negated(SchemaJson schema) { return keyword("not", std::move(schema)); }
SchemaJson any_of(const std::vector<SchemaJson>& schemas) { return keyword("anyOf", schemas); }

/// Anything with at least one of these keys.
SchemaJson with_any_key(const std::vector<std::string>& keys) {
    std::vector<SchemaJson> each;
    for (const std::string& key : keys) each.push_back(keyword("required", std::vector<std::string>{key}));
    return any_of(each);
}

/// A table that may have any other keys.
SchemaJson open_table(SchemaJson properties) {
    SchemaJson schema{{"type", "object"}};
    schema["properties"] = std::move(properties);
    return schema;
}

template <typename Entries>
std::vector<std::string> names_in(const Entries& entries) {
    std::vector<std::string> names;
    for (const auto& entry : entries) names.push_back(entry.name);
    return names;
}

/// `key`, which names one of the entries. Editors complete the names and show the summaries.
template <typename Entries>
SchemaJson name_of_entry(const std::string& description, const Entries& entries, ValueForms forms) {
    SchemaJson schema = completed_words(description, names_in(entries), forms);
    std::vector<std::string> summaries;
    for (const auto& entry : entries) summaries.push_back(entry.summary);
    SchemaJson& words = schema.contains("anyOf") ? schema["anyOf"][0] : schema;
    words["x-taplo"]["docs"]["enumValues"] = summaries;
    return schema;
}

/// The parameters of all entries with their descriptions, for completion. Values are checked where all entries agree, so that
/// an editor marks the value and not the table.
template <typename Entries>
SchemaJson merged_parameters(const Entries& entries, ValueForms forms) {
    std::map<std::string, std::vector<std::string>> users;
    SchemaJson merged = SchemaJson::object();
    std::map<std::string, SchemaJson> values;
    for (const auto& entry : entries) {
        for (const ParameterDeclaration& declaration : entry.parameters) {
            const SchemaJson described = described_value(declaration, forms);
            const SchemaJson value = value_schema(declaration, forms);
            const std::string text = fmt::format("{}: {}", entry.name, described["description"].template get<std::string>());
            if (!merged.contains(declaration.name)) {
                merged[declaration.name] = described;
                merged[declaration.name]["description"] = text;
                values[declaration.name] = value;
                continue;
            }
            const std::string before = merged[declaration.name]["description"].template get<std::string>();
            if (values[declaration.name] != value) merged[declaration.name] = SchemaJson::object();
            merged[declaration.name]["description"] = before + "\n\n" + text;
        }
    }
    return merged;
}

/// The schema of a recipe or a space; their tables have the same names.
///
/// Each table has all keys that any of its kinds may have, for completion; under `dependencies`, which editors only check, the
/// keys that the kind named by `use` has.
class TablesSchema {
public:
    TablesSchema(const Catalogue& catalogue, bool of_space)
        : catalogue_(catalogue),
          of_space_(of_space),
          forms_{.sweep = true, .list = of_space, .same_as = true},
          matrix_forms_{.sweep = !of_space, .same_as = !of_space} {}

    [[nodiscard]] SchemaJson schema() const {
        const std::string header = of_space_ ? "space" : "recipe";
        SchemaJson layouts = list_of(layout(true));
        layouts["minItems"] = 1;
        SchemaJson tables = SchemaJson::object();
        tables[header] = header_table();
        tables["matrix"] = matrix();
        tables["stage"] = list_of(stage());
        tables["layout"] = any_of({layout(false), std::move(layouts)});
        tables["kernel"] = kernel_table();
        SchemaJson all = table_of(std::move(tables));
        if (of_space_) all["required"] = std::vector<std::string>{header, "layout"};
        if (!of_space_) all["anyOf"] = std::vector<SchemaJson>{of_extending_recipe(), of_whole_recipe()};
        return all;
    }

private:
    [[nodiscard]] SchemaJson header_table() const {
        SchemaJson properties = SchemaJson::object();
        for (const ParameterDeclaration& key : recipe_declarations()) {
            if (of_space_ && key.name == "extends") continue;
            properties[key.name] = described_value(key, {.sweep = !of_space_ && key.name == "device"});
        }
        properties["name"]["maxLength"] = longest_recipe_name;
        if (of_space_) {
            const ParameterDeclaration start{
                .name = "start",
                .type = ParameterType::command,
                .optional = true,
                .help = "recipes that a search tries first: files or folders, relative to the space"};
            properties["start"] = described(start.help, value_schema(start, {}));
        }
        return table_of(std::move(properties));
    }

    /// The keys of a matrix that is not generated.
    [[nodiscard]] SchemaJson matrix_keys() const {
        SchemaJson keys = SchemaJson::object();
        add_described(keys, matrix_declarations(), matrix_forms_);
        keys["rows"] = {{"description", "the matrix itself: one text per row, entries separated by blanks, '.' for no entry"}};
        keys["rows"]["type"] = std::vector<std::string>{"array", "object", "integer"};  // a number: a parameter of a generator
        keys["rows"]["items"] = keyword("type", "string");
        keys.erase("generate");
        return keys;
    }

    [[nodiscard]] SchemaJson matrix() const {
        std::vector<SchemaJson> kinds;
        for (const GeneratorEntry& generator : catalogue_.generators) {
            SchemaJson properties = keyword("generate", words_schema({generator.name}));
            add_values(properties, generator.parameters, matrix_forms_);
            add_values(properties, {matrix_declarations().back()}, matrix_forms_);
            kinds.push_back(table_of(std::move(properties)));
        }
        if (!of_space_) kinds.push_back(open_table(keyword("generate", keyword("type", "object"))));
        SchemaJson properties =
            keyword("generate", name_of_entry("generator of the matrix", catalogue_.generators, {.sweep = !of_space_}));
        properties.update(matrix_keys());
        SchemaJson merged = merged_parameters(catalogue_.generators, matrix_forms_);
        merged.erase("rows");
        properties.update(merged);
        SchemaJson table = table_of(std::move(properties));
        table["dependencies"]["generate"] = any_of(kinds);
        return described("the default input; --matrix and --generate replace it", table);
    }

    [[nodiscard]] SchemaJson stage_keys() const {
        SchemaJson keys = SchemaJson::object();
        keys["id"] = {{"description", "unique name in --set, reports and file names. Default: the stage's name"},
                      {"type", "string"},
                      {"pattern", "^[A-Za-z0-9_-]{1,64}$"}};
        if (of_space_) {
            keys["optional"] = {{"description", "true: the stage is there or left out"}, {"type", "boolean"}};
            keys["when"] = text_schema("the condition under which the stage is there, such as skew > 1.2");
        } else {
            keys["remove"] =
                described("true: removes the stage of the extended recipe", keyword("enum", std::vector<bool>{true}));
            keys["after"] = text_schema("id of the stage in the extended recipe after which this one is inserted");
            keys["before"] = text_schema("id of the stage in the extended recipe before which this one is inserted");
        }
        return keys;
    }

    /// The table of a stage or layout whose `use` is its name, with further keys.
    template <typename Entry>
    [[nodiscard]] SchemaJson strict_table(const Entry& entry, const SchemaJson& keys, bool other_keys) const {
        SchemaJson properties = keyword("use", words_schema({entry.name}));
        add_values(properties, entry.parameters, forms_);
        for (const auto& [key, value] : keys.items()) properties[key] = SchemaJson::object();
        return other_keys ? open_table(std::move(properties)) : table_of(std::move(properties));
    }

    /// Several values of `use` for one place: any keys that some of them have. In spaces these are alternatives with own keys.
    static SchemaJson several_uses(const std::vector<std::string>& names, const std::vector<SchemaJson>& options) {
        SchemaJson values = list_of(options.empty() ? words_schema(names) : any_of(options));
        SchemaJson use{{"additionalProperties", false}, {"required", std::vector<std::string>{"sweep"}}};
        use["type"] = std::vector<std::string>{"object"};
        use["properties"]["sweep"] = values;
        if (!options.empty()) {
            use["type"].push_back("array");
            use["items"] = values["items"];
        }
        return open_table(keyword("use", std::move(use)));
    }

    /// An option of a space: a name, or a table with `use`.
    [[nodiscard]] static SchemaJson option(SchemaJson table, const char* required) {
        table["required"] = std::vector<std::string>{required};
        return table;
    }

    [[nodiscard]] SchemaJson stage() const {
        const SchemaJson keys = stage_keys();
        const SchemaJson when = keyword("when", SchemaJson::object());
        const std::vector<std::string> names = names_in(catalogue_.stages);
        std::vector<SchemaJson> kinds;
        std::vector<SchemaJson> options{words_schema(names)};
        for (const StageEntry& entry : catalogue_.stages) {
            kinds.push_back(strict_table(entry, keys, entry.takes_other_keys));
            if (!of_space_) continue;
            const char* const name = entry.takes_other_keys ? entry.name.c_str() : "use";  // `program` replaces `use`
            options.push_back(option(strict_table(entry, when, entry.takes_other_keys), name));
        }
        kinds.push_back(several_uses(names, of_space_ ? options : std::vector<SchemaJson>()));
        SchemaJson properties = keyword("use", use_schema("the stage", catalogue_.stages));
        properties.update(keys);
        properties.update(merged_parameters(catalogue_.stages, forms_));
        SchemaJson table = open_table(std::move(properties));
        table["dependencies"]["use"] = any_of(kinds);
        for (const StageEntry& entry : catalogue_.stages) {
            if (entry.takes_other_keys) table["dependencies"][entry.name] = strict_table(entry, keys, true);
        }
        if (!of_space_) return table;
        table["anyOf"] = with_any_key({"use", "program", "source"})["anyOf"];
        return table;
    }

    template <typename Entries>
    [[nodiscard]] SchemaJson use_schema(const std::string& description, const Entries& entries) const {
        SchemaJson use = name_of_entry(description, entries, {.sweep = true});
        if (of_space_) use["anyOf"][1] = keyword("type", std::vector<std::string>{"array", "object"});
        return use;
    }

    /// The kernels that the program has for a backend, in one layout or all; if there are none, any text is accepted.
    [[nodiscard]] std::vector<std::string> kernel_names(Backend backend, const LayoutEntry* only) const {
        std::vector<std::string> names;
        for (const LayoutEntry& layout : catalogue_.layouts) {
            for (const KernelEntry& kernel : layout.kernels) {
                if (kernel.backend == backend && (only == nullptr || only == &layout)) names.push_back(kernel.name);
            }
        }
        std::ranges::sort(names);
        names.erase(std::ranges::unique(names).begin(), names.end());
        return names;
    }

    /// The keys of [kernel], or of `kernel` in a layout.
    [[nodiscard]] SchemaJson kernel_keys() const {
        SchemaJson keys = SchemaJson::object();
        for (const Backend backend : schema_backends) {
            const std::string name(name_of(backend));
            const std::vector<std::string> names = kernel_names(backend, nullptr);
            const ParameterDeclaration key{.name = name,
                                           .type = names.empty() ? ParameterType::text : ParameterType::choice,
                                           .optional = true,
                                           .words = names,
                                           .help = "kernel of " + name};
            keys[name] = described_value(key, forms_);
        }
        add_described(keys, source_parameters(), forms_);
        keys["threads"]["type"].push_back("integer");
        return keys;
    }

    [[nodiscard]] SchemaJson kernel_table() const {
        SchemaJson keys = of_space_ ? SchemaJson::object() : kernel_keys();
        keys["side_by_side"] = described_value({.name = "side_by_side",
                                                .type = ParameterType::boolean,
                                                .default_value = false,
                                                .help = "hybrids: shares without a common row run concurrently on a GPU"},
                                               matrix_forms_);
        return table_of(std::move(keys));
    }

    /// The keys of a layout beside `use` and its parameters.
    [[nodiscard]] SchemaJson layout_keys(bool in_list) const {
        SchemaJson keys = SchemaJson::object();
        if (in_list || of_space_) {
            keys["share"] = text_schema("the share of the nonzeros that this layout stores, such as \"long\"");
            keys["kernel"] = described("the kernel of this layout", table_of(kernel_keys()));
        }
        if (of_space_) keys["when"] = text_schema("the condition under which this layout is an option");
        if (in_list && !of_space_) {
            keys["remove"] = described("true: removes the layout of this share", keyword("enum", std::vector<bool>{true}));
        }
        return keys;
    }

    /// Like strict_table, with the kernels of this layout.
    [[nodiscard]] SchemaJson strict_layout(const LayoutEntry& entry, const SchemaJson& keys) const {
        SchemaJson table = strict_table(entry, keys, false);
        if (!keys.contains("kernel")) return table;
        SchemaJson kernels = SchemaJson::object();
        for (const Backend backend : schema_backends) {
            const std::vector<std::string> names = kernel_names(backend, &entry);
            if (!names.empty()) kernels[std::string(name_of(backend))] = words_schema(names, forms_);
        }
        if (!kernels.empty()) table["properties"]["kernel"] = keyword("properties", std::move(kernels));
        return table;
    }

    [[nodiscard]] SchemaJson layout(bool in_list) const {
        const SchemaJson keys = layout_keys(in_list);
        SchemaJson of_option = SchemaJson::object();
        for (const char* const key : {"when", "kernel"}) of_option[key] = SchemaJson::object();
        const std::vector<std::string> names = names_in(catalogue_.layouts);
        std::vector<SchemaJson> kinds;
        std::vector<SchemaJson> options{words_schema(names)};
        for (const LayoutEntry& entry : catalogue_.layouts) {
            kinds.push_back(strict_layout(entry, keys));
            if (of_space_) options.push_back(option(strict_layout(entry, of_option), "use"));
        }
        kinds.push_back(several_uses(names, of_space_ ? options : std::vector<SchemaJson>()));
        SchemaJson properties = keyword("use", use_schema("the layout", catalogue_.layouts));
        properties["source"] = text_schema("a format in one file, a C++ header, relative to the recipe");
        properties.update(keys);
        properties.update(merged_parameters(catalogue_.layouts, forms_));
        SchemaJson table = open_table(std::move(properties));
        table["dependencies"]["use"] = any_of(kinds);
        table["dependencies"]["source"] = negated(with_any_key({"use"}));
        return table;
    }

    static SchemaJson of_extending_recipe() {
        SchemaJson schema = keyword("required", std::vector<std::string>{"recipe"});
        schema["properties"]["recipe"] = keyword("required", std::vector<std::string>{"extends"});
        return schema;
    }

    /// The schema of a recipe that extends no other.
    [[nodiscard]] SchemaJson of_whole_recipe() const {
        const SchemaJson no_change = negated(with_any_key({"after", "before", "remove"}));
        std::vector<SchemaJson> stages{with_any_key({"use", "program", "source"}), no_change};
        for (const StageEntry& entry : catalogue_.stages) {
            std::vector<std::string> needed;
            for (const ParameterDeclaration& each : entry.parameters) {
                if (!each.default_value && !each.optional) needed.push_back(each.name);
            }
            if (needed.empty()) continue;
            SchemaJson used = open_table(keyword("use", keyword("enum", std::vector<std::string>{entry.name})));
            used["required"] = std::vector<std::string>{"use"};
            stages.push_back(any_of({negated(std::move(used)), keyword("required", needed)}));
        }
        const std::vector<SchemaJson> layouts{with_any_key({"use", "source"}), no_change};
        SchemaJson one = keyword("type", "object");
        one["allOf"] = layouts;
        SchemaJson plain = SchemaJson::object();
        const SchemaJson keys = matrix_keys();
        for (const auto& [key, value] : keys.items()) plain[key] = SchemaJson::object();
        plain["rows"] = keyword("type", std::vector<std::string>{"array", "object"});
        SchemaJson schema = keyword("required", std::vector<std::string>{"layout"});
        SchemaJson& properties = schema["properties"];
        properties["matrix"] = any_of({with_any_key({"generate"}), table_of(std::move(plain))});
        properties["stage"] = keyword("items", keyword("allOf", stages));
        properties["layout"] = any_of({list_of(keyword("allOf", layouts)), std::move(one)});
        return schema;
    }

    const Catalogue& catalogue_;
    const bool of_space_;
    const ValueForms forms_;
    const ValueForms matrix_forms_;
};

SchemaJson suite_schema() {
    SchemaJson properties = SchemaJson::object();
    add_described(properties, suite_declarations(), {});
    const SchemaJson texts = list_of(keyword("type", "string"));
    const auto words = [](const std::string& description, const std::vector<std::string>& all) {
        return described(description, list_of(completed_words(description, all, {})));
    };
    properties["recipes"] = described("files of recipes, relative to the suite", texts);
    properties["matrices"] = described("files of matrices and folders of them, relative to the suite", texts);
    SchemaJson named = SchemaJson::object();
    add_described(named, named_matrix_declarations(), {});
    properties["named"] = described("matrices by name, in `matrices`; default: all", list_of(table_of(named, {"name"})));
    properties["generate"] = described("generated matrices, as --generate takes them", texts);
    properties["precisions"] = words("default: f64", {"f64", "f32"});
    properties["backends"] = words("default: all", {"kokkos", "eigen", "cpu", "cuda", "cusparse"});
    return table_of(keyword("suite", table_of(std::move(properties), {"recipes"})), {"suite"});
}

}  // namespace

std::string schema_text(SchemaOf kind, const Catalogue& catalogue) {
    const char* const name = kind == SchemaOf::recipe ? "recipe" : kind == SchemaOf::suite ? "suite" : "space";
    SchemaJson schema{{"$schema", "http://json-schema.org/draft-04/schema#"},
                      {"title", fmt::format("SpMV workbench: {}", name)}};
    schema.update(kind == SchemaOf::suite ? suite_schema() : TablesSchema(catalogue, kind == SchemaOf::space).schema());
    return schema.dump(1) + "\n";
}

}  // namespace workbench
