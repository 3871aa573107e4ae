#include "pipeline/recipe/text.hpp"

#include <fmt/core.h>

namespace workbench {
namespace {

constexpr int deepest_key = 16;  // a.b.c is 3 deep
constexpr int longest_line = 10'000;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// True for characters of keys without quotes.
bool is_key(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || is_digit(letter) || letter == '_' ||
           letter == '-';
}

/// True if the word has the form of a boolean or a number; dates, which no recipe uses, are refused.
bool is_value(std::string_view word) {
    if (word == "true" || word == "false") return true;
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (word == "inf" || word == "nan") return true;
    if (word.empty() || !is_digit(word[0])) return false;
    for (std::size_t i = 1; i < word.size(); ++i) {
        const bool after_e = word[i - 1] == 'e' || word[i - 1] == 'E';
        const bool sign = word[i] == '+' || word[i] == '-';
        if (sign ? !after_e : !is_key(word[i]) && word[i] != '.') return false;
    }
    return true;
}

/// Returns what the first bytes reveal of a file that is probably a matrix, or an empty text.
std::string_view matrix_format(std::string_view text) {
    if (text.starts_with("%%MatrixMarket")) return "a Matrix Market file";
    for (const std::string_view start : {"\x1F\x8B",
                                         "\xFD"
                                         "7zXZ",
                                         "\x28\xB5\x2F\xFD", "PK\x03\x04"}) {
        if (text.starts_with(start)) return "a compressed file";
    }
    return {};
}

/// Tracks TOML strings and comments. It may be wrong after the first syntax error, where the TOML parser stops anyway.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    std::optional<TextError> scan() {
        if (const std::string_view format = matrix_format(text_); !format.empty()) {
            return error(fmt::format("found {}; expected TOML. --matrix FILE names a matrix", format));
        }
        while (!text_.empty()) {
            const std::size_t length = sequence_length(text_);
            if (length == 0) return error("found a byte that is not UTF-8; expected a file in UTF-8");
            const char letter = text_[0];
            if (length == 1 && is_control_character(letter) && !is_blank_control()) {
                return error(fmt::format("found control character 0x{:02X}; expected text", static_cast<unsigned>(letter)));
            }
            if (length > 1 && !may_exceed_ascii()) {
                return error(inside_ == Inside::nothing
                                 ? "found a character outside ASCII; expected ASCII outside quotes and comments"
                                 : "found a character outside ASCII after a backslash; expected ASCII");
            }
            if (place_.column > longest_line)
                return error(fmt::format("found a line of more than {} characters; expected shorter lines", longest_line));
            if (auto wrong = follow(length)) return wrong;
        }
        return std::nullopt;
    }

private:
    enum class Inside { nothing, comment, text };

    [[nodiscard]] std::optional<TextError> error(const std::string& message) const { return TextError{place_, message}; }

    [[nodiscard]] bool is_blank_control() const { return text_[0] == '\t' || text_[0] == '\n' || text_.substr(0, 2) == "\r\n"; }

    /// False after a line-ending backslash in a multi-line string, where toml++ fails on characters outside ASCII.
    [[nodiscard]] bool may_exceed_ascii() const { return inside_ != Inside::nothing && !escaped_ && !continuing_; }

    std::optional<TextError> follow(std::size_t length) {
        if (inside_ == Inside::comment && text_[0] == '\n') inside_ = Inside::nothing;
        if (inside_ == Inside::nothing) return follow_structure();
        if (inside_ == Inside::text) {
            follow_text();
        } else {
            step(length, 1);
        }
        return std::nullopt;
    }

    std::optional<TextError> follow_structure() {
        const char letter = text_[0];
        const bool blank = letter == ' ' || letter == '\t';
        if (header_ > 0 && !blank) {
            const bool named = is_key(letter) || letter == '"' || letter == '\'' || letter == ']';
            if (!named && !(letter == '[' && header_ == 1)) return error("expected the name of a table");
            header_ = named ? 0 : 2;
        }
        const bool word = std::string_view(" \t\r\n[]{},=#\"'").find(letter) == std::string_view::npos;
        if (expects_value_ && word) return follow_word();
        if (letter == '.' && ++dots_ >= deepest_key)
            return error(fmt::format("found a key of more than {} words; expected fewer", deepest_key));
        if (letter == '\n' || letter == '=' || letter == ',' || letter == '{' || letter == '[') dots_ = 0;
        if (auto wrong = follow_brackets(letter)) return wrong;
        line_begins_ = letter == '\n' || (line_begins_ && blank);
        if (letter == '#') inside_ = Inside::comment;
        if (letter != '"' && letter != '\'') {
            step(1, 1);
            return std::nullopt;
        }
        const std::string three(3, letter);
        inside_ = Inside::text;
        delimiter_ = text_.starts_with(three) ? three : std::string(1, letter);
        step(delimiter_.size(), static_cast<int>(delimiter_.size()));
        return std::nullopt;
    }

