// The matrix that a recipe or the command line selects.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/contract/catalogue.hpp"

namespace workbench {

/// A matrix in a file.
struct MatrixFile {
    std::filesystem::path path;  // absolute, or relative to the current folder
    std::string member = {};     // file in an archive; empty: the only matrix in it, or no archive

    /// True if both paths lead to the same file, and the members are equal.
    friend bool operator==(const MatrixFile& a, const MatrixFile& b);
};

/// A matrix written out in the recipe; csr_from_rows accepts it.
struct InlineMatrix {
    std::vector<std::string> rows;

    friend bool operator==(const InlineMatrix&, const InlineMatrix&) = default;
};

struct GeneratedMatrix {
    const GeneratorEntry* generator = nullptr;  // of the catalogue
    Parameters parameters;

    friend bool operator==(const GeneratedMatrix&, const GeneratedMatrix&) = default;
};

/// Equal choices select the same matrix. The node size is not part of the choice.
struct MatrixChoice {
    std::variant<std::monostate, MatrixFile, InlineMatrix, GeneratedMatrix> from;  // monostate: none
    std::string where = {};  // for messages: "recipes/x.toml:3:12", "--generate laplace2d"

    friend bool operator==(const MatrixChoice& a, const MatrixChoice& b) { return a.from == b.from; }
};

/// The choice of `workbench generate KIND[:NAME=VALUE,...] NAME=VALUE ...`. Throws RecipeError with all errors.
[[nodiscard]] MatrixChoice generated_matrix(const std::string& text, std::span<const std::string> settings,
                                            const Catalogue& catalogue);

}  // namespace workbench
