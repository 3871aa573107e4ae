// workbench bench --shard and --done, and summary --cover and --rule, run as a program.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

bool has(const Outcome& outcome, const std::string& text) { return outcome.text.find(text) != std::string::npos; }

}  // namespace

TEST_SUITE("shards") {
    TEST_CASE("shards of any split continue each other, and their summary is that of one bench") {
        const TemporaryFolder folder;
        const std::string arguments = "bench " + csr_file + quick;
        const std::string matrices =
            " --generate laplace2d:nx=4 --generate laplace2d:nx=5 --generate laplace2d:nx=6 --generate laplace2d:nx=7";
        const auto shard = [&](const std::string& more) { return workbench_in(folder.path(), arguments + matrices + more); };
        // Three lines a matrix: the recipe, and CSR in two orders.
        const Outcome first = shard(" --shard 1/3");
        CHECK(first.exit_code == 0);
        CHECK(first.text.find("shard 1/3: 2 of 4 matrices\n[1/2] laplace2d:nx=4\n") == 0);
        CHECK(has(first, "[2/2] laplace2d:nx=7\n"));
        CHECK(has(first, "6 measured, 0 unsuitable, 0 wrong, 0 failed, 0 already measured; written to bench.1of3.jsonl\n"));
        CHECK(fs::exists(folder.path() / "bench.1of3.html"));

        fs::create_directory(folder.path() / "done");
        fs::rename(folder.path() / "bench.1of3.jsonl", folder.path() / "done" / "a.jsonl");
        std::ofstream(folder.path() / "done" / "notes.txt") << "no lines\n";
        const Outcome second = shard(" --shard 2/2 --out done/b.jsonl --done done");
        CHECK(has(second, "3 measured, 0 unsuitable, 0 wrong, 0 failed, 3 already measured; written to done/b.jsonl\n"));
        CHECK_FALSE(has(second, "nx=7\n"));  // the first shard measured it
        const Outcome rest = shard(" --out done/c.jsonl --done done/a.jsonl done/b.jsonl");
        CHECK(has(rest, "3 measured, 0 unsuitable, 0 wrong, 0 failed, 9 already measured"));
        const Outcome nothing = shard(" --shard 9/9 --out done/d.jsonl --done done");
        CHECK(nothing.exit_code == 0);
        CHECK(nothing.text ==
              "shard 9/9: 0 of 4 matrices\n"
              "0 measured, 0 unsuitable, 0 wrong, 0 failed, 0 already measured; written to done/d.jsonl\n");
        CHECK(fs::file_size(folder.path() / "done" / "d.jsonl") == 0);
        CHECK_FALSE(fs::exists(folder.path() / "done" / "d.html"));

        // A bench of all matrices that takes up the lines measures nothing, and its lines give the same summary.
        const Outcome merged = workbench_in(folder.path(), "summary done/a.jsonl done/b.jsonl done/c.jsonl done/d.jsonl");
        CHECK(merged.exit_code == 0);
        CHECK(merged.text.find("note: done/d.jsonl: this file is empty") == 0);
        CHECK(has(merged, "CPU, f64: 4 matrices, "));
        CHECK(shell("cd '" + folder.path().string() + "/done' && cat c.jsonl a.jsonl b.jsonl a.jsonl > ../whole.jsonl")
                  .exit_code == 0);
        CHECK(has(shard(" --out whole.jsonl"), "0 measured, 0 unsuitable, 0 wrong, 0 failed, 12 already measured"));
        const std::string whole = workbench_in(folder.path(), "summary whole.jsonl").text;
        CHECK(merged.text.substr(merged.text.find('\n') + 1) == whole);
    }

    TEST_CASE("a file that another bench is writing is read up to its last complete line") {
        const TemporaryFolder folder;
        const std::string arguments = "bench " + csr_file + quick + " --generate laplace2d:nx=4 ";
        CHECK(workbench_in(folder.path(), arguments + "--out a.jsonl").exit_code == 0);
        const std::string lines = file_text(folder.path() / "a.jsonl");
        const std::string cut = lines.substr(0, lines.size() - 9);
        std::ofstream(folder.path() / "a.jsonl", std::ios::binary) << cut;
        CHECK(has(workbench_in(folder.path(), arguments + "--out b.jsonl --done a.jsonl"),
                  "1 measured, 0 unsuitable, 0 wrong, 0 failed, 2 already measured"));
        CHECK(file_text(folder.path() / "a.jsonl") == cut);
    }

    TEST_CASE("errors") {
        const TemporaryFolder folder;
        const std::string arguments = "bench " + csr_file + quick + " --generate laplace2d:nx=4 ";
        const Outcome shard = workbench_in(folder.path(), arguments + "--shard 4/3");
        CHECK(shard.exit_code == 2);
        CHECK(has(shard, "--shard: found 4/3, expected NUMBER/COUNT, as 3/16, with NUMBER from 1 to COUNT\n"));
        const Outcome done = workbench_in(folder.path(), arguments + "--done none");
        CHECK(done.exit_code == 2);
        CHECK(done.text ==
              "error: --done none: cannot be read; expected a file of a bench, or a folder of such files (.jsonl)\n");
    }

    TEST_CASE("the cover and the rule of a bench") {
        const TemporaryFolder folder;
        std::string arguments = "bench " + csr_file + " " + project.string() + "/recipes/ell.toml" + quick;
        for (int nx = 3; nx < 11; ++nx) arguments += " --generate laplace2d:nx=" + std::to_string(nx);
        CHECK(workbench_in(folder.path(), arguments).exit_code == 0);
        const Outcome both = workbench_in(folder.path(), "summary bench.jsonl --cover --rule 2");
        CHECK(both.exit_code == 0);
        CHECK(both.text.find("CPU, f64: 8 matrices, 4 recipes: the sets that serve them best\n") == 0);
        CHECK(has(both, "\nCPU, f64: 8 matrices: which recipe when\n"));
        CHECK(has(both, "\n  this rule "));
        CHECK(workbench_in(folder.path(), "summary bench.jsonl --cover --csv").text.find("device,precision,set_of,recipe,") ==
              0);
        const std::string tex = workbench_in(folder.path(), "summary bench.jsonl --rule 2 --tex").text;
        CHECK(tex.starts_with("% needs \\usepackage{booktabs}\n\\begin{table*}\n\\centering\n\\small\n"));
        CHECK(tex.find("\n\\caption{CPU, f64: 8 matrices: which") != std::string::npos);
        const Outcome csv = workbench_in(folder.path(), "summary bench.jsonl --cover --rule 2 --csv");
        CHECK(csv.exit_code == 2);
        CHECK(csv.text == "error: --csv prints one table; expected --cover or --rule, not both\n");
        CHECK(workbench_in(folder.path(), "summary bench.jsonl --rule 9").exit_code == 2);
        CHECK(workbench_in(folder.path(), "summary bench.jsonl --cover --of CSR").exit_code == 2);
    }

    TEST_CASE("points of a space are recipes of a bench; with more points only the new ones are measured") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "space.toml")
            << "[space]\nname = 'Slices'\n\n[matrix]\ngenerate = 'laplace2d'\nnx = 4\n\n"
               "[[stage]]\nid = 'sort'\noptional = true\nuse = 'row_sort'\n\n"
               "[layout]\nuse = 'sell'\nslice_height = [2, 4, 8]\n";
        const std::string arguments = "bench space.toml" + quick + " --generate laplace2d:nx=6 --generate laplace2d:nx=7";
        const Outcome two = workbench_in(folder.path(), arguments + " --points 2");
        CHECK(has(two, "8 measured, 0 unsuitable, 0 wrong, 0 failed, 0 already measured"));  // and CSR in two orders
        CHECK(has(workbench_in(folder.path(), arguments + " --points 3"),
                  "2 measured, 0 unsuitable, 0 wrong, 0 failed, 8 already"));
        const Outcome all = workbench_in(folder.path(), arguments);
        CHECK(has(all, "6 measured, 0 unsuitable, 0 wrong, 0 failed, 10 already measured"));
        CHECK(has(all, "CPU, f64: 2 matrices, "));
        CHECK(has(
            workbench_in(folder.path(), "bench space.toml " + csr_file + quick + " --generate laplace2d:nx=6 --out both.jsonl"),
            "9 measured"));
        CHECK(workbench_in(folder.path(), "bench " + csr_file + quick + " --generate laplace2d:nx=6 --points 3").text ==
              "error: --points: none of the files is a space; expected a file with a table [space]\n");
    }
}

}  // namespace workbench
