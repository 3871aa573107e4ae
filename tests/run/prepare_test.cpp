// Work that stages and layouts give to a preparer: which tasks, with which arguments, and how a report lists them. The
// preparer here does all tasks in a different way; tests/gpu/prepare_test.cpp compares a GPU with the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/runner.hpp"
#include "stages/length_hash.hpp"
#include "support/layouts/preparation_checks.hpp"
#include "support/layouts/scripted.hpp"
#include "support/layouts/second_preparer.hpp"
#include "support/slow.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const CsrMatrix& named(const std::string& name) {
    const auto found = std::find_if(battery().begin(), battery().end(), [&](const auto& each) { return each.name == name; });
    REQUIRE(found != battery().end());
    return found->matrix;
}

const LayoutRecipe& recipe_named(const std::string& name) {
    const auto named_so = [&](const LayoutRecipe& each) { return each.name == name; };
    const auto& all = layout_recipes();
    const auto found = std::find_if(all.begin(), all.end(), named_so);
    REQUIRE(found != all.end());
    return *found;
}

std::string note_of(const std::vector<std::pair<std::string, std::string>>& notes) {
    for (const auto& [what, text] : notes) {
        if (what == "prepared") return text;
    }
    return "(no note)";
}

/// The tasks of a recipe's stages, then those of its layout: "sort permute | slices".
std::string tasks_of(const std::string& recipe, const CsrMatrix& matrix) {
    SecondPreparer preparer;
    const LayoutRecipe& one = recipe_named(recipe);
    StagedMatrix staged = stage_input(matrix, one.recipe.node_size);
    staged.preparer = &preparer;
    std::string tasks;
    RunObserver observer;
    for (const RecipeStage& stage : one.recipe.stages) {
        StageResult result = stage.entry->run(staged, stage.parameters, {});
        apply(staged, std::move(result.change), stage.contract.keeps);
    }
    tasks = preparer.tasks();
    (void)preparer.take_steps();
    (void)one.build<double>(staged);
    return tasks + " | " + preparer.tasks();
}

}  // namespace

TEST_CASE("the preparer does not change results" * doctest::test_suite(slow)) {
    SecondPreparer preparer;
    for (const auto& recipes : {layout_recipes(), hybrid_recipes()}) {
        for (const LayoutRecipe& one : recipes) {
            for (const NamedMatrix& each : battery()) check_preparer(preparer, one, each.name, each.matrix);
        }
    }
}

TEST_CASE("rows that claim slots in any order give the host's hash table") {
    SecondPreparer preparer;
    for (const Index rows : {1, 2, 40, 700, 3000}) {
        for (const int spread : {0, 3, 9}) {
            std::vector<Index> lengths(rows);
            for (Index row = 0; row < rows; ++row) {
                lengths[row] = static_cast<Index>(mixed(row) % 3000 >> (mixed(row + 7) % (spread + 1)));
            }
            for (const Index sample : {1, 7, 64, 512, 5000}) {
                const std::vector<Offset> first{0, rows};
                CHECK_MESSAGE(preparer.place_by_hash({lengths, first, sample}) ==
                                  place_by_hash(lengths, fit_length_hash(lengths, sample)).old_of_new,
                              rows << " rows, sample " << sample);
            }
        }
    }
}

TEST_CASE("stages that no recipe of the layouts has") {
    const std::string parts = "[[stage]]\nuse = 'rcm_blocks'\nparts = 3\n";
    const std::string segments = "[[stage]]\nuse = 'column_segmentation'\nwidth = 9\n";
    const std::string sell = "[layout]\nuse = 'sell'\n";
    const auto two = [](const std::string& a, const std::string& b) {
        return "[[layout]]\nuse = 'sell'\nshare = '" + a + "'\n[[layout]]\nuse = 'sell'\nshare = '" + b + "'\n";
    };
    SecondPreparer preparer;
    for (const std::string& text :
         {parts + "[[stage]]\nuse = 'nonlinear_hash'\nwithin = 'partition'\nsample = 5\n" + sell,
          parts + "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\nwindow = 4\n" + sell,
          "[[stage]]\nuse = 'degree_sort'\n" + sell, "[[stage]]\nuse = 'cuthill_mckee'\n" + sell,
          "[[stage]]\nuse = 'cuthill_mckee'\nvariant = 'plain'\n" + sell,
          segments +
              "[[stage]]\nuse = 'row_sort'\nwithin = 'segment'\nwindow = 4\n[layout]\nuse = 'segmented'\npiece = 'sell'\n",
          "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 3\n" + two("long", "short"),
          "[[stage]]\nuse = 'split'\nby = 'columns'\ndensity = 0.1\n" + two("dense_columns", "sparse_columns")}) {
        const LayoutRecipe one{text, parse_recipe("[recipe]\nname = 'r'\n" + text, "t.toml", catalogue())};
        for (const NamedMatrix& each : battery()) check_preparer(preparer, one, each.name, each.matrix);
    }
    CHECK(preparer.done() == std::set<std::string>{"cuthill_mckee", "divide", "hash", "permute", "slices", "sort", "tiles"});
}

