// All that is wrong with a recipe, collected and printed with the lines it is about.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

class Diagnostics {
public:
    /// `file` as messages name it, the text of the recipe and the overrides; both must outlive this. `option` is what stands
    /// before an override on the command line.
    Diagnostics(std::string file, std::string_view text, std::span<const std::string> overrides, std::string option = "--set ")
        : file_(std::move(file)), text_(text), overrides_(overrides), option_(std::move(option)) {}

    void add(Place place, std::string message) { errors_.push_back({place, std::move(message)}); }

    [[nodiscard]] bool empty() const { return errors_.empty(); }

    /// "recipes/x.toml:12:8", "recipes/x.toml" or "--set layout.x=1".
    [[nodiscard]] std::string where(Place place) const;

    /// Throws RecipeError with all errors in the order of the file, those of overrides last, unless there are none.
    void throw_if_any() const;

private:
    struct Error {
        Place place;
        std::string message;
    };

    [[nodiscard]] std::string print(const Error& error) const;

    std::string file_;
    std::string_view text_;
    std::span<const std::string> overrides_;
    std::string option_;
    std::vector<Error> errors_;
};

}  // namespace workbench
