// The number of samples of a product, and the work before each sample, with a scripted clock.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "pipeline/measure/timing.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {
namespace {

/// Times "run", which takes one second by default.
Timing timed(TimingOptions options) {
    ScriptedDevice device({});
    options.clock = scripted_clock();
    script().seconds.try_emplace("run", std::deque<double>{1});
    return time_in_turns({{"", &device, [] { script().pass("run"); }}}, options).front();
}

std::vector<Contender> contenders(Device& device, const std::vector<std::string>& names) {
    std::vector<Contender> all;
    for (const std::string& name : names) all.push_back({name, &device, [name] { script().pass("run " + name); }});
    return all;
}

}  // namespace

TEST_SUITE("timing") {
    TEST_CASE("one run precedes the samples, and the cache is flushed before each sample") {
        Script& script = new_script();
        script.seconds["run"] = {100, 3, 1, 2};
        script.seconds["flush"] = {50};
        const Timing timing = timed({CacheState::cold, 3, 0, 1000});
        CHECK(timing.samples == std::vector<double>{3, 1, 2});
        CHECK(timing.median == 2);
        using Events = std::vector<std::string>;
        CHECK(script.events == Events{"time", "run", "flush", "time", "run", "flush", "time", "run", "flush", "time", "run"});
    }

    TEST_CASE("a warm cache is not flushed") {
        Script& script = new_script();
        CHECK(timed({CacheState::warm, 3, 0, 1000}).samples.size() == 3);
        CHECK(script.count("flush") == 0);
    }

    TEST_CASE("sampling continues up to the minimum number and the minimum time") {
        new_script();
        CHECK(timed({CacheState::warm, 7, 2, 1000}).samples.size() == 7);
        new_script();
        CHECK(timed({CacheState::warm, 2, 7, 1000}).samples.size() == 7);
        new_script();
        CHECK(timed({CacheState::warm, 1, 6.5, 1000}).samples.size() == 7);
        new_script().seconds["run"] = {1, 4, 1};
        CHECK(timed({CacheState::cold, 1, 6.5, 1000}).samples == std::vector<double>{4, 1, 1, 1});
    }

    TEST_CASE("sampling ends at the maximum time, flushes included, but not before five samples") {
        Script& script = new_script();
        script.seconds["flush"] = {9};
        // The untimed run takes 1 s and each sample 10: 51 s after five samples, 61 after six.
        CHECK(timed({CacheState::cold, 100, 0, 50}).samples.size() == 5);
        new_script().seconds["flush"] = {9};
        CHECK(timed({CacheState::cold, 100, 0, 60}).samples.size() == 6);
        new_script().seconds["flush"] = {9};
        CHECK(timed({CacheState::cold, 100, 0, 0}).samples.size() == 5);
        new_script();
        CHECK(timed({CacheState::cold, 3, 0, 0}).samples.size() == 3);
    }

    TEST_CASE("interruptions count only during samples") {
        Script& script = new_script();
        script.interruptions["run"] = 2;
        script.interruptions["flush"] = 1000;
        CHECK(timed({CacheState::cold, 4, 0, 1000}).interruptions == 8);
    }

    TEST_CASE("several kernels take turns in an order that is shuffled each round") {
        Script& script = new_script();
        script.seconds = {{"run a", {9, 1, 2, 3}}, {"run b", {9, 4, 5, 6}}, {"run c", {9, 7, 8, 9}}};
        ScriptedDevice device({});
        const auto timings =
            time_in_turns(contenders(device, {"a", "b", "c"}), {CacheState::cold, 3, 0, 1000, scripted_clock()});
        REQUIRE(timings.size() == 3);
        CHECK(timings[0].samples == std::vector<double>{1, 2, 3});
        CHECK(timings[1].samples == std::vector<double>{4, 5, 6});
        CHECK(timings[2].median == 8);
        std::erase(script.events, "time");
        // The generator begins with 1791095845, 4282876139, 3093770124, 4005303368, 491263 and 550290313: modulo 3 and
        // 2 in turn, they swap the third item and then the second one with item 1, 1; 0, 0; 1, 1.
        using Events = std::vector<std::string>;
        CHECK(script.events == Events{"run a", "run b", "run c",                             //
                                      "flush", "run a", "flush", "run c", "flush", "run b",  //
                                      "flush", "run c", "flush", "run b", "flush", "run a",  //
                                      "flush", "run c", "flush", "run a", "flush", "run b"});
    }

    TEST_CASE("another seed gives another order") {
        const auto order = [](std::uint32_t seed) {
            Script& script = new_script();
            ScriptedDevice device({});
            TimingOptions options{CacheState::cold, 5, 0, 1000, scripted_clock()};
            options.seed = seed;
            (void)time_in_turns(contenders(device, {"a", "b", "c"}), options);
            return script.events;
        };
        CHECK(order(1) == order(1));
        CHECK(order(1) != order(2));
    }

    TEST_CASE("with a warm cache, each kernel runs once before its sample") {
        Script& script = new_script();
        script.seconds = {{"run a", {9, 9, 1, 9, 2}}, {"run b", {9, 9, 3, 9, 4}}};
        ScriptedDevice device({});
        const auto timings = time_in_turns(contenders(device, {"a", "b"}), {CacheState::warm, 2, 0, 1000, scripted_clock()});
        CHECK(timings[0].samples == std::vector<double>{1, 2});
        CHECK(timings[1].samples == std::vector<double>{3, 4});
        CHECK(script.count("flush") == 0);
    }

    TEST_CASE("inside CG, the rest of the iteration precedes each sample, and nothing is flushed") {
        Script& script = new_script();
        script.seconds = {{"run", {9, 9, 1, 9, 2}}, {"rest", {50}}};
        ScriptedDevice device({});
        const Contender alone{"", &device, [] { workbench::script().pass("run"); }, [] { workbench::script().pass("rest"); }};
        const TimingOptions options{CacheState::inside_cg, 2, 0, 1000, scripted_clock()};
        CHECK(time_in_turns({alone}, options).front().samples == std::vector<double>{1, 2});
        using Events = std::vector<std::string>;
        CHECK(script.events ==
              Events{"time", "run", "time", "run", "rest", "time", "run", "time", "run", "rest", "time", "run"});
    }

    TEST_CASE("inside CG, each of several kernels repeats its last product before the rest of the iteration") {
        Script& script = new_script();
        script.seconds = {{"run a", {9, 9, 1, 9, 2}}, {"run b", {9, 9, 3, 9, 4}}, {"rest a", {50}}, {"rest b", {50}}};
        ScriptedDevice device({});
        std::vector<Contender> both = contenders(device, {"a", "b"});
        for (Contender& one : both) {
            one.rest_of_iteration = [name = one.name] { workbench::script().pass("rest " + name); };
        }
        const auto timings = time_in_turns(both, {CacheState::inside_cg, 2, 0, 1000, scripted_clock()});
        CHECK(timings[0].samples == std::vector<double>{1, 2});
        CHECK(timings[1].samples == std::vector<double>{3, 4});
        std::erase(script.events, "time");
        using Events = std::vector<std::string>;
        CHECK(Events(script.events.begin(), script.events.begin() + 2) == Events{"run a", "run b"});
        for (std::size_t i = 2; i < script.events.size(); i += 3) {
            const std::string name = script.events[i].substr(4);
            CHECK(Events(script.events.begin() + std::ptrdiff_t(i), script.events.begin() + std::ptrdiff_t(i + 3)) ==
                  Events{"run " + name, "rest " + name, "run " + name});
        }
        CHECK(script.events.size() == 2 + 4 * 3);
    }

    TEST_CASE("rounds continue until every kernel has enough samples or the total time is up") {
        ScriptedDevice device({});
        const auto rounds = [&device](double minimum_seconds, double maximum_seconds) {
            new_script().seconds = {{"run a", {1}}, {"run b", {3}}};
            const auto timings = time_in_turns(contenders(device, {"a", "b"}),
                                               {CacheState::cold, 6, minimum_seconds, maximum_seconds, scripted_clock()});
            CHECK(timings[0].samples.size() == timings[1].samples.size());
            return timings[0].samples.size();
        };
        CHECK(rounds(0, 1000) == 6);
        CHECK(rounds(8, 1000) == 8);
        CHECK(rounds(100, 20) == 10);  // 4 s of untimed runs and 4 s per round: 40 s after 9 rounds do not exceed 2 * 20
        CHECK(rounds(100, 0) == 5);
    }

    TEST_CASE("before each sample the result is cleared and operands change, without a change of the state of the caches") {
        const auto events = [](CacheState cache) {
            new_script();
            ScriptedDevice device({});
            const auto pass = [](const char* event) { return [event] { script().pass(event); }; };
            const Contender contender{"", &device, pass("run"), pass("rest"), pass("clear"), pass("change")};
            (void)time_in_turns({contender}, {cache, 2, 0, 1000, scripted_clock()});
            std::erase(script().events, "time");
            return script().events;
        };
        using Events = std::vector<std::string>;
        CHECK(events(CacheState::cold) == Events{"run", "clear", "change", "flush", "run", "clear", "change", "flush", "run"});
        CHECK(events(CacheState::warm) == Events{"run", "clear", "run", "change", "run", "clear", "run", "change", "run"});
        CHECK(events(CacheState::inside_cg) ==
              Events{"run", "clear", "run", "rest", "change", "run", "clear", "run", "rest", "change", "run"});
    }

    TEST_CASE("the first and the last result are compared, and others at random, more rarely as they get more") {
        const auto compared = [](std::uint32_t seed, int samples) {
            new_script().seconds["compare"] = {1e6};  // does not count as time
            ScriptedDevice device({});
            std::vector<std::ptrdiff_t> found;
            Contender one = contenders(device, {"a"}).front();
            one.fault = [&found] {
                script().pass("compare");
                found.push_back(script().count("run a") - 1);
                return "";
            };
            TimingOptions options{CacheState::cold, samples, 0, 1000, scripted_clock()};
            options.seed_of_checks = seed;
            CHECK(time_in_turns({one}, options).front().samples.size() == static_cast<std::size_t>(samples));
            CHECK(found.front() == 1);
            CHECK(std::count(found.begin(), found.end(), samples) == 1);
            CHECK(std::set(found.begin(), found.end()).size() == found.size());
            CHECK(found.back() == script().count("run a") - 1);
            std::erase_if(found, [samples](std::ptrdiff_t run) { return run > samples; });
            return found;
        };
        CHECK(compared(1, 1).size() == 1);
        CHECK(compared(1, 20) == compared(1, 20));
        CHECK(compared(1, 20) != compared(2, 20));
        const std::size_t many = compared(1, 10000).size();  // expected: 2 (1/2 + 1/3 + ... + 1/10001) + 1, about 19
        CHECK(many > 8);
        CHECK(many < 40);
    }

    TEST_CASE("a kernel runs on after its samples, a random number of times") {
        const auto runs_after = [](std::uint32_t seed, double seconds, int wrong_from) {
            new_script().seconds = {{"run a", std::deque<double>(21, 1)}};
            script().seconds["run a"].push_back(seconds);
            ScriptedDevice device({});
            Contender one = contenders(device, {"a"}).front();
            one.fault = [wrong_from] { return script().count("run a") >= wrong_from ? "zeros" : ""; };
            TimingOptions options{CacheState::cold, 20, 0, 1000, scripted_clock()};
            options.seed_of_checks = seed;
            const Timing timing = time_in_turns({one}, options).front();
            CHECK(timing.samples.size() == 20);
            const auto after = script().count("run a") - 21;
            if (wrong_from < 1000) {
                CHECK(timing.fault ==
                      fmt::format("zeros (in run {} after the timed ones, the kernel was right before)", after));
            } else {
                CHECK(timing.fault == "");
            }
            return after;
        };
        std::set<std::ptrdiff_t> brief;
        for (std::uint32_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(seed);
            const auto of_slow = runs_after(seed, 100, 1000);
            CHECK(of_slow >= 8);
            CHECK(of_slow <= 15);
            brief.insert(runs_after(seed, 0, 1000));
            CHECK(*brief.begin() >= 50);
            CHECK(*brief.rbegin() <= 249);
            CHECK(runs_after(seed, 0, 30) >= 9);
        }
        CHECK(brief.size() > 10);
    }

    TEST_CASE("a wrong result ends the samples of its kernel alone") {
        new_script().seconds = {{"run a", {1}}, {"run b", {2}}};
        ScriptedDevice device({});
        std::vector<Contender> both = contenders(device, {"a", "b"});
        both[0].fault = [] { return script().count("run a") > 4 ? "row 7 was never written" : ""; };
        both[1].fault = [] { return ""; };
        TimingOptions options{CacheState::cold, 100, 0, 1000, scripted_clock()};
        options.seed_of_checks = 1;
        const auto timings = time_in_turns(both, options);
        CHECK(timings[0].samples.size() >= 4);
        CHECK(timings[0].samples.size() < 100);
        CHECK(timings[0].fault ==
              fmt::format("row 7 was never written (in timed run {}, the kernel was right before)", timings[0].samples.size()));
        CHECK(timings[1].samples.size() == 100);
        CHECK(timings[1].fault == "");
    }

    TEST_CASE("a time that beats twice the bandwidth of what holds the bytes is a fault") {
        const auto fault = [](CacheState cache, std::int64_t bytes, double of_cache, double seconds = 2) {
            new_script().seconds["run a"] = {seconds};
            script().cache_bandwidth = of_cache;
            ScriptedDevice device({DeviceKind::host, "a host"}, {30e9, 40e9});
            Contender one = contenders(device, {"a"}).front();
            one.least_bytes = bytes;
            return time_in_turns({one}, {cache, 5, 0, 1000, scripted_clock()}).front().fault;
        };
        CHECK(fault(CacheState::cold, 160'000'000'000, 0) == "");
        CHECK(fault(CacheState::cold, 160'000'000'001, 0).find("a host reads its memory at 40 GB/s at most") !=
              std::string::npos);
        CHECK(fault(CacheState::cold, 200'000'000'000, 50e9) == "");  // the bandwidth was measured again
        CHECK(fault(CacheState::warm, 2'000'000'000'000, 500e9) == "");
        CHECK(
            fault(CacheState::warm, 2'100'000'000'000, 500e9) ==
            "a run of 2e+06 us would move its 2100000000000 bytes at 1050 GB/s, but a host reads as many bytes at 500 GB/s at "
            "most: the kernel does not do all of the work when it is timed");
        CHECK(fault(CacheState::warm, 0, 0) == "");
        // Clocks and the nearest caches decide about work of less than 10 us.
        CHECK(fault(CacheState::cold, 399'000, 0, 1e-6) == "");
        CHECK(fault(CacheState::cold, 401'000, 0, 1e-6) != "");
        CHECK(fault(CacheState::warm, 401'000, 50e9, 1e-6) == "");
    }

    TEST_CASE("the confidence interval of a median follows from coin tosses") {
        const auto counted = [](int n) {
            std::vector<double> samples(n);
            for (int i = 0; i < n; ++i) samples[i] = n - i;  // the i-th smallest is i
            return median_of(samples);
        };
        CHECK(median_of({}).value == 0);
        CHECK(counted(1).value == 1);
        CHECK(counted(4).value == 2.5);
        CHECK(!counted(4).interval);
        CHECK(counted(5).interval == Interval{1, 5});    // 93.75 % is the maximum for five samples
        CHECK(counted(8).interval == Interval{1, 8});    // fewer than 2 heads have 9 of 256 outcomes, more than 2.5 %
        CHECK(counted(9).interval == Interval{2, 8});    // 10 of 512
        CHECK(counted(20).interval == Interval{6, 15});  // 21,700 of 1,048,576; with one more 60,460
        CHECK(counted(100).interval == Interval{40, 61});
        CHECK(counted(1000).interval == Interval{469, 532});
        CHECK(counted(10000).interval == Interval{4902, 5099});  // 5000 - 98
    }

    TEST_CASE("the clock of the machine advances") {
        const Stopwatch watch;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK(watch.seconds() >= 0.02);
        CHECK(watch.seconds() < 20);
        CHECK(interruptions_so_far() >= 0);
    }
}

}  // namespace workbench
