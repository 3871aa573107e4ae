#include "frontends/schema/values.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace workbench {
namespace {

SchemaJson json_of_value(const ParameterValue& value) {
    return std::visit([](const auto& plain) { return SchemaJson(plain); }, value);
}

/// Limits are declared as doubles; those of integers are written as integers.
SchemaJson json_of_limit(double limit) {
    const bool whole = std::trunc(limit) == limit && std::abs(limit) < 1e15;
    return whole ? SchemaJson(static_cast<std::int64_t>(limit)) : SchemaJson(limit);
}

/// "^(a|b)$"; words are made of letters, digits and '_'.
std::string pattern_of(const std::vector<std::string>& words) {
    std::string pattern;
    for (const std::string& word : words) pattern += (pattern.empty() ? "^(" : "|") + word;
    return pattern + ")$";
}

/// Allows values of one more type. Keywords of a schema apply to values of their own type only, so that one schema can describe
/// several types.
void allow(SchemaJson& schema, const char* type, const SchemaJson& keywords = SchemaJson::object()) {
    schema["type"].push_back(type);
    schema.update(keywords);
}

void allow_number(SchemaJson& schema, const ParameterDeclaration& declaration, const char* type) {
    allow(schema, type);
    if (declaration.minimum) schema["minimum"] = json_of_limit(*declaration.minimum);
    if (declaration.maximum) schema["maximum"] = json_of_limit(*declaration.maximum);
}

void allow_words(SchemaJson& schema, const std::vector<std::string>& words) {
    if (!words.empty()) allow(schema, "string", {{"pattern", pattern_of(words)}});
}

/// The value alone. Texts with a grammar of their own are left to the checker.
SchemaJson plain_schema(const ParameterDeclaration& declaration) {
    SchemaJson schema{{"type", SchemaJson::array()}};
    const SchemaJson not_empty{{"minLength", 1}};
    switch (declaration.type) {
        case ParameterType::boolean: allow(schema, "boolean"); break;
        case ParameterType::integer:
        case ParameterType::real:
            allow_number(schema, declaration, declaration.type == ParameterType::real ? "number" : "integer");
            allow_words(schema, declaration.words);
            break;
        case ParameterType::choice: allow_words(schema, declaration.words); break;
        case ParameterType::length:
            allow_number(schema, declaration, "integer");
            allow(schema, "string", not_empty);
            break;
        case ParameterType::integers:
        case ParameterType::lengths: {
            allow_number(schema, declaration, "integer");
            allow(schema, "string", not_empty);
            const SchemaJson item = schema;
            allow(schema, "array", {{"items", item}});
            break;
        }
        case ParameterType::shares:
        case ParameterType::command:
            allow(schema, "string", not_empty);
            allow(schema, "array", {{"items", {{"type", "string"}}}});
            break;
        case ParameterType::share:
        case ParameterType::file:
        case ParameterType::source: allow(schema, "string", not_empty); break;
        case ParameterType::text: allow(schema, "string"); break;
    }
    return schema;
}

bool takes_list(ParameterType type) { return is_list(type) || type == ParameterType::command; }

void allow_forms(SchemaJson& schema, ValueForms forms) {
    const SchemaJson plain = schema;
    if (forms.list) allow(schema, "array", {{"items", plain}});
    if (!forms.sweep && !forms.same_as) return;
    SchemaJson keys = SchemaJson::object();
    if (forms.sweep) {
        SchemaJson range{{"type", {"array", "string"}}, {"minItems", 1}};
        range["items"] = plain;
        range["pattern"] = R"(^-?\d+\.\.-?\d+([*+]\d+)?$)";
        keys["sweep"] = std::move(range);
    }
    if (forms.same_as) keys["same_as"] = {{"type", "string"}, {"minLength", 1}};
    allow(schema, "object", {{"minProperties", 1}, {"maxProperties", 1}, {"additionalProperties", false}});
    schema["properties"] = std::move(keys);
}

/// "number of parts. Unit: rows. Default: 16."
std::string description_of(const ParameterDeclaration& declaration) {
    std::string text = declaration.help;
    const auto add = [&text](const std::string& sentence) { text += (text.empty() ? "" : ". ") + sentence; };
    add("Expected: " + accepted_values(declaration));
    if (declaration.default_value) add("Default: " + to_text(*declaration.default_value));
    if (!declaration.default_value && !declaration.optional) add("Required");
    return text + ".";
}

}  // namespace

SchemaJson list_of(SchemaJson items) { return {{"type", "array"}, {"items", std::move(items)}}; }

SchemaJson table_of(SchemaJson properties, const std::vector<std::string>& required) {
    SchemaJson schema{{"type", "object"}};
    schema["properties"] = std::move(properties);
    schema["additionalProperties"] = false;
    if (!required.empty()) schema["required"] = required;  // Draft 4 has no empty list
    return schema;
}

SchemaJson words_schema(const std::vector<std::string>& words, ValueForms forms) {
    return value_schema({.name = "", .type = ParameterType::choice, .words = words}, forms);
}

SchemaJson completed_words(const std::string& description, const std::vector<std::string>& words, ValueForms forms) {
    SchemaJson schema{{"description", description}};
    if (!forms.sweep && !forms.list && !forms.same_as) {
        schema["enum"] = words;
        return schema;
    }
    SchemaJson others = words_schema(words, forms);
    others["type"].erase(std::size_t{0});  // texts, which the list of words has
    others.erase("pattern");
    schema["anyOf"] = SchemaJson::array();
    schema["anyOf"].push_back({{"description", description}, {"enum", words}});
    schema["anyOf"].push_back(std::move(others));
    return schema;
}

SchemaJson value_schema(const ParameterDeclaration& declaration, ValueForms forms) {
    if (takes_list(declaration.type)) forms.list = false;  // a list is then one value
    SchemaJson schema = plain_schema(declaration);
    allow_forms(schema, forms);
    return schema;
}

SchemaJson described_value(const ParameterDeclaration& declaration, ValueForms forms) {
    const std::string description = description_of(declaration);
    SchemaJson schema{{"description", description}};
    if (declaration.default_value) schema["default"] = json_of_value(*declaration.default_value);
    const bool is_choice = declaration.type == ParameterType::choice;
    schema.update(is_choice ? completed_words(description, declaration.words, forms) : value_schema(declaration, forms));
    return schema;
}

void add_values(SchemaJson& properties, const std::vector<ParameterDeclaration>& declarations, ValueForms forms) {
    for (const ParameterDeclaration& each : declarations) properties[each.name] = value_schema(each, forms);
}

void add_described(SchemaJson& properties, const std::vector<ParameterDeclaration>& declarations, ValueForms forms) {
    for (const ParameterDeclaration& each : declarations) properties[each.name] = described_value(each, forms);
}

}  // namespace workbench
