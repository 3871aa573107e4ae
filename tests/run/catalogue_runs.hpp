// Recipes of the real catalogue and small matrices, for tests of what every layout must do in a run.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// One sample, at once.
inline const TimingOptions quick{CacheState::warm, 1, 0, 0};

[[nodiscard]] inline Recipe recipe_of(const std::string& text) { return parse_recipe(text, "test.toml", catalogue()); }

/// 11 x 11: rows of 2 to 11 nonzeros with a diagonal, not symmetric.
[[nodiscard]] inline CsrMatrix uneven_matrix() {
    std::vector<Entry> entries;
    for (Index row = 0; row < 11; ++row) {
        for (Index column = 0; column < 11; ++column) {
            if ((row * 7 + column * 3) % 5 == 0 || row == column || row == 4) {
                entries.push_back({row, column, 1.0 + row + 0.25 * column});
            }
        }
    }
    return csr_from_entries(11, 11, entries);
}

/// The five-point Laplacian of n x n points.
[[nodiscard]] inline CsrMatrix grid(std::int64_t n) {
    const GeneratorEntry& laplace = *catalogue().find_generator("laplace2d");
    return laplace.generate(Parameters(laplace.parameters, {{"nx", n}}));
}

/// Plants an error in an array of a layout, which is not const; only the view of it is.
template <typename Element>
void add_to(const LayoutField& array, Offset index, int change) {
    auto* data = static_cast<Element*>(const_cast<void*>(array.data));
    data[index] = static_cast<Element>(data[index] + static_cast<Element>(change));
}

}  // namespace workbench
