// All that is wrong with a recipe, collected and printed with the lines it is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

class Diagnostics {
public:
    /// `file` as messages name it, and the text of the recipe, which must outlive this.
    Diagnostics(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

    /// The place of an option of the command line, as the user wrote it: "--set layout.x=1".
    [[nodiscard]] Place add_option(std::string written);

    void add(Place place, std::string message) { errors_.push_back({place, std::move(message)}); }

    [[nodiscard]] bool empty() const { return errors_.empty(); }

    /// "recipes/x.toml:12:8", "recipes/x.toml" or "--set layout.x=1".
    [[nodiscard]] std::string where(Place place) const;

    /// Throws RecipeError with all errors in the order of the file, those of options last, unless there are none.
    void throw_if_any() const;

private:
    struct Error {
        Place place;
        std::string message;
    };

    [[nodiscard]] std::string print(const Error& error) const;

    std::string file_;
    std::string_view text_;
    std::vector<std::string> options_;
    std::vector<Error> errors_;
};

}  // namespace workbench
