#include "pipeline/run/text_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace workbench {

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
        text += line + '\n';
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

std::string significant(double number) {
    if (!std::isfinite(number)) return fmt::format("{}", number);
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

std::string shortened(const std::string& name, std::size_t most) {
    std::size_t letters = 0;
    std::size_t cut = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if ((static_cast<unsigned char>(name[i]) & 0xC0) == 0x80) continue;
        if (++letters == most - 2) cut = i;
    }
    return letters <= most ? name : name.substr(0, cut) + "...";
}

std::string padded(const std::string& name, std::size_t width) {
    const auto letters = static_cast<std::size_t>(std::count_if(
        name.begin(), name.end(), [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0) != 0x80; }));
    return name + std::string(width - std::min(width, letters), ' ');
}

std::string wrapped(const std::string& text) {
    constexpr std::size_t width = 80;
    std::string result;
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = text.find('\n', begin);
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
