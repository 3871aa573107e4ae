// Initial stages that recipes of one run share run once: results are the same, and nothing is kept longer than necessary.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"
#include "support/free_memory.hpp"
#include "support/golden.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/layouts/scripted.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const CsrMatrix& five_nonzeros() {
    static const CsrMatrix matrix =
        csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1.5}, {0, 2, 2.5}, {1, 1, 3.5}, {2, 0, 4.5}, {3, 3, 0.25}});
    return matrix;
}

using StageNames = std::vector<std::string>;

/// A recipe with these stages, such as "reverse rotate_rows".
std::string stages(const std::string& names, const std::string& before = "") {
    std::string text = before;
    std::istringstream words(names);
    for (std::string name; words >> name;) text += "[[stage]]\nuse = '" + name + "'\n";
    return text + "[layout]\nuse = 'plain'\n";
}

/// A catalogue whose stage `halve` depends on the precision.
const Catalogue& precision_catalogue() {
    static const Catalogue catalogue = [] {
        Catalogue changed = scripted_catalogue();
        for (StageEntry& stage : changed.stages) {
            if (stage.name != "halve") continue;
            stage.contract = [](const Parameters&) {
                StageContract contract{.gives_cuts = {CutKind::partition}};
                contract.depends_on_precision = true;
                return contract;
            };
            stage.run = [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                script().pass("stage halve");
                const Index rows = staged.matrix.rows;
                return StageResult{.change = {.cuts = {{CutKind::partition, {0, rows / 2, rows}}}}};
            };
        }
        return changed;
    }();
    return catalogue;
}

struct ChainRuns {
    std::vector<RunReport> reports;
    StageNames announced;  // stages that ran
    StageNames shared;     // stages that were reused
};

ChainRuns run_in_turn(const StageNames& texts, const std::vector<Precision>& precisions = {Precision::f64},
                      std::size_t expected = 100) {
    new_script().seconds["stage reverse"] = {2, 700};  // a second run would take 700 s
    script().seconds["stage halve"] = {1, 8};
    script().seconds["run usual"] = {16};
    script().seconds["run fast"] = {4};
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    RunOptions options;
    options.precisions = precisions;
    options.timing = {CacheState::warm, 5, 0, 1e9, scripted_clock()};
    std::vector<Recipe> recipes;
    for (const std::string& text : texts) recipes.push_back(parse_recipe(text, "test.toml", precision_catalogue()));
    Runner runner(five_nonzeros(), precision_catalogue(), {host}, options);
    runner.expect(std::span(recipes).first(std::min(expected, recipes.size())));
    ChainRuns ran;
    RunObserver observer;
    observer.progress = [&](const std::string& step) {
        if (step.starts_with("stage ")) ran.announced.push_back(step.substr(6));
    };
    observer.stage_shared = [&](const StageOutcome& outcome) { ran.shared.push_back(outcome.label()); };
    for (const Recipe& recipe : recipes) {
        ran.reports.emplace_back();
        try {
            runner.run(recipe, observer, ran.reports.back());
        } catch (const InputError&) {
        }
    }
    return ran;
}

StageNames stages_of(const RunReport& report) {
    StageNames names;
    for (const StageOutcome& stage : report.stages) names.push_back(stage.label() + (stage.shared ? " shared" : ""));
    return names;
}

/// The result of each chain.
std::vector<StagedMatrix> results_of(SharedStages& shared, const std::vector<Recipe>& recipes, const RunObserver& observer,
                                     std::vector<std::size_t>& kept) {
    std::vector<std::vector<Chain>> chains;
    for (const Recipe& recipe : recipes) chains.push_back(chains_of(recipe, {Precision::f64, Precision::f32}, nullptr));
    shared.expect(chains);
    std::vector<StagedMatrix> results;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        shared.no_longer_expect(chains[i]);
        std::vector<StageOutcome> outcomes;
        shared.run({recipes[i], observer}, chains[i], outcomes,
                   [&](const Chain&, StagedMatrix& staged) { results.push_back(staged); });
        kept.push_back(shared.kept());
    }
    return results;
}

void check_same_matrix(const StagedMatrix& a, const StagedMatrix& b) {
    CHECK(a.matrix == b.matrix);
    CHECK(a.row_order == b.row_order);
    CHECK(a.column_order == b.column_order);
    CHECK(a.cuts == b.cuts);
    CHECK(a.shares == b.shares);
    CHECK(a.node_size == b.node_size);
}

}  // namespace

