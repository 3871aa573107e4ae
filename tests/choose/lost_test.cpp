// Points that end their process, break their device or cannot be priced: each costs a line, and the search goes on without it.
#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "choose/planted_space.hpp"
#include "studies/choose/choose.hpp"

namespace workbench {
namespace {

/// A search in processes of its own, as far as it sees.
struct Attempts {
    struct Crash {};
    Space space = parse_space(
        "[space]\nname = 's'\n[layout]\nuse = { sweep = [{ use = 'kind0', a = [3, 4], b = [5, 6] }, { use = 'kind3', a = [5, "
        "6], b = [2, "
        "3] }] }\n",
        "spaces/s.toml", planted_catalogue());
    std::vector<std::string> lines = {};
    std::string begun = {};
    double limit = 0;
    double hang_seconds = 30;

    /// Crashes when it begins the trial of this number.
    Choice run(int crash_at = 0) {
        SearchLog log = log_into(lines);
        int trials = 0;
        log.begin = [&](const std::string& line, double seconds) {
            begun = line;
            limit = seconds;
            if (++trials == crash_at) throw Crash();
        };
        ChooseOptions options = options_for(space, 8);
        options.log = &log;
        options.hang_seconds = hang_seconds;
        return choose_planted(options);
    }

    /// The next search leaves out the recipe that was begun last.
    void check_next(const std::string& reason) {
        const std::string lost = name_in_line(begun);
        lines.push_back(crashed_line(begun, reason));
        planted_script();
        const Choice choice = run();
        REQUIRE(choice.not_timed.size() == 1);
        CHECK(choice.not_timed[0].recipe == lost);
        CHECK(choice.not_timed[0].reason == reason);
        CHECK(choice.ranking.size() > 3);
        for (const Timed& one : choice.ranking) CHECK(one.recipe.name != lost);
    }
};

}  // namespace

TEST_SUITE("lost points") {
    TEST_CASE("a point that ended its process") {
        Attempts attempts;
        planted_script();
        CHECK_THROWS_AS((void)attempts.run(4), Attempts::Crash);
        CHECK(attempts.limit == 30);
        Attempts short_of_time;
        short_of_time.hang_seconds = 1;
        planted_script();
        CHECK_THROWS_AS((void)short_of_time.run(4), Attempts::Crash);
        CHECK(short_of_time.limit == 4);  // half of the budget
        planted_script();
        attempts.check_next("killed by signal 11 (Segmentation fault)");
    }

    TEST_CASE("a point that breaks its device ends the search, and has no line yet") {
        Attempts attempts;
        planted_script().breaks["run fast"] = 40;
        const std::string reason = "an illegal address in run fast; a host no longer works in this process";
        CHECK_THROWS_WITH_AS((void)attempts.run(), reason.c_str(), DeviceLost);
        for (const std::string& line : attempts.lines) CHECK(name_in_line(line) != name_in_line(attempts.begun));
        attempts.check_next(reason);
    }

    TEST_CASE("after a failure that leaves the device intact, the search goes on") {
        Attempts attempts;
        planted_script().fails["run fast"] = {40};
        const Choice choice = attempts.run();
        REQUIRE(choice.not_timed.size() == 1);
        CHECK(choice.not_timed[0].reason == "no memory left for run fast");
        CHECK(choice.ranking.size() > 3);
    }

    TEST_CASE("points whose pricing fails cost a line for each reason") {
        const Space space = parse_space(
            "[space]\nname = 's'\n[layout]\nuse = { sweep = [{ use = 'faulty', a = 6, b = [2, 11, 12, 13] }, { use = 'kind0', "
            "a = "
            "3, b = 5 }] }\n",
            "spaces/s.toml", planted_catalogue());
        planted_script();
        const Choice choice = choose_planted(options_for(space, 100));
        CHECK(choice.search.priced == 5);
        CHECK(choice.ranking.size() == 3);  // CSR and the two points that have prices
        REQUIRE(choice.not_timed.size() == 1);
        CHECK(choice.not_timed[0].recipe == "faulty b=11");
        CHECK(choice.not_timed[0].reason == "pricing it failed: no cost above 10 (2 other points: the same)");
    }

    TEST_CASE("a point whose pricing ended an earlier process is left out") {
        const Space space =
            parse_space("[space]\nname = 's'\n[layout]\nuse = { sweep = [{ use = 'kind3', a = 6, b = [2, 3] }] }\n",
                        "spaces/s.toml", planted_catalogue());
        std::vector<std::string> lines;
        std::mutex mutex;  // of the next two: several threads price
        std::set<std::string> priced;
        int open = 0;
        SearchLog log = log_into(lines);
        log.unpriced["kind3 b=2"] = "pricing it: killed by signal 11 (Segmentation fault)";
        log.prices = [&](const char* name) {
            const std::scoped_lock lock(mutex);
            open += name == nullptr ? -1 : 1;
            if (name != nullptr) priced.insert(name);
        };
        ChooseOptions options = options_for(space, 100);
        options.log = &log;
        planted_script();
        const Choice choice = choose_planted(options);
        CHECK(open == 0);
        CHECK(priced == std::set<std::string>{"CSR", "kind3 b=3"});
        CHECK(choice.ranking.size() == 2);
        REQUIRE(choice.not_timed.size() == 1);
        CHECK(choice.not_timed[0].recipe == "kind3 b=2");
        CHECK(choice.not_timed[0].reason == log.unpriced["kind3 b=2"]);
    }
}

}  // namespace workbench
