#include "frontends/cli/command_facts.hpp"

#include <regex>
#include <sstream>

#include <CLI/CLI.hpp>

namespace workbench {
namespace {

OptionFacts facts_of(const CLI::Option& option) {
    OptionFacts facts;
    if (option.nonpositional()) {
        for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
    } else {
        facts.names.push_back(option.get_name(true));
    }
    facts.help = option.get_description();
    facts.default_value = option.get_default_str();
    facts.required = option.get_required();
    facts.repeated = option.get_expected_max() > 1;
    facts.by_commas = option.get_delimiter() == ',';
    if (option.get_expected_max() == 0) return facts;  // a flag
    // CLI11 combines the value's name with its validator: "WHICH:{f32,f64}", "COUNT:INT in [1 - 32]".
    static const std::regex type(R"((.*?)(:\{(.*)\}|:[A-Z]+ in (\[.*\]))?)");
    const std::string text = option.get_type_name();
    std::smatch parts;
    std::regex_match(text, parts, type);
    facts.value = parts[1];
    facts.range = parts[4];
    std::istringstream choices(parts[3]);
    for (std::string choice; std::getline(choices, choice, ',');) facts.choices.push_back(choice);
    return facts;
}

}  // namespace

CommandFacts facts_of(const CLI::App& app) {
    CommandFacts facts{.name = app.get_parent() == nullptr ? "" : app.get_name(), .help = app.get_description()};
    for (const CLI::Option* option : app.get_options()) {
        (option->nonpositional() ? facts.options : facts.positionals).push_back(facts_of(*option));
    }
    for (const CLI::App* command : app.get_subcommands({})) facts.commands.push_back(facts_of(*command));
    return facts;
}

}  // namespace workbench