TEST_CASE("initial stages that recipes share run once, and each report contains their time") {
    const ChainRuns ran = run_in_turn({stages("reverse rotate_rows"), stages("reverse"), stages("reverse rotate_columns")});
    CHECK(ran.announced == StageNames{"reverse", "rotate_rows", "rotate_columns"});
    CHECK(ran.shared == StageNames{"input", "reverse", "input", "reverse"});
    CHECK(stages_of(ran.reports[0]) == StageNames{"input", "reverse", "rotate_rows"});
    CHECK(stages_of(ran.reports[1]) == StageNames{"input shared", "reverse shared"});
    CHECK(stages_of(ran.reports[2]) == StageNames{"input shared", "reverse shared", "rotate_columns"});
    for (const RunReport& report : ran.reports) CHECK(report.stages[1].seconds == 2);
    CHECK(ran.reports[1].stages[1].notes.at(0).second == "round");
    CHECK(ran.reports[1].kernels.back().verified());
    CHECK(ran.reports[1].kernels[1].break_even == 2.0 / 12);
    CHECK(to_text(ran.reports[0]).find("shared") == std::string::npos);
    CHECK(to_text(ran.reports[2]).find("\n  shared: reverse: run and timed once, for an earlier recipe of this run\n") !=
          std::string::npos);
}

TEST_CASE("a runner that keeps all stages runs them once, also for recipes that it does not expect") {
    for (const bool keeps : {false, true}) {
        new_script();
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        RunOptions options;
        options.timing = {CacheState::warm, 5, 0, 1e9, scripted_clock()};
        Runner runner(five_nonzeros(), precision_catalogue(), {host}, options);
        if (keeps) runner.keep_all_stages();
        for (int i = 0; i < 2; ++i) (void)runner.run(parse_recipe(stages("reverse"), "test.toml", precision_catalogue()), {});
        CHECK(script().count("stage reverse") == (keeps ? 1 : 2));
    }
}

TEST_CASE("the price of a kernel has the stages of its own precision, and its baseline is that of its precision") {
    const RunReport report = run_in_turn({stages("reverse halve")}, {Precision::f64, Precision::f32}).reports[0];
    const auto kernel = [&report](const std::string& name, Precision precision) {
        const auto found = std::find_if(report.kernels.begin(), report.kernels.end(), [&](const KernelOutcome& one) {
            return one.kernel == name && one.precision == precision;
        });
        REQUIRE_MESSAGE(found != report.kernels.end(), name);
        return *found;
    };
    CHECK(kernel("fast", Precision::f64).break_even == (2.0 + 1) / 12);
    CHECK(kernel("fast", Precision::f32).break_even == (2.0 + 8) / 12);
    CHECK(kernel("usual", Precision::f64).baseline);
    CHECK(kernel("usual", Precision::f32).baseline);
}

TEST_CASE("only equal stages are shared") {
    // A different node size prevents sharing even of the input's figures, a different device of every stage that depends on it.
    CHECK(run_in_turn({stages(""), stages("")}).shared == StageNames{"input"});
    CHECK(run_in_turn({stages(""), stages("", "[matrix]\nnode_size = 2\n")}).shared.empty());
    CHECK(run_in_turn({stages("reverse"), stages("reverse", "[recipe]\ndevice = 'v100'\n")}).announced ==
          StageNames{"reverse", "reverse"});
    CHECK(run_in_turn({stages("rotate_rows reverse"), stages("reverse rotate_rows")}).shared == StageNames{"input"});
    // The runner did not expect further recipes.
    CHECK(run_in_turn({stages("reverse"), stages("reverse")}, {Precision::f64}, 0).announced ==
          StageNames{"reverse", "reverse"});
    // Ids do not affect sharing; a report contains those of its recipe.
    const ChainRuns named =
        run_in_turn({stages("reverse"), "[[stage]]\nid = 'mine'\nuse = 'reverse'\n[layout]\nuse = 'plain'\n"});
    CHECK(named.announced == StageNames{"reverse"});
    CHECK(stages_of(named.reports[1]) == StageNames{"input shared", "mine shared"});
}

TEST_CASE("recipes with a common stage each report it with the parameters that they write") {
    const std::string layout = "[layout]\nuse = 'csr'\n";
    const std::vector<Recipe> recipes{recipe_of("[[stage]]\nuse = 'row_sort'\n" + layout),
                                      recipe_of("[[stage]]\nuse = 'row_sort'\nkey = 'nonzeros'\n" + layout)};
    const CsrMatrix matrix = five_nonzeros();
    SharedStages shared(matrix);
    std::vector<std::vector<Chain>> chains;
    for (const Recipe& recipe : recipes) chains.push_back(chains_of(recipe, {Precision::f64}, nullptr));
    shared.expect(chains);
    StageNames choices;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        shared.no_longer_expect(chains[i]);
        std::vector<StageOutcome> outcomes;
        shared.run({recipes[i], {}}, chains[i], outcomes, [](const Chain&, StagedMatrix&) {});
        CHECK(outcomes.back().shared == (i == 1));
        CHECK(outcomes.back().parameters == recipes[i].stages.front().parameters);
        choices.push_back(outcomes.back().choices);
    }
    CHECK(choices == StageNames{"", "key = \"nonzeros\""});
}

