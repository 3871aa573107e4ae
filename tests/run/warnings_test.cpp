// Warnings of a run.
#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "run/scripted_runs.hpp"

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
              Names{"2 partitions on 3 multiprocessors leave some idle; parts = \"auto\" makes as many"});
        CHECK(on(DeviceKind::gpu, 2).empty());
        CHECK(on(DeviceKind::host, 3).empty());
    }

    TEST_CASE("interruptions") {
        price_everything();
        script().interruptions["run fast"] = 1;
        CHECK(warnings_of(host_properties()).empty());
        price_everything();
        script().interruptions["run fast"] = 2;
        CHECK(
            warnings_of(host_properties()) ==
            Names{"plain fast f64: interrupted 10 times in 5 samples: this machine does other work, and the time says little"});
        price_everything();
        script().interruptions["run gpu"] = 2;
        CHECK(warnings_of(gpu_properties()).empty());
    }
}

}  // namespace workbench
