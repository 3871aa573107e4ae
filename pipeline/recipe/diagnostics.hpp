// All that is wrong with a recipe, collected and printed with the lines it is about.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// One thing that is wrong.
struct RecipeProblem {
    Place place;
    std::string message;
    bool unmatched = false;  // the option at this place names something that the recipe does not have

    friend bool operator==(const RecipeProblem&, const RecipeProblem&) = default;
};

class Diagnostics {
public:
    /// The recipe: its file as messages name it, and its text.
    Diagnostics(std::string file, std::string text) { static_cast<void>(add_file(std::move(file), std::move(text))); }

    /// One more file, which the recipe extends. Returns its number in places.
    [[nodiscard]] int add_file(std::string name, std::string text);

    /// The text of a file; it stays where it is.
    [[nodiscard]] std::string_view text(int file) const { return files_[static_cast<std::size_t>(file)].text; }

    /// The place of an option of the command line, as the user wrote it: "--set layout.x=1". `change`: which override or sweep
    /// it is, counted as in UnmatchedChange.
    [[nodiscard]] Place add_option(std::string written, std::optional<std::size_t> change = std::nullopt);
    [[nodiscard]] std::optional<std::size_t> change_of(Place place) const;

    void add(Place place, std::string message) { problems_.push_back({place, std::move(message)}); }

    /// The setting at this place is of something that is not there. Of an option that is given for several recipes, that may
    /// be no error.
    void add_unmatched(Place place, std::string message) {
        problems_.push_back({place, std::move(message), place.option >= 0});
    }

    void add_all(const std::vector<RecipeProblem>& problems) {
        problems_.insert(problems_.end(), problems.begin(), problems.end());
    }

    /// Hands over all that was added so far.
    [[nodiscard]] std::vector<RecipeProblem> take() { return std::exchange(problems_, {}); }

    [[nodiscard]] bool empty() const { return problems_.empty(); }

    /// "recipes/x.toml:12:8", "recipes/x.toml" or "--set layout.x=1".
    [[nodiscard]] std::string where(Place place) const;

    /// "line 12"; with the name of its file where that is another than the one of `from`.
    [[nodiscard]] std::string line(Place place, Place from) const;

    /// Throws RecipeError with all errors in the order of the files, those of options last, unless there are none.
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
