// Typed parameters. A parameter is declared once; the recipe checker, `list`, `explain` and the error messages read this
// declaration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/matrix/shares.hpp"

namespace workbench {

struct DeviceProperties;

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

/// `share`: a text that selects a kind of share, or one share. `length`: an integer, or a text such as "2*mean" or "p95"
/// (read_relative_length). `shares`, `integers` and `lengths`: texts that list them, such as "4, 16, 64"; recipes may also
/// write [4, 16, 64]. Paths are relative to the recipe that names them, and absolute once it is checked: a `file` is data, a
/// `source` is code to compile, and a `command` is a program with its arguments, some of which may be files (command_words).
enum class ParameterType {
    boolean,
    integer,
    real,
    text,
    choice,
    share,
    length,
    shares,
    integers,
    lengths,
    file,
    source,
    command
};

struct ParameterDeclaration {
    std::string name;
    ParameterType type = ParameterType::integer;
    std::optional<ParameterValue> default_value = {};  // if none, the recipe must give a value, unless optional
    bool optional = false;                             // may have no value: see Parameters::has
    std::optional<double> minimum = {};                // of integers and reals, inclusive
    std::optional<double> maximum = {};
    std::vector<std::string> words = {};  // the values of a choice; further values of an integer or real, such as "auto"
    std::string unit = {};                // empty: dimensionless
    std::string help = {};                // one line
    std::string formerly = {};            // an earlier name, for which an error message suggests the current one
    std::int64_t (*for_device)(const DeviceProperties&) = nullptr;  // the number that the word "auto" means
    /// The default beside the values that are given, where it depends on them; otherwise default_value.
    ParameterValue (*default_beside)(const std::map<std::string, ParameterValue>& given) = nullptr;
};

/// The effect of leaving out a parameter: an error (required), no value (not_required), or a default.
struct IfAbsent {
    bool optional = false;
    std::optional<ParameterValue> default_value = {};
};
inline const IfAbsent required{};
inline const IfAbsent not_required{.optional = true};
[[nodiscard]] inline IfAbsent by_default(ParameterValue value) { return {.default_value = std::move(value)}; }

/// The inclusive limits of a number, its unit, and words that may replace a number.
struct Limits {
    std::optional<double> minimum = {};
    std::optional<double> maximum = {};
    std::string unit = {};
    std::vector<std::string> words = {};
};
inline constexpr double largest_index = std::numeric_limits<Index>::max();
[[nodiscard]] inline Limits at_least(double minimum, std::string unit = {}, std::vector<std::string> words = {}) {
    return {minimum, {}, std::move(unit), std::move(words)};
}
[[nodiscard]] inline Limits between(double minimum, double maximum, std::string unit = {},
                                    std::vector<std::string> words = {}) {
    return {minimum, maximum, std::move(unit), std::move(words)};
}

/// Declarations in the order in which they are read: integer_parameter("parts", by_default(16), at_least(1), "number of
/// parts").
[[nodiscard]] ParameterDeclaration declare(std::string name, ParameterType type, IfAbsent if_absent, Limits limits,
                                           std::string help);
[[nodiscard]] inline ParameterDeclaration integer_parameter(std::string name, IfAbsent if_absent, Limits limits,
                                                            std::string help) {
    return declare(std::move(name), ParameterType::integer, std::move(if_absent), std::move(limits), std::move(help));
}
[[nodiscard]] inline ParameterDeclaration real_parameter(std::string name, IfAbsent if_absent, Limits limits,
                                                         std::string help) {
    return declare(std::move(name), ParameterType::real, std::move(if_absent), std::move(limits), std::move(help));
}
[[nodiscard]] inline ParameterDeclaration choice_parameter(std::string name, IfAbsent if_absent, std::vector<std::string> words,
                                                           std::string help) {
    return declare(std::move(name), ParameterType::choice, std::move(if_absent), {.words = std::move(words)}, std::move(help));
}

[[nodiscard]] inline ParameterDeclaration renamed_from(std::string earlier_name, ParameterDeclaration declaration) {
    declaration.formerly = std::move(earlier_name);
    return declaration;
}

[[nodiscard]] constexpr bool is_list(ParameterType type) {
    return type == ParameterType::shares || type == ParameterType::integers || type == ParameterType::lengths;
}

/// A value as a recipe writes it: 16, 0.5, true, "descending".
[[nodiscard]] std::string to_text(const ParameterValue& value);

/// The words of a command: separated by blanks, except inside '...' or "...". None if a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> command_words(std::string_view command);

/// The command that has these words.
[[nodiscard]] std::string command_of(const std::vector<std::string>& words);

/// A path as seen from the current folder, "orders/rcm.txt", unless that is longer: what is published names no home folder.
[[nodiscard]] std::string seen_from_here(const std::filesystem::path& path);

/// True for types whose value names code that a run executes.
[[nodiscard]] constexpr bool is_code(ParameterType type) {
    return type == ParameterType::source || type == ParameterType::command;
}

/// The values that a declaration accepts, in words: "an integer from 1 to 65536, or "auto"".
[[nodiscard]] std::string accepted_values(const ParameterDeclaration& declaration);

/// Empty if the declaration accepts the value; otherwise the value that was found and the values that were expected. A real
/// parameter accepts an integer.
[[nodiscard]] std::string reason_to_refuse(const ParameterDeclaration& declaration, const ParameterValue& value);

/// The values of some declared parameters: those of the recipe, and defaults for the others. They have the declared types,
/// which the recipe checker ensures. Access to a name that was not declared throws std::logic_error.
class Parameters {
public:
    Parameters() = default;
    /// Completes the given values with the defaults. Throws std::logic_error where a declaration does not accept a value.
    Parameters(const std::vector<ParameterDeclaration>& declarations, std::map<std::string, ParameterValue> given);

    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] bool boolean(std::string_view name) const;
    [[nodiscard]] std::int64_t integer(std::string_view name) const;
    [[nodiscard]] double real(std::string_view name) const;
    [[nodiscard]] const std::string& text(std::string_view name) const;  // of a text or a choice
    [[nodiscard]] ShareChoice share(std::string_view name) const;
    /// Returns true if an integer or real parameter has this word, such as "auto", for a value.
    [[nodiscard]] bool is_word(std::string_view name, std::string_view word) const;
    /// The value of an integer parameter, or 0 for the word "auto".
    [[nodiscard]] Index number_unless_auto(std::string_view name) const;

    /// The parameters with words such as "auto" replaced by the number of the device (ParameterDeclaration::for_device).
    [[nodiscard]] Parameters on_device(const std::vector<ParameterDeclaration>& declarations,
                                       const DeviceProperties& device) const;

    /// With files as seen from the current folder.
    [[nodiscard]] Parameters seen_from_here(const std::vector<ParameterDeclaration>& declarations) const;

    /// With another value of a declared parameter.
    [[nodiscard]] Parameters with(std::string_view name, ParameterValue value) const;

    /// All values, by name, for reports.
    [[nodiscard]] const std::map<std::string, ParameterValue, std::less<>>& values() const { return values_; }

    friend bool operator==(const Parameters&, const Parameters&) = default;

private:
    [[nodiscard]] const ParameterValue& at(std::string_view name) const;
    std::map<std::string, ParameterValue, std::less<>> values_;
};

/// Values that are valid one by one, but not together. The recipe checker points at the parameter.
class ParameterError : public std::runtime_error {
public:
    ParameterError(std::string parameter_name, const std::string& what)
        : std::runtime_error(what), parameter(std::move(parameter_name)) {}
    std::string parameter;
};

}  // namespace workbench
