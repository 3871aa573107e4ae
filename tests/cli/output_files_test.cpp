// Files that exist: those of the user are never replaced without --force, and results replace only results.
#include <doctest/doctest.h>

#include <sys/xattr.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

const std::string inline_recipe = "recipes/teaching/small_inline.toml";
const std::string small_grid = " --generate laplace2d:nx=3 ";
const std::string at_once = quick + " --no-pictures";

/// The contents of all files in a folder.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) contents[fs::relative(entry.path(), folder).string()] = file_text(entry.path());
    }
    return contents;
}

/// A command that writes files to keep. OUT stands for the folder.
struct Writer {
    std::string command;
    std::vector<std::string> files;
};

}  // namespace

TEST_CASE("a file of the user is replaced with --force only, whichever command writes it") {
    const TemporaryFolder results;
    const std::string lines = (results.path() / "runs.json").string();
    REQUIRE(run("run recipes/csr.toml recipes/sell.toml" + small_grid + at_once + " --out " + results.path().string() +
                " --json " + lines)
                .exit_code == 0);
    const std::vector<Writer> writers{
        {"draw " + inline_recipe + " --width 320 -o OUT/a.png", {"a.png"}},
        {"animate " + inline_recipe + " --width 320 -o OUT/a.png", {"a.png"}},
        {"generate laplace2d nx=3 -o OUT/a.mtx", {"a.mtx"}},
        {"convert tests/golden/cli/wide.mtx OUT/a.mtx", {"a.mtx"}},
        {"choose recipes/csr.toml --budget 0.1 --backend kokkos" + small_grid + "-o OUT/a.toml", {"a.toml"}},
        {"cache recipes/teaching/segment_width.toml --generate laplace2d:nx=5 --sweep stage.column_segmentation.width=5,9 "
         "--plot OUT/a",
         {"a.png", "a.svg"}},
        {"summary " + lines + " --plots OUT", {"profile_host_f64.svg", "roofline_host_f64.png"}},
        {"compare recipes/csr.toml recipes/sell.toml --no-page --out OUT" + small_grid + quick, {"csr.png", "sell.png"}},
    };
    for (const Writer& writer : writers) {
        CAPTURE(writer.command);
        for (const std::string& file : writer.files) {
            const TemporaryFolder folder;
            const std::string out = folder.path().string();
            const std::string command = replaced(writer.command, "OUT", out);
            std::ofstream(folder.path() / file) << "mine";
            const Outcome refused = run(command);
            CHECK(refused.exit_code == 2);
            CHECK(refused.text ==
                  "error: " + out + "/" + file + ": this file exists; choose another one, or replace it with --force\n");
            CHECK(contents_of(folder.path()) == std::map<std::string, std::string>{{file, "mine"}});
            const Outcome forced = run(command + " --force");
            CHECK_MESSAGE(forced.exit_code == 0, forced.text);
            CHECK(file_text(folder.path() / file) != "mine");
        }
    }
}

TEST_CASE("a command writes its own file again, unless somebody has changed it") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "a.png").string();
    const std::string draw = "draw " + inline_recipe + " --width 320 -o " + file;
    REQUIRE(run(draw).exit_code == 0);
    if (getxattr(file.c_str(), "user.spmv_workbench.writer", nullptr, 0) < 0) return;  // the file system has no attributes
    const std::string first = file_text(file);
    CHECK(run(draw).exit_code == 0);
    CHECK(file_text(file) == first);
    CHECK(run("draw " + inline_recipe + " --width 640 -o " + file).exit_code == 2);  // another command
    CHECK(run(draw + " --force").exit_code == 0);
    CHECK(run(draw).exit_code == 0);
    std::ofstream(file, std::ios::app) << "mine";
    CHECK(run(draw).exit_code == 2);
    CHECK(file_text(file) == first + "mine");
}

TEST_CASE("export writes into a folder with files with --force only") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "recipe.toml") << "mine";
    const std::string command = "export recipes/csr.toml" + small_grid + "-o " + folder.path().string();
    const Outcome refused = run(command);
    CHECK(refused.exit_code == 2);
    CHECK(refused.text ==
          "error: " + folder.path().string() + ": this folder is not empty; choose another one, or replace it with --force\n");
    CHECK(contents_of(folder.path()) == std::map<std::string, std::string>{{"recipe.toml", "mine"}});
    CHECK(run(command + " --force").exit_code == 0);
    CHECK(file_text(folder.path() / "recipe.toml") != "mine");
    const fs::path none = folder.path() / "none";
    CHECK(run("export recipes/rcm_sell.toml --matrix tests/golden/cli/wide.mtx -o " + none.string()).exit_code == 3);
    CHECK_FALSE(fs::exists(none));
}

