// Whole numbers to try, in short: 32..1024*2.
#include <fmt/core.h>

#include <charconv>

#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_values = 1000;

struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool factor = false;
    std::int64_t step = 1;
};

/// Takes a whole number off the text.
bool take_number(std::string_view& text, std::int64_t& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

std::optional<Range> parse_range(std::string_view text) {
    Range range;
    if (!take_number(text, range.first) || !text.starts_with("..")) return std::nullopt;
    text.remove_prefix(2);
    if (!take_number(text, range.last)) return std::nullopt;
    if (text.empty()) return range;
    range.factor = text.front() == '*';
    if (!range.factor && text.front() != '+') return std::nullopt;
    text.remove_prefix(1);
    if (!take_number(text, range.step) || !text.empty()) return std::nullopt;
    return range;
}

std::string problem_of(const Range& range) {
    if (range.last < range.first) return fmt::format("expected at least {} as its end", range.first);
    if (range.factor && range.step < 2) return "expected a factor of at least 2";
    if (range.factor && range.first < 1) return "expected a beginning of at least 1, for a factor";
    return range.step < 1 ? "expected a step of at least 1" : "";
}

}  // namespace

bool is_range(std::string_view text) {
    std::int64_t number = 0;
    return take_number(text, number) && text.starts_with("..");
}

void read_range(std::string_view text, Place place, Setting& setting) {
    setting.swept = true;
    setting.kind = "a sweep";
    const std::string found = fmt::format("found '{}', ", printable(text, 60));
    const std::optional<Range> range = parse_range(text);
    if (!range) {
        setting.sweep_problem = found + "expected a list of values to try, or a range as 32..1024*2 or 8..64+8";
        return;
    }
    if (const std::string problem = problem_of(*range); !problem.empty()) {
        setting.sweep_problem = found + problem;
        return;
    }
    for (std::int64_t number = range->first;;) {
        if (setting.sweep.size() == most_values) {
            setting.sweep_problem = fmt::format("{}expected at most {} values", found, most_values);
            return;
        }
        Setting& value = setting.sweep.emplace_back();
        value.value = number;
        value.value_place = place;
        // Without stepping beyond the last, which may be the largest number there is.
        const auto room = static_cast<std::uint64_t>(range->last) - static_cast<std::uint64_t>(number);
        if (range->factor ? number > range->last / range->step : static_cast<std::uint64_t>(range->step) > room) return;
        number = range->factor ? number * range->step : number + range->step;
    }
}

}  // namespace workbench
