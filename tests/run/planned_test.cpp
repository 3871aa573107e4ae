// A recipe whose matrix a device prepares, from the plan to a verified and timed kernel.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/ready.hpp"
#include "run/scripted_runs.hpp"
#include "support/layouts/scripted_plans.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::string plain = "[layout]\nuse = 'plain'\n";
const std::string reversed = "[[stage]]\nuse = 'reverse'\n" + plain;

Recipe asking(const std::string& text) {
    return parse_recipe("[recipe]\nname = 'R'\nprepare = 'gpu'\n" + text, "some/test.toml", catalogue_with_plans());
}

/// A GPU that carries out plans. A copy of an array to it takes 1/16 s.
struct PlanningMachine : Machine {
    PlanningMachine() {
        price_everything();
        script().seconds["upload"] = {1.0 / 16};
        script().seconds["run gpu"] = {2};
        script().seconds["run vendor"] = {8};
        gpu.plans = &plans;
    }

    RunReport run(const Recipe& recipe, const CsrMatrix& matrix = example()) {
        Runner runner(matrix, catalogue_with_plans(), {host, &gpu}, options_of());
        return runner.run(recipe, {});
    }

    ScriptedPlans plans;
};

bool has_note(const std::vector<std::string>& notes, const std::string& note) {
    return std::ranges::find(notes, note) != notes.end();
}

}  // namespace

TEST_CASE("run times the preparation by a GPU, and the kernel of the matrix there") {
    PlanningMachine machine;
    const RunReport report = machine.run(asking(reversed));
    CHECK(machine.plans.script.plans == 1);
    CHECK(machine.plans.script.new_values == 2);  // integers, and the values again
    const KernelOutcome& kernel = kernel_of(report, "gpu");
    CHECK(kernel.verified());
    CHECK(kernel.reason.empty());
    CHECK(kernel.timing.median == 2);
    CHECK(*kernel.speedup == 4);
    REQUIRE(report.stages.size() == 2);
    CHECK(report.stages[1].seconds == 2);
    CHECK(report.layouts.front().seconds == 5);
    CHECK(kernel.prepare_seconds == 3.0 / 16);  // row offsets, columns and values
    CHECK(*kernel.setup_seconds == 2 + 5 + 3.0 / 16 + kernel.vector_permutation_seconds);
    CHECK(*kernel.new_values_seconds == 1.0 / 16);
    CHECK(has_note(report.notes, "f64: prepared on the GPU: reverse 2000.00 ms, arrays 5000.00 ms"));
    CHECK(has_note(report.notes, "f64: reverse: turned round there"));
    const KernelOutcome& of_host = kernel_of(report, "fast");
    CHECK(*of_host.new_values_seconds == 3 + of_host.prepare_seconds);
    CHECK(*of_host.setup_seconds == 1 + 3 + of_host.prepare_seconds + of_host.vector_permutation_seconds);
    CHECK(has_note(report.notes,
                   "f64: of the kernels, gpu alone has the matrix of the GPU; the prices of the others are those of the host"));
    RunOptions of_one = options_of();
    of_one.only = "gpu";
    Runner alone(example(), catalogue_with_plans(), {machine.host, &machine.gpu}, of_one);
    const std::vector<std::string> notes = alone.run(asking(reversed), {}).notes;
    CHECK(
        std::ranges::none_of(notes, [](const std::string& note) { return note.find("of the kernels") != std::string::npos; }));
}

TEST_CASE("if a coding refuses the integers of the verification, the GPU prepares these, too") {
    PlanningMachine machine;
    machine.plans.script.takes_integers = false;
    CHECK(kernel_of(machine.run(asking(reversed)), "gpu").verified());
    CHECK(machine.plans.script.plans == 2);
    CHECK(machine.plans.script.new_values == 2);
}

