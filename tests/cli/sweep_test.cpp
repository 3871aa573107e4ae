// Sweeps, `extends`, and options for several recipes. Texts are compared with tests/golden/cli.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

void expect_sweep(const std::string& name, const std::string& arguments, int exit_code) {
    CAPTURE(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.exit_code == exit_code);
    compare_with_stored(name, outcome.text);
}

}  // namespace

TEST_CASE("check and explain support sweeps and extends") {
    const std::string variant = "tests/golden/cli/variant.toml";
    expect_sweep("check_sweep", "check " + variant + " --sweep stage.row_sort.window=32..128*2", 0);
    expect_sweep("check_sweep_resolved", "check --resolved tests/golden/cli/small_sweep.toml", 0);
    expect_sweep("check_several", "check recipes/csr.toml recipes/sell.toml --set layout.slice_height=64", 0);
    expect_sweep("check_nowhere", "check recipes/csr.toml recipes/sell.toml --set layout.slice_hight=64", 2);
    expect_sweep("check_sweep_errors",
                 "check recipes/sell.toml --sweep layout.slice_height=32,0,many --sweep layout.use=sell,sel", 2);
    expect_sweep("explain_sweep", "explain sweep", 0);
    expect_sweep("explain_extends", "explain extends", 0);
    for (const char* name : {"bandwidth", "'mean bandwidth'"}) {  // a key, or a label of pictures
        expect_sweep("explain_bandwidth", std::string("explain ") + name, 0);
    }
    expect_sweep("export_sweep", "export tests/golden/cli/small_sweep.toml -o none", 2);
}

TEST_CASE("check counts and shows the points of a space; other commands refuse it") {
    const std::string space = "spaces/sell.toml";
    expect_sweep("space_check", "check " + space, 0);
    expect_sweep("space_matrix", "check " + space + " --generate rmat:scale=8,degree=20", 0);
    expect_sweep("space_few_points", "check " + space + " --generate laplace2d:nx=9 --set stage.order.use=king", 0);
    expect_sweep("space_point", "check " + space + " --generate rmat:scale=8 --point 100", 0);
    expect_sweep("space_beyond", "check " + space + " --point 198", 2);
    expect_sweep("space_no_space", "check recipes/csr.toml --point 1", 2);
    expect_sweep("space_changes", "check " + space + " --set layout.slice_height=8 --sweep stage.sort.window=1,2", 2);
    expect_sweep("space_run", "run " + space, 2);
}

TEST_CASE("each point of a sweep has a folder and a report; shared stages run once") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const Outcome outcome =
        run("run tests/golden/cli/variant.toml --sweep matrix.nx=6,7 --sweep layout.slice_height=4,8 --out " + out +
            " --json " + out + "/all.json" + quick);
    CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
    const auto runs = json_in(folder.path() / "all.json")["runs"];
    REQUIRE(runs.size() == 4);
    const std::vector<std::string> folders{"nx=6,slice_height=4", "nx=6,slice_height=8", "nx=7,slice_height=4",
                                           "nx=7,slice_height=8"};
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(i);
        const fs::path of_point = folder.path() / "variant" / folders[i];
        CHECK(json_in(of_point / "report.json") == runs[i]);
        for (const char* picture : {"0_input.png", "1_row_sort.png", "stages.png"}) CHECK(fs::exists(of_point / picture));
        CHECK(runs[i]["sweep"] == nlohmann::json{{"matrix.nx", i < 2 ? 6 : 7}, {"layout.slice_height", i % 2 == 0 ? 4 : 8}});
        CHECK(runs[i]["recipe"]["name"] == "variant");
        CHECK(runs[i]["matrix"]["rows"] == (i < 2 ? 6 * 5 : 7 * 5));
        CHECK(runs[i]["layout"]["parameters"]["slice_height"] == (i % 2 == 0 ? 4 : 8));
        CHECK(runs[i]["stages"][1]["shared"] == (i % 2 == 1));
        CHECK(runs[i]["stages"][1]["seconds"] == runs[i - i % 2]["stages"][1]["seconds"]);
        CHECK(runs[i]["stages"][1]["metrics"] == runs[i - i % 2]["stages"][1]["metrics"]);
    }
    CHECK(outcome.text.find("variant: nx=6, slice_height=4\n") == 0);
    // The stage is shared, but each picture names its point.
    CHECK(file_text(folder.path() / "variant" / folders[0] / "1_row_sort.png") !=
          file_text(folder.path() / "variant" / folders[1] / "1_row_sort.png"));
    CHECK(outcome.text.find("written to " + out + "/variant/nx=7,slice_height=8\n") != std::string::npos);

    // The resolved recipe of a point can be run.
    std::ofstream(folder.path() / "again.toml") << runs[3]["recipe"]["resolved"].get<std::string>();
    CHECK(run("run " + out + "/again.toml --no-pictures --out " + out + quick).exit_code == 0);
    const auto again = json_in(folder.path() / "again" / "report.json");
    CHECK(again["sweep"].empty());
    CHECK(again["stages"][1]["metrics"] == runs[3]["stages"][1]["metrics"]);
    CHECK(again["layout"]["footprint"] == runs[3]["layout"]["footprint"]);
}

