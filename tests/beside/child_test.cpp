// Child processes that end in every way.
#include "core/system/child.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

Ending shell(const std::string& text, const ChildOptions& options, double limit_seconds = 50) {
    return Child({"sh", "-c", text}, options).wait(limit_seconds);
}

/// True if the numbers 0 to 2 are of open files.
bool has_standard_descriptors() { return fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0; }

bool runs(const std::string& process) {
    std::ifstream state("/proc/" + process + "/stat");
    std::string number;
    std::string name;
    char letter = 'Z';
    return state >> number >> name >> letter && letter != 'Z' && letter != 'X';
}

}  // namespace

TEST_CASE("a child's exit code, signal and output") {
    const Ending good = shell("echo out; echo err >&2; exit 3", {.output = ChildOutput::returned});
    CHECK(good.exit_code == 3);
    CHECK(good.signal == 0);
    CHECK(good.output == "out\nerr\n");
    CHECK(good.text() == "exit code 3");
    CHECK_FALSE(good.too_long);
    const Ending killed = shell("kill -9 $$", {.output = ChildOutput::nowhere});
    CHECK(killed.signal == SIGKILL);
    CHECK(killed.text() == "killed by signal 9 (Killed)");
    CHECK(killed.text_of_loss() == "killed by signal 9 (Killed): the machine may have run out of memory");
    const Ending missing = Child({"no such program"}, {.output = ChildOutput::returned}).wait();
    CHECK(missing.not_started == "No such file or directory");
    CHECK(missing.exit_code == 127);
}

TEST_CASE("of a long output, a child returns the end") {
    const Ending end = shell("seq 100000", {.output = ChildOutput::returned});
    CHECK(end.output.size() == most_printed_bytes);
    CHECK(end.output.ends_with("\n99999\n100000\n"));
}

TEST_CASE("a child in another folder, with its errors in a file and an empty standard input") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "errors";
    const ChildOptions options{.output = ChildOutput::errors, .file = file, .folder = folder.path()};
    CHECK(shell("cat >&2; pwd; pwd >&2", options).exit_code == 0);
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    CHECK(std::filesystem::equivalent(line, folder.path()));
    CHECK_FALSE(std::getline(stream, line));
}

TEST_CASE("a child is killed at its limit, and its children end with it") {
    CHECK(Child({"sleep", "100"}).wait(0.05).too_long);
    const Ending end = shell("sleep 100 >/dev/null & echo $!", {.output = ChildOutput::returned});
    CHECK(end.exit_code == 0);
    const std::string left = end.output.substr(0, end.output.find('\n'));
    REQUIRE_FALSE(left.empty());
    for (int i = 0; i < 200 && runs(left); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(runs(left));
}

TEST_CASE("a child ends with its parent, also if that is killed") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "number").string();
    const auto number = [&file] {
        std::ifstream stream(file);
        std::string text;
        return std::getline(stream, text) && !stream.eof() ? text : "";
    };
    const pid_t parent = fork();
    if (parent == 0) {
        const Child child({"sh", "-c", "echo $$ >" + file + "; exec sleep 100"}, {.output = ChildOutput::nowhere});
        for (;;) pause();
    }
    for (int i = 0; i < 2000 && number().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::string child = number();
    REQUIRE_FALSE(child.empty());
    CHECK(runs(child));
    CHECK(kill(parent, SIGKILL) == 0);
    CHECK(waitpid(parent, nullptr, 0) == parent);
    for (int i = 0; i < 2000 && runs(child); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK_FALSE(runs(child));
    if (runs(child)) (void)kill(std::stoi(child), SIGKILL);
}

TEST_CASE("a copy of the process answers over its connection") {
    Child child(ChildOptions{.output = ChildOutput::nowhere, .connected = true});
    if (child.inside()) {
        char letter = 'x';
        const bool fine = recv(child.connection(), &letter, 1, 0) == 1 && send(child.connection(), &++letter, 1, 0) == 1;
        _exit(fine ? 7 : 1);
    }
    CHECK(send(child.connection(), "a", 1, MSG_NOSIGNAL) == 1);
    std::string text;
    while (child.receive(text, -1)) continue;
    CHECK(text == "b");
    CHECK(child.wait().exit_code == 7);
    CHECK_FALSE(child.was_signalled());
}

TEST_CASE("signals that end the program reach a copy that gets them") {
    Child child(ChildOptions{.gets_signals = true});
    if (child.inside()) {
        (void)std::signal(SIGINT, [](int) { _exit(5); });
        (void)kill(getppid(), SIGINT);  // waits until the parent passes it on
        for (;;) pause();
    }
    CHECK(child.wait(20).exit_code == 5);
    CHECK(child.was_signalled());
}

TEST_CASE("closed standard descriptors are opened, for this process and its children, and cannot be written") {
    Child child(ChildOptions{.connected = true});
    if (child.inside()) {
        for (const int file : {0, 1, 2}) (void)close(file);
        const Ending end = shell("echo text", {.output = ChildOutput::returned});
        const bool lost = write(STDOUT_FILENO, "", 1) < 0 && errno == EBADF;
        const bool right = end.exit_code == 0 && end.output == "text\n" && has_standard_descriptors() && lost;
        const int next = open("/dev/null", O_RDONLY);
        _exit(right && next > 2 ? 0 : 1);
    }
    CHECK(child.wait(20).exit_code == 0);
}

}  // namespace workbench
