// workbench explain
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/source/arrays_header.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/suggestion.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/run/layout_examples.hpp"

namespace workbench {
namespace {

void print_parameters(const std::vector<ParameterDeclaration>& declarations) {
    if (declarations.empty()) {
        fmt::print("\nIt takes no parameters.\n");
        return;
    }
    fmt::print("\nParameters\n");
    for (const ParameterDeclaration& declaration : declarations) {
        std::string presence = "required";
        if (declaration.optional) presence = "optional";
        if (declaration.default_value) presence = fmt::format("default {}", to_text(*declaration.default_value));
        fmt::print("  {}: {}\n      {}; {}\n", declaration.name, declaration.help, accepted_values(declaration), presence);
    }
}

void print_head(const std::string& kind, const std::string& name, const std::string& summary, const std::string& source) {
    fmt::print("{} {}\n  {}\n", kind, name, summary);
    if (!source.empty()) fmt::print("  Source: {}\n", source);
}

void print_stage(const StageEntry& stage) {
    print_head("stage", stage.name, stage.summary, stage.source);
    print_parameters(stage.parameters);
}

void print_layout(const LayoutEntry& layout) {
    print_head("layout", layout.name, layout.summary, layout.source);
    const KokkosRuntime kokkos;
    for (const LayoutExample& example : examples_of(layout, catalogue())) {
        fmt::print("\nOne matrix of 6 x 6 in it, by these lines of a recipe:\n\n{}", to_text(example));
    }
    print_parameters(layout.parameters);
    fmt::print("\nKernels\n");
    for (const KernelEntry& kernel : layout.kernels) {
        fmt::print("  {} ({}): {}\n", kernel.name, name_of(kernel.backend), kernel.summary);
    }
}

void print_generator(const GeneratorEntry& generator) {
    print_head("generator", generator.name, generator.summary, "");
    print_parameters(generator.parameters);
}

/// Words of the recipe language that are explained too.
struct Topic {
    const char* name;
    const char* text;
};

constexpr std::array topics{
    Topic{"sweep",
          R"(sweep
  Values to try in turn: the recipe is run once for each combination of them.

In a recipe, for any parameter of a stage, a layout or a generator, for a kernel, or for 'use':
  parts = { sweep = [132, 264, 528] }
  slice_height = { sweep = "32..1024*2" }   # 32, 64, ... 1024; "8..64+8": 8, 16, ... 64

On the command line of run, check, cache, bench, compare and choose:
  --sweep stage.metis_partition.parts=132,264 --sweep layout.slice_height=32..1024*2

Each combination is checked before any work, has a report and a folder of its own, and runs again from
the recipe in its report. --set gives a swept parameter one value. Stages with which several combinations
begin are run once.
)"},
    Topic{"extends",
          R"(extends
  A recipe that says only what differs from another one.

  [recipe]
  extends = "base.toml"        # relative to this file

  [[stage]]
  id = "sort_outside"          # a stage of the base: other values of its parameters
  key = "nonzeros"

  [[stage]]
  use = "random_order"         # a new stage: at the end, or with
  before = "metis_partition"   # before = ID, after = ID where it is to stand

  [[stage]]
  id = "natural"
  remove = true

  [[layout]]
  share = "short"              # of a hybrid, the layout that the base has for this share; remove = true here, too
  slice_height = 8

[matrix], [layout] and [kernel] replace single values. With another 'use', the values of the base are gone;
with another matrix, those of its matrix. A base may extend another one. Paths in it stay relative to it.
'workbench check FILE --resolved' prints the whole.
)"},
};

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const StageEntry& stage : catalogue().stages) names.push_back(stage.name);
    for (const LayoutEntry& layout : catalogue().layouts) names.push_back(layout.name);
    for (const GeneratorEntry& generator : catalogue().generators) names.push_back(generator.name);
    for (const Topic& topic : topics) names.emplace_back(topic.name);
    return names;
}

/// The header of a kernel beside a recipe, one for each list of fields that the layout may have.
ExitCode print_header(const std::string& name, Precision precision) {
    const LayoutEntry* const layout = catalogue().find_layout(name);
    if (layout == nullptr) {
        std::vector<std::string> names;
        for (const LayoutEntry& one : catalogue().layouts) names.push_back(one.name);
        throw RecipeError(fmt::format("--header: no layout is named '{}'{}", name, expected_one_of(name, names)));
    }
    const auto list = precision == Precision::f32 ? layout->fields.f32 : layout->fields.f64;
    if (list == nullptr) throw RecipeError(fmt::format("--header: layout '{}' has no list of fields", name));
    bool first = true;
    for (const std::vector<LayoutField>& fields : list()) {
        if (!first) fmt::print("\n// The same with other parameters, or for another matrix:\n\n");
        fmt::print("{}", arrays_header(name, fields, precision));
        first = false;
    }
    return ExitCode::ok;
}

ExitCode explain(const std::string& name) {
    bool known = false;
    const auto separate = [&known] {
        if (known) fmt::print("\n");
        known = true;
    };
    if (const StageEntry* stage = catalogue().find_stage(name)) {
        separate();
        print_stage(*stage);
    }
    if (const LayoutEntry* layout = catalogue().find_layout(name)) {
        separate();
        print_layout(*layout);
    }
    if (const GeneratorEntry* generator = catalogue().find_generator(name)) {
        separate();
        print_generator(*generator);
    }
    for (const Topic& topic : topics) {
        if (name != topic.name) continue;
        separate();
        fmt::print("{}", topic.text);
    }
    if (!known) {
        throw RecipeError(fmt::format("nothing is named '{}'{}", name, expected_one_of(name, all_names())));
    }
    return ExitCode::ok;
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
    struct Arguments {
        std::string name;
        bool header = false;
        std::string precision = "f64";
    };
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "explain", "Tell what a stage, layout or generator does, takes and comes from; also: sweep, extends");
    command->add_option("name", arguments->name, "Name of a stage, layout or generator, or sweep, or extends")
        ->required()
        ->type_name("NAME");
    command->add_flag("--header", arguments->header,
                      "Print what the layout hands to a kernel beside a recipe: a header in C++ and CUDA, arrays.hpp");
    command->add_option("--precision", arguments->precision, "Of the header: f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command->callback([arguments, &action] {
        action = [arguments] {
            if (!arguments->header) return explain(arguments->name);
            return print_header(arguments->name, arguments->precision == "f32" ? Precision::f32 : Precision::f64);
        };
    });
}

}  // namespace workbench
