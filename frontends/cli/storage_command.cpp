// workbench storage
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/precision.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/drawn_stages.hpp"
#include "frontends/cli/matrix_runner.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {
namespace {

/// The sizes of the layouts of a recipe, built from the matrix after its stages; for a hybrid the sums over its layouts.
struct RecipeSize {
    std::string recipe;  // its name, and the values of a sweep
    LayoutOutcome f32;
    LayoutOutcome f64;

    /// The share of the slots without a nonzero; none if slots contain more than one nonzero, or there are no slots.
    [[nodiscard]] std::optional<double> padding() const;
};

/// The recipes that share a matrix.
struct RecipeSizes {
    MatrixReport matrix;
    std::vector<RecipeSize> recipes;
};

std::string title_of(const Recipe& recipe) {
    RunReport report;
    report.recipe_name = recipe.name;
    report.sweep = recipe.sweep;
    return report.title();
}

template <ValueType Value>
LayoutOutcome built_size(const Recipe& recipe, StagedMatrix& staged) {
    try {
        return build_layouts<Value>(recipe, staged, {.device = find_device_model(recipe.device)}).outcome;
    } catch (const Unsuitable& reason) {
        LayoutOutcome outcome = outcome_of(recipe.layouts.front(), precision_of<Value>);
        outcome.unsuitable = reason.what();
        return outcome;
    }
}

/// The sizes of recipes that share a matrix.
std::vector<RecipeSize> sizes_on(const CsrMatrix& matrix, std::span<const Recipe> recipes, const DeviceProperties* gpu,
                                 const Progress& progress) {
    std::vector<std::vector<Chain>> chains;
    for (const Recipe& recipe : recipes) chains.push_back(chains_of(recipe, {Precision::f32, Precision::f64}, gpu));
    SharedStages stages(matrix);
    stages.expect(chains);
    std::vector<RecipeSize> sizes;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        const Recipe& recipe = recipes[i];
        RecipeSize size{.recipe = title_of(recipe), .f32 = {}, .f64 = {}};
        progress.show(size.recipe);
        stages.no_longer_expect(chains[i]);
        check_against(recipe, matrix.rows, matrix.columns);
        std::vector<StageOutcome> outcomes;
        stages.run({recipe, {}}, chains[i], outcomes, [&](const Chain& chain, StagedMatrix& staged) {
            for (const Precision precision : chain.precisions) {
                if (precision == Precision::f32) size.f32 = built_size<float>(recipe, staged);
                if (precision == Precision::f64) size.f64 = built_size<double>(recipe, staged);
            }
        });
        sizes.push_back(std::move(size));
    }
    return sizes;
}

std::vector<std::string> cells_of(const RecipeSize& size, Offset nonzeros) {
    const auto bytes = [](const LayoutOutcome& layout) {
        return layout.unsuitable.empty() ? with_commas(static_cast<long long>(layout.bytes())) : "-";
    };
    std::vector<std::string> cells{size.recipe, "-", "-", bytes(size.f32), bytes(size.f64), "-"};
    if (!size.f64.unsuitable.empty()) return cells;
    cells[1] = with_commas(static_cast<long long>(size.f64.slots()));
    if (const auto padding = size.padding()) cells[2] = percent(*padding);
    if (nonzeros > 0) cells[5] = significant(static_cast<double>(size.f64.bytes()) / static_cast<double>(nonzeros));
    return cells;
}

std::optional<double> RecipeSize::padding() const {
    const auto slots = static_cast<Offset>(f64.slots());
    if (!f64.unsuitable.empty() || slots == 0 || slots < f64.nonzeros) return std::nullopt;
    return static_cast<double>(slots - f64.nonzeros) / static_cast<double>(slots);
}

/// Reads each matrix once, and builds the layouts of each recipe in both precisions. Runs no kernel. A layout that does not
/// suit the matrix has its reason in `unsuitable`. Throws as running the stages does.
std::vector<RecipeSizes> recipe_sizes(std::vector<Recipe> recipes) {
    sort_by_matrix(recipes);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const Progress progress;
    std::vector<RecipeSizes> all;
    for (auto first = recipes.begin(); first != recipes.end();) {
        const auto last = std::find_if(first, recipes.end(), [&](const Recipe& each) { return each.matrix != first->matrix; });
        progress.show("reading the matrix");
        const auto [matrix, report] = load_matrix(first->matrix);
        all.push_back({report, sizes_on(matrix, {first, last}, gpu == nullptr ? nullptr : &gpu->properties(), progress)});
        first = last;
    }
    return all;
}

