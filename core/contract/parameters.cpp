#include "core/contract/parameters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/text/relative_length.hpp"
#include "core/text/suggestion.hpp"

namespace workbench {
namespace {

constexpr std::size_t longest_quote = 60;

/// The shortest TOML text that reads back as the same number, and that does not look like an integer.
std::string real_text(double value) {
    std::array<char, 32> digits{};
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    std::string text(digits.data(), end);
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

/// A TOML basic string.
std::string quoted_text(std::string_view value) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string text = "\"";
    for (const char letter : value) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            text += '\\';
            text += letter;
        } else if (letter == '\n') {
            text += "\\n";
        } else if (letter == '\t') {
            text += "\\t";
        } else if (byte < 0x20 || byte == 0x7F) {
            text += "\\u00";
            text += hex[byte / 16];
            text += hex[byte % 16];
        } else {
            text += letter;
        }
    }
    return text + '"';
}

/// A limit, declared as a double: 65536 for an integer, 0.5 for a real.
std::string limit_text(double limit) {
    const bool whole = std::trunc(limit) == limit && std::abs(limit) < 1e15;
    return whole ? std::to_string(static_cast<std::int64_t>(limit)) : real_text(limit);
}

/// "a", "b" or "c".
std::string alternatives(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += quoted_text(words[i]);
    }
    return text;
}

/// The kinds of shares that the parameter selects: its words, or all kinds.
std::vector<std::string> words_for_shares(const ParameterDeclaration& declaration) {
    return declaration.words.empty() ? listed_kinds() : declaration.words;
}

std::string accepted_numbers(const ParameterDeclaration& declaration, const std::string& number) {
    std::string text = number;
    if (declaration.minimum && declaration.maximum) {
        text += " from " + limit_text(*declaration.minimum) + " to " + limit_text(*declaration.maximum);
    } else if (declaration.minimum) {
        text += " of at least " + limit_text(*declaration.minimum);
    } else if (declaration.maximum) {
        text += " of at most " + limit_text(*declaration.maximum);
    }
    if (!declaration.unit.empty()) text += " (" + declaration.unit + ")";
    if (!declaration.words.empty()) text += ", or " + alternatives(declaration.words);
    if (declaration.type == ParameterType::length)
        text += ", or a length relative to those of the rows, such as \"2*mean\" or \"p95\"";
    return text;
}

bool in_range(const ParameterDeclaration& declaration, double value) {
    return std::isfinite(value) && value >= declaration.minimum.value_or(value) && value <= declaration.maximum.value_or(value);
}

bool has_word(const ParameterDeclaration& declaration, const std::string& word) {
    return std::find(declaration.words.begin(), declaration.words.end(), word) != declaration.words.end();
}

bool accepts_share(const ParameterDeclaration& declaration, const std::string& text) {
    return declaration.words.empty() ? share_choice(text).has_value() : single_share(text).has_value();
}

/// Returns true for a share, an integer within the limits, or a relative length, as the type requires.
bool accepts_item(const ParameterDeclaration& declaration, const std::string& text) {
    if (declaration.type == ParameterType::shares) return single_share(text).has_value();
    const std::optional<RelativeLength> length = read_relative_length(text);
    if (!length) return false;
    if (length->of == RelativeLength::Of::number) return in_range(declaration, length->factor);
    return declaration.type == ParameterType::length || declaration.type == ParameterType::lengths;
}

bool accepts_list(const ParameterDeclaration& declaration, const std::string& text) {
    const std::vector<std::string> items = items_of_list(text);
    return std::all_of(items.begin(), items.end(), [&](const std::string& item) { return accepts_item(declaration, item); });
}

bool is_command(const std::string& text) {
    const auto words = command_words(text);
    return words && !words->empty() && !words->front().empty() && text.find('\0') == std::string::npos;
}

