// workbench generate, convert and export: matrices for other programs.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/progress.hpp"
#include "pipeline/cli/read_options.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/output/export.hpp"
#include "pipeline/output/write_matrix.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/run/runner.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

constexpr const char* endings = ".mtx, .mtx.gz or .npz, told by its name";

std::string size_text(const MatrixReport& matrix) {
    return fmt::format("{} x {}, {} nonzeros", with_commas(matrix.rows), with_commas(matrix.columns),
                       with_commas(matrix.nonzeros));
}

ExitCode write_to(const std::string& name, const MatrixChoice& choice) {
    // Whether it can be written is known before the work.
    const MatrixFormat format = matrix_format_of(name);
    WholeFile file(name);
    const Progress progress;
    progress.show("making the matrix");
    const auto [matrix, report] = load_matrix(choice);
    progress.show("writing " + name);
    write_matrix(file, format, matrix);
    file.finish();
    fmt::print("{}: {}, written to {}\n", report.source, size_text(report), name);
    return ExitCode::ok;
}

struct GenerateArguments {
    std::string kind;
    std::vector<std::string> settings;
    std::string out;
};

ExitCode generate(const GenerateArguments& arguments) {
    const KokkosRuntime kokkos;
    return write_to(arguments.out, generated_matrix(arguments.kind, arguments.settings, catalogue()));
}

struct ExportArguments {
    std::string recipe;
    RecipeChanges changes;
    std::string out;
    std::string format = "both";
};

std::string read_me(const Recipe& recipe, const MatrixReport& matrix, const std::vector<ExportedFile>& files) {
    TextTable table;
    table.left_columns = 2;
    table.header = {"file", "what it holds"};
    for (const ExportedFile& file : files) table.rows.push_back({file.name, file.holds});
    table.rows.push_back({"recipe.toml", "the recipe as it was run, with every default filled in"});
    return fmt::format(
        "The matrix '{}' ({})\nafter the stages of '{}', as the SpMV workbench exported it.\n\n{}\n"
        "With A the input and B the matrix here: B[i, j] = A[row_old_of_new[i], column_old_of_new[j]].\n"
        "All numbers count from 0, but for rows and columns in a .mtx file, which count from 1.\n",
        matrix.source, size_text(matrix), recipe.name, table.text());
}

ExitCode export_recipe(const ExportArguments& arguments) {
    const KokkosRuntime kokkos;
    const Recipe recipe = load_recipe(find_recipe(arguments.recipe), catalogue(), arguments.changes);
    const std::filesystem::path folder = arguments.out;
    // Whether the folder can be written is known before the work.
    WholeFile resolved(folder / "recipe.toml");
    resolved.write(resolved_recipe(recipe));

    const Progress progress;
    progress.show("reading the matrix");
    auto [matrix, report] = load_matrix(recipe.matrix);
    check_against(recipe, matrix.rows, matrix.columns);
    StagedMatrix staged = stage_input(std::move(matrix), recipe.node_size);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const DeviceProperties* const present = gpu == nullptr ? nullptr : &gpu->properties();
    RunObserver observer;
    observer.progress = [&progress](const std::string& step) { progress.show(step); };
    static_cast<void>(run_stages(recipe, staged, stage_context(recipe, Precision::f64, present), observer));

    progress.show("writing");
    const auto files = write_export(folder, staged, {arguments.format != "numpy", arguments.format != "text"});
    write_whole_file(folder / "README.txt", read_me(recipe, report, files));
    resolved.finish();
    fmt::print("{}: {}: {}\nwritten to {}: README.txt, recipe.toml", recipe.name, report.source, size_text(report),
               folder.string());
    for (const ExportedFile& file : files) fmt::print(", {}", file.name);
    fmt::print("\n");
    return ExitCode::ok;
}

}  // namespace

void add_generate_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<GenerateArguments>();
    CLI::App* command = app.add_subcommand("generate", "Write a generated matrix to a file");
    command
        ->add_option("kind", arguments->kind, "Generator, also as KIND:NAME=VALUE,...; 'workbench list generators' names them")
        ->required()
        ->type_name("KIND");
    command->add_option("settings", arguments->settings, "Its parameters; 'workbench explain KIND' tells them")
        ->type_name("NAME=VALUE");
    command->add_option("-o,--out", arguments->out, fmt::format("File to write: {}", endings))->required()->type_name("FILE");
    add_memory_option(*command);
    command->callback([arguments, &action] { action = [arguments] { return generate(*arguments); }; });
}

void add_convert_command(CLI::App& app, Action& action) {
    struct Arguments {
        std::string from;
        std::string to;
        std::string member;
    };
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("convert", "Read a matrix file and write it as another kind of file");
    command->add_option("from", arguments->from, fmt::format("Matrix file: {}", readable_files))->required()->type_name("FROM");
    command->add_option("to", arguments->to, fmt::format("File to write: {}", endings))->required()->type_name("TO");
    add_read_options(*command, arguments->member);
    command->callback([arguments, &action] {
        action = [arguments] {
            const KokkosRuntime kokkos;
            return write_to(arguments->to, {MatrixFile{arguments->from, arguments->member}});
        };
    });
}

void add_export_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<ExportArguments>();
    CLI::App* command =
        app.add_subcommand("export", "Write the matrix as a recipe's stages reorder it, with the orders, for other programs");
    command->add_option("recipe", arguments->recipe, "Recipe file")->required()->type_name("RECIPE");
    add_recipe_changes(*command, arguments->changes);
    command->add_option("-o,--out", arguments->out, "Folder to write into")->required()->type_name("FOLDER");
    command->add_option("--format", arguments->format, "text (.mtx, .txt), numpy (.npz, .npy) or both")
        ->check(CLI::IsMember({"text", "numpy", "both"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command->callback([arguments, &action] { action = [arguments] { return export_recipe(*arguments); }; });
}

}  // namespace workbench
