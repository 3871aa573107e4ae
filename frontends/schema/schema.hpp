// JSON schemas of the project's files, for editors: Draft 4 without `if` and `$ref`, which the editors of TOML do not all read.
//
// A schema shows names, types, limits and words. It accepts every file that the checker of recipes accepts; what depends on the
// order of tables, on files or on the matrix is only in the checker.
#pragma once

#include <string>

#include "core/contract/catalogue.hpp"

namespace workbench {

enum class SchemaOf { recipe, suite, space };

/// The schema as JSON text. Kernels of backends that this program was built without may have any name.
[[nodiscard]] std::string schema_text(SchemaOf kind, const Catalogue& catalogue);

}  // namespace workbench
