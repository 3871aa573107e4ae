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

/// Changes the value of a slot, its code to the next or the one before in the dictionary, or the value of all slots. A
/// dictionary of one value is not changed.
inline void change_value(const LayoutField& array, Offset index, int change) {
    if (!array.dictionary) {
        return array.type == ElementType::f32 ? add_to<float>(array, array.constant ? 0 : index, change)
                                              : add_to<double>(array, array.constant ? 0 : index, change);
    }
    if (array.constant) {  // the value of a row or a column
        const auto place = static_cast<Offset>(code_at(array, index).value());
        const LayoutField values{.name = {}, .data = array.dictionary->data};
        return array.dictionary->type == ElementType::f32 ? add_to<float>(values, place, change)
                                                          : add_to<double>(values, place, change);
    }
    const std::size_t values_of_code = array.dictionary->values_of_code;
    const auto count = static_cast<int>(array.dictionary->count / values_of_code);
    const auto step = [&]<typename Code>(Code) {
        Code& code = static_cast<Code*>(const_cast<void*>(array.data))[index / static_cast<Offset>(values_of_code)];
        const int shift = array.dictionary->shift;
        const int next = (static_cast<int>(code >> shift) + change + count) % count;
        code = static_cast<Code>((static_cast<std::uint64_t>(next) << shift) | (code & ((std::uint64_t{1} << shift) - 1)));
    };
    if (bytes_of(array.type) == 1) return step(std::uint8_t{});
    if (bytes_of(array.type) == 2) return step(std::uint16_t{});
    step(std::uint32_t{});
}

}  // namespace workbench