TEST_CASE("a matrix that a GPU prepared in another order than the host is wrong, whatever its products are") {
    PlanningMachine machine;
    const RunReport report = machine.run(asking("[[stage]]\nuse = 'rotate'\n" + plain));
    const KernelOutcome& kernel = kernel_of(report, "gpu");
    CHECK_FALSE(kernel.verified());
    CHECK(kernel.status == KernelOutcome::Status::wrong);
    CHECK(kernel.reason == "the GPU prepared the matrix in another order than the host");
    CHECK(kernel.timing.samples.empty());
}

TEST_CASE("run says why the host prepared a matrix") {
    PlanningMachine machine;
    const RunReport of_other_kernel = machine.run(asking("[layout]\nuse = 'csr'\n[kernel]\ncuda = 'own'\n"));
    CHECK(has_note(of_other_kernel.notes, "f64: prepared on the host: a GPU does not store layout csr"));
    machine.plans.script.declines = "rows are long";
    const RunReport declined = machine.run(asking(reversed));
    CHECK(has_note(declined.notes, "f64: prepared on the host, because the GPU declined after 187.50 ms: rows are long"));
    CHECK(kernel_of(declined, "gpu").verified());
    CHECK(declined.stages[1].seconds == 1);
    Recipe not_asked = asking(reversed);
    not_asked.prepare = "";
    const int plans = machine.plans.script.plans;
    CHECK(machine.run(not_asked).notes.empty());
    CHECK(machine.plans.script.plans == plans);
}

TEST_CASE("a GPU finds the order of a graph for a recipe whose matrix the host stores, in run and in all others") {
    PlanningMachine machine;
    const std::string stored = "[layout]\nuse = 'csr'\n[kernel]\ncuda = 'own'\n";
    const std::string ordered = "[[stage]]\nuse = 'reverse'\n" + stored;
    const std::string turned = "[[stage]]\nuse = 'reverse'\n[[stage]]\nuse = 'rotate_rows'\n" + stored;
    const double copies = 3.0 / 16;  // all that passes on the clock
    const std::vector<std::string> notes{"prepared on the host: a GPU does not store layout csr",
                                         "ordered on the GPU: reverse 2000.00 ms, arrays 5000.00 ms; with copies 187.50 ms",
                                         "reverse: turned round there"};
    const RunReport report = machine.run(asking(ordered));
    CHECK(machine.plans.script.plans == 1);
    for (const std::string& note : notes) CHECK(has_note(report.notes, "f64: " + note));
    CHECK(report.stages[1].seconds == copies);
    const KernelOutcome& kernel = kernel_of(report, "own");
    CHECK(kernel.verified());
    const double built = report.layouts.front().seconds;
    CHECK(*kernel.setup_seconds == copies + built + kernel.prepare_seconds + kernel.vector_permutation_seconds);
    const auto of_host = std::ranges::find_if(
        report.kernels, [](const KernelOutcome& one) { return device_of(one.backend) == DeviceKind::host && !one.baseline; });
    REQUIRE(of_host != report.kernels.end());
    CHECK(*of_host->setup_seconds == 1 + built + of_host->prepare_seconds + of_host->vector_permutation_seconds);

    const CsrMatrix& matrix = example();
    std::vector<std::string> steps;
    const auto prepared = [&](const std::string& text) {
        steps.clear();
        return std::make_unique<Ready<double>>(
            asking(text), matrix,
            ReadyPlan<double>{.device = machine.gpu,
                              .filter = {DeviceKind::gpu},
                              .progress = [&](const std::string& step) { steps.push_back(step); },
                              .clock = scripted_clock()});
    };
    for (const std::string& text : {ordered, turned}) {
        const auto ready = prepared(text);
        CHECK(std::ranges::find(steps, "R: stage reverse") == steps.end());
        const Preparation& one = ready->preparation();
        CHECK(one.kernel.kernel == "own");
        CHECK(one.stage_seconds == copies + (text == turned ? 2 : 0));
        for (const std::string& note : notes) CHECK(has_note(one.notes, note));
        StagedMatrix staged = stage_input(matrix);
        (void)apply_stages(asking(text), staged, {});
        CHECK(ready->space().row_order == staged.row_order);
        CHECK(ready->space().column_order == staged.column_order);
    }

    machine.plans.script.declines = "rows are long";
    const auto declined = prepared(ordered);
    CHECK(std::ranges::find(steps, "R: stage reverse") != steps.end());
    CHECK(declined->preparation().stage_seconds == 1);
    CHECK(declined->preparation().copy_seconds == declined->preparation().kernel.prepare_seconds + copies);
    CHECK(has_note(declined->preparation().notes,
                   "ordered on the host, because the GPU declined after 187.50 ms: rows are long"));
}

