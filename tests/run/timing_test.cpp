// How often a product is timed, and what precedes each sample: on a clock that the test sets.
#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/run/timing.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {
namespace {

/// Times "run", which takes one second unless the script says otherwise.
Timing timed(TimingOptions options) {
    ScriptedDevice device({});
    options.clock = scripted_clock();
    script().seconds.try_emplace("run", std::deque<double>{1});
    return time_repeatedly(
        device, [] { script().pass("run"); }, options);
}

}  // namespace

TEST_SUITE("timing") {
    TEST_CASE("one run goes first that is no sample, and each sample finds a cold cache") {
        Script& script = new_script();
        script.seconds["run"] = {100, 3, 1, 2};
        script.seconds["flush"] = {50};
        const Timing timing = timed({CacheState::cold, 3, 0, 1000});
        CHECK(timing.samples == std::vector<double>{3, 1, 2});
        CHECK(timing.median == 2);
        using Events = std::vector<std::string>;
        CHECK(script.events == Events{"time", "run", "flush", "time", "run", "flush", "time", "run", "flush", "time", "run"});
    }

    TEST_CASE("a warm cache is left alone") {
        Script& script = new_script();
        CHECK(timed({CacheState::warm, 3, 0, 1000}).samples.size() == 3);
        CHECK(script.count("flush") == 0);
    }

    TEST_CASE("samples are taken until there are enough of them and they took long enough") {
        new_script();
        CHECK(timed({CacheState::warm, 7, 2, 1000}).samples.size() == 7);
        new_script();
        CHECK(timed({CacheState::warm, 2, 7, 1000}).samples.size() == 7);
        new_script();
        CHECK(timed({CacheState::warm, 1, 6.5, 1000}).samples.size() == 7);
    }

    TEST_CASE("time is up when the clock says so, flushes included, but not before five samples") {
        Script& script = new_script();
        script.seconds["flush"] = {9};
        // The run before takes 1 s, each sample 10: 51 s after five, 61 after six.
        CHECK(timed({CacheState::cold, 100, 0, 50}).samples.size() == 5);
        new_script().seconds["flush"] = {9};
        CHECK(timed({CacheState::cold, 100, 0, 60}).samples.size() == 6);
        new_script().seconds["flush"] = {9};
        CHECK(timed({CacheState::cold, 100, 0, 0}).samples.size() == 5);
        new_script();
        CHECK(timed({CacheState::cold, 3, 0, 0}).samples.size() == 3);
    }

    TEST_CASE("interruptions count while a sample is taken, and only then") {
        Script& script = new_script();
        script.interruptions["run"] = 2;
        script.interruptions["flush"] = 1000;
        CHECK(timed({CacheState::cold, 4, 0, 1000}).interruptions == 8);
    }

    TEST_CASE("the clock of the machine goes forward by itself") {
        const Stopwatch watch;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK(watch.seconds() >= 0.02);
        CHECK(watch.seconds() < 20);
        CHECK(interruptions_so_far() >= 0);
    }
}

}  // namespace workbench
