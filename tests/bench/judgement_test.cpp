// The judgement of a kernel, from lines of benches that are written out here.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "studies/bench/judgement.hpp"

namespace workbench::judging {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

Json kernel(const std::string& name, const std::string& backend, double seconds, double speedup, bool baseline = false) {
    return {{"layout", "csr"},
            {"kernel", name},
            {"backend", backend},
            {"precision", "f64"},
            {"baseline", baseline},
            {"status", "measured"},
            {"median_seconds", seconds},
            {"speedup", speedup},
            {"speedup_interval", {0.9 * speedup, 1.1 * speedup}},
            {"verdict", "faster"},
            {"setup_seconds", 10 * seconds},
            {"first_seconds", 2 * seconds},
            {"new_values_seconds", 5 * seconds},
            {"bytes_per_nonzero", 12.0},
            {"gbytes_per_second", 20.0},
            {"warnings", Json::array()}};
}

std::string line(const std::string& matrix, const std::string& recipe, const Json& kernels,
                 const std::string& status = "measured", const std::string& reason = "") {
    return Json{{"key", {{"matrix", matrix}}},
                {"status", status},
                {"reason", reason.empty() ? Json(nullptr) : Json(reason)},
                {"recipe", {{"name", recipe}, {"file", recipe + ".toml"}, {"resolved", ""}}},
                {"matrix", {{"source", matrix}, {"rows", 9}, {"columns", 9}, {"nonzeros", 9}}},
                {"stages", Json::array()},
                {"layouts", Json::array()},
                {"kernels", kernels},
                {"devices", {{{"kind", "host"}, {"name", "a host"}, {"copy_bytes_per_second", 40e9}}}}}
        .dump();
}

/// The kernel takes `seconds`, where the baseline beside it takes `baseline`.
std::string judged(const std::string& matrix, double seconds, double baseline) {
    return line(matrix, "mine",
                {kernel("rows", "kokkos", baseline, 1, true), kernel("mine", "cpu", seconds, baseline / seconds)});
}

std::string rival(const std::string& matrix, const std::string& recipe, const std::string& backend, double speedup) {
    return line(matrix, recipe, {kernel("rows", "kokkos", 12, 1, true), kernel(recipe, backend, 12 / speedup, speedup)});
}

std::string wrong(const std::string& matrix, const std::string& reason, const std::string& status = "wrong") {
    return line(matrix, "mine", Json::array(), status, reason);
}

}  // namespace