TEST_CASE("run compares the order that a GPU found for the host with its own") {
    PlanningMachine machine;
    const std::string stored = "[layout]\nuse = 'csr'\n[kernel]\ncuda = 'own'\n";
    const RunReport report = machine.run(asking("[[stage]]\nuse = 'rotate'\n" + stored));
    CHECK(has_note(report.notes, "f64: the GPU found another order than the host, whose times are reported"));
    CHECK(report.stages[1].seconds == 0);  // on the clock of the host
    CHECK(kernel_of(report, "own").verified());
}

TEST_CASE("the stages with which a recipe begins are left to a GPU if they order a graph, and rows and columns alike") {
    const auto steps = [](const std::string& text) {
        const Recipe recipe = parse_recipe("[recipe]\nname = 'R'\n" + text + "[layout]\nuse = 'dasp'\n", "t.toml", catalogue());
        std::string ids;
        const std::optional<DevicePlan> plan = plan_of_orders(recipe);
        if (!plan) return std::string("none");
        CHECK(std::holds_alternative<OrdersAlone>(plan->storage));
        for (const PlanStep& each : plan->steps) ids += each.stage + " ";
        return ids;
    };
    const std::string levels = "[[stage]]\nuse = 'cuthill_mckee'\n";
    const std::string alike = "[[stage]]\nuse = 'row_sort'\napply = 'symmetric'\n";
    CHECK(steps(levels) == "cuthill_mckee ");
    CHECK(steps(alike + levels) == "row_sort cuthill_mckee ");
    CHECK(steps("[[stage]]\nuse = 'node_blocks'\nunknowns = 2\n[[stage]]\nuse = 'rcm_blocks'\nparts = 2\n") ==
          "node_blocks rcm_blocks ");
    CHECK(steps(levels + "[[stage]]\nuse = 'row_sort'\napply = 'rows'\n") == "cuthill_mckee ");
    CHECK(steps(levels + "[[stage]]\nuse = 'random_order'\n" + alike) == "cuthill_mckee ");
    CHECK(steps(levels + "[[stage]]\nuse = 'node_blocks'\nunknowns = 2\n") == "cuthill_mckee ");
    CHECK(steps(alike) == "none");
    CHECK(steps("[[stage]]\nuse = 'random_order'\n" + levels) == "none");
    CHECK(steps("") == "none");
}

TEST_CASE("the host finds an order once for a GPU, which may prepare the matrix twice, or decline it then") {
    PlanningMachine machine;
    const CsrMatrix& matrix = example();
    int found = 0;
    const ReadyPlan<double> plan{
        .device = machine.gpu,
        .filter = {DeviceKind::gpu},
        .progress = [&found](const std::string& step) { found += step.ends_with("stage random_order") ? 1 : 0; },
        .also_in_full = true};
    const std::string shuffled = "[[stage]]\nuse = 'random_order'\n" + plain;
    const Ready<double> twice(asking(shuffled + "values = 'rounded_bf16'\n"), matrix, plan);
    CHECK(machine.plans.script.plans == 2);
    CHECK(found == 1);
    CHECK(twice.preparation().kernel.backend == Backend::cuda);
    machine.plans.script.declines = "rows are long";
    const Ready<double> on_host(asking(shuffled), matrix, plan);
    CHECK(machine.plans.script.plans == 3);
    CHECK(found == 2);
    CHECK(on_host.planned() == nullptr);
    StagedMatrix staged = stage_input(matrix);
    (void)apply_stages(asking(shuffled), staged, {});
    CHECK(on_host.space().row_order == staged.row_order);
}

