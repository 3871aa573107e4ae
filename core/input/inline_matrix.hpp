// Small matrices written out in a recipe.
#pragma once

#include <span>
#include <string>

#include "core/contract/errors.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Contains the place of the error, so that the recipe checker can point at it.
struct InlineMatrixError : InputError {
    InlineMatrixError(std::size_t at_row, std::size_t at_character, const std::string& what)
        : InputError(what), row(at_row), character(at_character) {}
    std::size_t row;        // from 0
    std::size_t character;  // in the row, from 0
};

/// The matrix of rows such as "1 . 2", separated by blanks: '.' is no entry, a number is an entry, even 0. All rows must have
/// the same length. Throws InlineMatrixError.
[[nodiscard]] CsrMatrix csr_from_rows(std::span<const std::string> rows);

}  // namespace workbench