TEST_SUITE("judgement") {
    TEST_CASE("a kernel is compared with the fastest of the vendor's and of the workbench's, by speed-ups over the baseline") {
        const Judgement judgement =
            judge({judged("a", 2, 12)}, {rival("a", "Eigen", "eigen", 2), rival("a", "SELL", "kokkos", 8),
                                         rival("a", "CSR16", "kokkos", 4), rival("b", "SELL", "kokkos", 99)});
        REQUIRE(judgement.matrices.size() == 1);
        CHECK(judgement.matrices[0].vendor->recipe == "Eigen");
        CHECK(judgement.matrices[0].workbench->recipe == "SELL");
        const Json json = Json::parse(to_json(judgement));
        CHECK(json["over_vendor"]["geometric_mean"] == doctest::Approx(3));
        CHECK(json["over_workbench"]["geometric_mean"] == doctest::Approx(0.75));
        const Json& one = json["matrices"][0];
        // The set-up takes 20 s, Eigen's 60, so that there is nothing to pay off.
        CHECK(one["vendor"]["break_even"] == 0);
        CHECK(one["workbench"]["break_even"] == nullptr);
        CHECK(one["share_of_copy"] == doctest::Approx(0.5));
        CHECK(judgement.verdict() == "right and honest");
        CHECK(judgement.exit_code() == ExitCode::ok);
    }

    TEST_CASE("times of a busy machine are not compared") {
        Json busy = kernel("mine", "cpu", 2, 6);
        busy["verdict"] = "busy machine";
        const Judgement judgement =
            judge({line("a", "mine", {kernel("rows", "kokkos", 12, 1, true), busy})}, {rival("a", "Eigen", "eigen", 2)});
        CHECK(Json::parse(to_json(judgement))["over_vendor"] == nullptr);
        CHECK(to_text(judgement).find("  fast     no comparison: this machine does other work\n") != std::string::npos);
        CHECK(judgement.verdict() == "right and honest");
    }

    TEST_CASE("verdicts and exit codes") {
        const std::string late = "row 3: y = 0, expected exactly 7 (in timed run 9, the kernel was right before)";
        const Judgement cheats = judge({judged("a", 2, 12), wrong("b", late)}, {});
        CHECK(cheats.verdict() == "cheats");
        CHECK(cheats.exit_code() == ExitCode::dishonest);
        CHECK(judge({wrong("b", late)}, {}).verdict() == "cheats");
        const Judgement both =
            judge({wrong("a", "row 3: y = 0, expected exactly 7"), wrong("b", late), judged("c", 2, 12)}, {});
        CHECK(both.verdict() == "wrong");
        CHECK(both.exit_code() == ExitCode::wrong_result);
        CHECK(both.cheats() == 1);
        CHECK(judge({judged("a", 2, 12), wrong("b", "not square", "unsuitable")}, {}).exit_code() == ExitCode::ok);
        CHECK(judge({judged("a", 2, 12), wrong("b", "killed by signal 11", "failed")}, {}).verdict() == "wrong");
        CHECK(judge({}, {}).verdict() == "wrong");  // nothing was measured
        const Json json = Json::parse(to_json(both));
        CHECK(json["ways"] == Json{{"exact integers", 1}, {"wrong when timed", 1}});
        CHECK(json["matrices"][1]["way"] == "wrong when timed");
        CHECK(json["matrices"][2]["way"] == nullptr);
        const std::string exact = "row 3: y = 0, expected exactly 7";
        const Json counted = Json::parse(to_json(judge({wrong("a", exact), wrong("b", late), wrong("c", exact)}, {})));
        CHECK(counted["ways"] == Json{{"exact integers", 2}, {"wrong when timed", 1}});
        CHECK(to_text(both).find("wrong    exact integers on 1, first on a: row 3: y = 0, expected exactly 7\n") !=
              std::string::npos);
    }

    TEST_CASE("a kernel that makes the baseline more than twice as slow cheats, if five matrices show it") {
        const auto beside = [](double baseline, int count) {
            Lines kernels;
            Lines others;
            for (int i = 0; i < count; ++i) {
                kernels.push_back(judged(fmt::format("m{}", i), 2, i == 0 ? 1000 : baseline));
                others.push_back(rival(fmt::format("m{}", i), "SELL", "kokkos", 2));
            }
            return judge(kernels, others);
        };
        CHECK(beside(23, 5).honest());
        CHECK(!beside(25, 5).honest());
        CHECK(beside(25, 5).verdict() == "cheats");
        CHECK(beside(25, 4).honest());
        const auto says_so = [](const Judgement& one) {
            return to_text(one).find("  cheats   the baseline takes ") != std::string::npos;
        };
        CHECK(says_so(beside(25, 5)));
        CHECK_FALSE(says_so(beside(23, 5)));
        CHECK_FALSE(says_so(beside(25, 4)));
        Lines kernels;
        Lines others;
        for (int i = 0; i < 6; ++i) {
            kernels.push_back(judged(fmt::format("m{}", i), 2, 25));
            Json busy = kernel("SELL", "kokkos", 6, 2);
            busy["verdict"] = "busy machine";
            others.push_back(line(fmt::format("m{}", i), "SELL", {kernel("rows", "kokkos", 12, 1, true), busy}));
        }
        CHECK(!judge(kernels, others).slows_others());
    }

    TEST_CASE("each sentence of a wrong result has its way") {
        const std::vector<std::pair<std::string, WrongWay>> examples{
            {"row 17: y = 3504, expected exactly 3506", WrongWay::exact},
            {"row 1: |2 - 1| = 1 exceeds the bound 1e-14", WrongWay::bounds},
            {"row 0 was never written", WrongWay::unwritten},
            {"k.cpp does not write y[1] with 5 threads", WrongWay::unwritten},
            {"row 0 was never written (in timed run 1, the kernel was right before)", WrongWay::late},
            {"k.cpp reaches behind the end of x (element 96 of 96, counted from 0)", WrongWay::outside},
            {"k.cpp reads or writes at address 0x10, where nothing is", WrongWay::outside},
            {"k.cpp writes to values (element 2), which is only to be read", WrongWay::input},
            {"k.cpp gives another result for the same x: y[0] is 7 and was 8", WrongWay::changing},
            {"a run of 2 us would move ...: the kernel does not do all of the work when it is timed", WrongWay::too_fast},
            {"k.cpp: not finished in 10 s (limit: limit_seconds)", WrongWay::unfinished},
            {"not finished within the limit of 300 s per matrix", WrongWay::unfinished},
            {"killed by signal 11 (Segmentation fault)", WrongWay::crash},
            {"k.cpp ends the program, with exit code 0", WrongWay::crash},
            {"exit code 0", WrongWay::crash},
            {"something else", WrongWay::other}};
        for (const auto& [sentence, way] : examples) {
            CAPTURE(sentence);
            CHECK(way_of(sentence) == way);
        }
    }
}

TEST_CASE("a kernel that is slower than the baseline is judged by its own time") {
    const Judgement judgement = judge({judged("first", 8, 4)}, {});
    REQUIRE(judgement.matrices[0].timed);
    CHECK(judgement.matrices[0].timed->kernel == "mine");
    CHECK(judgement.matrices[0].timed->seconds == 8);
    CHECK(judgement.matrices[0].timed->speedup == 0.5);
    CHECK(judgement.matrices[0].baseline_seconds == 4);
}

TEST_CASE("what compute-sanitizer finds makes a kernel wrong") {
    Judgement judgement = judge({judged("first", 2, 4)}, {});
    judgement.sanitizer = "mine.cu: memcheck and racecheck find nothing on laplace2d:nx=20";
    CHECK(judgement.verdict() == "right and honest");
    CHECK(to_text(judgement).find("  checked  " + judgement.sanitizer + "\n") != std::string::npos);
    CHECK(Json::parse(to_json(judgement))["sanitizer"] == judgement.sanitizer);
    judgement.add_sanitizer_errors("laplace2d:nx=20", false, "memcheck finds errors:\n========= Invalid read");
    CHECK(judgement.verdict() == "wrong");
    CHECK(judgement.matrices.back().matrix == "laplace2d:nx=20");
    CHECK(judgement.matrices.back().way == WrongWay::outside);
    judgement.add_sanitizer_errors("elasticity3d:nx=4", true, "racecheck finds errors:\n========= Race reported");
    CHECK(judgement.matrices.back().matrix == "elasticity3d:nx=4");
    CHECK(judgement.matrices.back().way == WrongWay::changing);
}

}  // namespace workbench::judging
