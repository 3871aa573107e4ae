// Schemas of single values, as a declaration describes them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/contract/parameters.hpp"

namespace workbench {

using SchemaJson = nlohmann::ordered_json;  // names come before what they name

/// The forms in which a value may be given, beside the value itself.
struct ValueForms {
    bool sweep = false;    // { sweep = [...] } or { sweep = "1..8*2" }
    bool list = false;     // [...], which means the same in spaces
    bool same_as = false;  // { same_as = "NAME" }
};

[[nodiscard]] SchemaJson list_of(SchemaJson items);

/// A table with these keys and no others. `required`: keys that it must have.
[[nodiscard]] SchemaJson table_of(SchemaJson properties, const std::vector<std::string>& required = {});

/// A text that is one of these words, or one of the other forms. Without `anyOf`, so that the schema is short.
[[nodiscard]] SchemaJson words_schema(const std::vector<std::string>& words, ValueForms forms = {});

/// Like words_schema, but editors can complete the words.
[[nodiscard]] SchemaJson completed_words(const std::string& description, const std::vector<std::string>& words,
                                         ValueForms forms);

/// The values that a declaration accepts.
[[nodiscard]] SchemaJson value_schema(const ParameterDeclaration& declaration, ValueForms forms);

/// The same with the help, limits, unit and default as `description`, for editors.
[[nodiscard]] SchemaJson described_value(const ParameterDeclaration& declaration, ValueForms forms);

/// Adds the parameters of a table to properties: values alone, or with descriptions.
void add_values(SchemaJson& properties, const std::vector<ParameterDeclaration>& declarations, ValueForms forms);
void add_described(SchemaJson& properties, const std::vector<ParameterDeclaration>& declarations, ValueForms forms);

}  // namespace workbench