TEST_CASE("stages from the first that depends on the precision run for each precision") {
    const ChainRuns both =
        run_in_turn({stages("reverse halve"), stages("reverse halve"), stages("reverse")}, {Precision::f64, Precision::f32});
    CHECK(both.announced == StageNames{"reverse", "halve", "halve"});
    CHECK(stages_of(both.reports[0]) == StageNames{"input", "reverse", "halve f64", "halve f32"});
    CHECK(stages_of(both.reports[1]) == StageNames{"input shared", "reverse shared", "halve f64 shared", "halve f32 shared"});
    CHECK(both.shared == StageNames{"input", "reverse", "halve f64", "halve f32", "input", "reverse"});
    CHECK(both.reports[1].layouts.size() == 2);
    CHECK(both.reports[2].layouts.size() == 2);
    const ChainRuns one = run_in_turn({stages("reverse halve"), stages("reverse halve")});
    CHECK(one.announced == StageNames{"reverse", "halve"});
    CHECK(stages_of(one.reports[1]) == StageNames{"input shared", "reverse shared", "halve shared"});
}

TEST_CASE("the stages before one that refuses the matrix are shared") {
    const ChainRuns ran = run_in_turn({stages("reverse refuse"), stages("reverse refuse"), stages("reverse rotate_rows")});
    CHECK(ran.announced == StageNames{"reverse", "refuse", "refuse", "rotate_rows"});
    CHECK(stages_of(ran.reports[1]) == StageNames{"input shared", "reverse shared"});
    CHECK(ran.reports[1].kernels.empty());
    CHECK(ran.reports[2].kernels.size() == 4);
    CHECK(run_in_turn({stages("reverse refuse"), stages("reverse refuse")}).announced ==
          StageNames{"reverse", "refuse", "refuse"});
}

TEST_CASE("shared stages give bit-identical matrices, and only necessary results are kept") {
    const std::string metis = "[[stage]]\nuse = 'metis_partition'\nparts = 4\n";
    const std::string sort = "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\n";
    const std::string split = "[[stage]]\nuse = 'split'\nby = 'inside_partition'\n";
    const std::string random = "[[stage]]\nuse = 'random_order'\n";
    const std::string csr = "[layout]\nuse = 'csr'\n";
    std::vector<Recipe> recipes;
    for (const std::string& text :
         {metis + csr, metis + sort + csr, random + csr, metis + sort + split + "[layout]\nuse = 'ehyb'\n", csr, metis + csr,
          random + metis + csr}) {
        recipes.push_back(parse_recipe(text, "test.toml", catalogue()));
    }
    const CsrMatrix matrix = grid(12);
    SharedStages shared(matrix);
    StageNames computed;
    RunObserver observer;
    observer.progress = [&](const std::string& step) { computed.push_back(step.substr(6)); };
    std::vector<std::size_t> kept;
    const std::vector<StagedMatrix> results = results_of(shared, recipes, observer, kept);
    CHECK(computed == StageNames{"metis_partition", "row_sort", "random_order", "split", "metis_partition"});
    // Kept: metis; + row_sort; + random_order; metis and random_order; unchanged; random_order; nothing.
    CHECK(kept == std::vector<std::size_t>{1, 2, 3, 2, 2, 1, 0});
    REQUIRE(results.size() == recipes.size());
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        CAPTURE(i);
        StagedMatrix alone = stage_input(matrix);
        (void)apply_stages(recipes[i], alone, {nullptr, Precision::f64});
        check_same_matrix(results[i], alone);
    }
}

TEST_CASE("stages give the same matrix with and without figures in between") {
    RunObserver with_figures;
    with_figures.stage_done = [](const StagedMatrix&, StageOutcome&) {};
    for (const LayoutRecipe& each : layout_recipes()) {
        for (const NamedMatrix& named : battery()) {
            if (!each.takes(named.matrix)) continue;
            CAPTURE(each.name);
            CAPTURE(named.name);
            StagedMatrix one_by_one = stage_input(named.matrix, each.recipe.node_size);
            StagedMatrix together = one_by_one;
            try {
                (void)apply_stages(each.recipe, one_by_one, {}, with_figures);
            } catch (const InputError&) {
                continue;
            }
            (void)apply_stages(each.recipe, together, {});
            check_same_matrix(together, one_by_one);
        }
    }
}