TEST_CASE("results never replace a file of another kind") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const std::string recipe = "[layout]\nuse = 'csr'\n";
    for (const char* name : {"mine.toml", "solve.json", "b.html", "mine/report.json"}) {
        fs::create_directories((folder.path() / name).parent_path());
        std::ofstream(folder.path() / name) << recipe;
    }
    std::ofstream(folder.path() / "schema.json") << R"({"$schema": "https://json-schema.org", "recipe": {}})";
    fs::create_directories(folder.path() / "thesis" / "mine");
    for (const char* name : {"thesis/mine/report.html", "thesis/solve.html"})
        std::ofstream(folder.path() / name) << "<html>my thesis</html>";
    const auto before = contents_of(folder.path());
    const std::map<std::string, std::string> refused{
        {"run OUT/mine.toml" + small_grid + at_once + " --out OUT/o --json OUT/mine.toml",
         "mine.toml: this file exists and has no results"},
        {"compare OUT/mine.toml recipes/sell.toml" + small_grid + " --page OUT/mine.toml",
         "mine.toml: this file exists and has no results"},
        {"solve OUT/mine.toml" + small_grid + " --out OUT/o --json OUT/mine.toml",
         "mine.toml: this file exists and has no results"},
        {"choose OUT/mine.toml" + small_grid + " --out OUT/w.toml --json OUT/mine.toml",
         "mine.toml: this file exists and has no results"},
        {"cache OUT/mine.toml" + small_grid + " --json OUT/mine.toml", "mine.toml: this file exists and has no results"},
        {"run OUT/mine.toml" + small_grid + at_once + " --out OUT", "mine/report.json: this file exists and has no results"},
        {"solve OUT/mine.toml" + small_grid + " --out OUT", "solve.json: this file exists and has no results"},
        {"run OUT/mine.toml" + small_grid + at_once + " --out OUT/o --json OUT/schema.json",
         "schema.json: this file exists and has no results"},
        {"run OUT/mine.toml" + small_grid + at_once + " --out OUT/thesis", "report.html: this file exists and has no results"},
        {"solve OUT/mine.toml" + small_grid + " --out OUT/thesis", "solve.html: this file exists and has no results"},
        {"bench OUT/mine.toml" + small_grid + quick + " --out OUT/b.jsonl", "b.html: this file exists and has no results"},
        {"bench OUT/mine.toml" + small_grid + quick + " --out OUT/mine.toml", "mine.toml:1:1: not a line of a bench"},
    };
    for (const auto& [command, reason] : refused) {
        CAPTURE(command);
        const Outcome outcome = run(replaced(command, "OUT", out));
        CHECK(outcome.exit_code == 2);
        CHECK_MESSAGE(outcome.text.find(reason) != std::string::npos, outcome.text);
        CHECK(contents_of(folder.path()) == before);
    }
    const std::string twice = "run recipes/csr.toml" + small_grid + at_once + " --out " + out + "/o --json " + out + "/o.json";
    CHECK(run(twice).exit_code == 0);
    CHECK(run(twice).exit_code == 0);
}

TEST_CASE("two recipes of one file name are not drawn over each other") {
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "a");
    for (const char* name : {"x.toml", "a/x.toml"}) std::ofstream(folder.path() / name) << "[layout]\nuse = 'csr'\n";
    const std::string command = "compare x.toml a/x.toml --no-page" + small_grid + quick;
    const Outcome refused = workbench_in(folder.path(), command + " --out drawn");
    CHECK(refused.exit_code == 2);
    CHECK(refused.text == "error: x.toml and a/x.toml would be drawn to the same file, 'x.png'; rename one, or omit --out\n");
    CHECK(workbench_in(folder.path(), command).exit_code == 0);
}

TEST_CASE("a run without a readable matrix leaves the results of an earlier one") {
    const TemporaryFolder folder;
    const std::string out = " --out " + folder.path().string() + " --backend kokkos --samples 1 --seconds 0 --cache warm";
    const std::string sweep = "run recipes/sell.toml --sweep layout.slice_height=1,2";
    CHECK(run(sweep + " --generate laplace2d:nx=3" + out).exit_code == 0);
    const auto before = contents_of(folder.path());
    CHECK(before.size() > 8);
    const Outcome missing = run(sweep + " --matrix none.mtx" + out);
    CHECK(missing.exit_code == 3);
    CHECK(missing.text.starts_with("error: none.mtx: there is no such file; "));
    CHECK(run("run recipes/sell.toml --sweep layout.slice_height=1,2 --set matrix.path=none.mtx" + out).exit_code != 0);
    CHECK(contents_of(folder.path()) == before);
}

}  // namespace workbench
