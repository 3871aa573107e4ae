// Names of files: those with control characters, which could move the cursor of a terminal, and those after a list.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/shell.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {

TEST_SUITE("names") {
    TEST_CASE("a name after a list of backends is a file") {
        for (const char* command : {"run recipes/csr.toml", "bench recipes/csr.toml", "choose", "solve"}) {
            const Outcome outcome = run(std::string(command) + " --backend kokkos,eigen recipes/none.toml");
            CHECK_MESSAGE(outcome.text.find("recipes/none.toml: ") != std::string::npos, outcome.text);
        }
    }

    TEST_CASE("no command prints the control characters of a name") {
        const TemporaryFolder folder;
        const auto named = [&](const std::string& end) { return (folder.path() / ("a\x1b[31m\xc2\x9b" + end)).string(); };
        const auto quoted = [&](const std::string& end) { return " '" + named(end) + "'"; };
        std::ofstream(named(".mtx")) << "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n";
        std::filesystem::copy_file(csr_file, named(".toml"));
        const std::string recipe = quoted(".toml");
        const std::string with_matrix = " --matrix" + quoted(".mtx");
        for (const std::string& command :
             {"info" + quoted(".mtx"), "check" + recipe,
              "run" + recipe + with_matrix + " --samples 1 --seconds 0 --out" + quoted("run"),
              "compare" + recipe + recipe + with_matrix + " --samples 1 --seconds 0",
              "draw" + recipe + with_matrix + " -o" + quoted(".png"), "convert" + quoted(".mtx") + quoted(".npz"),
              "export" + recipe + with_matrix + " --out" + quoted("export"),
              "solve" + recipe + with_matrix + " --out" + quoted("solve"), "storage" + quoted(".mtx"),
              "info" + quoted(".absent"), "check" + quoted(".absent")}) {
            CAPTURE(command);
            const Outcome outcome = run(command);
            CHECK(outcome.text.find('\x1b') == std::string::npos);
            CHECK(outcome.text.find("\xc2\x9b") == std::string::npos);
            CHECK(outcome.text.find("a?[31m?") != std::string::npos);
        }
    }
}

}  // namespace workbench