bool accepts(const ParameterDeclaration& declaration, const ParameterValue& value) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const auto* text = std::get_if<std::string>(&value);
    switch (declaration.type) {
        case ParameterType::boolean: return std::holds_alternative<bool>(value);
        case ParameterType::text: return text != nullptr;
        case ParameterType::file:
        case ParameterType::source: return text != nullptr && !text->empty() && text->find('\0') == std::string::npos;
        case ParameterType::command: return text != nullptr && is_command(*text);
        case ParameterType::share: return text != nullptr && accepts_share(declaration, *text);
        case ParameterType::choice: return text != nullptr && has_word(declaration, *text);
        case ParameterType::length:
            if (text != nullptr) return has_word(declaration, *text) || accepts_item(declaration, *text);
            break;
        case ParameterType::shares:
        case ParameterType::integers:
        case ParameterType::lengths: return text != nullptr && accepts_list(declaration, *text);
        case ParameterType::integer:
        case ParameterType::real: break;
    }
    if (text != nullptr) return has_word(declaration, *text);
    if (integer != nullptr) return in_range(declaration, static_cast<double>(*integer));
    return real != nullptr && declaration.type == ParameterType::real && in_range(declaration, *real);
}

/// The value in an error message: shortened, and with its type where that is not obvious.
std::string found(const ParameterDeclaration& declaration, const ParameterValue& value) {
    std::string text = to_text(value);
    if (text.size() > longest_quote) {
        std::size_t cut = longest_quote;
        while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not within a UTF-8 sequence
        text = text.substr(0, cut) + "...";
    }
    const auto* real = std::get_if<double>(&value);
    const bool integral = declaration.type == ParameterType::integer || declaration.type == ParameterType::length;
    if (real != nullptr && integral && std::trunc(*real) == *real) text += " (a real number)";
    return text;
}

}  // namespace

ParameterDeclaration declare(std::string name, ParameterType type, IfAbsent if_absent, Limits limits, std::string help) {
    return {.name = std::move(name),
            .type = type,
            .default_value = std::move(if_absent.default_value),
            .optional = if_absent.optional,
            .minimum = limits.minimum,
            .maximum = limits.maximum,
            .words = std::move(limits.words),
            .unit = std::move(limits.unit),
            .help = std::move(help)};
}

std::string seen_from_here(const std::filesystem::path& path) {
    const std::string whole = std::filesystem::absolute(path).lexically_normal().string();
    std::string seen = std::filesystem::path(whole).lexically_relative(std::filesystem::current_path()).string();
    return seen.empty() || seen.size() > whole.size() ? whole : seen;
}

std::optional<std::vector<std::string>> command_words(std::string_view command) {
    std::vector<std::string> words;
    char quote = '\0';
    bool in_word = false;
    for (const char letter : command) {
        const bool separates = quote == '\0' && (letter == ' ' || letter == '\t');
        if (!separates && !in_word) words.emplace_back();
        in_word = !separates;
        if (separates) continue;
        if (quote == '\0' && (letter == '\'' || letter == '"')) {
            quote = letter;
        } else if (letter == quote) {
            quote = '\0';
        } else {
            words.back() += letter;
        }
    }
    return quote == '\0' ? std::optional(words) : std::nullopt;
}

std::string command_of(const std::vector<std::string>& words) {
    std::string command;
    for (const std::string& word : words) {
        if (!command.empty()) command += ' ';
        if (!word.empty() && word.find_first_of(" \t'\"") == std::string::npos) {
            command += word;
            continue;
        }
        command += '\'';
        for (const char letter : word) command += letter == '\'' ? std::string("'\"'\"'") : std::string(1, letter);
        command += '\'';
    }
    return command;
}

std::string to_text(const ParameterValue& value) {
    if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
    return quoted_text(std::get<std::string>(value));
}

std::string accepted_values(const ParameterDeclaration& declaration) {
    switch (declaration.type) {
        case ParameterType::boolean: return "true or false";
        case ParameterType::text: return "a text in quotes";
        case ParameterType::file: return "the name of a file";
        case ParameterType::source: return "the name of a C++ file";
        case ParameterType::command: return R"(a program and its arguments, as in ["python3", "my_order.py"])";
        case ParameterType::share:
            return alternatives(words_for_shares(declaration)) +
                   (declaration.words.empty() ? R"(, or one of them as "segment 3", "tile 0,1", "short/first")"
                                              : R"(, or one split again such as "short/first")");
        case ParameterType::choice: return alternatives(declaration.words);
        case ParameterType::real: return accepted_numbers(declaration, "a number");
        case ParameterType::shares: return R"(a list of shares, such as ["long", "short/rest"])";
        case ParameterType::integers: return accepted_numbers(declaration, "a list of integers") + ", such as [4, 16, 64]";
        case ParameterType::lengths:
            return accepted_numbers(declaration, "a list of integers") +
                   ", or of lengths relative to those of the rows, such as [4, \"2*mean\", \"p95\"]";
        case ParameterType::integer:
        case ParameterType::length: break;
    }
    return accepted_numbers(declaration, "an integer");
}

