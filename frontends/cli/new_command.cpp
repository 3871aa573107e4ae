// workbench new: writes the start of a stage or of a format beside a recipe.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/new_format.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {
namespace {

/// NAME is replaced by the name of the stage.
constexpr const char* stage_source =
    R"TEXT(// Sorts rows by the column of their first nonzero. docs/beside_the_recipe.md describes what a stage may do.
#include <utility>

#include "core/contract/stage.hpp"
#include "stages/order.hpp"

namespace workbench {
namespace {

StageResult run_NAME(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const std::int64_t width = parameters.integer("width");
    const Index nodes = staged.matrix.rows / staged.node_size;  // a node is one row, unless the recipe sets node_size
    std::vector<Index> keys(nodes, 0);
    for (Index node = 0; node < nodes; ++node) {
        const auto columns = staged.matrix.row_columns(node * staged.node_size);
        if (!columns.empty()) keys[node] = static_cast<Index>(columns.front() / width);
    }
    std::vector<Index> order = all_of(nodes);
    stable_sort_by(order, keys);
    return {.change = {.order = order_of_nodes(std::move(order), staged.node_size, Acts::rows)}};
}

}  // namespace

StageEntry NAME_stage() {
    return {.name = "NAME",
            .summary = "Sort rows by the column of their first nonzero (stable)",
            .parameters = {integer_parameter("width", by_default(1), at_least(1, "columns"), "columns that count as one")},
            .contract = [](const Parameters&) { return StageContract{.acts = Acts::rows}; },
            .run = run_NAME};
}

}  // namespace workbench
)TEXT";

constexpr const char* stage_recipe = R"([matrix]
path = "NAME.mtx"

[[stage]]
source = "NAME.cpp"
apply  = "rows"              # what the contract in NAME.cpp says
width  = 2                   # a parameter of NAME.cpp

[layout]
use = "csr"
)";

constexpr const char* test_matrix = R"(%%MatrixMarket matrix coordinate integer general
6 6 12
1 1 4
1 5 1
2 4 3
2 6 2
3 2 5
3 3 1
4 1 2
4 4 6
5 5 7
6 3 1
6 5 2
6 6 8
)";

std::string with(std::string text, std::string_view placeholder, const std::string& name) {
    for (std::size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + name.size())) {
        text.replace(at, placeholder.size(), name);
    }
    return text;
}

/// "MyFormat" for my_format, and "MySlot" for slot: no name of the program's own headers begins with "My".
std::string type_name_of(const std::string& name) {
    std::string type = name.starts_with("my_") ? "" : "My";
    bool begins_word = true;
    for (const char letter : name) {
        if (letter != '_')
            type += begins_word && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
        begins_word = letter == '_';
    }
    return type;
}

std::string with_name(const std::string& text, const std::string& name) {
    return with(with(text, "NAME", name), "TYPE", type_name_of(name));
}

struct NewArguments {
    std::string what;
    std::string name;
    std::string out;
    bool loop = false;
    bool force = false;
};

/// The name becomes part of a C++ function and of file names.
void check_name(const NewArguments& arguments) {
    constexpr std::size_t longest = 40;
    const std::string& name = arguments.name;
    const auto is_lower = [](char letter) { return letter >= 'a' && letter <= 'z'; };
    const bool fits =
        is_lower(name.front()) && name.size() <= longest && std::all_of(name.begin(), name.end(), [&](char letter) {
            return is_lower(letter) || (letter >= '0' && letter <= '9') || letter == '_';
        });
    if (!fits) {
        throw RecipeError(
            fmt::format("name: found '{}'; expected at most {} lower-case letters, digits and '_', a letter first",
                        name.substr(0, longest), longest));
    }
    const bool taken =
        arguments.what == "stage" ? catalogue().find_stage(name) != nullptr : catalogue().find_layout(name) != nullptr;
    if (taken) {
        throw RecipeError(fmt::format("name: the program has a {} '{}'; expected another name",
                                      arguments.what == "stage" ? "stage" : "layout", name));
    }
}

ExitCode write_new(const NewArguments& arguments) {
    check_name(arguments);
    const std::filesystem::path folder = arguments.out.empty() ? arguments.name : arguments.out;
    const bool stage = arguments.what == "stage";
    if (stage && arguments.loop) throw RecipeError("--loop: expected with a format; a stage is a function");
    const char* const source = stage ? stage_source : arguments.loop ? loop_format_source : format_source;
    const std::vector<std::pair<std::string, const char*>> files = {
        {arguments.name + (stage ? ".cpp" : ".hpp"), source},
        {arguments.name + ".toml", stage ? stage_recipe : format_recipe},
        {arguments.name + ".mtx", test_matrix}};
    for (const auto& [name, text] : files) check_new(folder / name, arguments.force);
    std::string written;
    for (const auto& [name, text] : files) {
        write_whole_file(folder / name, with_name(text, arguments.name));
        written += (written.empty() ? "" : ", ") + name;
    }
    print_text("written to {}: {}\nworkbench run {} compiles it and runs it.\n", folder.string(), written,
               (folder / (arguments.name + ".toml")).string());
    return ExitCode::ok;
}

}  // namespace

void add_new_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "new",
                    "Write the start of a stage or a storage format in one C++ file: source, recipe, test matrix", write_new);
    command.add_option("what", arguments.what, "stage or format")
        ->required()
        ->check(CLI::IsMember({"stage", "format"}))
        ->type_name("WHAT");
    command.add_option("name", arguments.name, "Name of the stage or format, and of the files")->required()->type_name("NAME");
    command.add_flag("--loop", arguments.loop, "A format with loops of its own instead of a schedule");
    command.add_option("-o,--out", arguments.out, "Folder to write (default: NAME)")->type_name("FOLDER");
    add_force_option(command, arguments.force);
}

}  // namespace workbench
