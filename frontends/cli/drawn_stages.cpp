#include "frontends/cli/drawn_stages.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/contract/errors.hpp"
#include "core/text/suggestion.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/report/page.hpp"
#include "stages/vertex_places.hpp"

namespace workbench {
namespace {

/// The coordinates of the generator's mesh; empty if there is none.
std::vector<NodePlace> mesh_places(const MatrixChoice& choice) {
    const auto* generated = std::get_if<GeneratedMatrix>(&choice.from);
    const bool is_mesh = generated != nullptr && generated->generator->places != nullptr;
    return is_mesh ? generated->generator->places(generated->parameters) : std::vector<NodePlace>{};
}

}  // namespace

GraphView drawn_graph(const MatrixChoice& choice, const CsrMatrix& matrix) {
    if (!matrix.square()) {
        throw InputError(fmt::format("{}: found {} and {}; --graph expects a square matrix", choice.where,
                                     counted(matrix.rows, "row"), counted(matrix.columns, "column")));
    }
    const Graph graph = adjacency_graph(matrix, 1);
    const std::size_t count = graph.neighbours.size() / 2;
    if (count > most_graph_edges || matrix.rows > static_cast<Index>(most_graph_edges)) {
        throw InputError(fmt::format("{}: found a graph of {} and {}; --graph draws up to {} of each", choice.where,
                                     counted(matrix.rows, "vertex"), counted(count, "edge"), most_graph_edges));
    }
    std::vector<NodePlace> places = mesh_places(choice);
    if (places.empty()) places = place_vertices(graph);
    std::vector<std::array<Index, 2>> edges;
    edges.reserve(count);
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        for (const Index other : graph.neighbours_of(vertex)) {
            if (vertex < other) edges.push_back({vertex, other});
        }
    }
    return graph_view(places, std::move(edges));
}

std::vector<Point> page_places(const MatrixChoice& choice, const CsrMatrix& matrix, bool quick) {
    constexpr Offset most_nonzeros_quick = 10'000;  // places are found in about 40 ms
    if (!matrix.square() || matrix.nonzeros() > most_entries_with_values) return {};
    std::vector<NodePlace> places = mesh_places(choice);
    if (places.empty()) {
        if (quick && matrix.nonzeros() > most_nonzeros_quick) return {};
        places = place_vertices(adjacency_graph(matrix, 1));
    }
    return graph_view(places, {}).places;
}

void add_drawn_options(CLI::App& command, DrawnArguments& arguments) {
    command.add_option("what", arguments.what, fmt::format("A recipe (.toml) or a matrix file: {}", readable_files))
        ->type_name("RECIPE|MATRIX");
    add_recipe_changes(command, arguments.changes);
}

Recipe drawn_recipe(const DrawnArguments& arguments) {
    const std::filesystem::path what = arguments.what;
    if (what.extension() == ".toml") return load_recipe(find_recipe(what), catalogue(), arguments.changes);
    return matrix_alone(arguments.what, arguments.changes);
}

Recipe matrix_alone(const std::string& file, RecipeChanges changes) {
    if (!file.empty() && (changes.matrix || changes.generate)) {
        throw RecipeError(
            fmt::format("{}: {} names a second matrix; expected one", file, changes.matrix ? "--matrix" : "--generate"));
    }
    if (!file.empty()) changes.matrix = file;
    if (!changes.matrix && !changes.generate) {
        throw RecipeError("found no matrix; expected a recipe, a matrix file, --matrix FILE or --generate KIND");
    }
    Recipe recipe = parse_recipe("[layout]\nuse = \"csr\"\n", "matrix", catalogue(), changes);
    recipe.name = changes.matrix ? std::filesystem::path(*changes.matrix).filename().string()
                                 : changes.generate->substr(0, changes.generate->find(':'));
    recipe.file = recipe.name;
    return recipe;
}

std::size_t stage_number(const Recipe& recipe, const std::string& id) {
    if (id.empty()) return recipe.stages.size();
    std::vector<std::string> known{"input"};
    for (const RecipeStage& stage : recipe.stages) known.push_back(stage.id);
    const auto found = std::find(known.begin(), known.end(), id);
    if (found == known.end()) throw RecipeError(fmt::format("--stage {}: no such stage{}", id, expected_one_of(id, known)));
    return static_cast<std::size_t>(found - known.begin());
}

RunReport run_drawn_stages(const Recipe& recipe, const std::function<void(const StagedMatrix&)>& visit) {
    const Progress progress;
    progress.show("reading the matrix");
    auto [matrix, read] = load_matrix(recipe.matrix);
    check_against(recipe, matrix.rows, matrix.columns);
    StagedMatrix staged = stage_input(std::move(matrix), recipe.node_size);
    const std::unique_ptr<Device> gpu = recipe.stages.empty() ? nullptr : make_cuda_device();
    RunReport report;
    report.recipe_name = recipe.name;
    report.recipe_source = recipe.source;
    report.matrix = read;
    RunObserver observer;
    observer.progress = [&progress](const std::string& step) { progress.show(step); };
    observer.stage_done = [&visit](const StagedMatrix& now, StageOutcome&) { visit(now); };
    const DeviceProperties* const present = gpu == nullptr ? nullptr : &gpu->properties();
    report.stages = apply_stages(recipe, staged, stage_context(recipe, Precision::f64, present), observer).outcomes;
    return report;
}

}  // namespace workbench