TEST_CASE("what the host found or kept is no part of the time after which a GPU declines") {
    PlanningMachine machine;
    const CsrMatrix& matrix = example();
    const TemporaryFolder folder;
    KeepFolder keep(folder.path(), "a program");
    const std::string rotated = "[[stage]]\nuse = 'rotate_rows'\n" + plain;  // 2 s
    const auto prepared = [&](const Keeping& keeping) {
        const Ready<double> ready(
            asking(rotated), matrix,
            {.device = machine.gpu, .filter = {DeviceKind::gpu}, .clock = scripted_clock(), .keeping = keeping});
        return ready.preparation();
    };
    const std::string declined = "prepared on the host, because the GPU declined after 187.50 ms: rows are long";
    const std::string kept = "kept by an earlier run: rotate_rows";
    const auto names_kept = [&](const Preparation& one) {
        return std::ranges::any_of(one.notes, [&](const std::string& note) { return note.starts_with(kept); });
    };
    const Keeping keeping(&keep, matrix);
    CHECK_FALSE(names_kept(prepared(keeping)));
    CHECK(names_kept(prepared(keeping)));
    machine.plans.script.declines = "rows are long";
    for (const Keeping& each : {Keeping(), keeping}) {
        const Preparation one = prepared(each);
        CHECK(one.stage_seconds == 2);
        CHECK(has_note(one.notes, declined));
    }
}

TEST_CASE("a GPU prepares the shares of a hybrid if their kernels are those of its plan") {
    PlanningMachine machine;
    const std::string by_length = "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 1\n";
    const auto stored = [](const std::string& share) { return "[[layout]]\nuse = 'plain'\nshare = '" + share + "'\n"; };
    const RunReport report = machine.run(asking(by_length + stored("long") + stored("short")));
    CHECK(machine.plans.script.plans == 1);
    const KernelOutcome& kernel = kernel_of(report, "gpu + gpu");
    CHECK(kernel.verified());
    CHECK(kernel.prepare_seconds == 3.0 / 16);
    CHECK(*kernel.setup_seconds == 2 + 5 + 3.0 / 16 + kernel.vector_permutation_seconds);
    CHECK(report.stages[1].seconds == 2);
    const RunReport of_coded = machine.run(asking(by_length + stored("long") + stored("short") + "values = 'rounded_bf16'\n"));
    CHECK(has_note(of_coded.notes, "f64: prepared on the host: short: the values of a share are rounded"));
    CHECK(machine.plans.script.plans == 1);
}

