#include "core/text/characters.hpp"

namespace workbench {

std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool allowed = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
        return continues(1) && continues(2) && allowed ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool allowed = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
        return continues(1) && continues(2) && continues(3) && allowed ? 4 : 0;
    }
    return 0;
}

bool is_control_character(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; }

bool is_wide_control(std::string_view text) {
    return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

namespace {

/// Calls use(character) for each character, "?" for those that must not be printed.
template <typename Use>
void for_each_character(std::string_view text, const Use& use) {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        const bool blank = text[0] == '\t' || text[0] == '\n';
        const bool control = is_wide_control(text) || (length == 1 && is_control_character(text[0]) && !blank);
        use(length > 0 && !control ? text.substr(0, length) : std::string_view("?"));
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

}  // namespace

std::vector<std::string> characters(std::string_view text) {
    std::vector<std::string> all;
    for_each_character(text, [&](std::string_view one) { all.emplace_back(one); });
    return all;
}

std::string printable(std::string_view text) {
    std::string shown;
    for_each_character(text, [&](std::string_view one) { shown += one; });
    return shown;
}

std::string printable(std::string_view text, std::size_t longest) {
    const std::vector<std::string> all = characters(text.substr(0, 4 * longest + 4));
    std::string shown;
    for (std::size_t i = 0; i < all.size() && i < longest; ++i) shown += all[i] == "\t" || all[i] == "\n" ? "?" : all[i];
    return all.size() > longest ? shown + "..." : shown;
}

}  // namespace workbench
