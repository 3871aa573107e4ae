// A small matrix written out in a recipe, for teaching.
#pragma once

#include <span>
#include <string>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Says where in the rows the offence lies, so that the recipe checker can point at it.
struct InlineMatrixError : InputError {
    InlineMatrixError(std::size_t row_of_it, std::size_t character_of_it, const std::string& what)
        : InputError(what), row(row_of_it), character(character_of_it) {}
    std::size_t row;        // from 0
    std::size_t character;  // of that row, from 0
};

/// The matrix of rows like "1 . 2": blanks separate; '.' is no entry, a number is one, also 0. All rows have the same length.
/// Throws InlineMatrixError.
[[nodiscard]] CsrMatrix csr_from_rows(std::span<const std::string> rows);

}  // namespace workbench