TEST_CASE("values that a GPU rounds have an error, a product and one in full") {
    PlanningMachine machine;
    const Recipe recipe = asking(reversed + "values = 'rounded_bf16'\n");
    CsrMatrix matrix = example();
    matrix.values[3] = 1.00390625;  // halfway between two numbers of bf16: becomes 1
    ReadyPlan<double> plan{.device = machine.gpu, .filter = {DeviceKind::gpu}, .clock = scripted_clock(), .also_in_full = true};
    Ready<double> ready(recipe, matrix, plan);
    REQUIRE(ready.kernel() != nullptr);
    REQUIRE(ready.kernel_in_full() != nullptr);
    CHECK(machine.plans.script.plans == 2);
    const Preparation& prepared = ready.preparation();
    REQUIRE(prepared.rounding.has_value());
    CHECK(prepared.rounding->to == Rounding::bf16);
    CHECK(prepared.rounding->largest == 0.00390625 / 1.00390625);
    CHECK(has_note(prepared.notes, "layout ~bf16 plain: " + prepared.rounding->text()));
    CHECK(prepared.layout == "~bf16 plain");
    CHECK(prepared.stage_seconds == 2);
    CHECK(prepared.build_seconds == 5 + 2 + 5);  // and all of it again, with values in full
    CHECK(prepared.bytes == 7 * 2);
    CHECK(prepared.bytes_in_full == 7 * 8);
    const auto product = [&](Kernel<double>& kernel) {
        const std::vector<double> x{1, 1, 1, 1};
        std::vector<double> y(4);
        kernel.run(x.data(), y.data(), false);
        return std::vector<double>(y.rbegin(), y.rend());  // in the order of the input
    };
    CHECK(product(*ready.kernel_in_full()) == std::vector<double>{4, 3.5, 6.50390625, 6.75});
    CHECK(product(*ready.kernel()) == std::vector<double>{4, 3.5, 6.5, 6.75});

    CHECK(ready.new_values_seconds(matrix, machine.gpu, scripted_clock()) == 1.0 / 16);
    CHECK(machine.plans.script.new_values == 2);  // of either kernel

    plan.also_in_full = false;
    const Ready<double> rounded_alone(recipe, matrix, plan);
    CHECK(rounded_alone.kernel_in_full() == nullptr);
    CHECK(rounded_alone.preparation().build_seconds == 5);
    CHECK(Ready<double>(asking(reversed), matrix, plan).preparation().rounding == std::nullopt);
}

TEST_CASE("values on a device that rounds them are copied for the error") {
    PlanningMachine machine;
    const CopyOnDevice<float> copy(machine.gpu, example());
    const Recipe recipe = asking(plain + "values = 'rounded_bf16'\n");
    const Ready<float> ready(recipe, copy.matrix(), {.device = machine.gpu, .filter = {DeviceKind::gpu}}, false);
    REQUIRE(ready.preparation().rounding.has_value());
    CHECK(ready.preparation().rounding->largest == 0);  // bf16 represents all values of the example
}

TEST_CASE("a product with a matrix that a GPU prepared moves its arrays, x and y") {
    PlanningMachine machine;
    const CopyOnDevice<double> copy(machine.gpu, csr_from_entries(4, 3, std::vector<Entry>{{0, 2, 1.5}, {3, 0, 2.5}}));
    const Recipe recipe = asking(plain);
    const Ready<double> ready(recipe, copy.matrix(), {.device = machine.gpu, .filter = {DeviceKind::gpu}}, false);
    CHECK(ready.preparation().bytes == 2 * 8);
    CHECK(ready.preparation().bytes_to_move == 2 * 8 + (4 + 3) * 8);
}

TEST_CASE("automatic parameters of a layout are those of the plan's GPU, or of the tuned one for a host") {
    static std::vector<std::int64_t> built_for;
    static const LayoutEntry& plain_layout = *scripted_catalogue().find_layout("plain");
    Catalogue known = scripted_catalogue();
    LayoutEntry& layout = *std::ranges::find(known.layouts, "plain", &LayoutEntry::name);
    layout.parameters = {{.name = "parts",
                          .default_value = std::string("auto"),
                          .words = {"auto"},
                          .for_device = [](const DeviceProperties& device) { return std::int64_t{device.processors}; }}};
    layout.build.f64 = [](const StagedMatrix& staged, const Parameters& parameters) {
        built_for.push_back(parameters.integer("parts"));
        return plain_layout.build.f64(staged, Parameters(plain_layout.parameters, {}));
    };
    const Recipe recipe = parse_recipe(plain, "t.toml", known);
    PlanningMachine machine;
    for (ScriptedDevice* const device : {&machine.host, &machine.gpu}) {
        CHECK(Ready<double>(recipe, example(), {.device = *device, .filter = {device->properties().kind}}).kernel() != nullptr);
    }
    CHECK(built_for == std::vector<std::int64_t>{tuned_device_model().processors, gpu_properties().processors});
}

