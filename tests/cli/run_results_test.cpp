// The files that `run` writes, also if it fails.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/page_sections.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {

TEST_CASE("recipes of one name are ranked apart, by their files") {
    const TemporaryFolder folder;
    for (const char* name : {"one.toml", "two.toml"}) {
        std::ofstream(folder.path() / name) << "[recipe]\nname = 'Same'\n[layout]\nuse = 'sell'\n";
    }
    const Outcome outcome = workbench_in(folder.path(),
                                         "run one.toml two.toml --generate laplace2d:nx=30 --backend kokkos --samples 5 "
                                         "--seconds 0 --cache warm --no-pictures");
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.text.find("\n  Same: one.toml ") != std::string::npos);
    CHECK(outcome.text.find("\n  Same: two.toml ") != std::string::npos);
}

TEST_CASE("output that cannot be written is an error") {
    CHECK(run("list 2>&1 >/dev/full").exit_code == 4);
    CHECK(run("--help 2>&1 >/dev/full").exit_code == 4);
    CHECK(run("run none.toml 2>/dev/full").exit_code == 2);
}

TEST_CASE("recipes on one matrix may have different node sizes") {
    const TemporaryFolder folder;
    const Outcome outcome =
        run("run recipes/csr.toml recipes/bsr.toml --backend kokkos --samples 1 --seconds 0 --cache warm --no-pictures --out " +
            folder.path().string());
    CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
    CHECK(std::filesystem::exists(folder.path() / "bsr" / "report.json"));
}

TEST_CASE("recipes that write the path of a matrix differently share it") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "first.toml") << "[matrix]\npath = 'a.mtx'\n[layout]\nuse = 'csr'\n";
    std::ofstream(folder.path() / "second.toml")
        << "[matrix]\npath = '" << (folder.path() / "." / "a.mtx").string() << "'\nnode_size = 3\n[layout]\nuse = 'sell'\n";
    std::ofstream(folder.path() / "third.toml") << "[matrix]\npath = 'b.mtx'\n[layout]\nuse = 'coo'\n";
    const std::string out = folder.path().string();
    CHECK(run("generate laplace2d nx=3 -o " + out + "/a.mtx").exit_code == 0);
    const std::string rest = " --backend kokkos --samples 1 --seconds 0 --cache warm --no-pictures --out " + out;
    const Outcome shared = run("run " + out + "/first.toml " + out + "/second.toml" + rest);
    CHECK_MESSAGE(shared.exit_code == 0, shared.text);
    const Outcome apart = run("run " + out + "/first.toml " + out + "/third.toml" + rest);
    CHECK(apart.exit_code == 2);
    CHECK(apart.text.find("name different matrices") != std::string::npos);
}

TEST_CASE("a run that fails leaves no folder behind") {
    const TemporaryFolder folder;
    const std::string rest = " --out " + (folder.path() / "a" / "b").string();
    CHECK(run("run recipes/ehyb.toml --matrix tests/golden/cli/wide.mtx" + rest).exit_code == 3);
    CHECK(run("run recipes/ehyb.toml --matrix none.mtx" + rest).exit_code == 3);
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("--json - prints the report") {
    const TemporaryFolder folder;
    const Outcome json = run("run recipes/csr.toml --generate laplace2d:nx=4 --json - --out " + folder.path().string() + quick);
    CHECK(json.exit_code == 0);
    const auto report = nlohmann::json::parse(json.text);
    CHECK(report["matrix"]["rows"] == 16);
    CHECK(report["cache"] == "warm");
    CHECK(report["versions"].contains("workbench"));
    CHECK_FALSE(report["machine"].empty());
    const auto page = nlohmann::json::parse(section_of_page(file_text(folder.path() / "csr" / "report.html"), "document"));
    CHECK(page["command"] ==
          "workbench run recipes/csr.toml --generate laplace2d:nx=4 --json - --out " + folder.path().string() + quick);
}

TEST_CASE("results are written even if standard output is full") {
    const TemporaryFolder folder;
    const Outcome outcome = run("run recipes/csr.toml --generate laplace2d:nx=4 --no-pictures" + quick + " --out " +
                                folder.path().string() + " 2>&1 >/dev/full #");
    CHECK(outcome.exit_code == 4);
    CHECK(outcome.text == "error: standard output: cannot be written\n");
    CHECK(std::filesystem::exists(folder.path() / "csr" / "report.json"));
}

TEST_CASE("a run without kernels is an error") {
    const TemporaryFolder folder;
    const Outcome outcome = run("run recipes/sell.toml --backend eigen --no-pictures --out " + folder.path().string());
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.text.find("no kernel of layout 'sell' runs") != std::string::npos);
}

TEST_CASE("an unwritable output folder is an error that names it") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "taken") << "a file";
    const Outcome outcome = run("run recipes/csr.toml --backend kokkos --samples 1 --seconds 0 --cache warm --out " +
                                (folder.path() / "taken").string());
    CHECK(outcome.exit_code == 4);
    CHECK(outcome.text.find("error: " + (folder.path() / "taken").string()) != std::string::npos);
}
}  // namespace workbench
