// Work in child processes that end in every way.
#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "frontends/cli/supervised.hpp"

namespace workbench {
namespace {

using Texts = std::vector<std::string>;

struct Course {
    ExitCode exit_code = ExitCode::ok;
    std::string error = {};
    Texts ended = {};
    Texts lost = {};  // with reasons
};

/// `work` receives the steps that were lost before.
Course supervise(const std::function<ExitCode(const Steps&, const Texts& lost)>& work) {
    const pid_t parent = getpid();
    Course course;
    try {
        course.exit_code = supervised(
            [&](const Steps& steps) { return work(steps, course.lost); },
            {.ended = [&](const std::string& result) { course.ended.push_back(result); },
             .lost = [&](const std::string& step, const std::string& reason) { course.lost.push_back(step + ": " + reason); }});
    } catch (const MachineError& error) {
        course.error = error.what();
    }
    if (getpid() != parent) _exit(static_cast<int>(course.exit_code));
    return course;
}

}  // namespace

TEST_SUITE("supervised") {
    TEST_CASE("results and the exit code reach the parent") {
        const Course course = supervise([](const Steps& steps, const Texts&) {
            steps.begin("one", 60);
            steps.end("1");
            steps.begin("two", 60);
            steps.end("2");
            return ExitCode::stagnated;
        });
        CHECK(course.exit_code == ExitCode::stagnated);
        CHECK(course.ended == Texts{"1", "2"});
        CHECK(course.lost.empty());
    }

    TEST_CASE("a step that kills its process, and one that gives up, are left out") {
        const Course course = supervise([](const Steps& steps, const Texts& lost) {
            if (lost.empty()) {
                steps.begin("killed", 60);
                (void)raise(SIGKILL);
            }
            if (lost.size() == 1) {
                steps.begin("broken", 60);
                steps.lose("the device is broken");
                return ExitCode::machine_error;
            }
            steps.begin("good", 60);
            steps.end("result");
            return ExitCode::ok;
        });
        CHECK(course.exit_code == ExitCode::ok);
        CHECK(course.ended == Texts{"result"});
        CHECK(course.lost == Texts{"killed: killed by signal 9 (Killed)", "broken: the device is broken"});
    }

    TEST_CASE("the limit of a step counts from its own beginning") {
        const auto pause = [](int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); };
        const Course course = supervise([&pause](const Steps& steps, const Texts&) {
            pause(400);  // before the step
            steps.begin("short", 0.38);
            pause(20);
            steps.end("result");
            return ExitCode::ok;
        });
        CHECK(course.exit_code == ExitCode::ok);
        CHECK(course.ended == Texts{"result"});
        CHECK(course.lost.empty());
    }

    TEST_CASE("the note of the thread that crashes is the lost step") {
        const Course course = supervise([](const Steps&, const Texts& lost) {
            if (!lost.empty()) return ExitCode::ok;
            Steps::note("of the first thread");
            std::thread([] {
                Steps::note("of the second");
                (void)raise(SIGSEGV);
            }).join();
            return ExitCode::ok;
        });
        CHECK(course.error.empty());
        CHECK(course.lost == Texts{"of the second: killed by signal 11 (Segmentation fault)"});
    }

    TEST_CASE("the work ends if a step is lost twice, or a crash belongs to no step") {
        const Course twice = supervise([](const Steps& steps, const Texts&) {
            steps.begin("broken", 60);
            steps.lose("the device is broken");
            return ExitCode::machine_error;
        });
        CHECK(twice.error == "the search ended: the device is broken");
        CHECK(twice.lost.size() == 1);
        const Course crashed = supervise([](const Steps&, const Texts&) {
            Steps::note("over");
            Steps::note(nullptr);
            (void)raise(SIGABRT);
            return ExitCode::ok;
        });
        CHECK(crashed.error == "the search ended: killed by signal 6 (Aborted)");
        CHECK(crashed.lost.empty());
    }
}

}  // namespace workbench
