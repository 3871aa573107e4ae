// Kept results: the next run reads them, and computes them again if a file contains something else.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/engine/ready.hpp"
#include "pipeline/run/runner.hpp"
#include "run/kept_runs.hpp"
#include "support/golden.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {

TEST_SUITE("kept results") {
    TEST_CASE("the second run reads all results and gives the same figures") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(20);
        const RunReport first = run_keeping(ehyb, matrix, folder.path());
        CHECK(kept_of(first).empty());
        CHECK_EQ(names_in(folder.path()),
                 std::multiset<std::string>{"ehyb_f64", "ehyb_f64", "metis_partition", "row_sort", "row_sort", "split"});
        const RunReport second = run_keeping(ehyb, matrix, folder.path());
        CHECK_EQ(kept_of(second), all_of_ehyb);
        CHECK(notes_on(folder.path(), second).empty());
        REQUIRE_EQ(first.stages.size(), second.stages.size());
        for (std::size_t i = 0; i < first.stages.size(); ++i) {
            CHECK(first.stages[i].notes == second.stages[i].notes);
            CHECK_EQ(first.stages[i].metrics.mean_bandwidth, second.stages[i].metrics.mean_bandwidth);
        }
        CHECK_EQ(first.layouts[0].seconds, second.layouts[0].seconds);  // the time of the first run
        CHECK_EQ(first.layouts[0].bytes(), second.layouts[0].bytes());
        CHECK_EQ(first.layouts[0].slots(), second.layouts[0].slots());
    }

    TEST_CASE("results of stages on the battery are equal whether computed or read") {
        const TemporaryFolder folder;
        for (const std::vector<LayoutRecipe>* recipes : {&layout_recipes(), &hybrid_recipes()}) {
            for (const LayoutRecipe& recipe : *recipes) {
                for (const NamedMatrix& one : battery()) {
                    if (!recipe.takes(one.matrix)) continue;
                    CAPTURE(recipe.name);
                    CAPTURE(one.name);
                    KeepFolder keep(folder.path(), "battery");
                    const Keeping keeping(&keep, one.matrix);
                    StagedMatrix made = stage_input(one.matrix, recipe.recipe.node_size);
                    StagedMatrix read = made;
                    try {
                        (void)apply_stages(recipe.recipe, made, {});
                        (void)apply_stages(recipe.recipe, read, {}, {}, {}, keeping);
                        read = stage_input(one.matrix, recipe.recipe.node_size);
                        const std::vector<StageOutcome> stages =
                            apply_stages(recipe.recipe, read, {}, {}, {}, keeping).outcomes;
                        CHECK_EQ(stages.size(), recipe.recipe.stages.size());
                        CHECK(
                            std::ranges::all_of(stages, [](const StageOutcome& one) { return one.kept_seconds.has_value(); }));
                    } catch (const InputError&) {
                        continue;
                    }
                    CHECK(keep.take_notes().empty());
                    CHECK(made.matrix == read.matrix);
                    CHECK(made.row_order == read.row_order);
                    CHECK(made.column_order == read.column_order);
                    CHECK(made.cuts == read.cuts);
                    CHECK(made.shares == read.shares);
                    CHECK(made.node_size == read.node_size);
                }
            }
        }
    }

    TEST_CASE("a hybrid's layouts are kept share by share") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        CHECK(kept_of(run_keeping(hybrid, matrix, folder.path())).empty());
        CHECK_EQ(kept_of(run_keeping(hybrid, matrix, folder.path())), NameSet{"split", "csr + sell", "csr long", "sell short"});
        fs::remove(file_in(folder.path(), "csr_f64"));
        fs::remove(file_in(folder.path(), "csr_f64"));
        CHECK_EQ(kept_of(run_keeping(hybrid, matrix, folder.path())), NameSet{"split", "sell short"});
    }

    TEST_CASE("the note on a hybrid lists each share once, and its time") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        (void)run_keeping(hybrid, matrix, folder.path());
        KeepFolder keep(folder.path(), "a program");
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        RunOptions options;
        options.backends = {Backend::kokkos};
        // Each look at the clock takes a second, so that reading one result does.
        options.timing = {CacheState::warm, 0, 0, 2, {.seconds = [now = 0.0]() mutable { return now += 1; }}};
        options.keep = &keep;
        Runner runner(matrix, catalogue(), {host}, options);
        const RunReport report = runner.run(parse_recipe(hybrid, "test.toml", catalogue()), {});
        REQUIRE(report.layouts.size() == 3);
        CHECK_EQ(report.layouts[0].kept_seconds, 2);
        CHECK_EQ(report.layouts[1].kept_seconds, 1);
        REQUIRE(!report.notes.empty());
        CHECK_EQ(report.notes.back(),
                 "kept by an earlier run: split, layout csr f64 of share long, layout sell f64 of share short; read in 3.00 s, "
                 "and the times are those that it once took to make");
    }

    TEST_CASE("a stage that depends on the precision is kept for each precision") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        const std::vector<Precision> both{Precision::f64, Precision::f32};
        const RunReport first = run_keeping(segments_that_fit, matrix, folder.path(), "a program", both);
        CHECK(kept_of(first).empty());
        CHECK_EQ(names_in(folder.path()).count("column_sort"), 1);
        CHECK_EQ(names_in(folder.path()).count("column_segmentation"), 2);
        CHECK_EQ(names_in(folder.path()).count("row_sort"), 2);  // both follow another segmentation
        const RunReport second = run_keeping(segments_that_fit, matrix, folder.path(), "a program", both);
        CHECK_EQ(kept_of(second), NameSet{"column_sort", "column_segmentation", "row_sort", "segmented"});
        REQUIRE_EQ(first.layouts.size(), 2);
        for (std::size_t i = 0; i < 2; ++i) CHECK_EQ(first.layouts[i].bytes(), second.layouts[i].bytes());
        // f32 alone finds its own results, and nothing but those.
        const RunReport narrow = run_keeping(segments_that_fit, matrix, folder.path(), "a program", {Precision::f32});
        CHECK_EQ(kept_of(narrow), kept_of(second));
        CHECK_EQ(narrow.layouts.at(0).bytes(), first.layouts[1].bytes());
    }

    TEST_CASE("a recipe that a solve makes ready in f32 runs its stages for f32") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        const RunReport both =
            run_keeping(segments_that_fit, matrix, folder.path(), "a program", {Precision::f64, Precision::f32});
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        const Recipe recipe = parse_recipe(segments_that_fit, "test.toml", catalogue());
        const KernelEntry& kernel = recipe.layouts.front().entry->kernels.front();
        const Ready<float> f32(recipe, stage_input(matrix), {.device = host, .kernels = {&kernel}});
        const Ready<double> f64(recipe, stage_input(matrix), {.device = host, .kernels = {&kernel}});
        CHECK_EQ(f64.preparation().bytes, static_cast<std::int64_t>(both.layouts.at(0).bytes()));
        CHECK_EQ(f32.preparation().bytes, static_cast<std::int64_t>(both.layouts.at(1).bytes()));
    }

    TEST_CASE("a prepared recipe has parts if rows and columns have one order") {
        const CsrMatrix matrix = grid(12);
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        const auto parts_after = [&](const std::string& stages) {
            const Recipe recipe = parse_recipe(stages + "[layout]\nuse = 'csr'\n", "test.toml", catalogue());
            const KernelEntry& kernel = recipe.layouts.front().entry->kernels.front();
            const Ready<double> ready(recipe, stage_input(matrix), {.device = host, .kernels = {&kernel}});
            return std::vector<Index>(ready.partition().begin(), ready.partition().end());
        };
        const std::string parts = "[[stage]]\nuse = 'rcm_blocks'\nparts = 4\n";
        const std::string sorted = "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\n";
        CHECK_EQ(parts_after(parts), std::vector<Index>{0, 36, 72, 108, 144});
        CHECK_EQ(parts_after(parts + sorted + "apply = 'symmetric'\n"), std::vector<Index>{0, 36, 72, 108, 144});
        CHECK(parts_after(parts + sorted + "apply = 'rows'\n").empty());
    }

    TEST_CASE("two shares with the same layout are two results") {
        const TemporaryFolder folder;
        std::string both_csr = hybrid;
        both_csr.replace(both_csr.find("'sell'"), 6, "'csr'");
        const CsrMatrix matrix = grid(12);
        (void)run_keeping(both_csr, matrix, folder.path());
        CHECK_EQ(names_in(folder.path()).count("csr_f64"), 4);  // each with its own values and with exact ones
        CHECK_EQ(kept_of(run_keeping(both_csr, matrix, folder.path())), NameSet{"split", "csr + csr", "csr long", "csr short"});
    }

    TEST_CASE("a result is kept for exactly what it depends on") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        (void)run_keeping(ehyb, matrix, folder.path());
        SUBCASE("a value of the matrix") {
            CsrMatrix other = matrix;
            other.values[3] = 17;
            CHECK(kept_of(run_keeping(ehyb, other, folder.path())).empty());
        }
        SUBCASE("where the rows of the matrix begin") {
            const KeepFolder keep(folder.path(), "a program");
            const auto key = [&](Index row) {
                return keep.key_of(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {row, 1, 2}})).matrix;
            };
            CHECK(key(0) == key(0));
            CHECK(key(0) != key(1));
        }
        SUBCASE("the program or the machine") { CHECK(kept_of(run_keeping(ehyb, matrix, folder.path(), "another")).empty()); }
        SUBCASE("a parameter of a stage, which affects all later results") {
            std::string changed = ehyb;
            changed.replace(changed.find("'partition'"), 11, "'partition'\norder = 'ascending'");
            CHECK_EQ(kept_of(run_keeping(changed, matrix, folder.path())), NameSet{"metis_partition"});
        }
        SUBCASE("a parameter of the layout") {
            CHECK_EQ(kept_of(run_keeping(ehyb + std::string("column_index = 'u32'\n"), matrix, folder.path())),
                     NameSet{"metis_partition", "row_sort", "split", "sort_outside"});
        }
        SUBCASE("the device that a stage depends on") {
            const std::string on_v100 = "[recipe]\ndevice = 'v100'\n" + std::string(ehyb);
            CHECK(kept_of(run_keeping(on_v100, matrix, folder.path())).empty());
        }
        SUBCASE("the precision of a layout, but not of stages that do not depend on it") {
            CHECK_EQ(kept_of(run_keeping(ehyb, matrix, folder.path(), "a program", {Precision::f32})),
                     NameSet{"metis_partition", "row_sort", "split", "sort_outside"});
        }
        SUBCASE("the size of nodes") {
            CHECK(kept_of(run_keeping("[matrix]\nnode_size = 2\n" + std::string(ehyb), matrix, folder.path())).empty());
        }
    }

    TEST_CASE("a stage for a device is kept for this device, whatever differs in another one") {
        const TemporaryFolder folder;
        KeepFolder keep(folder.path(), "a program");
        const DeviceProperties device{DeviceKind::gpu, "a GPU", 80, 1000, 2000, 3000};
        const auto keeping_for = [&](const DeviceProperties* one) {
            ChainStep step;
            step.entry = catalogue().find_stage("natural");
            step.device = one;
            return keeping_after(Keeping(&keep, grid(3)), step);
        };
        std::vector<double> values{1, 2};
        const auto transfer = [&values](Transfer& all) { all(values); };
        keeping_for(&device).write(transfer);
        CHECK(keeping_for(&device).read(transfer));
        CHECK_FALSE(keeping_for(nullptr).read(transfer));
        std::vector<DeviceProperties> others(5, device);
        others[0].name = "another GPU";
        others[1].processors = 81;
        others[2].shared_memory_per_block = 1001;
        others[3].last_level_cache = 2001;
        others[4].memory = 3001;
        for (const DeviceProperties& other : others) CHECK_FALSE(keeping_for(&other).read(transfer));
    }

    TEST_CASE("a stage with one of its files is kept as long as the file has these contents") {
        const TemporaryFolder folder;
        const std::filesystem::path file = folder.path() / "order.txt";
        const CsrMatrix matrix = grid(2);
        const std::string recipe = "[[stage]]\nuse = 'imported'\norder = '" + file.string() + "'\n[layout]\nuse = 'csr'\n";
        const auto kept_with = [&](const std::string& order) {
            std::ofstream(file) << order;
            return kept_of(run_keeping(recipe, matrix, folder.path() / "kept"));
        };
        CHECK(kept_with("3\n2\n1\n0\n").empty());
        CHECK(kept_with("3\n2\n1\n0\n").contains("imported"));
        CHECK_FALSE(kept_with("3\n1\n2\n0\n").contains("imported"));
    }

    TEST_CASE("the ids of stages, and defaults that a recipe states, do not matter") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        (void)run_keeping(ehyb, matrix, folder.path());
        std::string changed = ehyb;
        changed.replace(changed.find("parts = 4"), 9, "parts = 4\nid = 'cut'\nmethod = 'kway'");
        CHECK_EQ(kept_of(run_keeping(changed, matrix, folder.path())),
                 NameSet{"cut", "row_sort", "split", "sort_outside", "ehyb"});
    }

    TEST_CASE("several processes may keep the same result at once") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(4);
        std::vector<double> values(100000, 0.5);
        const auto transfer = [&values](Transfer& all) { all(values); };
        std::vector<pid_t> writers;
        for (int writer = 0; writer < 3; ++writer) {
            writers.push_back(fork());
            if (writers.back() != 0) continue;
            KeepFolder keep(folder.path(), "a program");
            const Keeping keeping(&keep, matrix);
            for (int i = 0; i < 10; ++i) keeping.write(transfer);
            _exit(keep.take_notes().empty() ? 0 : 1);
        }
        KeepFolder keep(folder.path(), "a program");
        const Keeping keeping(&keep, matrix);
        int found = 0;
        for (std::size_t ended = 0; ended < writers.size();) {
            int status = 1;
            if (waitpid(writers[ended], &status, WNOHANG) == writers[ended]) {
                CHECK_EQ(status, 0);
                ++ended;
            }
            std::vector<double> back;
            if (!keeping.read([&back](Transfer& all) { all(back); })) continue;
            ++found;
            CHECK(back == values);
        }
        CHECK_GT(found, 0);
        CHECK(keep.take_notes().empty());
        CHECK(keeping.read(transfer));
        CHECK_EQ(names_in(folder.path()).size(), 1);  // no partial files
    }

    TEST_CASE("kept results have the times of their computation, and the report notes it") {
        const TemporaryFolder folder;
        const auto run_scripted = [&folder](double seconds_of_stage) {
            new_script().seconds["stage reverse"] = {seconds_of_stage};
            script().seconds["run usual"] = {16};
            script().seconds["run fast"] = {4};
            ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
            KeepFolder keep(folder.path(), "a program");
            RunOptions options;
            options.timing = {CacheState::warm, 5, 0, 1e9, scripted_clock()};
            options.keep = &keep;
            const CsrMatrix matrix = csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1.5}, {0, 2, 2.5}, {1, 1, 3.5}});
            Runner runner(matrix, scripted_catalogue(), {host}, options);
            return runner.run(parse_recipe("[recipe]\nname = 'Kept'\n[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n",
                                           "test.toml", scripted_catalogue()),
                              {});
        };
        const RunReport first = run_scripted(2);
        CHECK_EQ(script().count("stage reverse"), 1);
        const RunReport second = run_scripted(700);
        CHECK_EQ(script().count("stage reverse"), 0);  // the stage did not run
        CHECK_EQ(second.stages[1].seconds, 2);
        CHECK_EQ(second.stages[1].kept_seconds, 0);
        CHECK_EQ(first.kernels[1].break_even, second.kernels[1].break_even);
        compare_with_golden(WORKBENCH_SOURCE_DIR "/tests/golden/run/kept.txt", to_text(second));
        CHECK_NE(to_json(second).find("\"kept_seconds\": 0.0"), std::string::npos);
        CHECK_NE(to_json(first).find("\"kept_seconds\": null"), std::string::npos);
    }

    TEST_CASE("a solve reads the results that a run kept, and notes it") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        (void)run_keeping(ehyb, matrix, folder.path());
        KeepFolder keep(folder.path(), "a program");
        const std::unique_ptr<Device> host = make_host_device();
        const Recipe recipe = parse_recipe(ehyb, "test.toml", catalogue());
        const KernelEntry& kernel = recipe.layouts.front().entry->kernels.front();
        const Oracle<double> oracle(matrix);
        const Ready<double> ready(
            recipe, stage_input(matrix),
            {.device = *host, .kernels = {&kernel}, .oracle = &oracle, .keeping = Keeping(&keep, matrix)});
        CHECK(ready.kernel() != nullptr);
        const std::string& note = ready.preparation().notes.back();
        CHECK_NE(note.find("kept by an earlier run: metis_partition, row_sort, split, sort_outside, layout ehyb; read in "),
                 std::string::npos);
        CHECK_EQ(note.find("read in -"), std::string::npos);
        CHECK_GT(ready.preparation().stage_seconds, 0);
    }
}

}  // namespace workbench