TEST_CASE("entries are permuted before a stage that reads them, and at the end") {
    static std::vector<bool> had_entries;
    Catalogue watched = scripted_catalogue();
    for (StageEntry& stage : watched.stages) {
        if (stage.name == "reverse") {
            stage.reads_entries = [](const Parameters&) { return false; };
            stage.run = [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                had_entries.push_back(!staged.matrix.values.empty());
                return StageResult{{OrderChange{Acts::symmetric, random_permutation(staged.matrix.rows, had_entries.size())}}};
            };
        }
        if (stage.name == "rotate_rows") {
            stage.run = [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                had_entries.push_back(!staged.matrix.values.empty());
                return StageResult{{OrderChange{Acts::rows, random_permutation(staged.matrix.rows, had_entries.size())}}};
            };
        }
    }
    const Recipe recipe = parse_recipe(stages("reverse reverse rotate_rows reverse"), "test.toml", watched);
    const auto after = [&](auto&& use) {
        had_entries.clear();
        StagedMatrix staged = stage_input(five_nonzeros());
        use(staged);
        CHECK_NOTHROW(check_invariants(staged, five_nonzeros()));
        return had_entries;
    };
    // `rotate_rows` reads entries, which is the default of a stage.
    CHECK(after([&](StagedMatrix& staged) { (void)apply_stages(recipe, staged, {}); }) ==
          std::vector<bool>{true, false, true, false});
    // With figures in between, each of them reads the entries.
    RunObserver with_figures;
    with_figures.stage_done = [](const StagedMatrix&, StageOutcome&) {};
    CHECK(after([&](StagedMatrix& staged) { (void)apply_stages(recipe, staged, {}, with_figures); }) ==
          std::vector<bool>{true, true, true, true});
}

TEST_CASE("if memory is short, nothing is kept and stages run again") {
    std::vector<Recipe> recipes;
    for (const char* names : {"reverse rotate_rows", "reverse rotate_rows", "reverse"}) {
        recipes.push_back(parse_recipe(stages(names), "test.toml", scripted_catalogue()));
    }
    const CsrMatrix matrix = grid(400);  // a copy takes 11 MiB
    const auto computed_with = [&](std::size_t free_bytes, std::vector<std::size_t>& kept) {
        new_script();
        const FreeMemory free(free_bytes);
        SharedStages shared(matrix);
        StageNames computed;
        RunObserver observer;
        observer.progress = [&](const std::string& step) { computed.push_back(step.substr(6)); };
        CHECK(results_of(shared, recipes, observer, kept).size() == 3);
        return computed;
    };
    std::vector<std::size_t> kept;
    CHECK(computed_with(1000 * mebibyte, kept) == StageNames{"reverse", "rotate_rows"});
    CHECK(kept == std::vector<std::size_t>{2, 1, 0});
    kept.clear();
    CHECK(computed_with(60 * mebibyte, kept) == StageNames{"reverse", "rotate_rows", "reverse", "rotate_rows", "reverse"});
    CHECK(kept == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("pictures of shared stages have identical bytes") {
    const auto pictures = [](const StageNames& texts, const std::filesystem::path& folder) {
        std::vector<Recipe> recipes;
        for (const std::string& text : texts) recipes.push_back(parse_recipe(text, "test.toml", scripted_catalogue()));
        new_script();
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        RunOptions options;
        options.timing = {CacheState::warm, 5, 0, 1e9, scripted_clock()};
        Runner runner(five_nonzeros(), scripted_catalogue(), {host}, options);
        runner.expect(recipes);
        std::set<std::string> names;
        for (const Recipe& recipe : recipes) {
            PictureBook book;
            RunObserver observer;
            observer.stage_done = [&](const StagedMatrix& staged, StageOutcome& outcome) {
                outcome.attached = page_of(staged);
                book.add(page_of(outcome));
            };
            observer.stage_shared = [&](const StageOutcome& outcome) { book.add(page_of(outcome)); };
            RunReport report = runner.run(recipe, observer);
            book.write(folder, report);
            names = pictures_of(report);
        }
        return names;
    };
    const TemporaryFolder alone;
    const TemporaryFolder shared;
    const auto names = pictures({stages("reverse rotate_rows")}, alone.path());
    CHECK(names == std::set<std::string>{"0_input.png", "1_reverse.png", "2_rotate_rows.png", "stages.png"});
    CHECK(pictures({stages("reverse rotate_columns"), stages("reverse rotate_rows")}, shared.path()) == names);
    for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(file_text(alone.path() / name).size() > 100);
        CHECK(file_text(alone.path() / name) == file_text(shared.path() / name));
    }
}

}  // namespace workbench
