// workbench check
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "frontends/cli/watch.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/space.hpp"

namespace workbench {
namespace {

struct Finding {
    bool is_error = true;  // otherwise a note
    LocatedProblem problem;
};

/// A text in a workflow command; a property may contain neither ',' nor ':'.
std::string for_github(std::string_view text, bool is_property) {
    std::string result;
    for (const char letter : text) {
        const bool reserved =
            letter == '%' || letter == '\r' || letter == '\n' || (is_property && (letter == ':' || letter == ','));
        result += reserved ? fmt::format("%{:02X}", static_cast<unsigned char>(letter)) : std::string(1, letter);
    }
    return result;
}

/// The errors of a recipe, each with its place if it is known; otherwise one error about `file`.
std::vector<Finding> findings_of(const RecipeError& error, const std::string& file) {
    std::vector<Finding> findings;
    if (const auto* all = dynamic_cast<const RecipeErrors*>(&error)) {
        for (const LocatedProblem& problem : all->problems) findings.push_back({true, problem});
        return findings;
    }
    std::string message = error.what();
    for (const std::string& start : {std::string("error: "), file + ": "}) {
        if (message.starts_with(start)) message.erase(0, start.size());
    }
    return {{true, {file, 0, 0, message}}};
}

/// One line: [{"file", "line", "column", "severity": "error" or "note", "message"}]. Line 0: the whole file.
std::string json_line(const std::vector<Finding>& findings) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [is_error, problem] : findings) {
        list.push_back({{"file", problem.file},
                        {"line", problem.line},
                        {"column", problem.column},
                        {"severity", is_error ? "error" : "note"},
                        {"message", problem.message}});
    }
    return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// A line for each finding that GitHub's CI shows beside the file's line: "::error file=F,line=L,col=C::MESSAGE".
std::string github_lines(const std::vector<Finding>& findings) {
    std::string lines;
    for (const auto& [is_error, problem] : findings) {
        lines += fmt::format("::{} file={}", is_error ? "error" : "notice", for_github(problem.file, true));
        if (problem.line > 0) lines += fmt::format(",line={},col={}", problem.line, problem.column);
        lines += fmt::format("::{}\n", for_github(problem.message, false));
    }
    return lines;
}

struct CheckArguments {
    CheckArguments() { changes.unread_formats = true; }
    std::vector<std::string> recipes;
    RecipeChanges changes;
    bool resolved = false;
    std::optional<std::uint64_t> point = {};
    std::string format = "text";
    bool watch = false;
};

/// "stage.metis_partition.parts = 132, 264": one line for each swept parameter.
std::string swept_values(const std::vector<Recipe>& points) {
    std::string text;
    for (std::size_t k = 0; k < points.front().sweep.values.size(); ++k) {
        std::vector<std::string> values;
        for (const Recipe& point : points) {
            const std::string value = to_text(point.sweep.values[k].value);
            if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
        }
        text += fmt::format("  {} = {}\n", points.front().sweep.values[k].name, fmt::join(values, ", "));
    }
    return text;
}

std::string chain_of(const Recipe& recipe) {
    std::string chain;
    for (const RecipeStage& stage : recipe.stages) chain += stage.id + " -> ";
    return chain + name_of_layouts(recipe);
}

void print_resolved(const std::vector<Recipe>& points) {
    for (const Recipe& point : points) {
        if (points.size() > 1) print_text("{}# {}\n", &point == &points.front() ? "" : "\n", point.sweep.label);
        print_text("{}", resolved_recipe(point));
    }
}

void print_summary(const std::string& file, const std::vector<Recipe>& points) {
    std::vector<std::string> chains;
    for (const Recipe& point : points) {
        const std::string chain = chain_of(point);
        if (std::find(chains.begin(), chains.end(), chain) == chains.end()) chains.push_back(chain);
    }
    for (const std::string& chain : chains) print_text("{}: ok: {}\n", file, chain);
    std::vector<std::string> code;
    for (const Recipe& point : points) {
        for (const RecipeCode& each : point.code) {
            const std::string line = fmt::format("  brings code: {} ({})\n", each.what,
                                                 each.place.option >= 0 ? "the command line" : point.line_of(each.place));
            if (std::find(code.begin(), code.end(), line) == code.end()) code.push_back(line);
        }
    }
    print_text("{}", fmt::join(code, ""));
    if (points.front().sweep.values.empty()) return;
    print_text("  sweep of {}:\n{}", counted(points.size(), "recipe"), swept_values(points));
}

/// The numbers of at most ten points at equal distances, the first and the last among them.
std::vector<std::uint64_t> shown_points(const Space& space) {
    constexpr std::uint64_t most = 10;
    std::vector<std::uint64_t> numbers;
    const std::uint64_t count = std::min(space.count(), most);
    for (std::uint64_t i = 0; i < count; ++i) {
        numbers.push_back(i == 0 ? 0 : i * (space.count() - 1) / (count - 1));
    }
    return numbers;
}

/// "none, cuthill_mckee, metis_partition": the stages or layouts of a place, each once.
std::string uses_of(const SpacePlace& place) {
    std::vector<std::string> uses;
    for (const SpaceOption& option : place.options) {
        const std::string use = option.label.empty() ? "none" : option.label.substr(0, option.label.find(' '));
        if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
    }
    return fmt::format("{}", fmt::join(uses, ", "));
}

void print_space(const std::string& file, const Space& space, bool has_facts) {
    print_text("{}: ok: a space of {}\n", file, counted_with_commas(space.count(), "point"));
    std::size_t widest = 0;
    for (const SpacePlace& place : space.places()) widest = std::max(widest, place.name.size());
    for (const SpacePlace& place : space.places()) {
        print_text("  {:{}}  {:>4} option{}  {}\n", place.name, widest, place.options.size(),
                   place.options.size() == 1 ? " " : "s", uses_of(place));
    }
    if (space.depends_on_matrix() && !has_facts) {
        print_text("  note: conditions on the matrix are taken to hold; --matrix FILE or --generate KIND evaluates them\n");
    }
    const std::vector<std::uint64_t> numbers = shown_points(space);
    print_text("  {}:\n", numbers.size() == space.count() ? "the points" : fmt::format("{} of the points", numbers.size()));
    const std::size_t digits = fmt::format("{}", space.count() - 1).size();
    for (const std::uint64_t number : numbers) {
        print_text("  {:>{}}  {}\n", number, digits + 2, space.recipe(space.point(number)).name);
    }
}

/// Loads a space, with conditions on the matrix evaluated if an option selects one.
Space loaded_space(const std::string& file, const CheckArguments& arguments) {
    const std::filesystem::path path = find_recipe(file);
    Space space = load_space(path, catalogue(), arguments.changes);
    const bool has_matrix = arguments.changes.matrix || arguments.changes.generate;
    if (!has_matrix || !space.depends_on_matrix()) return space;
    const SpaceFacts facts = facts_of(load_matrix(space.matrix()).first, space.node_size());
    return load_space(path, catalogue(), arguments.changes, &facts);
}

void print_checked_space(const std::string& file, const CheckArguments& arguments, const Space& space) {
    if (arguments.point) {
        if (*arguments.point >= space.count()) {
            throw RecipeError(fmt::format("error: --point {}: {} has {}; expected a number below that", *arguments.point, file,
                                          counted(space.count(), "point")));
        }
        return print_text("{}", resolved_recipe(space.recipe(space.point(*arguments.point))));
    }
    if (!arguments.resolved) {
        return print_space(file, space, arguments.changes.matrix || arguments.changes.generate);
    }
    for (const std::uint64_t number : shown_points(space)) {
        print_text("{}# point {}\n{}", number == 0 ? "" : "\n", number, resolved_recipe(space.recipe(space.point(number))));
    }
}

void print_checked_recipe(const std::string& file, const CheckArguments& arguments, const std::vector<Recipe>& points) {
    if (arguments.resolved) return print_resolved(points);
    print_summary(file, points);
    for (const std::string& note : points.front().notes) print_text("  note: {}\n", note);
}

/// The findings of one or all recipes; in the format "text" they are printed at once.
class Findings {
public:
    explicit Findings(bool as_text) : as_text_(as_text) {}

