// Conditions of a space: when = "node_size > 1 and not stage.order = 'none'".
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/space.hpp"

namespace workbench {

/// A name that a condition may contain, and the values that it can have.
struct ConditionName {
    bool is_fact = false;  // of the matrix; otherwise a choice at an earlier place
    std::size_t place = 0;
    std::string key = {};                 // "use", or a parameter
    bool is_truth = false;                // true or false: it needs no comparison
    bool is_number = false;               // it may be compared with a number
    std::vector<std::string> words = {};  // with which it may be compared
    bool any_word = false;                // it may be compared with any word
};

/// The names of the facts that facts_of finds; true: a fact that holds or not.
[[nodiscard]] const std::map<std::string, bool>& names_of_facts();

/// The names that are known at a place, by name; "stage.order" is short for "stage.order.use".
using ConditionNames = std::map<std::string, ConditionName>;

class SpaceCondition {
public:
    /// Parses the text of a setting. Adds an error for the first thing that is wrong, and returns none then.
    [[nodiscard]] static std::optional<SpaceCondition> parse(const Setting& setting, const ConditionNames& names,
                                                             Diagnostics& diagnostics);

    /// Returns the value of a parameter, or of `use`, in the option chosen at a place; none if the option lacks it.
    using ValueAt = std::function<std::optional<ParameterValue>(std::size_t place, const std::string& key)>;

    /// False if the condition is violated. A comparison with an unknown fact decides nothing; one with a value that the option
    /// lacks is false.
    [[nodiscard]] bool may_hold(const SpaceFacts* facts, const ValueAt& value_at) const;

    /// The places to which the condition refers.
    [[nodiscard]] std::vector<std::size_t> places() const;

    /// Returns true if it contains a fact of the matrix.
    [[nodiscard]] bool has_facts() const;

private:
    enum class NodeKind { comparison, all, any, negation };
    enum class Operator { equal, unequal, less, at_most, greater, at_least };
    struct ConditionNode {
        NodeKind kind = NodeKind::comparison;
        std::vector<std::size_t> of = {};  // the nodes that it joins or negates
        std::string name = {};             // of a fact
        ConditionName what = {};
        Operator operation = Operator::equal;
        ParameterValue value = true;
    };
    friend class ConditionParser;

    [[nodiscard]] std::optional<bool> value_of(const ConditionNode& node, const SpaceFacts* facts,
                                               const ValueAt& value_at) const;
    [[nodiscard]] static bool compare(const ParameterValue& left, Operator operation, const ParameterValue& right);

    std::vector<ConditionNode> nodes_;  // the last is the whole condition
};

}  // namespace workbench
