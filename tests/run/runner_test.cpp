// The measurements and derived figures of a run, worked out by hand: stages, layouts and kernels take scripted times.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "run/scripted_runs.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// The targets of the scatters that permute. Those that change elements of x and y before a sample follow an upload.
std::vector<std::vector<Index>> permutations() {
    std::vector<std::vector<Index>> found;
    auto targets = script().targets.begin();
    bool changes = false;
    for (const std::string& event : script().events) {
        if (event != "scatter") changes = event == "upload";
        if (event == "scatter" && !changes) found.push_back(*targets);
        if (event == "scatter") ++targets;
    }
    return found;
}

}  // namespace

TEST_SUITE("runner") {
    TEST_CASE("speed-up, and break-even of stages, layout, preparation and permutation") {
        price_everything();
        script().seconds["time"] = {0.25};  // the overhead of timing on the device
        const RunReport report = run(reversed_plain);
        CHECK(report.stage_seconds(Precision::f64) == 1);
        REQUIRE(report.stages.size() == 2);
        CHECK(report.stages[0].seconds == 0);
        CHECK(report.stages[1].seconds == 1);
        CHECK(report.layouts.at(0).seconds == 3);

        const KernelOutcome& base = kernel_of(report, "usual");
        CHECK(base.baseline);
        CHECK(base.layout == "csr");
        CHECK(base.setup_seconds == 1000 + 0.25);  // to build and to prepare it
        CHECK(base.timing.median == 16.25);
        CHECK(base.speedup == 1);
        CHECK(!base.break_even);
        CHECK(base.vector_permutation_seconds == 0);

        const KernelOutcome& fast = kernel_of(report, "fast");
        CHECK(!fast.baseline);
        CHECK(fast.layout == "plain");
        CHECK(fast.timing.median == 4.25);
        CHECK(fast.prepare_seconds == 5.25);            // including the wait until the device is idle
        CHECK(fast.vector_permutation_seconds == 1.5);  // x in one direction and y in the other
        CHECK(fast.speedup == 16.25 / 4.25);
        CHECK(fast.break_even == (1.0 + 3 + 5.25 + 1.5) / (16.25 - 4.25));

        const KernelOutcome& slow = kernel_of(report, "slow");
        CHECK(slow.speedup == 16.25 / 32.25);
        CHECK(!slow.break_even);
    }

    TEST_CASE("speed-up and break-even are medians over the rounds, with intervals") {
        price_everything();
        const int before = ExactProblem(example()).vector_count() + 4;
        const auto samples = [before](const std::string& kernel, const std::vector<double>& each) {
            std::deque<double>& seconds = script().seconds[kernel];
            seconds.assign(before, 1);
            seconds.insert(seconds.end(), each.begin(), each.end());
        };
        // All kernels are slow in the second round and slower in the fourth.
        samples("run usual", {8, 80, 8, 800, 9});
        samples("run fast", {4, 20, 2, 100, 3});    // ratios 2, 4, 4, 8, 3; gains 4, 60, 6, 700, 6
        samples("run slow", {16, 100, 8, 200, 9});  // ratios 0.5, 0.8, 1, 4, 1
        samples("run eigen", {16, 100, 10, 1000, 10});
        const RunReport report = run("[layout]\nuse = 'plain'\n", options_of(CacheState::cold));
        const KernelOutcome& fast = kernel_of(report, "fast");
        CHECK(fast.timing.samples == std::vector<double>{4, 20, 2, 100, 3});
        CHECK(fast.speedup == 4);
        CHECK(fast.speedup_interval == Interval{2, 8});
        CHECK(fast.verdict() == Verdict::faster);
        CHECK(fast.break_even == (3.0 + 5) / 6);
        CHECK(fast.break_even_interval == Interval{8.0 / 700, 8.0 / 4});

        const KernelOutcome& slow = kernel_of(report, "slow");
        CHECK(slow.speedup == 1);
        CHECK(slow.speedup_interval == Interval{0.5, 4});
        CHECK(slow.verdict() == Verdict::within_noise);
        CHECK(!slow.break_even);
        CHECK(!slow.break_even_interval);

        const KernelOutcome& eigen = kernel_of(report, "eigen");
        CHECK(eigen.speedup == 0.8);
        CHECK(eigen.speedup_interval == Interval{0.5, 0.9});
        CHECK(eigen.verdict() == Verdict::slower);
        CHECK(!eigen.break_even);

        CHECK(!kernel_of(report, "usual").verdict());
        CHECK(!kernel_of(report, "usual").speedup_interval);
        CHECK(report.turn_seed == 1);
    }

    TEST_CASE("four rounds are too few") {
        price_everything();
        const RunReport report = run("[layout]\nuse = 'plain'\n", options_of(CacheState::cold, 4));
        CHECK(kernel_of(report, "fast").speedup == 4);
        CHECK(kernel_of(report, "fast").verdict() == Verdict::too_few_samples);
        CHECK(!kernel_of(report, "fast").break_even);
    }

    TEST_CASE("a kernel that does not fit beside the others is prepared after their turns") {
        price_everything();
        script().fails["prepare slow"] = {1};
        const RunReport report = run("[layout]\nuse = 'plain'\n");
        CHECK(names_of(report) == Names{"usual", "fast", "slow", "eigen"});
        CHECK(kernel_of(report, "fast").speedup == 4);
        CHECK(kernel_of(report, "slow").speedup == 0.5);
        // It took part in one more set of turns: 1 + 5 * 2 runs, and 8 to 15 after each set.
        CHECK(script().count("run usual") >= script().count("run fast") + 11 + 2 * 8 - 15);

        // If that does not help, earlier measurements are kept.
        price_everything();
        script().fails["prepare slow"] = {1, 2};
        Machine machine;
        Runner runner(example(), scripted_catalogue(), {machine.host}, options_of());
        RunReport kept;
        CHECK_THROWS_AS(runner.run(scripted_recipe("[layout]\nuse = 'plain'\n"), {}, kept), MachineError);
        CHECK(names_of(kept) == Names{"usual", "fast"});
        CHECK(kept.devices.size() == 1);  // the report is complete but for the kernel that failed
        CHECK(kernel_of(kept, "fast").speedup == 4);
    }

    TEST_CASE("break-even includes all stages") {
        price_everything();
        const RunReport report = run("[[stage]]\nuse = 'reverse'\n[[stage]]\nuse = 'rotate_rows'\n[layout]\nuse = 'plain'\n");
        CHECK(report.stage_seconds(Precision::f64) == 3);
        // y is permuted to the order of x within the product: 4.5 s.
        CHECK(kernel_of(report, "fast").break_even == (3.0 + 3 + 5 + 1) / (16 - 4.5));
    }

    TEST_CASE("the time of a stage includes applying its change, and nothing else") {
        new_script().seconds["stage reverse"] = {4};
        StagedMatrix staged = stage_input(example());
        Clock clock = scripted_clock();
        // Applying the order takes 3 s.
        clock.seconds = [&staged] { return script().now + (staged.row_order.is_identity() ? 0 : 3); };
        RunObserver observer;
        observer.progress = [](const std::string&) { script().now += 10; };
        observer.stage_done = [](const StagedMatrix&, StageOutcome&) { script().now += 100; };
        const auto stages = apply_stages(scripted_recipe(reversed_plain), staged, {}, observer, clock).outcomes;
        REQUIRE(stages.size() == 2);
        CHECK(stages[1].seconds == 7);
        CHECK(stages[1].id == "reverse");
        CHECK(stages[1].notes.at(0).second == "round");
        CHECK(staged.matrix.row_length(0) == 2);
        CHECK(staged.row_order.old_of_new(0) == 3);
        CHECK(stages[1].metrics.nonzeros == 7);
    }

    TEST_CASE("rates count two operations per nonzero and every byte once, in units of 10^9") {
        price_everything();
        const RunReport report = run("[layout]\nuse = 'plain'\n", options_of(), true);
        const KernelOutcome& fast = kernel_of(report, "fast");
        CHECK(fast.bytes_to_move == 188);
        CHECK(fast.bytes_per_nonzero == doctest::Approx(188.0 / 7));
        CHECK(fast.gflops == doctest::Approx(14.0 / 4 / 1e9).epsilon(1e-12));
        CHECK(fast.gbytes_per_second == doctest::Approx(188.0 / 4 / 1e9).epsilon(1e-12));
        CHECK(fast.share_of_copy == doctest::Approx(188.0 / 4 / 376).epsilon(1e-12));
        CHECK(fast.share_of_read == doctest::Approx(188.0 / 4 / 752).epsilon(1e-12));
        // The vendor kernel reports the bytes of its own arrays.
        CHECK(kernel_of(report, "vendor").bytes_to_move == 1000);
        CHECK(kernel_of(report, "vendor").bytes_per_nonzero == doctest::Approx(1000.0 / 7));
    }

    TEST_CASE("tuned parameters of a layout are those of the GPU of this machine, or of the recipe's device") {
        static std::vector<std::int64_t> built_for;
        Catalogue catalogue = scripted_catalogue();
        LayoutEntry& layout = catalogue.layouts[1];
        REQUIRE(layout.name == "plain");
        layout.parameters = {
            {.name = "parts",
             .default_value = std::string("auto"),
             .words = {"auto"},
             .for_device = [](const DeviceProperties& device) { return std::int64_t{2} * device.processors; }}};
        layout.build.f64 = [](const StagedMatrix& staged, const Parameters& parameters) {
            built_for.push_back(parameters.integer("parts"));
            return scripted_catalogue().layouts[1].build.f64(staged, Parameters({}, {}));
        };
        const auto parts_of = [&](const std::string& text, bool with_gpu) {
            new_script();
            built_for.clear();
            Machine machine;
            Runner runner(example(), catalogue, {machine.host, with_gpu ? &machine.gpu : nullptr}, options_of());
            (void)runner.run(parse_recipe(text + "[layout]\nuse = 'plain'\n", "t.toml", catalogue), {});
            REQUIRE(!built_for.empty());
            return built_for.front();
        };
        CHECK(parts_of("", true) == 2 * gpu_properties().processors);
        CHECK(parts_of("", false) == 2 * tuned_device_model().processors);
        CHECK(parts_of("[recipe]\ndevice = 'v100'\n", true) == 2 * find_device_model("v100")->processors);
    }

    TEST_CASE("a product that permutes y moves the list of rows, and writes and reads a buffer") {
        price_everything();
        const RunReport report = run("[[stage]]\nuse = 'rotate_rows'\n[layout]\nuse = 'plain'\n");
        CHECK(kernel_of(report, "fast").bytes_to_move == 188 + 4 * 4 + 2 * 4 * 8);
        CHECK(kernel_of(run(reversed_plain), "fast").bytes_to_move == 188);
    }

    TEST_CASE("a wrong and an unsuitable kernel are listed with their precision") {
        new_script();
        RunOptions options = options_of();
        options.precisions = {Precision::f32};
        const std::string wrong = to_text(run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong'\n", options));
        CHECK(wrong.find("\n  bad wrong kokkos f32: WRONG RESULT: row 3: ") != std::string::npos);
        const std::string unfit = to_text(run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'unfit'\n", options));
        CHECK(unfit.find("\n  bad unfit kokkos f32: unsuitable: this matrix has no such product\n") != std::string::npos);
    }

    TEST_CASE("f32 moves half the values") {
        price_everything();
        RunOptions options = options_of();
        options.precisions = {Precision::f64, Precision::f32};
        const RunReport report = run("[layout]\nuse = 'plain'\n", options);
        CHECK(kernel_of(report, "fast", Precision::f32).bytes_to_move == 188 - 28 - 32);
        REQUIRE(report.layouts.size() == 2);
        CHECK(report.layouts[0].precision == Precision::f64);
        CHECK(report.layouts[0].bytes() == 124);
        CHECK(report.layouts[1].bytes() == 96);
        CHECK(report.layouts[1].slots() == 7);
    }

    TEST_CASE("permuting vectors: x before and y after, apart from the product") {
        price_everything();
        const RunReport report = run(reversed_plain);
        CHECK(kernel_of(report, "fast").vector_permutation_seconds == 1);
        CHECK(kernel_of(report, "fast").timing.samples == std::vector<double>(5, 4));
        // For each of three kernels: x and y, after one untimed round of both.
        CHECK(permutations().size() == 3 * 4);
    }

    TEST_CASE("permuting vectors: x and y by the order of the columns; rows are permuted within the product") {
        // The last four.
        const auto last_of = [](const std::string& stage) {
            new_script();
            RunOptions options = options_of();
            options.only = "fast";
            (void)run("[[stage]]\nuse = '" + stage + "'\n[layout]\nuse = 'plain'\n", options);
            const auto all = permutations();
            REQUIRE(all.size() >= 4);
            return std::vector<std::vector<Index>>(all.end() - 4, all.end());
        };
        const std::vector<Index> down{1, 2, 3, 0};  // column 0 moves to place 1
        const std::vector<Index> up{3, 0, 1, 2};    // row 0 was row 3 of the input
        using Targets = std::vector<std::vector<Index>>;
        CHECK(last_of("rotate_columns") == Targets{down, down, up, up});  // x twice, y twice
        CHECK(last_of("rotate_rows") == Targets{up, up, up, up});         // only products permute
    }

    TEST_CASE("without an order nothing is permuted") {
        price_everything();
        const RunReport report = run("[layout]\nuse = 'plain'\n");
        CHECK(kernel_of(report, "fast").vector_permutation_seconds == 0);
        CHECK(permutations().empty());
    }

    TEST_CASE("y is permuted within the product if rows and columns have different orders") {
        const StagedMatrix staged = stage_input(example());
        const Permutation identity = Permutation::identity(4);
        const Permutation rotated = Permutation::from_old_of_new({3, 0, 1, 2});
        const Permutation swapped = Permutation::from_old_of_new({1, 0, 2, 3});
        CHECK(ProductSpace(rotated, rotated).target.empty());
        CHECK(!ProductSpace(rotated, rotated).unchanged());
        CHECK(ProductSpace(identity, identity).unchanged());
        CHECK(!ProductSpace(identity, rotated).unchanged());
        CHECK(!ProductSpace(rotated, identity).unchanged());
        // Row 0 was row 3 of the input, and x of column 3 is at place 3.
        CHECK(ProductSpace(rotated, identity).target == std::vector<Index>{3, 0, 1, 2});
        // Row 0 was row 0 of the input, and x of column 0 is at place 1.
        CHECK(ProductSpace(identity, rotated).target == std::vector<Index>{1, 2, 3, 0});
        CHECK(ProductSpace(swapped, rotated).target == std::vector<Index>{2, 1, 3, 0});
        // A rectangular matrix: y is permuted to the order of the input's rows.
        const Permutation two = Permutation::from_old_of_new({1, 0});
        CHECK(ProductSpace(rotated, two).target == std::vector<Index>{3, 0, 1, 2});
        CHECK(ProductSpace(identity, two).target.empty());

        price_everything();
        const RunReport rows = run("[[stage]]\nuse = 'rotate_rows'\n[layout]\nuse = 'plain'\n");
        CHECK(kernel_of(rows, "fast").timing.samples == std::vector<double>(5, 4.5));
        CHECK(kernel_of(rows, "fast").vector_permutation_seconds == 0);
        price_everything();
        const RunReport columns = run("[[stage]]\nuse = 'rotate_columns'\n[layout]\nuse = 'plain'\n");
        CHECK(kernel_of(columns, "fast").timing.samples == std::vector<double>(5, 4.5));
        price_everything();
        const RunReport both =
            run("[[stage]]\nuse = 'rotate_rows'\n[[stage]]\nuse = 'rotate_columns'\n[layout]\nuse = 'plain'\n");
        CHECK(kernel_of(both, "fast").timing.samples == std::vector<double>(5, 4));
    }

    TEST_CASE("options set the number of samples and the state of the cache") {
        price_everything();
        const RunReport report = run("[layout]\nuse = 'plain'\n[kernel]\neigen = 'eigen'\n", options_of(CacheState::cold, 6));
        CHECK(report.cache == CacheState::cold);
        for (const KernelOutcome& kernel : report.kernels) CHECK(kernel.timing.samples.size() == 6);
        CHECK(script().count("flush") == 6 * 4);
        price_everything();
        CHECK(run("[layout]\nuse = 'plain'\n").cache == CacheState::warm);
        CHECK(script().count("flush") == 0);
    }

    TEST_CASE("which kernels run") {
        new_script();
        CHECK(names_of(run("[layout]\nuse = 'plain'\n")) == Names{"usual", "fast", "slow", "eigen"});
        CHECK(names_of(run("[layout]\nuse = 'plain'\n", options_of(), true)) ==
              Names{"usual", "vendor", "fast", "slow", "eigen", "gpu"});
        CHECK(names_of(run("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\n")) == Names{"usual", "slow", "eigen"});

        RunOptions options = options_of();
        options.only = "fast";
        CHECK(names_of(run("[layout]\nuse = 'plain'\n", options, true)) == Names{"usual", "fast"});
        options.only = "gpu";
        CHECK(names_of(run("[layout]\nuse = 'plain'\n", options, true)) == Names{"vendor", "gpu"});
        options.only = "";
        options.backends = {Backend::eigen};
        CHECK(names_of(run("[layout]\nuse = 'plain'\n", options, true)) == Names{"usual", "eigen"});

        options.backends = {Backend::cusparse};
        const RunReport none = run("[layout]\nuse = 'plain'\n", options, true);
        CHECK(names_of(none).empty());
        REQUIRE(none.notes.size() == 1);
        CHECK(none.notes[0] ==
              "no kernel of layout 'plain' runs with these options on this machine; it has fast (kokkos), slow (kokkos), "
              "eigen (eigen), gpu (cuda)");
    }

    TEST_CASE("a report lists the baseline once, unless its order differs") {
        new_script();
        CHECK(names_of(run("[layout]\nuse = 'csr'\n")) == Names{"usual"});
        CHECK(names_of(run("[layout]\nuse = 'csr'\n", options_of(), true)) == Names{"usual", "vendor", "own"});
        const RunReport reversed = run("[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'csr'\n");
        CHECK(names_of(reversed) == Names{"usual", "usual"});
        CHECK(reversed.kernels[0].baseline);
        CHECK(!reversed.kernels[1].baseline);
    }

    TEST_CASE("each device has its own baseline, which is measured once") {
        price_everything();
        script().seconds["run vendor"] = {8};
        script().seconds["run gpu"] = {2};
        Machine machine;
        Runner runner(example(), scripted_catalogue(), {machine.host, &machine.gpu}, options_of());
        const RunReport report = runner.run(scripted_recipe("[layout]\nuse = 'plain'\n"), {});
        CHECK(kernel_of(report, "gpu").speedup == 4);
        CHECK(kernel_of(report, "fast").speedup == 4);
        CHECK(kernel_of(report, "gpu").share_of_copy == doctest::Approx(188.0 / 2 / 3000));
        CHECK(kernel_of(report, "gpu").share_of_read == doctest::Approx(188.0 / 2 / 4000));
        REQUIRE(report.devices.size() == 2);
        CHECK(report.devices[0].properties.name == "a host");
        CHECK(report.devices[0].bandwidth.copy == 376);
        CHECK(report.devices[1].properties.name == "a GPU");
        CHECK(report.devices[1].bandwidth.read == 4000);

        const auto built = script().count("build csr");
        const RunReport again = runner.run(scripted_recipe(reversed_plain), {});
        CHECK(script().count("build csr") == built);
        CHECK(kernel_of(again, "usual").timing.median == 16);
    }

    TEST_CASE("a device without a kernel in the report is not listed") {
        price_everything();
        Machine machine;
        RunOptions options = options_of();
        options.backends = {Backend::kokkos};
        Runner runner(example(), scripted_catalogue(), {machine.host, &machine.gpu}, options);
        const RunReport report = runner.run(scripted_recipe("[layout]\nuse = 'plain'\n"), {});
        REQUIRE(report.devices.size() == 1);
        CHECK(report.devices[0].properties.name == "a host");
    }

    TEST_CASE("without a vendor kernel, the program's CSR is the baseline of a GPU") {
        new_script();
        Catalogue catalogue = scripted_catalogue();
        std::erase_if(catalogue.layouts[0].kernels, [](const KernelEntry& kernel) { return kernel.name == "vendor"; });
        Machine machine;
        Runner runner(example(), catalogue, {machine.host, &machine.gpu}, options_of());
        const RunReport report = runner.run(parse_recipe("[layout]\nuse = 'plain'\n", "t.toml", catalogue), {});
        CHECK(names_of(report) == Names{"usual", "own", "fast", "slow", "eigen", "gpu"});
        CHECK(kernel_of(report, "own").baseline);
    }

    TEST_CASE("unsuitable kernels are recorded, and the rest runs") {
        new_script();
        const RunReport report = run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'unfit'\n");
        CHECK(names_of(report) == Names{"usual", "unfit"});
        CHECK(report.kernels[1].status == KernelOutcome::Status::unsuitable);
        CHECK(report.kernels[1].reason == "this matrix has no such product");
        CHECK(!report.kernels[1].speedup);
        CHECK(report.all_verified());

        const RunReport refused = run("[layout]\nuse = 'refusing'\n");
        CHECK(refused.layouts.at(0).unsuitable == "this matrix has no such layout");
        CHECK(names_of(refused) == Names{"usual"});
    }

    TEST_CASE("a wrong kernel is not timed, has no speed-up, and is reported") {
        price_everything();
        const RunReport report = run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong'\n");
        const KernelOutcome& wrong = kernel_of(report, "wrong");
        CHECK(wrong.status == KernelOutcome::Status::wrong);
        CHECK(wrong.reason.find("row 3: y = ") == 0);
        CHECK(wrong.timing.samples.empty());
        CHECK(!wrong.speedup);
        CHECK(!wrong.break_even);
        CHECK(!report.all_verified());
        CHECK(script().count("prepare wrong") == 1);  // the kernel was not prepared for the real values
    }

    TEST_CASE("nothing is compared with a baseline that is wrong") {
        price_everything();
        Catalogue catalogue = scripted_catalogue();
        catalogue.layouts[0].kernels = {catalogue.find_layout("bad")->kernels.front()};
        Machine machine;
        Runner runner(example(), catalogue, {machine.host}, options_of());
        const RunReport report = runner.run(parse_recipe("[layout]\nuse = 'plain'\n", "t.toml", catalogue), {});
        CHECK(report.kernels.at(0).baseline);
        CHECK(report.kernels.at(0).status == KernelOutcome::Status::wrong);
        CHECK(kernel_of(report, "fast").verified());
        CHECK(!kernel_of(report, "fast").speedup);
        CHECK(!kernel_of(report, "fast").break_even);
        CHECK(!report.all_verified());
    }

    TEST_CASE("real values are checked with a second x, and the larger error is reported") {
        new_script();
        const RunReport later = run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong_later'\n");
        CHECK(kernel_of(later, "wrong_later").status == KernelOutcome::Status::wrong);
        CHECK(kernel_of(later, "wrong_later").reason.find("exceeds the bound") != std::string::npos);
        CHECK(kernel_of(later, "wrong_later").error_over_bound > 1);

        const RunReport coarse = run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'coarse'\n");
        CHECK(kernel_of(coarse, "coarse").verified());
        CHECK(kernel_of(coarse, "coarse").error_over_bound == doctest::Approx(0.5).epsilon(0.1));
        RunOptions in_f32 = options_of();
        in_f32.precisions = {Precision::f32};
        const RunReport first = run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'coarse'\n", in_f32);
        CHECK(kernel_of(first, "coarse", Precision::f32).error_over_bound == doctest::Approx(0.5).epsilon(0.05));
    }

    TEST_CASE("a kernel is verified with every x of the exact problem, then added to y, then with two real x, then timed") {
        new_script();
        (void)run("[layout]\nuse = 'csr'\n", options_of(CacheState::warm, 5));
        const int vectors = ExactProblem(example()).vector_count();
        const std::ptrdiff_t after = script().count("run usual") - (vectors + 1 + 2 + 1 + 2 * 5);
        CHECK(after >= 50);
        CHECK(after <= 249);
        CHECK(script().count("prepare usual") == 2);
    }

    TEST_CASE("a kernel that stops multiplying when it is timed is wrong, and has no times") {
        for (const CacheState cache : {CacheState::cold, CacheState::warm, CacheState::inside_cg}) {
            price_everything();
            const RunReport report = run("[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'stops'\n", options_of(cache, 20));
            const KernelOutcome& stops = kernel_of(report, "stops");
            CHECK(stops.status == KernelOutcome::Status::wrong);
            CHECK_MESSAGE(stops.reason.starts_with("row 0 was never written (in timed run "), stops.reason);
            CHECK(stops.timing.samples.empty());
            CHECK(!stops.speedup);
            CHECK(!report.all_verified());
            CHECK(kernel_of(report, "usual").timing.samples.size() == 20);
        }
    }

    TEST_CASE("a kernel that is faster than its bytes allow is wrong") {
        price_everything();
        script().seconds["run fast"] = {120.0 / 2000};  // 7 values, x and y: 120 bytes
        script().cache_bandwidth = 999;
        const RunReport report = run("[layout]\nuse = 'plain'\n");
        CHECK(kernel_of(report, "fast").status == KernelOutcome::Status::wrong);
        CHECK(kernel_of(report, "fast").reason.find("would move its 120 bytes at ") != std::string::npos);
        CHECK(kernel_of(report, "usual").verified());
        script().seconds["run fast"] = {1};
        script().bytes["fast"] = 1'000'000;  // with padding, which need not be read
        CHECK(kernel_of(run("[layout]\nuse = 'plain'\n"), "fast").verified());
    }

    TEST_CASE("the report describes the recipe") {
        new_script();
        const RunReport report = run("[recipe]\nname = 'N'\nsource = 'S'\n[layout]\nuse = 'plain'\n");
        CHECK(report.recipe_name == "N");
        CHECK(report.recipe_source == "S");
        CHECK(report.recipe_file == "some/test.toml");
        CHECK(report.resolved_recipe.find("use = \"plain\"") != std::string::npos);
    }
}

}  // namespace workbench