    void add(const RecipeError& error, const std::string& file) {
        exit_code = error.exit_code;
        if (as_text_) return print_error(error.what());
        for (Finding& finding : findings_of(error, file)) all.push_back(std::move(finding));
    }

    std::vector<Finding> all;
    ExitCode exit_code = ExitCode::ok;

private:
    bool as_text_;
};

/// Checks a space or recipe. Recipes are added to `loaded`.
void check_file(const std::string& file, const CheckArguments& arguments, Findings& findings,
                std::vector<LoadedRecipe>& loaded) {
    const bool as_text = arguments.format == "text";
    if (is_space(find_recipe(file))) {
        const Space space = loaded_space(file, arguments);
        if (as_text) print_checked_space(file, arguments, space);
        return;
    }
    if (arguments.point) {
        throw RecipeError(fmt::format("error: --point {}: {} is a recipe; expected a space", *arguments.point, file));
    }
    const Unmatched unmatched = arguments.recipes.size() == 1 ? Unmatched::refused : Unmatched::noted;
    loaded.push_back(load_points(find_recipe(file), catalogue(), arguments.changes, unmatched));
    const std::vector<Recipe>& points = loaded.back().points;
    if (as_text) return print_checked_recipe(file, arguments, points);
    for (const std::string& note : points.front().notes) findings.all.push_back({false, {file, 0, 0, note}});
}

/// Checks every recipe, so that the errors of all are listed.
ExitCode check_once(const CheckArguments& arguments) {
    Findings findings(arguments.format == "text");
    std::vector<LoadedRecipe> loaded;
    for (const std::string& file : arguments.recipes) {
        try {
            check_file(file, arguments, findings, loaded);
        } catch (const RecipeError& error) {
            findings.add(error, file);
        }
    }
    if (findings.exit_code == ExitCode::ok) {
        try {
            check_matched(loaded);
        } catch (const RecipeError& error) {
            findings.add(error, arguments.recipes.front());
        }
    }
    if (arguments.format == "json") fmt::print("{}", json_line(findings.all));
    if (arguments.format == "github") print_text("{}", github_lines(findings.all));
    return findings.exit_code;
}

ExitCode check(const CheckArguments& arguments) {
    if (arguments.format != "text" && (arguments.resolved || arguments.point)) {
        throw RecipeError(fmt::format("--format {}: expected neither --resolved nor --point beside it", arguments.format));
    }
    if (!arguments.watch) return check_once(arguments);
    return run_on_changes(arguments.recipes, [&arguments] { return check_once(arguments); });
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(app, action, "check", "Check recipes and spaces, and list all errors", check);
    command.add_option("recipe", arguments.recipes, "Recipe or space files")->required()->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    command.add_option("--point", arguments.point, "Print the point of this number of a space as a recipe")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N");
    command
        .add_option("--format", arguments.format,
                    "text; json: one line with a list of errors, for editors; github: annotations, for CI")
        ->check(CLI::IsMember({"text", "json", "github"}))
        ->type_name("FORMAT")
        ->capture_default_str();
    command.add_flag("--watch", arguments.watch,
                     "Check again whenever a recipe or source in the folders of the recipes is saved; Ctrl-C ends it");
    command.add_flag_callback(
        "--sources", [&arguments = arguments] { arguments.changes.unread_formats = false; },
        "Compile and load the formats that recipes bring along, and check what they declare");
    command.add_flag("--resolved", arguments.resolved,
                     "Print the recipe, or the shown points of a space, with every default filled in");
}

}  // namespace workbench