    std::optional<TextError> follow_word() {
        const std::string_view word = text_.substr(0, text_.find_first_of(" \t\r\n,]}#"));
        if (!is_value(word)) return error("found neither a number nor true or false; expected quotes around a string");
        expects_value_ = false;
        step(word.size(), static_cast<int>(word.size()));
        return std::nullopt;
    }

    /// Matches the brackets of values and distinguishes them from those of table headers.
    std::optional<TextError> follow_brackets(char letter) {
        if (letter == '=') value_ = true;
        if (letter == '\n' && open_.empty()) value_ = expects_value_ = false;
        if (letter == '[' && line_begins_ && !value_) header_ = 1;
        if (!value_) return std::nullopt;
        const bool opens = letter == '[' || letter == '{';
        const bool closes = letter == ']' || letter == '}';
        if (opens && !expects_value_ && !open_.empty()) return error("expected a comma or a closing bracket before this");
        const bool in_list = open_.ends_with('[');
        const bool separates = letter == '=' || letter == '[' || (in_list && letter == ',');
        const bool blank = std::string_view(" \t\r\n#").find(letter) != std::string_view::npos;
        expects_value_ = separates || (expects_value_ && blank);
        if (opens) open_ += letter;
        if (!closes) return std::nullopt;
        const char opening = letter == ']' ? '[' : '{';
        if (!open_.ends_with(opening)) return error(fmt::format("found '{}' without a matching '{}'", letter, opening));
        open_.pop_back();
        return std::nullopt;
    }

    void follow_text() {
        const char letter = text_[0];
        const bool many_lines = delimiter_.size() == 3;
        const bool blank = letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
        if (escaped_) {
            continuing_ = many_lines && blank;
            escaped_ = false;
        } else if (letter == '\\' && delimiter_[0] == '"') {
            escaped_ = true;
            continuing_ = false;
        } else if (text_.starts_with(delimiter_) || (letter == '\n' && !many_lines)) {
            // The closing three quotes may directly follow up to two others.
            std::size_t closing = letter == '\n' ? 1 : delimiter_.size();
            while (many_lines && closing < 5 && closing < text_.size() && text_[closing] == letter) ++closing;
            inside_ = Inside::nothing;
            continuing_ = false;
            step(closing, static_cast<int>(closing));
            return;
        } else if (!blank) {
            continuing_ = false;
        }
        step(sequence_length(text_), 1);
    }

    void step(std::size_t bytes, int columns) {
        const bool new_line = text_[0] == '\n';
        text_.remove_prefix(bytes);
        place_ = new_line ? RecipePlace{place_.line + 1, 1} : RecipePlace{place_.line, place_.column + columns};
    }

    std::string_view text_;
    RecipePlace place_{1, 1};
    Inside inside_ = Inside::nothing;
    std::string delimiter_;
    bool escaped_ = false;     // directly after a backslash
    bool continuing_ = false;  // directly after a backslash and blanks
    int dots_ = 0;             // in the current key
    bool line_begins_ = true;  // only blanks so far on this line
    bool value_ = false;       // after the equals sign, until the value ends
    bool expects_value_ = false;
    std::string open_;  // unclosed brackets of the value
    int header_ = 0;    // brackets of a table's header, before its name
};

}  // namespace

std::string extended_name(const std::string& name, const std::string& added) {
    const auto cut = [](const std::string& text, std::size_t longest) {
        constexpr std::size_t dots = 3;
        return characters(text).size() <= longest ? text : printable(text, longest - dots);
    };
    const std::string end = cut(added, longest_recipe_name / 2);
    return cut(name, longest_recipe_name - characters(end).size()) + end;
}

std::optional<TextError> first_text_error(std::string_view text) { return Scanner(text).scan(); }

}  // namespace workbench
