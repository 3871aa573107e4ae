#include "core/contract/kernel_source.hpp"

#include <cctype>
#include <cstring>
#include <string_view>

#include "core/contract/errors.hpp"
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

/// sum = product {("+" | "-") product}; product = atom {("*" | "/") atom}; atom = name | number | "(" sum ")".
class Expression {
public:
    Expression(std::string_view text, const std::map<std::string, Offset>& names) : text_(text), names_(names) {}

    Offset value() {
        const Offset result = sum();
        if (next() != '\0') refuse("an operator or the end");
        if (result < 0) throw Unsuitable("'" + std::string(text_) + "' is negative: " + std::to_string(result));
        return result;
    }

private:
    [[nodiscard]] char next() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    [[noreturn]] void refuse(const std::string& expected) const {
        const std::string found =
            at_ < text_.size() ? "found '" + std::string(text_.substr(at_, 20)) + "'" : "the expression ends";
        throw Unsuitable("'" + std::string(text_) + "', character " + std::to_string(at_ + 1) + ": " + found + ", expected " +
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
        Offset result = product();
        for (char sign = next(); sign == '+' || sign == '-'; sign = next()) {
            ++at_;
            const Offset other = product();
            Offset together = 0;
            const bool overflow = sign == '+' ? __builtin_add_overflow(result, other, &together)
                                              : __builtin_sub_overflow(result, other, &together);
            result = bounded(overflow, together);
        }
        return result;
    }

    Offset product() {
        Offset result = atom();
        for (char sign = next(); sign == '*' || sign == '/'; sign = next()) {
            ++at_;
            const Offset other = atom();
            if (sign == '/') {
                if (other == 0) throw Unsuitable("'" + std::string(text_) + "' divides by zero");
                result = result / other - (result % other != 0 && (result < 0) != (other < 0) ? 1 : 0);
            } else {
                Offset together = 0;
                const bool overflow = __builtin_mul_overflow(result, other, &together);
                result = bounded(overflow, together);
            }
        }
        return result;
    }

    Offset atom() {
        const char first = next();
        if (first == '(' && depth_ < deepest) {
            ++at_;
            ++depth_;
            const Offset result = sum();
            if (next() != ')') refuse("')'");
            ++at_;
            --depth_;
            return result;
        }
        const std::size_t begin = at_;
        const auto in_word = [&] {
            return at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_');
        };
        while (in_word()) ++at_;
        const std::string word(text_.substr(begin, at_ - begin));
        if (word.empty()) refuse("a name or a number");
        if (std::isdigit(static_cast<unsigned char>(first)) != 0) return number(word, begin);
        const auto found = names_.find(word);
        if (found != names_.end()) return found->second;
        std::vector<std::string> known;
        for (const auto& [name, value] : names_) known.push_back(name);
        throw Unsuitable("unknown name '" + word + "'" + expected_one_of(word, known));
    }

    Offset number(const std::string& word, std::size_t begin) {
        Offset result = 0;
        for (const char digit : word) {
            if (std::isdigit(static_cast<unsigned char>(digit)) == 0) {
                at_ = begin;
                refuse("an integer");
            }
            result = bounded(result > largest / 10, result) * 10 + (digit - '0');
        }
        return bounded(false, result);
    }

    std::string_view text_;
    const std::map<std::string, Offset>& names_;
    std::size_t at_ = 0;
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
    return Expression(expression, names).value();
}

}  // namespace workbench
