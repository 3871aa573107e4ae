#include "benchmarks/preparation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "core/input/read_matrix.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {

std::vector<std::string> pieces_of(std::string_view text, char separator) {
    std::vector<std::string> pieces;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        std::string_view piece = text.substr(begin, end - begin);
        while (piece.starts_with(' ')) piece.remove_prefix(1);
        pieces.emplace_back(piece);
        begin = end + 1;
    }
    return pieces;
}

Recipe recipe_of(std::string_view preparation) {
    std::string text = "[recipe]\nname = \"preparation\"\n";
    const std::vector<std::string> steps = pieces_of(preparation, ';');
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool is_layout = i + 1 == steps.size();
        std::string settings;
        const std::vector<std::string> pieces = pieces_of(steps[i], ',');
        for (std::size_t k = 1; k < pieces.size(); ++k) settings += pieces[k] + "\n";
        if (!is_layout) text += fmt::format("[[stage]]\nid = \"s{}\"\nuse = \"{}\"\n{}", i, pieces[0], settings);
        if (is_layout && pieces[0] != "shares") text += fmt::format("[layout]\nuse = \"{}\"\n{}", pieces[0], settings);
        if (is_layout && pieces[0] == "shares") {
            for (std::size_t k = 1; k < pieces.size(); ++k) {
                text += fmt::format("[[layout]]\nuse = \"csr\"\nshare = \"{}\"\n", pieces[k]);
            }
        }
    }
    return parse_recipe(text, "preparation.toml", catalogue());
}

CsrMatrix matrix_of(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return read_matrix(text);
    const std::vector<std::string> settings = pieces_of(text.substr(colon + 1), ',');
    const MatrixChoice choice = generated_matrix(text.substr(0, colon), settings, catalogue());
    const auto& generated = std::get<GeneratedMatrix>(choice.from);
    return generated.generator->generate(generated.parameters);
}

}  // namespace workbench
