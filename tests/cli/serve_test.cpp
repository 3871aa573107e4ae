// run --watch and serve, with the real program.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "serve/connection.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// The JSON in the first line of the answer to a run. The parts of the page follow.
nlohmann::json first_line(const Reply& reply) { return nlohmann::json::parse(reply.body.substr(0, reply.body.find('\n'))); }

/// Waits until the condition is true, for at most two minutes, as the machine may be busy.
bool waits_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 12'000; ++i, usleep(10'000)) {
        if (condition()) return true;
    }
    return false;
}

/// True if a run has kept the result of a stage in this folder.
bool has_kept(const std::filesystem::path& folder) {
    std::error_code none;
    for (std::filesystem::recursive_directory_iterator at(folder, none), end; at != end; at.increment(none)) {
        if (at->path().extension() == ".kept") return true;
    }
    return false;
}

/// The program in the background, in a process group like that of a terminal. Its output goes to a file.
class Background {
public:
    Background(const std::filesystem::path& folder, const std::string& arguments) : log_(folder / "output.log") {
        const std::string command = "cd '" + folder.string() + "' && exec env -u OMP_WAIT_POLICY '" WORKBENCH_BINARY "' " +
                                    arguments + " > output.log 2>&1";
        std::filesystem::remove(log_);
        process_ = fork();
        if (process_ == 0) {
            (void)setpgid(0, 0);
            (void)std::signal(SIGINT, SIG_DFL);
            (void)execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
        (void)setpgid(process_, process_);  // as the child does, which may be later
    }
    ~Background() {
        if (process_ > 0) (void)end(SIGKILL);
    }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    [[nodiscard]] std::string text() const {
        std::error_code none;
        return std::filesystem::exists(log_, none) ? file_text(log_) : "";
    }

    /// Waits until the output contains this text `count` times.
    [[nodiscard]] bool comes_to(const std::string& wanted, int count) const {
        return waits_for([&] {
            const std::string output = text();
            int found = 0;
            for (std::size_t at = 0; (at = output.find(wanted, at)) != std::string::npos; ++at) ++found;
            return found >= count;
        });
    }

    [[nodiscard]] std::string environment() const { return file_text("/proc/" + std::to_string(process_) + "/environ"); }

    /// The exit code, or 128 plus the number of the signal that ended it, as in a shell.
    [[nodiscard]] int end(int signal) { return end(signal, -process_); }
    /// Likewise, with a signal to the program and not to what it has started.
    [[nodiscard]] int end_alone(int signal) { return end(signal, process_); }

private:
    [[nodiscard]] int end(int signal, pid_t receiver) {
        (void)kill(receiver, signal);
        int status = 0;
        (void)waitpid(process_, &status, 0);
        process_ = -1;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    std::filesystem::path log_;
    pid_t process_ = -1;
};

void write_recipe(const std::filesystem::path& file, const std::string& name, const std::string& layout = "csr") {
    std::ofstream(file) << "[recipe]\nname = \"" << name << "\"\n[matrix]\nrows = [\"1 .\", \". 1\"]\n[layout]\nuse = \""
                        << layout << "\"\n";
}

}  // namespace

TEST_SUITE("watch") {
    TEST_CASE("a run is repeated when its recipe or a source beside it is saved, also after an error") {
        const TemporaryFolder folder;
        const std::filesystem::path recipe = folder.path() / "recipe.toml";
        write_recipe(recipe, "the first");
        Background program(folder.path(), "run recipe.toml --watch --no-pictures" + quick + " --json results.json");
        const std::string waits = "waiting for a recipe or source to be saved; Ctrl-C ends this\n";
        REQUIRE(program.comes_to(waits, 1));
        CHECK(json_in(folder.path() / "results.json")["recipe"]["name"] == "the first");
        write_recipe(recipe, "the second", "no_such_layout");
        REQUIRE(program.comes_to(waits, 2));
        CHECK(program.text().find("recipe.toml was saved\nerror: recipe.toml:6:7: unknown layout 'no_such_layout'") !=
              std::string::npos);
        write_recipe(recipe, "the third");
        REQUIRE(program.comes_to(waits, 3));
        CHECK(json_in(folder.path() / "results.json")["recipe"]["name"] == "the third");
        std::ofstream(folder.path() / "kernel.cpp") << "// saved\n";
        REQUIRE(program.comes_to("kernel.cpp was saved\n", 1));
        REQUIRE(program.comes_to(waits, 4));
        // Neither the results nor other files count.
        std::ofstream(folder.path() / "notes.txt") << "saved\n";
        const std::string before = program.text();
        (void)usleep(400'000);
        CHECK(program.text() == before);
        CHECK(program.end(SIGINT) == 130);
    }

    TEST_CASE("check --watch checks a recipe again when it is saved") {
        const TemporaryFolder folder;
        write_recipe(folder.path() / "recipe.toml", "right");
        Background program(folder.path(), "check recipe.toml --watch --format json");
        REQUIRE(program.comes_to("waiting for a recipe", 1));
        CHECK(program.text().starts_with("[]\n"));
        write_recipe(folder.path() / "recipe.toml", "wrong", "no_such_layout");
        REQUIRE(program.comes_to("\"line\":6,\"column\":7,\"severity\":\"error\",\"message\":\"unknown layout", 1));
        CHECK(program.end(SIGINT) == 130);
    }

    TEST_CASE("Ctrl-C during a run ends it as usual, and so does a signal to the program alone") {
        for (const bool alone : {false, true}) {
            const TemporaryFolder folder;
            write_recipe(folder.path() / "recipe.toml", "long", "csr\"\n[[stage]]\nuse = \"cuthill_mckee");
            Background program(
                folder.path(),
                "run recipe.toml --watch --no-pictures --backend kokkos --seconds 0.9 --samples 1000000 --keep kept");
            REQUIRE(waits_for([&] { return has_kept(folder.path() / "kept"); }));  // the kernel is verified and timed next
            CHECK((alone ? program.end_alone(SIGTERM) : program.end(SIGINT)) == 130);
            CHECK(program.text().find("waiting") == std::string::npos);
            if (alone) CHECK(program.text().find("stopping at the next step") != std::string::npos);
        }
    }
}

TEST_SUITE("serve") {
    TEST_CASE("what is kept from earlier runs changes no result") {
        const TemporaryFolder folder;
        const std::string begin =
            "[matrix]\ngenerate = \"laplace2d\"\nnx = 20\nscramble = 1\n[[stage]]\nuse = \"cuthill_mckee\"\n";
        const std::string sort = "[[stage]]\nuse = \"row_sort\"\n";
        const std::string end = "[layout]\nuse = \"sell\"\nslice_height = 8\n";
        std::ofstream(folder.path() / "r.toml") << begin << end;
        // Without the document, which contains times.
        const auto sections_of = [](const Address& address, const std::string& text) {
            const auto ran = first_line(address.post("run", nlohmann::json{{"text", text}}.dump()));
            CAPTURE(ran.dump());
            REQUIRE(ran.contains("page"));
            const std::string page = address.get("page/" + std::to_string(ran["page"].get<int>())).body;
            return page.substr(page.find("id=\"section-0\""));
        };
        const auto all_of = [&](const std::vector<std::string>& texts) {
            Background program(folder.path(), "serve r.toml");
            REQUIRE(program.comes_to("Ctrl-C ends the server.\n", 1));
            const std::string output = program.text();
            const std::size_t at = output.find("http://");
            const Address address(output.substr(at, output.find('\n') - at));
            std::vector<std::string> all;
            for (const std::string& text : texts) all.push_back(sections_of(address, text));
            return all;
        };
        const std::string longer = begin + sort + end;
        const std::vector<std::string> kept = all_of({begin + end, longer, begin + end});
        CHECK(kept[0] != kept[1]);
        CHECK(kept[0] == kept[2]);
        CHECK(kept[1] == all_of({longer})[0]);
    }

    TEST_CASE("the page and a run of the real program, until Ctrl-C") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "r.toml")
            << "[matrix]\ngenerate = \"laplace2d\"\nnx = 20\n[[stage]]\nuse = \"cuthill_mckee\"\n[layout]\nuse = \"sell\"\n";
        Background program(folder.path(), "serve r.toml --backend kokkos --samples 1 --seconds 0 --cache warm");
        REQUIRE(program.comes_to("Ctrl-C ends the server.\n", 1));
        CHECK(program.environment().find("OMP_WAIT_POLICY=passive") != std::string::npos);  // it has started itself again
        const std::string output = program.text();
        const std::size_t begin = output.find("http://");
        const Address address(output.substr(begin, output.find('\n') - begin));
        const Reply page = address.get("");
        CHECK(page.body.find("<title>r.toml</title>") != std::string::npos);
        std::ofstream(folder.path() / "m.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
        CHECK(address.get("matrices/0").body == "[\"m.mtx\"]");
        for (const bool timed : {false, true}) {
            const nlohmann::json request{{"text", file_text(folder.path() / "r.toml")}, {"timed", timed}};
            const auto ran = first_line(address.post("run", request.dump()));
            CAPTURE(ran.dump());
            REQUIRE(ran.contains("page"));
            const Reply report = address.get("page/" + std::to_string(ran["page"].get<int>()));
            CHECK(report.body.find("<title>r") != std::string::npos);
        }
        // The vertices of a large graph would keep the reader waiting.
        for (const bool large : {false, true}) {
            const std::string text =
                "[matrix]\ngenerate = \"banded\"\nbandwidth = 2\nrows = " + std::string(large ? "3500" : "500") +
                "\n[layout]\nuse = \"csr\"\n";
            const std::string parts = address.post("run", nlohmann::json{{"text", text}}.dump()).body;
            CHECK((parts.find("\"places\":null") != std::string::npos) == large);
        }
        const nlohmann::json wrong{
            {"text", "[matrix]\nrows = [\"1 1\"]\n[[stage]]\nuse = \"cuthill_mckee\"\n[layout]\nuse = \"csr\"\n"}};
        CHECK(nlohmann::json::parse(address.post("run", wrong.dump()).body)["error"] ==
              "error: the matrix has 1 row and 2 columns; expected a square one, for stage 'cuthill_mckee' (r.toml:3)");
        CHECK(program.end(SIGINT) == 0);
        CHECK(program.text() == output);
        CHECK(!Connection(address).is_open());
    }

    TEST_CASE("the address is another one each time unless a port is chosen") {
        const TemporaryFolder folder;
        write_recipe(folder.path() / "r.toml", "short");
        const auto token_of = [&](const std::string& options) {
            Background program(folder.path(), "serve r.toml" + options);
            REQUIRE(program.comes_to("Ctrl-C ends the server.\n", 1));
            const std::string output = program.text();
            const std::size_t begin = output.find("http://");
            const Address address(output.substr(begin, output.find('\n') - begin));
            CHECK(options.find(address.port) == (options.empty() ? std::string::npos : options.size() - address.port.size()));
            return address.token;
        };
        CHECK(token_of("") != token_of(""));
        const std::string chosen = " --port " + std::to_string(20'000 + getpid() % 10'000);
        CHECK(token_of(chosen) == token_of(chosen));
    }

    TEST_CASE("a recipe that is missing, and one with errors, which can be corrected in the page") {
        const TemporaryFolder folder;
        {
            Background without(folder.path(), "serve");  // begins with the recipes that come with the program
            CHECK(without.comes_to("Ctrl-C ends the server.\n", 1));
            CHECK(without.end(SIGTERM) == 0);
        }
        const Outcome missing = workbench_in(folder.path(), "serve none.toml");
        CHECK(missing.exit_code == 2);
        CHECK(missing.text.find("none.toml: ") != std::string::npos);
        const Outcome endless = shell("timeout 20 '" WORKBENCH_BINARY "' serve '" + csr_file + "' --limit nan 2>&1");
        CHECK(endless.exit_code == 2);
        CHECK(endless.text == "error: --limit: found a number that is not finite\n");
        std::ofstream(folder.path() / "wrong.toml") << "[layout\n";
        Background program(folder.path(), "serve wrong.toml");
        CHECK(program.comes_to("Ctrl-C ends the server.\n", 1));
        CHECK(program.end(SIGTERM) == 0);
    }
}

}  // namespace workbench
