#include "core/text/text_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/text/words.hpp"

namespace workbench {
namespace {

/// The offset of each UTF-8 character, and the end of the last one.
std::vector<std::size_t> places_of_letters(const std::string& text) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) places.push_back(i);
    }
    places.push_back(text.size());
    return places;
}

/// "heights: ...ht=32, window=256".
std::string without_middle(const std::string& name, std::size_t most) {
    const std::vector<std::size_t> places = places_of_letters(name);
    if (places.size() - 1 <= most) return name;
    const std::size_t colon = name.find(": ");
    const auto behind_colon = std::find(places.begin(), places.end(), colon == std::string::npos ? colon : colon + 2);
    auto head = static_cast<std::size_t>(behind_colon - places.begin());
    if (head > most / 2) head = 8;  // no colon, or a late one
    const std::size_t tail = places.size() - 1 - (most - 3 - head);
    return name.substr(0, places[head]) + "..." + name.substr(places[tail]);
}

}  // namespace

std::string TextTable::text() const {
    std::vector<std::size_t> widths;
    const auto widen = [&widths](const std::vector<std::string>& cells) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
    };
    widen(header);
    for (const auto& row : rows) widen(row);

    std::string text;
    const auto append = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            line += "  ";
            line += i < left_columns ? fmt::format("{:<{}}", cells[i], widths[i]) : fmt::format("{:>{}}", cells[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += printable(line) + '\n';
    };
    if (!header.empty()) append(header);
    for (const auto& row : rows) append(row);
    return text;
}

std::string with_commas(long long number) {
    std::string digits = std::to_string(std::abs(number));
    for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
        digits.insert(static_cast<std::size_t>(place), 1, ',');
    }
    return (number < 0 ? "-" : "") + digits;
}

std::string size_text(long long rows, long long columns, long long nonzeros) {
    return fmt::format("{} x {}, {}", with_commas(rows), with_commas(columns), counted_with_commas(nonzeros, "nonzero"));
}

std::string significant(double number) {
    if (std::isnan(number)) return "nan";  // without its sign
    if (std::isinf(number)) return fmt::format("{}", number);
    const double magnitude = std::abs(number);
    if (magnitude != 0 && (magnitude < 0.001 || magnitude >= 1e7)) return fmt::format("{:.2e}", number);
    if (magnitude >= 999.5) return with_commas(std::llround(number));
    const int decimals = magnitude == 0 ? 0 : std::clamp(2 - static_cast<int>(std::floor(std::log10(magnitude))), 0, 5);
    return fmt::format("{:.{}f}", number, decimals);
}

std::string duration(double seconds) {
    if (seconds < 1e-3) return significant(seconds * 1e6) + " us";
    if (seconds < 1) return significant(seconds * 1e3) + " ms";
    return significant(seconds) + " s";
}

std::string byte_count(double bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return significant(bytes) + " " + units[unit];
}

std::string percent(double share) { return std::isnan(share) ? "nan %" : fmt::format("{:.1f} %", 100 * share); }

std::string spread_text(double spread) { return spread > 100 ? "more than 100 x" : percent(spread); }

std::string factor(double ratio) { return significant(ratio) + " x"; }

std::string shortened(const std::string& name, std::size_t most) {
    const std::vector<std::size_t> places = places_of_letters(name);
    return places.size() - 1 <= most ? name : name.substr(0, places[most - 3]) + "...";
}

std::string with_short_keys(const std::string& name, std::size_t most) {
    const std::size_t colon = name.find(": ");
    if (colon == std::string::npos) return "";
    std::string values;
    for (std::size_t begin = colon + 2; begin < name.size();) {
        const std::size_t end = std::min(name.find(", ", begin), name.size());
        const std::string setting = name.substr(begin, end - begin);
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos) return "";
        const std::string value = setting.substr(equals + 1);
        const bool is_number = value.find_first_of("0123456789") == 0;
        values += (values.empty() ? "" : " ") + (is_number ? initials_of(setting.substr(0, equals)) : "") + value;
        begin = end + 2;
    }
    const std::size_t letters = places_of_letters(values).size() - 1;
    if (letters > most) return "";
    const std::size_t least_head = 6;  // "hei..."
    const std::size_t left = most - letters;
    return left < least_head + 2 ? values : shortened(name.substr(0, colon), left - 2) + ": " + values;
}

std::vector<std::string> shortened(const std::vector<std::string>& names, std::size_t most) {
    const auto all_by = [&names](const auto& shorten) {
        std::vector<std::string> texts;
        for (const std::string& name : names) texts.push_back(shorten(name));
        return texts;
    };
    const auto is_like_another = [&names](const std::vector<std::string>& texts, std::size_t i) {
        for (std::size_t j = 0; j < texts.size(); ++j) {
            if (texts[j] == texts[i] && names[j] != names[i]) return true;
        }
        return false;
    };
    const std::vector<std::string> without_end = all_by([most](const std::string& name) { return shortened(name, most); });
    std::vector<std::string> texts = without_end;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string head = names[i].substr(0, names[i].find(": ") + 1);
        const bool is_cut = std::ranges::any_of(
            names, [&](const std::string& one) { return one.starts_with(head) && places_of_letters(one).size() - 1 > most; });
        const std::string point = is_cut ? with_short_keys(names[i], most) : "";
        if (!point.empty()) {
            texts[i] = point;
        } else if (is_like_another(without_end, i)) {
            texts[i] = without_middle(names[i], most);
        }
    }
    const std::vector<std::string> before = texts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string number = fmt::format(" #{}", i + 1);  // distinguishes names that both ways of cutting make equal
        if (is_like_another(before, i)) texts[i] = shortened(names[i], most - number.size()) + number;
    }
    return texts;
}

std::vector<std::string> table_names(const std::vector<std::string>& names, std::size_t most) {
    constexpr std::size_t most_of_all = 44;
    std::vector<std::string> texts = shortened(names, most);
    const bool lacks_words =
        std::ranges::any_of(texts, [](const std::string& text) { return text.find("...") != std::string::npos; });
    return lacks_words ? shortened(names, std::max(most, most_of_all)) : texts;
}

std::string padded(const std::string& name, std::size_t width) {
    const std::size_t letters = places_of_letters(name).size() - 1;
    return name + std::string(width - std::min(width, letters), ' ');
}

std::string wrapped(const std::string& text) {
    constexpr std::size_t width = 80;
    std::string result;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string rest = text.substr(begin, end - begin);
        begin = end + 1;
        while (rest.size() > width) {
            const std::size_t blank = rest.rfind(' ', width);
            if (blank == std::string::npos || blank < 6) break;
            result += rest.substr(0, blank) + '\n';
            rest = "     " + rest.substr(blank);
        }
        result += rest + '\n';
    }
    return result;
}

}  // namespace workbench