/// A table per matrix.
std::string to_text(const std::vector<RecipeSizes>& sizes) {
    std::string text;
    for (const auto& [matrix, recipes] : sizes) {
        TextTable table;
        table.header = {"recipe", "slots", "padding", "f32 bytes", "f64 bytes", "f64 B/nonzero"};
        std::string notes;
        for (const RecipeSize& size : recipes) {
            table.rows.push_back(cells_of(size, matrix.nonzeros));
            const std::string& reason = size.f64.unsuitable.empty() ? size.f32.unsuitable : size.f64.unsuitable;
            if (!reason.empty()) notes += fmt::format("  {} is unsuitable: {}\n", size.recipe, reason);
        }
        text += fmt::format("{}{}: {}\n\n{}{}{}", text.empty() ? "" : "\n", matrix.source,
                            size_text(matrix.rows, matrix.columns, matrix.nonzeros), table.text(), notes.empty() ? "" : "\n",
                            notes);
    }
    return text;
}

/// One object with a list of recipes.
std::string to_json(const std::vector<RecipeSizes>& sizes) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const auto& [matrix, recipes] : sizes) {
        for (const RecipeSize& size : recipes) {
            const bool suits = size.f64.unsuitable.empty();
            const auto padding = size.padding();
            list.push_back({{"recipe", size.recipe},
                            {"source", matrix.source},
                            {"rows", matrix.rows},
                            {"columns", matrix.columns},
                            {"nonzeros", matrix.nonzeros},
                            {"slots", suits ? Json(size.f64.slots()) : Json(nullptr)},
                            {"padding", padding ? Json(*padding) : Json(nullptr)},
                            {"bytes_f32", size.f32.unsuitable.empty() ? Json(size.f32.bytes()) : Json(nullptr)},
                            {"bytes_f64", suits ? Json(size.f64.bytes()) : Json(nullptr)},
                            {"unsuitable", suits ? Json(nullptr) : Json(size.f64.unsuitable)}});
        }
    }
    return Json{{"recipes", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

struct StorageArguments {
    std::vector<std::string> what;  // one matrix, or recipes
    RecipeChanges changes;
    std::vector<Index> slice_heights;  // empty: 32, 512
    std::vector<double> alphas;        // empty: 0.01
    bool json = false;

    [[nodiscard]] bool of_recipes() const {
        return !what.empty() && std::filesystem::path(what.front()).extension() == ".toml";
    }
};

/// Sizes of the same formats in both precisions.
struct Storage {
    std::vector<StorageSize> f32;
    std::vector<StorageSize> f64;
};

double padding(const StorageSize& size, Offset nonzeros) {
    return size.slots == 0 ? 0 : 1 - static_cast<double>(nonzeros) / static_cast<double>(size.slots);
}

void print_table(const MatrixReport& matrix, const Storage& storage) {
    print_text("{}: {}\n\n", matrix.source, size_text(matrix.rows, matrix.columns, matrix.nonzeros));
    TextTable table;
    table.header = {"format", "height", "alpha", "slots", "padding", "f32 bytes", "f64 bytes", "f64 B/nonzero"};
    for (std::size_t i = 0; i < storage.f64.size(); ++i) {
        const StorageSize& size = storage.f64[i];
        const double each = static_cast<double>(size.bytes) / static_cast<double>(matrix.nonzeros);
        table.rows.push_back({size.format, size.height == 0 ? "-" : std::to_string(size.height),
                              size.alpha ? fmt::format("{}", *size.alpha) : "-", with_commas(size.slots),
                              fmt::format("{:.1f} %", 100 * padding(size, matrix.nonzeros)), with_commas(storage.f32[i].bytes),
                              with_commas(size.bytes), matrix.nonzeros == 0 ? "-" : significant(each)});
    }
    print_text("{}\nheight: rows per slice or block; alpha: minimum fraction of a length group. Indices have 32 bits.\n",
               table.text());
}

void print_json(const MatrixReport& matrix, const Storage& storage) {
    using Json = nlohmann::ordered_json;
    Json formats = Json::array();
    for (std::size_t i = 0; i < storage.f64.size(); ++i) {
        const StorageSize& size = storage.f64[i];
        formats.push_back({{"format", size.format},
                           {"height", size.height == 0 ? Json(nullptr) : Json(size.height)},
                           {"alpha", size.alpha ? Json(*size.alpha) : Json(nullptr)},
                           {"slots", size.slots},
                           {"padding", padding(size, matrix.nonzeros)},
                           {"bytes_f32", storage.f32[i].bytes},
                           {"bytes_f64", size.bytes}});
    }
    const Json all{{"source", matrix.source},
                   {"rows", matrix.rows},
                   {"columns", matrix.columns},
                   {"nonzeros", matrix.nonzeros},
                   {"storage", formats}};
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

ExitCode storage_of_formats(const StorageArguments& arguments) {
    for (const double alpha : arguments.alphas) {
        if (alpha >= 0 && alpha <= 1) continue;  // false for NaN
        throw RecipeError(fmt::format("--alpha: found {}, expected a number from 0 to 1", alpha));
    }
    if (arguments.what.size() > 1) {
        throw RecipeError(fmt::format("found {}, expected one matrix, or recipes", counted(arguments.what.size(), "file")));
    }
    if (!arguments.changes.sweeps.empty() || !arguments.changes.overrides.empty()) {
        throw RecipeError("--set and --sweep change recipes, found a matrix");
    }
    const KokkosRuntime kokkos;
    const std::string file = arguments.what.empty() ? "" : arguments.what.front();
    const auto [matrix, report] = load_matrix(matrix_alone(file, arguments.changes).matrix);
    const std::vector<Index> heights = arguments.slice_heights.empty() ? std::vector<Index>{32, 512} : arguments.slice_heights;
    const std::vector<double> alphas = arguments.alphas.empty() ? std::vector<double>{0.01} : arguments.alphas;
    const auto sizes = [&, &matrix = matrix](Precision precision) {
        return storage_sizes(catalogue(), matrix, heights, alphas, {.value = value_bytes(precision)});
    };
    const Storage found{sizes(Precision::f32), sizes(Precision::f64)};
    arguments.json ? print_json(report, found) : print_table(report, found);
    return ExitCode::ok;
}

ExitCode storage_of_recipes(const StorageArguments& arguments) {
    if (!arguments.slice_heights.empty() || !arguments.alphas.empty()) {
        throw RecipeError(
            "--slice-height and --alpha choose formats for a matrix, found recipes; expected --set layout.slice_height=ROWS");
    }
    const KokkosRuntime kokkos;
    const std::vector<RecipeSizes> sizes = recipe_sizes(load_recipes(arguments.what, arguments.changes));
    fmt::print("{}", arguments.json ? to_json(sizes) : to_text(sizes));
    return ExitCode::ok;
}

ExitCode storage(const StorageArguments& arguments) {
    return arguments.of_recipes() ? storage_of_recipes(arguments) : storage_of_formats(arguments);
}

}  // namespace

void add_storage_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "storage", "Show the storage size of a matrix in common formats, or in the layouts of recipes", storage);
    command.add_option("what", arguments.what, fmt::format("A matrix file ({}), or recipes (.toml)", readable_files))
        ->type_name("MATRIX|RECIPE");
    add_recipe_changes(command, arguments.changes);
    add_sweeps(command, arguments.changes);
    command
        .add_option("--slice-height", arguments.slice_heights,
                    "For a matrix: slice heights of SELL and Staircase SELL (default: 32,512)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1, 65536))
        ->type_name("ROWS");
    command
        .add_option("--alpha", arguments.alphas,
                    "For a matrix: minimum fraction of the rows in a length group of Staircase SELL (default: 0.01)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("SHARE");
    command.add_flag("--json", arguments.json, "Print one JSON object");
}

}  // namespace workbench
