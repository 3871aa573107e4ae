// workbench bench, run as a program, including interruption and continuation.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

long lines_of(const fs::path& file) {
    const std::string text = file_text(file);
    return std::count(text.begin(), text.end(), '\n');
}

const std::string sell = std::string(WORKBENCH_SOURCE_DIR) + "/recipes/sell.toml";
const std::string five_samples = " --backend kokkos --samples 5 --seconds 0 --cache warm ";

}  // namespace

TEST_SUITE("bench with the program") {
    TEST_CASE("recipes on a folder, the final table, and a summary of the file") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "s.toml") << "[suite]\nrecipes = ['" + csr_file + "', '" + sell +
                                                       "']\nmatrices = ['down']\ngenerate = ['laplace2d:nx=9,ny=9']\n"
                                                       "backends = ['kokkos']\nsamples = 5\nseconds = 0\ncache = 'warm'\n";
        fs::create_directory(folder.path() / "down");
        std::ofstream(folder.path() / "down" / "bad.mtx") << "no matrix\n";
        const Outcome first = workbench_in(folder.path(), "bench s.toml");
        CHECK(first.exit_code == 0);
        // Two recipes and CSR in two orders on two matrices.
        CHECK(first.text.find("4 measured, 0 unsuitable, 0 wrong, 4 failed, 0 already measured; written to s.jsonl\n") !=
              std::string::npos);
        CHECK(first.text.find("[1/2] down/bad.mtx\n  4 recipes: failed: down/bad.mtx: starts with 'no matrix'") !=
              std::string::npos);
        CHECK(first.text.find("CPU, f64: 1 matrix, speed-up over CSR in the input's order\n") != std::string::npos);
        CHECK(file_text(folder.path() / "s.jsonl").find(folder.path().string()) ==
              std::string::npos);  // lines contain no absolute paths
        const Outcome again = workbench_in(folder.path(), "bench s.toml");
        CHECK(again.text.find("0 measured, 0 unsuitable, 0 wrong, 0 failed, 8 already measured") != std::string::npos);
        CHECK(lines_of(folder.path() / "s.jsonl") == 8);

        const Outcome csv = workbench_in(folder.path(), "summary s.jsonl --csv --plots pictures");
        CHECK(csv.exit_code == 0);
        CHECK(std::count(csv.text.begin(), csv.text.end(), '\n') == 9);
        CHECK(fs::exists(folder.path() / "pictures" / "profile_host_f64.svg"));
        CHECK(workbench_in(folder.path(), "summary s.jsonl --metric none --plots pictures")
                  .text.find("error: --metric: unknown metric 'none'; expected one of ") == 0);
        CHECK(workbench_in(folder.path(), "summary s.jsonl --of ELL").exit_code == 2);
        const auto tables = [&](const std::string& more) {
            const std::string text = workbench_in(folder.path(), "summary s.jsonl --tex" + more).text;
            return std::pair(text.find("speed-up over CSR in") != std::string::npos,
                             text.find("Speed-up of CSR over the other") != std::string::npos);
        };
        CHECK(tables("") == std::pair(true, false));
        CHECK(tables(" --of CSR") == std::pair(true, true));
        // The output is LaTeX alone, whatever is drawn beside it.
        CHECK(workbench_in(folder.path(), "summary s.jsonl --tex --plots pictures --force")
                  .text.ends_with("\\bottomrule\n\\end{tabular}\n\\end{table*}\n"));

        // --backend replaces the suite's backends.
        CHECK(workbench_in(folder.path(), "bench s.toml --backend eigen --limit 1e-9 --no-page --out e.jsonl").exit_code == 1);
        const std::string on_eigen = file_text(folder.path() / "e.jsonl");
        CHECK(on_eigen.find(R"(--cache warm eigen",)") != std::string::npos);
        CHECK(on_eigen.find("kokkos") == std::string::npos);

        // Other measuring options make other measurements, whether in the suite or on the command line.
        CHECK(
            workbench_in(folder.path(), "bench s.toml --inside cg").text.find("4 measured, 0 unsuitable, 0 wrong, 4 failed") !=
            std::string::npos);
        CHECK(file_text(folder.path() / "s.jsonl").find("\"cache\":\"inside cg\"") != std::string::npos);
        std::ofstream(folder.path() / "s.toml") << "[suite]\nrecipes = ['" + csr_file + "', '" + sell +
                                                       "']\nmatrices = ['down']\ngenerate = ['laplace2d:nx=9,ny=9']\n"
                                                       "backends = ['kokkos']\nsamples = 5\nseconds = 0\ninside = 'cg'\n";
        CHECK(workbench_in(folder.path(), "bench s.toml").text.find("8 already measured") != std::string::npos);
        CHECK(lines_of(folder.path() / "s.jsonl") == 16);
        // --cache overrides the suite's `inside`: the lines of the first bench are found, and without them nothing is.
        std::istringstream lines(file_text(folder.path() / "s.jsonl"));
        std::string warm;
        for (std::string line; std::getline(lines, line);) {
            if (line.find("--inside cg") == std::string::npos) warm += line + '\n';
        }
        std::ofstream(folder.path() / "s.jsonl") << warm;
        CHECK(workbench_in(folder.path(), "bench s.toml --cache warm").text.find("8 already measured") != std::string::npos);
        CHECK(lines_of(folder.path() / "s.jsonl") == 8);
    }

    TEST_CASE("after a kill, repeating the command measures the rest") {
        const TemporaryFolder folder;
        const std::string arguments =
            "bench " + csr_file + five_samples + "--generate laplace2d:nx=9,ny=9 --generate laplace3d:nx=5";
        const std::string command =
            "cd '" + folder.path().string() + "' && exec '" WORKBENCH_BINARY "' " + arguments + " > /dev/null 2>&1";
        const pid_t process = fork();
        if (process == 0) {
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
        const fs::path file = folder.path() / "bench.jsonl";
        for (int i = 0; i < 6000 && lines_of(file) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        (void)kill(process, SIGKILL);
        int status = 0;
        (void)waitpid(process, &status, 0);
        const long done = lines_of(file);
        CHECK(done >= 1);
        std::ofstream(file, std::ios::app) << "{\"key\":{\"reci";  // an incomplete line
        const Outcome rest = workbench_in(folder.path(), arguments);
        CHECK(rest.exit_code == 0);
        CHECK(rest.text.find("bench.jsonl: the last line was incomplete; it is measured again\n") == 0);
        CHECK(rest.text.find(std::to_string(done) + " already measured") != std::string::npos);
        CHECK(lines_of(file) == 6);
    }

    TEST_CASE("Ctrl-C says how much is done and how to go on") {
        const TemporaryFolder folder;
        const std::string bench = "bench " + csr_file + five_samples + "--generate laplace2d:nx=9";
        (void)workbench_in(folder.path(), bench + " --limit 1e-9");  // three lines are there before
        const std::string command = "cd '" + folder.path().string() + "' && exec '" WORKBENCH_BINARY "' " + bench +
                                    " --generate laplace3d:nx=5 --generate laplace3d:nx=6 > out.txt 2>&1";
        const pid_t process = fork();
        if (process == 0) {
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
        const fs::path file = folder.path() / "bench.jsonl";
        CHECK(lines_of(file) >= 3);
        for (int i = 0; i < 60000 && lines_of(file) == 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        (void)kill(process, SIGINT);
        int status = 0;
        (void)waitpid(process, &status, 0);
        CHECK(WEXITSTATUS(status) == 130);
        const std::string text = file_text(folder.path() / "out.txt");
        CHECK(text.ends_with("\nRepeat the command for the rest.\n"));
    }

    TEST_CASE("results of stages and layouts are kept for another bench") {
        const TemporaryFolder folder;
        const std::string arguments = "bench " + sell + five_samples + "--generate laplace2d:nx=9,ny=9 --keep kept --out ";
        CHECK(workbench_in(folder.path(), arguments + "a.jsonl").exit_code == 0);
        CHECK(file_text(folder.path() / "a.jsonl").find("kept by an earlier run") == std::string::npos);
        CHECK(workbench_in(folder.path(), arguments + "b.jsonl").exit_code == 0);
        CHECK(file_text(folder.path() / "b.jsonl").find("kept by an earlier run: ") != std::string::npos);
        std::ofstream(folder.path() / "file") << "text";
        CHECK(workbench_in(folder.path(), "bench " + sell + five_samples + "--generate laplace2d:nx=9 --keep file").exit_code ==
              4);
    }

    TEST_CASE("options of bench") {
        const TemporaryFolder folder;
        const std::string arguments = "bench " + csr_file + " --backend kokkos --cache warm --seconds 0 --samples 6 " +
                                      "--precision both --generate laplace2d:nx=3 ";
        // Nothing starts within this limit.
        const Outcome late = workbench_in(folder.path(), arguments + "--limit 1e-9");
        CHECK(late.text.find("0 measured, 0 unsuitable, 0 wrong, 6 failed, 0 already measured") != std::string::npos);
        CHECK(late.text.find("  3 recipes: failed: not started within the limit of 1e-09 s per matrix\n") != std::string::npos);
        CHECK(fs::remove(folder.path() / "bench.html"));
        const Outcome again = workbench_in(folder.path(), arguments + "--no-page");
        CHECK(again.text.find(" 6 already measured") != std::string::npos);
        CHECK_FALSE(fs::exists(folder.path() / "bench.html"));
        // Another place to prepare is another measurement.
        CHECK(workbench_in(folder.path(), arguments + "--limit 1e-9 --prepare cpu").text.find(" 0 already measured") !=
              std::string::npos);
        fs::remove(folder.path() / "bench.jsonl");
        (void)workbench_in(folder.path(), arguments + "--limit 1e-9");
        const Outcome retried = workbench_in(folder.path(), arguments + "--retry --keep-samples");
        CHECK(retried.text.find("6 measured, 0 unsuitable, 0 wrong, 0 failed, 0 already measured") != std::string::npos);
        std::istringstream lines(file_text(folder.path() / "bench.jsonl"));
        std::vector<std::string> measured;
        for (std::string line; std::getline(lines, line);) {
            const auto json = nlohmann::json::parse(line);
            if (json["status"] != "measured") continue;
            measured.push_back(json["key"]["precision"]);
            CHECK(json["kernels"][0]["samples"].size() == 6);
        }
        CHECK(std::count(measured.begin(), measured.end(), "f32") == 3);
        CHECK(std::count(measured.begin(), measured.end(), "f64") == 3);
    }

    TEST_CASE("matrix files replace all matrices of a suite, also the generated ones of one that names matrices") {
        const TemporaryFolder folder;
        const std::string wide = std::string(WORKBENCH_SOURCE_DIR) + "/tests/golden/cli/wide.mtx";
        std::ofstream(folder.path() / "s.toml")
            << "[suite]\nrecipes = ['" + csr_file + "']\nnamed = [{name = 'G/a'}]\ngenerate = ['laplace2d:nx=3']\n";
        const Outcome file =
            workbench_in(folder.path(), "bench s.toml --limit 1e-9 --no-page --backend kokkos --matrices " + wide);
        CHECK_MESSAGE(file.text.starts_with("[1/1] cli/wide.mtx\n"), file.text);
        fs::create_directories(folder.path() / "G");
        fs::copy_file(wide, folder.path() / "G" / "a.mtx");
        const Outcome folders =
            workbench_in(folder.path(), "bench s.toml --limit 1e-9 --no-page --backend kokkos --matrices .");
        CHECK_MESSAGE(folders.text.find("\n[2/2] laplace2d:nx=3\n") != std::string::npos, folders.text);
    }

    TEST_CASE("a page does not replace results that are written to a file with its name") {
        const TemporaryFolder folder;
        (void)workbench_in(folder.path(),
                           "bench " + csr_file + five_samples + "--generate laplace2d:nx=3 --limit 1e-9 --out x.html");
        CHECK(lines_of(folder.path() / "x.html") == 3);
        CHECK(file_text(folder.path() / "x.html").starts_with("{\"key\":{"));
    }

    TEST_CASE("a wrong kernel gives exit code 1, whatever else was measured") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "wrong.toml") << "[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'wrong.cpp'\n";
        std::ofstream(folder.path() / "wrong.cpp")
            << "#include \"arrays.hpp\"\n"
               "void multiply(const Arrays&, const Value*, Value* y, bool) { y[0] = 0; }\n";
        const Outcome first = workbench_in(folder.path(),
                                           "bench wrong.toml --backend cpu,kokkos --samples 5 --seconds 0 "
                                           "--cache warm --generate laplace2d:nx=3");
        CHECK_MESSAGE(first.exit_code == 1, first.text);
        CHECK(first.text.find("2 measured, 0 unsuitable, 1 wrong, 0 failed, 0 already measured") != std::string::npos);
    }

    TEST_CASE("a line names the files of a recipe as seen from the current folder") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "own.toml")
            << "[[stage]]\nuse = 'imported'\norder = 'order.txt'\n[layout]\nuse = 'csr'\n";
        std::ofstream(folder.path() / "order.txt") << "8\n7\n6\n5\n4\n3\n2\n1\n0\n";
        const std::string recipe = (folder.path() / "own.toml").string();
        (void)workbench_in(folder.path(), "bench " + recipe + five_samples + "--generate laplace2d:nx=3 --no-page");
        const std::string lines = file_text(folder.path() / "bench.jsonl");
        CHECK(lines.find("\"file\":\"own.toml\"") != std::string::npos);
        CHECK(lines.find("order = \\\"order.txt\\\"") != std::string::npos);
        CHECK(lines.find(folder.path().string()) == std::string::npos);
    }

    TEST_CASE(
        "a matrix that is not square is unsuitable; one that cannot be read fails once, and nothing measured is an error") {
        const TemporaryFolder folder;
        const std::string rcm = std::string(WORKBENCH_SOURCE_DIR) + "/recipes/rcm_sell.toml";
        const std::string wide = std::string(WORKBENCH_SOURCE_DIR) + "/tests/golden/cli/wide.mtx";
        const Outcome not_square =
            workbench_in(folder.path(), "bench " + rcm + " " + csr_file + five_samples + "--matrices " + wide);
        CHECK(not_square.exit_code == 0);
        CHECK(not_square.text.find("unsuitable: the matrix has 3 rows and 4 columns; expected a square one, for ") !=
              std::string::npos);
        CHECK(not_square.text.find(" 0 failed") != std::string::npos);
        std::ofstream(folder.path() / "bad.mtx") << "not a matrix";
        const Outcome bad =
            workbench_in(folder.path(), "bench " + rcm + " " + csr_file + five_samples + "--matrices bad.mtx --out bad.jsonl");
        CHECK(bad.exit_code == 1);
        CHECK(bad.text.find("failed: ") == bad.text.rfind("failed: "));
        CHECK(bad.text.ends_with("error: every measurement failed; bad.jsonl has the reasons, and --retry repeats them\n"));
    }

    TEST_CASE("errors") {
        const TemporaryFolder folder;
        CHECK(workbench_in(folder.path(), "bench " + csr_file).text ==
              "error: no matrices; name them with --matrices FILE|FOLDER, --generate KIND, or in the suite\n");
        CHECK(workbench_in(folder.path(), "bench " + csr_file + " " + csr_file + " --generate laplace2d:nx=3").exit_code == 2);
        CHECK(workbench_in(folder.path(), "bench " + csr_file + " --matrices none").exit_code == 3);
        CHECK(workbench_in(folder.path(), "bench " + csr_file + " --generate laplace9d").exit_code == 2);
        CHECK(workbench_in(folder.path(), "bench none.toml --generate laplace2d:nx=3").text ==
              "error: none.toml: no such file; expected a recipe\n");
        CHECK(!fs::exists(folder.path() / "bench.jsonl"));
    }
}

}  // namespace workbench
