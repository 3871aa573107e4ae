// Which matrix a recipe, or a command line in its place, asks for.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/contract/catalogue.hpp"

namespace workbench {

/// A file to read; absolute, or relative to the current folder.
struct MatrixFile {
    std::filesystem::path path;
    std::string member = {};  // of an archive; empty: the only matrix in it, or no archive

    /// The same place, however the path to it is written.
    friend bool operator==(const MatrixFile& a, const MatrixFile& b);
};

/// A matrix written out in the recipe. csr_from_rows takes it without an error.
struct InlineMatrix {
    std::vector<std::string> rows;

    friend bool operator==(const InlineMatrix&, const InlineMatrix&) = default;
};

struct GeneratedMatrix {
    const GeneratorEntry* generator = nullptr;  // of the catalogue
    Parameters parameters;

    friend bool operator==(const GeneratedMatrix&, const GeneratedMatrix&) = default;
};

/// Equal choices are one matrix. How many rows make a node is not part of it: each recipe says that for itself.
struct MatrixChoice {
    std::variant<std::monostate, MatrixFile, InlineMatrix, GeneratedMatrix> from;  // monostate: nobody named one
    std::string where = {};  // what named it, for messages: "recipes/x.toml:3:12", "--generate laplace2d"

    friend bool operator==(const MatrixChoice& a, const MatrixChoice& b) { return a.from == b.from; }
};

/// The choice of `workbench generate KIND[:NAME=VALUE,...] NAME=VALUE ...`. Throws RecipeError, which lists every error.
[[nodiscard]] MatrixChoice generated_matrix(const std::string& text, std::span<const std::string> settings,
                                            const Catalogue& catalogue);

}  // namespace workbench