std::string reason_to_refuse(const ParameterDeclaration& declaration, const ParameterValue& value) {
    if (accepts(declaration, value)) return "";
    std::string reason = "found " + found(declaration, value) + ", expected " + accepted_values(declaration);
    const auto words = declaration.type == ParameterType::share ? words_for_shares(declaration) : declaration.words;
    if (const auto* word = std::get_if<std::string>(&value)) reason += did_you_mean(*word, words);
    return reason;
}

Parameters::Parameters(const std::vector<ParameterDeclaration>& declarations, std::map<std::string, ParameterValue> given) {
    std::map<std::string, ParameterValue> defaults;
    for (const ParameterDeclaration& declaration : declarations) {
        if (declaration.default_beside != nullptr) defaults.emplace(declaration.name, declaration.default_beside(given));
    }
    given.merge(defaults);  // of those that are not given
    for (const ParameterDeclaration& declaration : declarations) {
        auto node = given.extract(declaration.name);
        if (node.empty() && !declaration.default_value) {
            if (declaration.optional) continue;
            throw std::logic_error("parameter '" + declaration.name + "' was not given and has no default");
        }
        ParameterValue value = node.empty() ? *declaration.default_value : node.mapped();
        if (const std::string reason = reason_to_refuse(declaration, value); !reason.empty()) {
            throw std::logic_error("parameter '" + declaration.name + "': " + reason);
        }
        const auto* integer = std::get_if<std::int64_t>(&value);
        if (integer != nullptr && declaration.type == ParameterType::real) value = static_cast<double>(*integer);
        values_.emplace(declaration.name, std::move(value));
    }
    if (!given.empty()) throw std::logic_error("parameter '" + given.begin()->first + "' was never declared");
}

bool Parameters::has(std::string_view name) const { return values_.find(name) != values_.end(); }

bool Parameters::boolean(std::string_view name) const { return std::get<bool>(at(name)); }

std::int64_t Parameters::integer(std::string_view name) const { return std::get<std::int64_t>(at(name)); }

double Parameters::real(std::string_view name) const { return std::get<double>(at(name)); }

const std::string& Parameters::text(std::string_view name) const { return std::get<std::string>(at(name)); }

ShareChoice Parameters::share(std::string_view name) const { return share_choice(text(name)).value(); }

bool Parameters::is_word(std::string_view name, std::string_view word) const {
    const auto* text = std::get_if<std::string>(&at(name));
    return text != nullptr && *text == word;
}

Index Parameters::number_unless_auto(std::string_view name) const {
    return is_word(name, "auto") ? 0 : static_cast<Index>(integer(name));
}

Parameters Parameters::on_device(const std::vector<ParameterDeclaration>& declarations, const DeviceProperties& device) const {
    Parameters result = *this;
    for (const ParameterDeclaration& declaration : declarations) {
        if (declaration.for_device == nullptr || !is_word(declaration.name, "auto")) continue;
        result.values_.find(declaration.name)->second = declaration.for_device(device);
    }
    return result;
}

Parameters Parameters::seen_from_here(const std::vector<ParameterDeclaration>& declarations) const {
    Parameters result = *this;
    for (const ParameterDeclaration& declaration : declarations) {
        const auto found = result.values_.find(declaration.name);
        auto* const text = found == result.values_.end() ? nullptr : std::get_if<std::string>(&found->second);
        if (text == nullptr || text->empty()) continue;
        if (declaration.type == ParameterType::file || declaration.type == ParameterType::source) {
            *text = workbench::seen_from_here(*text);
        } else if (declaration.type == ParameterType::command) {
            std::vector<std::string> words = command_words(*text).value_or(std::vector{*text});
            for (std::string& word : words) {
                if (word.starts_with('/')) word = workbench::seen_from_here(word);
            }
            *text = command_of(words);
        }
    }
    return result;
}

Parameters Parameters::with(std::string_view name, ParameterValue value) const {
    Parameters result = *this;
    (void)at(name);
    result.values_.find(name)->second = std::move(value);
    return result;
}

const ParameterValue& Parameters::at(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
        throw std::logic_error("no parameter '" + std::string(name) + "' was declared, or it has no value");
    }
    return found->second;
}

}  // namespace workbench
