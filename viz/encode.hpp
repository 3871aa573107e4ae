// Bytes and text inside of SVG and HTML.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace workbench {

[[nodiscard]] inline std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text((bytes.size() + 2) / 3 * 4, '=');
    char* next = text.data();
    for (std::size_t i = 0; i < bytes.size(); i += 3, next += 4) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k <= count; ++k) next[k] = letters[three >> (18 - 6 * k) & 63];
    }
    return text;
}

/// With & < > escaped, and without control characters.
[[nodiscard]] inline std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        switch (letter) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            default: safe.append(static_cast<unsigned char>(letter) >= ' ' ? 1 : 0, letter);
        }
    }
    return safe;
}

}  // namespace workbench
