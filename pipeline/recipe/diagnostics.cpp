#include "pipeline/recipe/diagnostics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/text/words.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_errors = 50;
constexpr std::size_t widest_quote = 120;  // characters

std::string_view line_of(std::string_view text, int line) {
    for (int skipped = 1; skipped < line; ++skipped) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return "";
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

/// The line with a caret below the column. If the line is long, only the part around the column is shown.
std::string quote(std::string_view text, RecipePlace place) {
    const std::vector<std::string> all = characters(line_of(text, place.line));
    const std::size_t caret = std::min(static_cast<std::size_t>(place.column) - 1, all.size());
    const bool long_line = all.size() > widest_quote;
    const std::size_t begin = long_line ? caret - std::min(caret, widest_quote / 2) : 0;
    const std::size_t end = long_line ? std::min(begin + widest_quote, all.size()) : all.size();
    std::string shown = begin > 0 ? "..." : "";
    std::string margin = begin > 0 ? "   " : "";
    for (std::size_t i = begin; i < end; ++i) shown += all[i];
    for (std::size_t i = begin; i < caret; ++i) margin += all[i] == "\t" ? "\t" : " ";  // tabs align
    if (end < all.size()) shown += "...";
    const std::string number = std::to_string(place.line);
    return fmt::format("  {} | {}\n  {:{}} | {}^\n", number, shown, "", number.size(), margin);
}

}  // namespace

int Diagnostics::add_file(std::string name, std::string text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // the byte order mark
    files_.push_back({std::move(name), std::move(text)});
    return static_cast<int>(files_.size()) - 1;
}

RecipePlace Diagnostics::add_option(std::string written, std::optional<std::size_t> change) {
    options_.push_back({std::move(written), change});
    return {0, 0, static_cast<int>(options_.size()) - 1};
}

std::optional<std::size_t> Diagnostics::change_of(RecipePlace place) const {
    return place.option < 0 ? std::nullopt : options_[static_cast<std::size_t>(place.option)].change;
}

std::string Diagnostics::where(RecipePlace place) const {
    if (place.option >= 0) return printable(options_[static_cast<std::size_t>(place.option)].written, widest_quote);
    const std::string& name = files_[static_cast<std::size_t>(place.file)].name;
    return place.line == 0 ? name : fmt::format("{}:{}:{}", name, place.line, place.column);
}

std::string Diagnostics::line(RecipePlace place, RecipePlace from) const {
    std::string line = fmt::format("line {}", place.line);
    if (place.file == from.file) return line;
    return fmt::format("{} of {}", line, files_[static_cast<std::size_t>(place.file)].name);
}

std::string Diagnostics::print(const RecipeProblem& problem) const {
    const RecipePlace place = problem.place;
    const bool has_line = place.option < 0 && place.line > 0;
    return fmt::format("error: {}: {}\n{}", where(place), problem.message, has_line ? quote(text(place.file), place) : "");
}

void Diagnostics::throw_if_any() const {
    if (problems_.empty()) return;
    std::vector<RecipeProblem> sorted = problems_;
    const auto order = [](const RecipeProblem& problem) {
        const auto& [line, column, option, file] = problem.place;
        return std::tuple(option, file, line == 0, line, column);
    };
    std::ranges::stable_sort(sorted, {}, order);
    std::string text;
    for (std::size_t i = 0; i < std::min(sorted.size(), most_errors); ++i) text += print(sorted[i]);
    if (sorted.size() > most_errors) text += fmt::format("and {}\n", counted(sorted.size() - most_errors, "more error"));
    text.pop_back();  // the last line end, which printing adds
    std::vector<LocatedProblem> located;
    for (const RecipeProblem& problem : sorted) {
        const RecipePlace place = problem.place;
        const bool of_option = place.option >= 0;
        located.push_back({of_option ? where(place) : files_[static_cast<std::size_t>(place.file)].name,
                           of_option ? 0 : place.line, of_option ? 0 : place.column, problem.message});
    }
    throw RecipeErrors(text, std::move(located));
}

}  // namespace workbench
