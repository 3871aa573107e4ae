// Labels of the options of a space, and names of its points.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/text/words.hpp"
#include "pipeline/recipe/space_data.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// The name of an option and all of its values, including defaults, which labels omit. Values of ties are missing.
struct OptionValues {
    std::string use;
    std::map<std::string, ParameterValue> values = {};
    std::set<std::string> given = {};  // the keys that the space gives
};

OptionValues values_of(const SpaceChoice& choice, bool is_stage) {
    OptionValues option;
    if (choice.left_out) return option;
    const auto legal = std::ranges::find_if(choice.variants, [](const auto& each) { return each.second.legal; });
    if (legal != choice.variants.end()) {
        const SpaceVariant& variant = legal->second;
        option.use = is_stage ? variant.stage.entry->name : variant.layout.entry->name;
        const Parameters& parameters = is_stage ? *variant.stage.parameters : *variant.layout.parameters;
        option.values = {parameters.values().begin(), parameters.values().end()};
    } else if (const std::string* use = choice.table.text("use")) {
        option.use = *use;
    }
    for (const Setting& setting : choice.kernel.settings) {
        if (setting.value) option.values["kernel." + setting.key] = *setting.value;
    }
    for (const SpaceTie& tie : choice.ties) option.values.erase(tie.key);
    for (const auto& [key, value] : option.values) {
        if (key.starts_with("kernel.") || choice.table.find(key) != nullptr) option.given.insert(key);
    }
    return option;
}

const ParameterValue* find_value(const OptionValues& option, const std::string& key) {
    const auto found = option.values.find(key);
    return found == option.values.end() ? nullptr : &found->second;
}

bool differs(const OptionValues& a, const OptionValues& b, const std::string& key) {
    const ParameterValue* const left = find_value(a, key);
    const ParameterValue* const right = find_value(b, key);
    return (left == nullptr) != (right == nullptr) || (left != nullptr && *left != *right);
}

/// The keys by which options with the same `use` differ, in the order in which the space first gives them.
std::vector<std::string> differing_keys(const std::vector<OptionValues>& options, const SpaceSlot& slot,
                                        const std::string& use) {
    std::vector<std::string> order;
    const auto add = [&](const std::string& key) {
        if (std::ranges::count(order, key) == 0) order.push_back(key);
    };
    const OptionValues* first = nullptr;
    std::set<std::string> differing;
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (options[i].use != use) continue;
        for (const Setting& setting : slot.choices[i].table.settings) add(setting.key);
        for (const auto& [key, value] : options[i].values) add(key);
        if (first == nullptr) first = &options[i];
        for (const std::string& key : order) {
            if (differs(*first, options[i], key)) differing.insert(key);
        }
    }
    std::erase_if(order, [&](const std::string& key) { return !differing.contains(key); });
    return order;
}

std::string text_of(const ParameterValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? to_text(value) : printable(*text, 20);
}

/// "mult_part" of "multilevel_partition".
std::string cut_words(const std::string& name) {
    constexpr std::size_t longest_word = 4;
    std::string cut;
    std::size_t letters = 0;
    for (const char letter : name) {
        letters = letter == '_' ? 0 : letters + 1;
        if (letters <= longest_word) cut += letter;
    }
    return cut;
}

enum class Shortness { full, initials, cut };

std::string label_of(const OptionValues& option, const std::vector<std::string>& keys, Shortness shortness) {
    std::string label = shortness == Shortness::cut ? cut_words(option.use) : option.use;
    for (const std::string& key : keys) {
        const ParameterValue* const value = find_value(option, key);
        if (value == nullptr || !option.given.contains(key)) continue;
        const std::string text = text_of(*value);
        const bool is_word = std::holds_alternative<std::string>(*value);
        if (shortness == Shortness::full) {
            label += fmt::format(" {}={}", key, text);
        } else if (is_word) {
            label += " " + (shortness == Shortness::cut ? cut_words(text) : text);
        } else {
            label += fmt::format(" {}{}", initials_of(key), text);
        }
    }
    return label;
}

/// The keys that are needed to distinguish the option from others with the same `use`.
std::vector<std::string> needed_keys(const std::vector<OptionValues>& options, std::size_t i, std::vector<std::string> keys) {
    for (std::size_t k = 0; k < keys.size();) {
        std::vector<std::string> fewer = keys;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
        const bool unique = std::ranges::none_of(options, [&](const OptionValues& other) {
            return &other != &options[i] && other.use == options[i].use &&
                   std::ranges::none_of(fewer, [&](const std::string& key) { return differs(other, options[i], key); });
        });
        if (unique || !options[i].given.contains(keys[k])) {
            keys = std::move(fewer);
        } else {
            ++k;
        }
    }
    return keys;
}

/// The labels of a point: 0 with all values, 1 to 3 shorter and shorter.
std::string joined_labels(const Space::Data& data, const SpacePoint& point, std::size_t shortness) {
    std::string name;
    for (std::size_t place = 0; place < point.size(); ++place) {
        const SpaceSlot& slot = data.slots[place];
        const SpaceChoice& choice = slot.choices[point[place]];
        if (choice.left_out) continue;
        const std::string share = slot.share ? name_of(*slot.share) + ": " : "";
        name +=
            fmt::format("{}{}{}", name.empty() ? "" : ", ", share,
                        shortness == 0 ? data.places[place].options[point[place]].label : choice.short_labels[shortness - 1]);
    }
    return name;
}

}  // namespace

void describe_options(SpacePlace& place, SpaceSlot& slot) {
    std::vector<OptionValues> options;
    std::set<std::string> uses;
    std::set<std::string> keys;
    for (const SpaceChoice& choice : slot.choices) {
        options.push_back(values_of(choice, slot.is_stage));
        uses.insert(options.back().use);
        for (const auto& [key, value] : options.back().values) keys.insert(key);
    }
    std::map<std::string, std::vector<std::string>> keys_of_use;
    for (const std::string& use : uses) keys_of_use[use] = differing_keys(options, slot, use);
    std::erase_if(keys, [&](const std::string& key) {
        return std::ranges::none_of(options, [&](const OptionValues& each) { return differs(each, options.front(), key); });
    });
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::vector<std::string>& differing = keys_of_use[options[i].use];
        SpaceOption& option = place.options.emplace_back();
        option.label = label_of(options[i], differing, Shortness::full);
        const std::vector<std::string> needed = needed_keys(options, i, differing);
        for (const Shortness shortness : {Shortness::full, Shortness::initials, Shortness::cut}) {
            slot.choices[i].short_labels.push_back(label_of(options[i], needed, shortness));
        }
        if (uses.size() > 1) option.values["use"] = slot.choices[i].left_out ? "none" : options[i].use;
        for (const std::string& key : keys) {
            if (const ParameterValue* value = find_value(options[i], key)) option.values[key] = *value;
        }
    }
}

std::string name_of_point(const Space::Data& data, const SpacePoint& point, std::uint64_t number) {
    std::string name;
    for (std::size_t shortness = 0; shortness <= 3; ++shortness) {
        name = joined_labels(data, point, shortness);
        if (name.size() <= longest_recipe_name) return name;
    }
    const std::string end = fmt::format("... #{}", number);
    return name.substr(0, longest_recipe_name - end.size()) + end;
}

}  // namespace workbench