TEST_CASE("the host does the tasks that a preparer declines") {
    SecondPreparer preparer({"cuthill_mckee", "sort", "hash", "permute", "divide", "tiles", "slices"});
    for (const std::string name : {"ehyb", "hbp_rows_hashed", "segmented_sell", "sell_rows_sorted"}) {
        for (const NamedMatrix& each : battery()) check_preparer(preparer, recipe_named(name), each.name, each.matrix);
    }
    CHECK(preparer.tasks().empty());
}

TEST_CASE("the tasks that stages and layouts give to a preparer") {
    const CsrMatrix& matrix = named("random_300");
    CHECK(tasks_of("sell_rows_sorted", matrix) == "sort permute | slices");
    CHECK(tasks_of("ehyb", matrix) == "permute sort permute divide sort | slices slices");
    CHECK(tasks_of("hbp_rows_hashed", matrix) == "hash permute tiles | ");
    CHECK(tasks_of("hbp", matrix) == "tiles hash | ");
    CHECK(tasks_of("hbp_rows_sorted", matrix) == "tiles sort | ");
    CHECK(tasks_of("segmented_sell", matrix) == "tiles sort | slices");
    CHECK(tasks_of("hyb", matrix) == "divide | ");
    CHECK(tasks_of("csr", matrix) == " | ");
}

TEST_CASE("a report states where each stage and layout was prepared, and how long it took") {
    SecondPreparer preparer;
    const LayoutRecipe& one = recipe_named("ehyb");
    StagedMatrix staged = stage_input(named("random_300"));
    staged.preparer = &preparer;
    std::vector<StageOutcome> outcomes = run_stages(one.recipe, staged, {}, {});
    CHECK(note_of(outcomes.at(0).notes) == "(no note)");  // the input
    CHECK(note_of(outcomes.at(1).notes) == "on another machine: permute in 2.00 s, 500 ms of it transfers");
    CHECK(note_of(outcomes.at(2).notes) ==
          "on another machine: sort in 2.00 s, 500 ms of it transfers; permute in 2.00 s, 500 ms of it transfers");

    const ExactProblem exact(staged.matrix);
    const LayoutOutcome built =
        build_layouts<double>(one.recipe, staged, {.exact = [&](ExactValues) -> const ExactProblem& { return exact; }}).outcome;
    CHECK(note_of(built.notes) ==
          "on another machine: slices in 2.00 s, 500 ms of it transfers; slices in 2.00 s, 500 ms of it transfers");
    CHECK(preparer.tasks().empty());  // the tasks of the exact layout are not reported

    SecondPreparer idle({"sort", "permute", "divide", "slices"});
    StagedMatrix again = stage_input(named("random_300"));
    again.preparer = &idle;
    outcomes = run_stages(one.recipe, again, {}, {});
    CHECK(note_of(outcomes.at(1).notes) == "on the host");

    StagedMatrix nobody = stage_input(named("random_300"));
    outcomes = run_stages(one.recipe, nobody, {}, {});
    CHECK(note_of(outcomes.at(1).notes) == "(no note)");
    const AppliedStages applied = apply_stages(one.recipe, nobody, {});
    CHECK(std::none_of(applied.notes.begin(), applied.notes.end(),
                       [](const std::string& note) { return note.find("prepared") != std::string::npos; }));
}

TEST_CASE("kept times of one preparer are not reported for another") {
    const TemporaryFolder folder;
    KeepFolder keep(folder.path(), "this program");
    const CsrMatrix& matrix = named("random_300");
    SecondPreparer preparer;
    const auto ran_from_kept = [&](Preparer* who) {
        StagedMatrix staged = stage_input(matrix);
        staged.preparer = who;
        const Keeping keeping = keeping_with(Keeping(&keep, matrix), who);
        return !apply_stages(recipe_named("sell_rows_sorted").recipe, staged, {}, keeping).kept.empty();
    };
    CHECK_FALSE(ran_from_kept(nullptr));
    CHECK_FALSE(ran_from_kept(&preparer));
    CHECK(ran_from_kept(nullptr));
    CHECK(ran_from_kept(&preparer));
}

TEST_CASE("a runner gives its preparer to stages and layouts") {
    SecondPreparer preparer;
    const CsrMatrix& matrix = named("random_300");
    const auto host = make_host_device();
    RunOptions options;
    options.backends = {Backend::kokkos};
    options.timing = {CacheState::warm, 1, 0, 0};
    options.preparer = &preparer;
    Runner runner(matrix, catalogue(), {*host}, options);
    const RunReport report = runner.run(recipe_named("sell_rows_sorted").recipe, {});
    CHECK(report.all_verified());
    CHECK(note_of(report.stages.at(1).notes).starts_with("on another machine: sort in"));
    CHECK(note_of(report.layouts.at(0).notes).starts_with("on another machine: slices in"));
    CHECK(to_json(report).find("on another machine: sort in 2.00 s, 500 ms of it transfers") != std::string::npos);
}

}  // namespace workbench
