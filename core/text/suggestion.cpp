#include "core/text/suggestion.hpp"

#include <algorithm>
#include <cstddef>

namespace workbench {
namespace {

constexpr std::size_t longest_word = 64;

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of adjacent letters.
std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before_last(to.size() + 1);
    std::vector<std::size_t> last(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        before_last.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const bool same = lower(from[i - 1]) == lower(to[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped =
                i > 1 && j > 1 && lower(from[i - 1]) == lower(to[j - 2]) && lower(from[i - 2]) == lower(to[j - 1]);
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    if (word.size() > longest_word) return "";
    const std::string* nearest = nullptr;
    std::size_t shortest = 0;
    for (const std::string& candidate : candidates) {
        const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
        const std::size_t near = std::max<std::size_t>(1, shorter / 3);
        const bool begins = word.size() >= 3 && candidate.starts_with(word);
        if (!begins && longer - shorter > near) continue;
        const std::size_t distance = begins ? 1 : edit_distance(word, candidate);
        if (distance <= near && (nearest == nullptr || distance < shortest)) {
            nearest = &candidate;
            shortest = distance;
        }
    }
    return nearest == nullptr ? "" : "; did you mean '" + *nearest + "'?";
}

std::string expected_one_of(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string suggestion = did_you_mean(word, candidates);
    return (suggestion.empty() ? "; expected one of " : suggestion + " Expected one of ") + join(candidates);
}

std::string join(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace workbench