TEST_CASE("recipes of one run share matrices and initial stages; an option that one of them lacks is a note") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const Outcome outcome =
        run("run recipes/csr.toml tests/golden/cli/variant.toml --sweep matrix.generate=laplace2d,laplace3d"
            " --set matrix.nx=4 --set layout.slice_height=16 --json " +
            out + "/all.json --out " + out + quick);
    CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
    const auto runs = json_in(folder.path() / "all.json")["runs"];
    REQUIRE(runs.size() == 4);  // grouped by matrix
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(runs[i]["recipe"]["name"] == (i % 2 == 0 ? "CSR" : "variant"));
        CHECK(runs[i]["matrix"]["rows"] == (i < 2 ? 16 : 64));
        CHECK(runs[i]["stages"][0]["shared"] == (i % 2 == 1));
    }
    std::size_t pictures = 0;  // of both stages, also if the first one is shared
    for (const auto& file : fs::recursive_directory_iterator(folder.path())) {
        pictures += file.path().filename() == "0_input.png" || file.path().filename() == "1_row_sort.png";
    }
    CHECK(pictures == 4 + 2);
    CHECK(runs[0]["notes"][0] ==
          "--set layout.slice_height=16 changes nothing here: layout 'csr' has no 'slice_height'; expected one of values");
    CHECK(runs[1]["notes"].empty());
    CHECK(runs[1]["layout"]["parameters"]["slice_height"] == 16);
    CHECK(outcome.text.find("  note: --set layout.slice_height=16 changes nothing here") != std::string::npos);
}

TEST_CASE("a failing point is reported with its values and does not stop the others") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const Outcome outcome =
        run("run recipes/csr.toml --sweep matrix.path=tests/golden/cli/wide.mtx,none.mtx --no-pictures --out " + out + quick);
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.text.find("error: recipes/csr.toml (path=none.mtx): none.mtx: ") != std::string::npos);
    CHECK(json_in(folder.path() / "csr" / "path=wide.mtx" / "report.json")["errors"].empty());
    CHECK_FALSE(fs::exists(folder.path() / "csr" / "path=none.mtx"));  // there is nothing to report
}

TEST_CASE("compare") {
    expect_sweep("help_compare", "compare --help", 0);
    expect_sweep("compare_one", "compare recipes/csr.toml", 2);
    expect_sweep("compare_three", "compare recipes/csr.toml recipes/sell.toml --sweep layout.slice_height=1,2", 2);
    expect_sweep("compare_matrices", "compare recipes/csr.toml recipes/teaching/small_inline.toml", 2);
    const TemporaryFolder folder;
    const std::string page = (folder.path() / "pages" / "both.html").string();
    const Outcome text =
        run("compare recipes/csr.toml recipes/sell.toml --generate laplace2d:nx=9 --precision both --page " + page + quick);
    CHECK_MESSAGE(text.exit_code == 0, text.text);
    CHECK(text.text.rfind("A  CSR (recipes/csr.toml)\nB  Sliced ELL (recipes/sell.toml)\nlaplace2d nx=9", 0) == 0);
    CHECK(text.text.find("\nwritten to " + page + "\n") != std::string::npos);
    CHECK(file_text(page).find("<title>CSR and Sliced ELL</title>") != std::string::npos);
    const Outcome json =
        run("compare recipes/sell.toml --sweep layout.slice_height=1,2 --generate laplace2d:nx=9 --json --force --page " +
            page + quick);
    CHECK(json.exit_code == 0);
    const auto data = nlohmann::json::parse(json.text);
    CHECK(data["runs"][1]["sweep"]["layout.slice_height"] == 2);
    CHECK(data["kernels"][1]["backend"] == "kokkos");
    CHECK(run("compare recipes/csr.toml recipes/sell.toml --matrix none.mtx").exit_code == 3);
    const Outcome one_fails =
        run("compare recipes/csr.toml recipes/ehyb.toml --matrix tests/golden/cli/wide.mtx --no-page" + quick);
    CHECK(one_fails.exit_code == 3);
    CHECK(one_fails.text.find("error: EHYB: the matrix has") != std::string::npos);
    // The first failure decides, unless a kernel is wrong.
    std::ofstream(folder.path() / "mine.toml") << "[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
    const std::string both_fail = "compare recipes/ehyb.toml " + (folder.path() / "mine.toml").string() +
                                  " --matrix tests/golden/cli/wide.mtx --no-page --samples 1 --seconds 0 --cache warm";
    std::ofstream(folder.path() / "mine.cpp") << "no program\n";
    CHECK(run(both_fail).exit_code == 3);
    std::ofstream(folder.path() / "mine.cpp")
        << "#include \"arrays.hpp\"\nvoid multiply(const Arrays&, const Value*, Value* y, bool) { y[0] = 0; }\n";
    CHECK(run(both_fail).exit_code == 1);
}

}  // namespace workbench
