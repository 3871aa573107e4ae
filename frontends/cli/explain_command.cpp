// workbench explain
#include <array>

#include <fmt/format.h>
#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/suggestion.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/common/compilation/arrays_header.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/report/figures.hpp"
#include "pipeline/run/recipe_storage.hpp"

namespace workbench {
namespace {

void print_parameters(const std::vector<ParameterDeclaration>& declarations) {
    if (declarations.empty()) {
        print_text("\nNo parameters.\n");
        return;
    }
    print_text("\nParameters\n");
    for (const ParameterDeclaration& declaration : declarations) {
        std::string presence = "required";
        if (declaration.optional) presence = "optional";
        if (declaration.default_value) presence = fmt::format("default {}", to_text(*declaration.default_value));
        print_text("  {}: {}\n      {}; {}\n", declaration.name, declaration.help, accepted_values(declaration), presence);
    }
}

void print_head(const std::string& kind, const std::string& name, const std::string& summary, const std::string& source) {
    print_text("{} {}\n  {}\n", kind, name, summary);
    if (!source.empty()) print_text("  Source: {}\n", source);
}

void print_layout(const LayoutEntry& layout) {
    print_head("layout", layout.name, layout.summary, layout.source);
    const KokkosRuntime kokkos;
    for (const LayoutExample& example : examples_of(layout, catalogue())) {
        print_text("\nA 6 x 6 matrix in this layout, made by these lines of a recipe:\n\n{}", to_text(example));
    }
    print_parameters(layout.parameters);
    print_text("\nKernels\n");
    for (const KernelEntry& kernel : layout.kernels) {
        print_text("  {} ({}): {}\n", kernel.name, name_of(kernel.backend), kernel.summary);
    }
}

/// A topic of the recipe language.
struct Topic {
    const char* name;
    const char* text;
};

constexpr std::array topics{
    Topic{"sweep",
          R"(sweep
  A list of values to try: the recipe runs once for each combination.

In a recipe, for any parameter of a stage, layout or generator, for a kernel, or for 'use':
  parts = { sweep = [132, 264, 528] }
  slice_height = { sweep = "32..1024*2" }   # 32, 64, ... 1024; "8..64+8": 8, 16, ... 64

On the command line of run, check, cache, bench, compare and choose:
  --sweep stage.metis_partition.parts=132,264 --sweep layout.slice_height=32..1024*2

Several parameters with the same values, in an option or in a recipe:
  --sweep stage.split.size+layout.dense_blocks.block_size=2,3,4
  block_size = { same_as = "stage.split.size" }

All combinations are checked before the first one runs. Each has its own folder and report, which contains a
recipe that repeats it. Initial stages shared by several combinations run once.
)"},
    Topic{"extends",
          R"(extends
  A recipe that changes another one, its base.

  [recipe]
  extends = "base.toml"        # relative to this file

  [[stage]]
  id = "sort_outside"          # changes parameters of a stage of the base
  key = "nonzeros"

  [[stage]]
  use = "random_order"         # adds a stage, at the end unless
  before = "metis_partition"   # before = ID or after = ID names its place

  [[stage]]
  id = "natural"
  remove = true

  [[layout]]
  share = "short"              # changes a hybrid's layout for this share, or removes it with remove = true
  slice_height = 8

[matrix], [layout] and [kernel] replace single values. A new 'use' or another matrix discards the parameters of
the base's. A base may extend another base. Paths in a base are relative to it.
'workbench check FILE --resolved' prints the complete recipe.
)"},
};

bool has_meaning(const Figure<Metrics>& figure) { return !figure.caption.meaning.empty() || !figure.rows.meaning.empty(); }

/// Returns the figure of a matrix that explains the one with this key in report.json, or this label in pictures, pages or
/// tables; null if there is none. Figures of one label share the explanation of the first.
const Figure<Metrics>* find_figure(const std::string& name) {
    for (const Figure<Metrics>& figure : metric_figures()) {
        const bool is_named = figure.key == name || figure.caption.label == name || figure.rows.label == name;
        const bool in_legend =
            fmt::format(", {},", figure.caption.legend).find(fmt::format(", {},", name)) != std::string::npos;
        if ((is_named || in_legend) && has_meaning(figure)) return &figure;
    }
    return nullptr;
}

void print_figure(const Figure<Metrics>& figure) {
    const Shown& shown = figure.caption.meaning.empty() ? figure.rows : figure.caption;
    print_text("figure {}\n  {}: {}\n", figure.key.empty() ? shown.label : figure.key,
               shown.legend.empty() ? shown.label : shown.legend, shown.meaning);
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const StageEntry& stage : catalogue().stages) names.push_back(stage.name);
    for (const LayoutEntry& layout : catalogue().layouts) names.push_back(layout.name);
    for (const GeneratorEntry& generator : catalogue().generators) names.push_back(generator.name);
    for (const Figure<Metrics>& figure : metric_figures()) {
        if (!figure.key.empty() && has_meaning(figure)) names.push_back(figure.key);
    }
    for (const Topic& topic : topics) names.emplace_back(topic.name);
    return names;
}

/// The layout of the catalogue with this name, or the format in a file NAME.hpp; null if there is neither.
const LayoutEntry* find_layout_or_format(const std::string& name) {
    if (name.ends_with(".hpp")) return &catalogue().format_from_file(name);
    return catalogue().find_layout(name);
}

/// Prints the header for kernel sources, once for each list of fields that the layout may have.
ExitCode print_header(const std::string& name, Precision precision) {
    const LayoutEntry* const layout = find_layout_or_format(name);
    if (layout == nullptr) {
        std::vector<std::string> names;
        for (const LayoutEntry& one : catalogue().layouts) names.push_back(one.name);
        throw RecipeError(fmt::format("--header: no layout is named '{}'{}", name, expected_one_of(name, names)));
    }
    const auto list = precision == Precision::f32 ? layout->fields.f32 : layout->fields.f64;
    if (list == nullptr) throw RecipeError(fmt::format("--header: layout '{}' does not support kernel sources", name));
    bool first = true;
    for (const std::vector<LayoutField>& fields : list()) {
        if (!first) print_text("\n// With other parameters or for other matrices:\n\n");
        print_text("{}", arrays_header(layout->name, fields, precision));
        first = false;
    }
    return ExitCode::ok;
}

struct ExplainArguments {
    std::string name;
    bool header = false;
    std::string precision = "f64";
};

ExitCode explain(const ExplainArguments& arguments) {
    const std::string& name = arguments.name;
    if (arguments.header) return print_header(name, precision_named(arguments.precision));
    if (const StageEntry* stage = catalogue().find_stage(name)) {
        print_head("stage", stage->name, stage->summary, stage->source);
        print_parameters(stage->parameters);
    } else if (const LayoutEntry* layout = find_layout_or_format(name)) {
        print_layout(*layout);
    } else if (const GeneratorEntry* generator = catalogue().find_generator(name)) {
        print_head("generator", generator->name, generator->summary, "");
        print_parameters(generator->parameters);
    } else if (const Figure<Metrics>* figure = find_figure(name)) {
        print_figure(*figure);
    } else if (const auto topic =
                   std::find_if(topics.begin(), topics.end(), [&](const Topic& one) { return name == one.name; });
               topic != topics.end()) {
        print_text("{}", topic->text);
    } else {
        throw RecipeError(fmt::format("unknown name '{}'{}", name, expected_one_of(name, all_names())));
    }
    return ExitCode::ok;
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "explain", "Describe a stage, layout, generator or figure; or sweep, extends", explain);
    command
        .add_option("name", arguments.name,
                    "A stage, layout, generator or figure of a matrix (bandwidth), the file of a format (NAME.hpp), or the "
                    "topics sweep and extends")
        ->required()
        ->type_name("NAME");
    command.add_flag("--header", arguments.header,
                     "Print arrays.hpp, the C++ and CUDA header with a layout's arrays for a recipe's kernel source");
    add_choice(command, "--precision", arguments.precision, {"f32", "f64"}, "Precision of the header");
}

}  // namespace workbench
