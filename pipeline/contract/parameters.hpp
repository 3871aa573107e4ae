// Typed parameters. A parameter is declared once; the recipe checker, `list`, `explain` and every error message read that
// one declaration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pipeline/matrix/shares.hpp"

namespace workbench {

struct DeviceProperties;

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

/// `share`: a text that names a kind of share, or one share.
enum class ParameterType { boolean, integer, real, text, choice, share };

struct ParameterDeclaration {
    std::string name;
    ParameterType type = ParameterType::integer;
    std::optional<ParameterValue> default_value = {};  // none: the recipe must give it, unless optional
    bool optional = false;                             // may be absent altogether: ask Parameters::has
    std::optional<double> minimum = {};                // for integers and reals, inclusive
    std::optional<double> maximum = {};
    std::vector<std::string> words = {};  // of a choice; of an integer or real, besides numbers ("auto")
    std::string unit = {};                // empty: a pure number or a word
    std::string help = {};                // one line
    std::string formerly = {};            // a name that it had: an error says what it is called now
    std::int64_t (*for_device)(const DeviceProperties&) = nullptr;  // the number that the word "auto" stands for
};

/// A value as it is written in a recipe: 16, 0.5, true, "descending".
[[nodiscard]] std::string to_text(const ParameterValue& value);

/// What a declaration accepts, in words: "an integer from 1 to 65536, or "auto"".
[[nodiscard]] std::string accepted_values(const ParameterDeclaration& declaration);

/// Empty where the declaration accepts the value; otherwise what was found and what was expected. An integer is accepted where
/// a real is declared.
[[nodiscard]] std::string reason_to_refuse(const ParameterDeclaration& declaration, const ParameterValue& value);

/// A set of values for some declarations: what the recipe gave, and the defaults for the rest. Values have the declared type:
/// the recipe checker saw to it. Asking for a name that was not declared is a mistake of the program (std::logic_error).
class Parameters {
public:
    Parameters() = default;
    /// Takes the given values, which must be accepted by the declarations, and completes them with the defaults.
    Parameters(const std::vector<ParameterDeclaration>& declarations, std::map<std::string, ParameterValue> given);

    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] bool boolean(std::string_view name) const;
    [[nodiscard]] std::int64_t integer(std::string_view name) const;
    [[nodiscard]] double real(std::string_view name) const;
    [[nodiscard]] const std::string& text(std::string_view name) const;  // also of a choice
    [[nodiscard]] ShareChoice share(std::string_view name) const;
    /// Does an integer or real parameter hold this word ("auto")?
    [[nodiscard]] bool is_word(std::string_view name, std::string_view word) const;

    /// With the words replaced that stand for a number of the device (ParameterDeclaration::for_device).
    [[nodiscard]] Parameters on_device(const std::vector<ParameterDeclaration>& declarations,
                                       const DeviceProperties& device) const;

    /// All values, by name, for reports.
    [[nodiscard]] const std::map<std::string, ParameterValue, std::less<>>& values() const { return values_; }

    friend bool operator==(const Parameters&, const Parameters&) = default;

private:
    [[nodiscard]] const ParameterValue& at(std::string_view name) const;
    std::map<std::string, ParameterValue, std::less<>> values_;
};

/// Values that are each fine but do not go together. The recipe checker points at the parameter.
class ParameterError : public std::runtime_error {
public:
    ParameterError(std::string parameter_name, const std::string& what)
        : std::runtime_error(what), parameter(std::move(parameter_name)) {}
    std::string parameter;
};

}  // namespace workbench
