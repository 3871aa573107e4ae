#include "pipeline/recipe/diagnostics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_errors = 50;
constexpr std::size_t widest_quote = 120;  // characters of a line that are shown

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

/// The line, and below it a caret under the column. Of a long line only the surroundings of the column are shown.
std::string quote(std::string_view text, Place place) {
    const std::vector<std::string> all = characters(line_of(text, place.line));
    const std::size_t caret = std::min(static_cast<std::size_t>(place.column) - 1, all.size());
    const bool long_line = all.size() > widest_quote;
    const std::size_t begin = long_line ? caret - std::min(caret, widest_quote / 2) : 0;
    const std::size_t end = long_line ? std::min(begin + widest_quote, all.size()) : all.size();
    std::string shown = begin > 0 ? "..." : "";
    std::string margin = begin > 0 ? "   " : "";
    for (std::size_t i = begin; i < end; ++i) shown += all[i];
    for (std::size_t i = begin; i < caret; ++i) margin += all[i] == "\t" ? "\t" : " ";  // a tab is as wide below as above
    if (end < all.size()) shown += "...";
    const std::string number = std::to_string(place.line);
    return fmt::format("  {} | {}\n  {:{}} | {}^\n", number, shown, "", number.size(), margin);
}

}  // namespace

Place Diagnostics::add_option(std::string written) {
    options_.push_back(std::move(written));
    return {0, 0, static_cast<int>(options_.size()) - 1};
}

std::string Diagnostics::where(Place place) const {
    if (place.option >= 0) return printable(options_[static_cast<std::size_t>(place.option)], widest_quote);
    if (place.line == 0) return file_;
    return fmt::format("{}:{}:{}", file_, place.line, place.column);
}

std::string Diagnostics::print(const Error& error) const {
    const bool has_line = error.place.option < 0 && error.place.line > 0;
    return fmt::format("error: {}: {}\n{}", where(error.place), error.message, has_line ? quote(text_, error.place) : "");
}

void Diagnostics::throw_if_any() const {
    if (errors_.empty()) return;
    std::vector<Error> sorted = errors_;
    const auto order = [](const Error& error) {
        const auto& [line, column, option] = error.place;
        return std::tuple(option, line == 0, line, column);
    };
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Error& a, const Error& b) { return order(a) < order(b); });
    std::string text;
    for (std::size_t i = 0; i < std::min(sorted.size(), most_errors); ++i) text += print(sorted[i]);
    if (sorted.size() > most_errors) text += fmt::format("and {} errors more\n", sorted.size() - most_errors);
    text.pop_back();  // the last line end: whoever prints the text adds one
    throw RecipeError(text);
}

}  // namespace workbench
