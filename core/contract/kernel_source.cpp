#include "core/contract/kernel_source.hpp"

#include <array>
#include <cctype>
#include <cstring>
#include <span>
#include <string_view>

#include "core/contract/errors.hpp"
#include "core/text/expression.hpp"
#include "core/text/suggestion.hpp"

namespace workbench {
namespace {

constexpr Offset largest = Offset{1} << 62;
constexpr int deepest = 100;  // nested parentheses

std::int64_t number_at(const LayoutField& field) {
    const auto read = [&]<typename Number>(Number number) {
        if (field.data != nullptr) std::memcpy(&number, field.data, sizeof(number));
        return static_cast<std::int64_t>(number);
    };
    switch (field.type) {
        case ElementType::i8: return read(std::int8_t{});
        case ElementType::u8: return read(std::uint8_t{});
        case ElementType::i16: return read(std::int16_t{});
        case ElementType::u16: return read(std::uint16_t{});
        case ElementType::i32: return read(std::int32_t{});
        case ElementType::u32: return read(std::uint32_t{});
        case ElementType::f32: return read(float{});
        case ElementType::f64: return read(double{});
        default: return read(std::int64_t{});
    }
}

constexpr std::array<std::string_view, 6> signs{"+", "-", "*", "/", "(", ")"};
constexpr std::array<std::span<const std::string_view>, 2> levels{std::span(signs).first(2), std::span(signs).subspan(2, 2)};

class ThreadCount {
public:
    ThreadCount(std::string_view text, const std::map<std::string, Offset>& names)
        : text_(text), names_(names), reader_(text, {.letters = "_", .signs = signs}) {}

    Offset value() {
        const Offset result = sum();
        if (!reader_.at_end()) refuse("an operator or the end");
        if (result < 0) throw Unsuitable("'" + std::string(text_) + "' is negative: " + std::to_string(result));
        return result;
    }

private:
    [[noreturn]] void refuse(const std::string& expected) const {
        const std::size_t at = reader_.token().at;
        const std::string found =
            reader_.at_end() ? "the expression ends" : "found '" + std::string(text_.substr(at, 20)) + "'";
        throw Unsuitable("'" + std::string(text_) + "', character " + std::to_string(at + 1) + ": " + found + ", expected " +
                         expected);
    }

    /// Returns the result of an operation, or refuses it if it overflowed or exceeds 2^62.
    [[nodiscard]] Offset bounded(bool overflow, Offset result) const {
        if (overflow || result > largest || result < -largest) {
            throw Unsuitable("'" + std::string(text_) + "' exceeds 2^62");
        }
        return result;
    }

    Offset sum() {
        return parse_joined(
            reader_, levels, [this] { return atom(); },
            [this](std::string_view sign, Offset left, Offset right) { return joined(sign.front(), left, right); });
    }

    [[nodiscard]] Offset joined(char sign, Offset left, Offset right) const {
        if (sign == '/') {
            if (right == 0) throw Unsuitable("'" + std::string(text_) + "' divides by zero");
            return left / right - (left % right != 0 && (left < 0) != (right < 0) ? 1 : 0);
        }
        Offset result = 0;
        const bool overflow = sign == '+'   ? __builtin_add_overflow(left, right, &result)
                              : sign == '-' ? __builtin_sub_overflow(left, right, &result)
                                            : __builtin_mul_overflow(left, right, &result);
        return bounded(overflow, result);
    }

    Offset atom() {
        if (depth_ < deepest && reader_.take("(")) {
            ++depth_;
            const Offset result = sum();
            if (!reader_.take(")")) refuse("')'");
            --depth_;
            return result;
        }
        const ExpressionToken& token = reader_.token();
        if (token.type != ExpressionToken::Type::word) refuse("a name or a number");
        const std::string word(token.text);
        const bool is_number = std::isdigit(static_cast<unsigned char>(word.front())) != 0;
        const Offset result = is_number ? number(word) : named(word);
        reader_.advance();
        return result;
    }

    [[nodiscard]] Offset named(const std::string& word) const {
        const auto found = names_.find(word);
        if (found != names_.end()) return found->second;
        std::vector<std::string> known;
        for (const auto& [name, value] : names_) known.push_back(name);
        throw Unsuitable("unknown name '" + word + "'" + expected_one_of(word, known));
    }

    [[nodiscard]] Offset number(const std::string& word) const {
        Offset result = 0;
        for (const char digit : word) {
            if (std::isdigit(static_cast<unsigned char>(digit)) == 0) refuse("an integer");
            result = bounded(result > largest / 10, result) * 10 + (digit - '0');
        }
        return bounded(false, result);
    }

    std::string_view text_;
    const std::map<std::string, Offset>& names_;
    ExpressionReader reader_;
    int depth_ = 0;
};

}  // namespace

std::map<std::string, Offset> launch_names(const std::vector<LayoutField>& fields, Index rows, Index columns) {
    std::map<std::string, Offset> names;
    Offset slots = 0;
    for (const LayoutField& field : fields) {
        const auto count = static_cast<Offset>(field.count);
        if (!field.is_array()) {
            names[field.name] = number_at(field);
        } else {
            names[field.name + "_size"] = count;
            if (field.role == ArrayRole::value) slots += static_cast<Offset>(field.slots());
            if (field.name == "slice_offsets") names["slices"] = count > 0 ? count - 1 : 0;
        }
    }
    names["rows"] = rows;
    names["columns"] = columns;
    names["slots"] = slots;
    return names;
}

Offset thread_count(const std::string& expression, const std::map<std::string, Offset>& names) {
    return ThreadCount(expression, names).value();
}

}  // namespace workbench
