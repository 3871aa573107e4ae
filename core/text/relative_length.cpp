#include "core/text/relative_length.hpp"

#include <charconv>
#include <cmath>

#include "core/matrix/types.hpp"

namespace workbench {
namespace {

/// Removes a nonnegative number such as "95" or "0.5" from the front of the text.
std::optional<double> take_real(std::string_view& text) {
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    double number = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    return number;
}

std::optional<RelativeLength> read_integer(std::string_view text) {
    Index number = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || after != text.data() + text.size() || number < 0) return std::nullopt;
    return RelativeLength{.factor = static_cast<double>(number)};
}

}  // namespace

std::optional<RelativeLength> read_relative_length(std::string_view text) {
    if (const std::optional<RelativeLength> number = read_integer(text)) return number;
    RelativeLength length{.of = RelativeLength::Of::mean};
    if (const std::optional<double> factor = take_real(text)) {
        if (!text.starts_with('*')) return std::nullopt;
        text.remove_prefix(1);
        length.factor = *factor;
    }
    if (text == "mean") return length;
    if (!text.starts_with('p')) return std::nullopt;
    text.remove_prefix(1);
    length.of = RelativeLength::Of::percentile;
    const std::optional<double> percent = take_real(text);
    if (!percent || !text.empty() || *percent > 100) return std::nullopt;
    length.percent = *percent;
    return length;
}

std::vector<std::string> items_of_list(std::string_view text) {
    std::vector<std::string> items(1);
    for (const char letter : text) {
        if (letter == ',') {
            items.emplace_back();
        } else if (letter != ' ') {
            items.back() += letter;
        }
    }
    return items;
}

}  // namespace workbench
