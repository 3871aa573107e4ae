// Warnings and errors of a run.
#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "core/contract/errors.hpp"
#include "run/scripted_runs.hpp"
#include "support/message_of.hpp"

namespace workbench {

namespace {

/// The warnings of kernel `fast`, or `gpu`.
Names warnings_of(const DeviceProperties& properties, const RunOptions& options = options_of(), const std::string& stages = "",
                  Precision precision = Precision::f64) {
    ScriptedDevice device(properties);
    Machine machine;
    const bool gpu = properties.kind == DeviceKind::gpu;
    Runner runner(example(), scripted_catalogue(), {gpu ? machine.host : device, gpu ? &device : nullptr}, options);
    return kernel_of(runner.run(scripted_recipe(stages + "[layout]\nuse = 'plain'\n"), {}), gpu ? "gpu" : "fast", precision)
        .warnings;
}

}  // namespace

TEST_SUITE("warnings") {
    TEST_CASE("a matrix that fits in the cache") {
        price_everything();
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 188, 0}).empty());
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 189, 0}) ==
              Names{"the matrix fits in the last-level cache of a host: times say little about memory traffic"});
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 0, 0}).empty());
    }

    TEST_CASE("a solve that fits in the cache") {
        price_everything();
        // x and r beside the 188 bytes: 32 bytes each.
        const RunOptions inside = options_of(CacheState::inside_cg);
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 188 + 64, 0}, inside).empty());
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 188 + 65, 0}, inside) ==
              Names{"the matrix and the vectors of CG fit in the last-level cache of a host: times say little about memory "
                    "traffic"});
    }

    TEST_CASE("the cache and the vectors of CG in f32") {
        price_everything();
        RunOptions options = options_of(CacheState::inside_cg);
        options.precisions = {Precision::f32};
        // The layout, x and y take 128 bytes, x and r 16 each.
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 128 + 32, 0}, options, "", Precision::f32).empty());
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 128 + 33, 0}, options, "", Precision::f32).size() == 1);
        options.timing.cache = CacheState::warm;
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 128, 0}, options, "", Precision::f32).empty());
        CHECK(warnings_of({DeviceKind::host, "a host", 8, 0, 129, 0}, options, "", Precision::f32).size() == 1);
    }

    TEST_CASE("few samples") {
        price_everything();
        CHECK(warnings_of(host_properties(), options_of(CacheState::warm, 4)) ==
              Names{"fewer than 5 samples a kernel: their times and spreads say little"});
    }

    TEST_CASE("a wide spread") {
        new_script().seconds["run fast"] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
        CHECK(warnings_of(host_properties(), options_of(CacheState::cold, 5)).empty());
        // Three products on integers, one that adds to y, two on real values and one before the samples; then one sample.
        const int before = ExactProblem(example()).vector_count() + 4;
        Script& script = new_script();
        script.seconds["run fast"] = std::deque<double>(before, 1);
        for (const double sample : {10.0, 10.0, 10.0, 10.0, 12.0}) script.seconds["run fast"].push_back(sample);
        // The 90th percentile is 3/5 of the way from 10 to 12.
        CHECK(warnings_of(host_properties(), options_of(CacheState::cold)) ==
              Names{"plain fast f64: a spread of 12.0 % between the 10th and the 90th percentile of 5 samples"});
        script = Script();
        script.seconds["run fast"] = std::deque<double>(before, 1);
        for (const double sample : {10.0, 10.0, 10.0, 4000.0, 4000.0}) script.seconds["run fast"].push_back(sample);
        CHECK(warnings_of(host_properties(), options_of(CacheState::cold)) ==
              Names{"plain fast f64: a spread of more than 100 x between the 10th and the 90th percentile of 5 samples"});
    }

    TEST_CASE("fewer partitions than a GPU has multiprocessors") {
        const auto on = [](DeviceKind kind, int processors) {
            price_everything();
            return warnings_of({kind, "a device", processors, 0, 0, 0}, options_of(), "[[stage]]\nuse = 'halve'\n");
        };
        CHECK(on(DeviceKind::gpu, 3) ==
              Names{"some of 3 multiprocessors are idle with 2 partitions; parts = \"auto\" makes as many"});
        CHECK(on(DeviceKind::gpu, 2).empty());
        CHECK(on(DeviceKind::host, 3).empty());
    }

    TEST_CASE("interruptions") {
        // Five samples of 4 s. An interruption of 1 ms takes a tenth of that if there are more than 2000.
        price_everything();
        script().interruptions["run fast"] = 400;
        CHECK(warnings_of(host_properties()).empty());
        price_everything();
        script().interruptions["run fast"] = 401;
        CHECK(warnings_of(host_properties()) == Names{"plain fast f64: interrupted 2005 times in 5 samples: this machine does "
                                                      "other work, and the time says little"});
        price_everything();
        script().interruptions["run gpu"] = 401;
        CHECK(warnings_of(gpu_properties()).empty());
        // Short samples: more than one interruption a sample.
        for (const long interruptions : {1, 2}) {
            price_everything();
            script().seconds["run fast"] = {0.001};
            script().interruptions["run fast"] = interruptions;
            CHECK(warnings_of(host_properties()).size() == (interruptions == 1 ? 0 : 1));
        }
    }

    TEST_CASE("no verdict where the machine does other work") {
        for (const char* busy : {"run fast", "run usual"}) {
            price_everything();
            script().interruptions[busy] = 10000;
            const RunReport report = run("[layout]\nuse = 'plain'\n");
            const KernelOutcome& fast = kernel_of(report, "fast");
            CHECK(fast.verdict() == Verdict::busy_machine);
            CHECK(fast.speedup == 4);
            CHECK_FALSE(fast.break_even);
            const bool is_baseline = std::string(busy) == "run usual";
            CHECK(kernel_of(report, "slow").verdict() == (is_baseline ? Verdict::busy_machine : Verdict::slower));
            const std::string text = to_text(report);
            CHECK(text.find("busy machine") != std::string::npos);
            CHECK(text.find("4.00 x") == std::string::npos);
        }
        price_everything();
        script().interruptions["run fast"] = 10000;
        const RunReport few = run("[layout]\nuse = 'plain'\n", options_of(CacheState::warm, 4));
        CHECK(kernel_of(few, "fast").verdict() == Verdict::too_few_samples);
    }

    TEST_CASE("an unsuitable stage ends the run with an error that names its line") {
        new_script();
        const std::string message =
            message_of<InputError>([] { (void)run("[[stage]]\nuse = 'refuse'\n[layout]\nuse = 'plain'\n"); });
        CHECK(message == "some/test.toml:1: stage 'refuse': this matrix has no such order");
    }
}

}  // namespace workbench