TEST_CASE("a difference between a matrix and what a GPU prepared discards its kernel") {
    PlanningMachine machine;
    const CopyOnDevice<double> copy(machine.gpu, example());
    const Recipe recipe = asking(reversed);
    const ReadyPlan<double> plan{.device = machine.gpu, .filter = {DeviceKind::gpu}};
    machine.plans.script.difference = "row 2: 5, not 6";
    const Ready<double> compared(recipe, copy.matrix(), plan, true);
    CHECK(compared.kernel() == nullptr);
    CHECK(compared.preparation().kernel.status == KernelOutcome::Status::wrong);
    CHECK(compared.preparation().kernel.reason == "row 2: 5, not 6");
    CHECK(Ready<double>(recipe, copy.matrix(), plan, false).kernel() != nullptr);
}

TEST_CASE("a caller may refuse that the host prepares what a GPU declines") {
    PlanningMachine machine;
    const Recipe recipe = asking(reversed);
    ReadyPlan<double> plan{
        .device = machine.gpu, .filter = {DeviceKind::gpu}, .clock = scripted_clock(), .only_on_device = true};
    CHECK(Ready<double>(recipe, example(), plan).planned() != nullptr);
    machine.plans.script.declines = "rows are long";
    CHECK(message_of<Unsuitable>([&] { Ready<double>(recipe, example(), plan); }) ==
          "prepared on the host, because the GPU declined after 187.50 ms: rows are long");
    plan.only_on_device = false;
    CHECK(Ready<double>(recipe, example(), plan).planned() == nullptr);
    plan.filter.vectors = 3;
    const Ready<double> several(recipe, example(), plan);
    CHECK(has_note(several.preparation().notes, "prepared on the host: a product has several vectors"));
}

TEST_CASE("a recipe that asks for a GPU is prepared by a host without a note on it") {
    PlanningMachine machine;
    const Ready<double> ready(asking(reversed), example(), {.device = machine.host, .filter = {DeviceKind::host}});
    CHECK(ready.kernel() != nullptr);
    for (const std::string& note : ready.preparation().notes) CHECK_FALSE_MESSAGE(note.starts_with("prepared on"), note);
    CHECK(machine.plans.script.plans == 0);
}

TEST_CASE("a GPU keeps its copy of the matrix until it is dropped, if the plan says so") {
    PlanningMachine machine;
    const Recipe recipe = asking(reversed);
    ReadyPlan<double> plan{.device = machine.gpu, .filter = {DeviceKind::gpu}, .also_in_full = true, .keeps_copy = true};
    Ready<double> ready(recipe, example(), plan);
    CHECK(machine.plans.script.plans == 1);  // no values are rounded
    CHECK(ready.kernel_in_full() == nullptr);
    REQUIRE(ready.copy() != nullptr);
    CHECK(ready.copy()->rows == example().rows);
    CHECK(ready.copy()->nonzeros == example().nonzeros());
    ready.drop_copy();
    CHECK(ready.copy() == nullptr);
    plan.keeps_copy = false;
    CHECK(Ready<double>(recipe, example(), plan).copy() == nullptr);
}

TEST_CASE("a matrix that does not suit its recipe is refused with its rows and columns") {
    PlanningMachine machine;
    const CsrMatrix tall = csr_from_entries(4, 3, std::vector<Entry>{{0, 2, 1.5}, {3, 0, 2.5}});
    const ReadyPlan<double> plan{.device = machine.host, .filter = {DeviceKind::host}};
    const std::string message = message_of<InputError>([&] { Ready<double>(asking(reversed), tall, plan); });
    CHECK_MESSAGE(message.find("4 rows and 3 columns") != std::string::npos, message);
}

}  // namespace workbench
