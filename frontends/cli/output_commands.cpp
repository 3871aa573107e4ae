// workbench generate, convert and export: write matrices for other programs.
#include <memory>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/output/export.hpp"
#include "core/output/write_matrix.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/text_table.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {
namespace {

const std::string output_help = fmt::format("File to write: {}", written_files);

std::string size_of(const MatrixReport& matrix) { return size_text(matrix.rows, matrix.columns, matrix.nonzeros); }

ExitCode write_to(const std::string& name, const MatrixChoice& choice, bool force) {
    const MatrixFormat format = matrix_format_of(name);
    check_new(name, force);
    WholeFile file(name);  // throws before the work
    const Progress progress;
    progress.show("making the matrix");
    const auto [matrix, report] = load_matrix(choice);
    progress.show("writing " + name);
    write_matrix(file, format, matrix);
    file.finish();
    print_text("{}: {}, written to {}\n", report.source, size_of(report), name);
    return ExitCode::ok;
}

struct GenerateArguments {
    std::string kind;
    std::vector<std::string> settings;
    std::string out;
    bool force = false;
};

ExitCode generate(const GenerateArguments& arguments) {
    const KokkosRuntime kokkos;
    return write_to(arguments.out, generated_matrix(arguments.kind, arguments.settings, catalogue()), arguments.force);
}

struct ConvertArguments {
    std::string from;
    std::string to;
    std::string member;
    bool force = false;
};

ExitCode convert(const ConvertArguments& arguments) {
    const KokkosRuntime kokkos;
    return write_to(arguments.to, {MatrixFile{arguments.from, arguments.member}}, arguments.force);
}

struct ExportArguments {
    std::string recipe;
    RecipeChanges changes;
    std::string out;
    std::string format = "both";
    bool force = false;
    bool each_stage = false;
};

std::string read_me(const Recipe& recipe, const MatrixReport& matrix, const std::vector<ExportedFile>& files) {
    TextTable table;
    table.left_columns = 2;
    table.header = {"file", "contents"};
    for (const ExportedFile& file : files) table.rows.push_back({file.name, file.holds});
    table.rows.push_back({"recipe.toml", "the recipe with every default filled in"});
    return fmt::format(
        "The matrix '{}' ({})\nafter the stages of '{}', exported by the SpMV workbench.\n\n{}\n"
        "If A is the input and B the exported matrix, B[i, j] = A[row_old_of_new[i], column_old_of_new[j]].\n"
        "Numbers count from 0, except for rows and columns in .mtx files, which count from 1.\n",
        matrix.source, size_of(matrix), recipe.name, table.text());
}

ExitCode export_recipe(const ExportArguments& arguments) {
    const KokkosRuntime kokkos;
    const Recipe recipe = load_recipe(find_recipe(arguments.recipe), catalogue(), arguments.changes);
    const std::filesystem::path folder = arguments.out;
    check_new(folder, arguments.force);
    check_writable(folder / "recipe.toml");

    const Progress progress;
    progress.show("reading the matrix");
    auto [matrix, report] = load_matrix(recipe.matrix);
    check_against(recipe, matrix.rows, matrix.columns);
    StagedMatrix staged = stage_input(std::move(matrix), recipe.node_size);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const DeviceProperties* const present = gpu == nullptr ? nullptr : &gpu->properties();
    RunObserver observer;
    observer.progress = [&progress](const std::string& step) { progress.show(step); };
    const ExportForms forms{arguments.format != "numpy", arguments.format != "text"};
    if (arguments.each_stage) {
        observer.stage_done = [&folder, &forms, &input = report, number = 0](const StagedMatrix& now,
                                                                             const StageOutcome& outcome) mutable {
            const std::filesystem::path stage = folder / fmt::format("{:03}_{}", number++, outcome.id);
            static_cast<void>(write_export(stage, now, forms));
            write_whole_file(stage / "metrics.json", to_json(input, outcome.metrics));
        };
    }
    static_cast<void>(apply_stages(recipe, staged, stage_context(recipe, Precision::f64, present), observer));

    progress.show("writing");
    const auto files = write_export(folder, staged, forms);
    write_whole_file(folder / "README.txt", read_me(recipe, report, files));
    write_whole_file(folder / "recipe.toml", resolved_recipe(recipe));
    print_text("{}: {}: {}\nwritten to {}: README.txt, recipe.toml", recipe.name, report.source, size_of(report),
               folder.string());
    for (const ExportedFile& file : files) print_text(", {}", file.name);
    if (arguments.each_stage) print_text(", a folder for each stage");
    print_text("\n");
    return ExitCode::ok;
}

}  // namespace

void add_generate_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(app, action, "generate", "Write a generated matrix to a file", generate);
    command.add_option("kind", arguments.kind, "Generator, or KIND:NAME=VALUE,...; 'workbench list generators' lists all")
        ->required()
        ->type_name("KIND");
    command.add_option("settings", arguments.settings, "Parameters of the generator; see 'workbench explain KIND'")
        ->type_name("NAME=VALUE");
    command.add_option("-o,--out", arguments.out, output_help)->required()->type_name("FILE");
    add_force_option(command, arguments.force);
    add_memory_option(command);
}

void add_convert_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(app, action, "convert", "Convert a matrix file to another format", convert);
    command.add_option("from", arguments.from, fmt::format("Matrix file: {}", readable_files))->required()->type_name("FROM");
    command.add_option("to", arguments.to, output_help)->required()->type_name("TO");
    add_force_option(command, arguments.force);
    add_read_options(command, arguments.member);
}

void add_export_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "export",
                    "Write the matrix after a recipe's stages, with its permutations, for other programs", export_recipe);
    command.add_option("recipe", arguments.recipe, "Recipe file")->required()->type_name("RECIPE");
    add_recipe_changes(command, arguments.changes);
    command.add_option("-o,--out", arguments.out, "Folder to write to")->required()->type_name("FOLDER");
    add_force_option(command, arguments.force);
    add_choice(command, "--format", arguments.format, {"text", "numpy", "both"},
               "text (.mtx, .txt), numpy (.npz, .npy) or both");
    command.add_flag("--each-stage", arguments.each_stage,
                     "Also write the same and metrics.json for the input and after each stage, in folders NUMBER_ID");
}

}  // namespace workbench
