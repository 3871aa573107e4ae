// Collects the errors of a recipe and prints them with the lines that they refer to.
#pragma once

#include <fmt/core.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct RecipeProblem {
    RecipePlace place;
    std::string message;
    bool unmatched = false;  // the option at this place changes something that the recipe does not contain

    friend bool operator==(const RecipeProblem&, const RecipeProblem&) = default;
};

class Diagnostics {
public:
    /// Starts with the recipe's file, as messages name it, and its text.
    Diagnostics(std::string file, std::string text) { static_cast<void>(add_file(std::move(file), std::move(text))); }

    /// Adds a file that the recipe extends. Returns its number in places.
    [[nodiscard]] int add_file(std::string name, std::string text);

    /// The text of a file; stays valid.
    [[nodiscard]] std::string_view text(int file) const { return files_[static_cast<std::size_t>(file)].text; }

    /// The place of a command-line option as the user wrote it: "--set layout.x=1". `change` is the number of the override or
    /// sweep, as in UnmatchedChange.
    [[nodiscard]] RecipePlace add_option(std::string written, std::optional<std::size_t> change = std::nullopt);
    [[nodiscard]] std::optional<std::size_t> change_of(RecipePlace place) const;

    /// Adds an error; the message is formatted by fmt.
    template <typename... Values>
    void add(RecipePlace place, fmt::format_string<Values...> text, Values&&... values) {
        problems_.push_back({place, fmt::format(text, std::forward<Values>(values)...)});
    }

    /// Like add, for a setting that the recipe has no place for. An option that is given for several recipes may find one in
    /// some of them only.
    template <typename... Values>
    void add_unmatched(RecipePlace place, fmt::format_string<Values...> text, Values&&... values) {
        problems_.push_back({place, fmt::format(text, std::forward<Values>(values)...), place.option >= 0});
    }

    void add_all(const std::vector<RecipeProblem>& problems) {
        problems_.insert(problems_.end(), problems.begin(), problems.end());
    }

    /// Returns the errors added so far and removes them.
    [[nodiscard]] std::vector<RecipeProblem> take() { return std::exchange(problems_, {}); }

    [[nodiscard]] bool empty() const { return problems_.empty(); }
    [[nodiscard]] std::size_t count() const { return problems_.size(); }

    /// "recipes/x.toml:12:8", "recipes/x.toml" or "--set layout.x=1".
    [[nodiscard]] std::string where(RecipePlace place) const;

    /// "line 12", or "line 12 of FILE" if `from` is in another file.
    [[nodiscard]] std::string line(RecipePlace place, RecipePlace from) const;

    /// Throws RecipeErrors with all errors, if any, in the order of the files; errors of options come last.
    void throw_if_any() const;

private:
    struct File {
        std::string name;
        std::string text;
    };
    struct Option {
        std::string written;
        std::optional<std::size_t> change;
    };

    [[nodiscard]] std::string print(const RecipeProblem& problem) const;

    std::deque<File> files_;
    std::vector<Option> options_;
    std::vector<RecipeProblem> problems_;
};

}  // namespace workbench
