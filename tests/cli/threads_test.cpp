// The variables that set the number of threads, and orders that several threads compute together, which do not depend on it.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// The row order that a recipe gives.
std::string order_of(const std::string& recipe, const std::string& arguments, const std::string& threads) {
    const TemporaryFolder folder;
    const Outcome outcome =
        shell("OMP_NUM_THREADS=" + threads + " '" WORKBENCH_BINARY "' export '" WORKBENCH_SOURCE_DIR "/recipes/" + recipe +
              "' --format text " + arguments + " -o " + folder.path().string() + " 2>&1");
    CAPTURE(outcome.text);
    CHECK(outcome.exit_code == 0);
    return file_text(folder.path() / "row_old_of_new.txt");
}

void check_threads(const std::string& recipe, const std::string& arguments) {
    CAPTURE(recipe);
    CAPTURE(arguments);
    const std::string one = order_of(recipe, arguments, "1");
    CHECK(one.size() > 1000);
    CHECK(order_of(recipe, arguments, "2") == one);
    CHECK(order_of(recipe, arguments, "4") == one);
}

/// A matrix that is read with the threads of a variable.
std::string generated_with(const std::string& variable) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "a.mtx").string();
    const Outcome generated = run("generate laplace2d:nx=40 --out " + file, variable);
    CHECK(generated.exit_code == 0);
    const Outcome info = run("info " + file, variable);
    CHECK(info.exit_code == 0);
    return file_text(file) + replaced(info.text, folder.path().string(), "");
}

/// The number of threads in a report or a line of a bench.
std::string threads_in(std::string text) {
    std::erase(text, ' ');
    const std::string name = "\"threads\":\"";
    const std::size_t begin = text.find(name);
    REQUIRE(begin != std::string::npos);
    return text.substr(begin + name.size(), text.find('"', begin + name.size()) - begin - name.size());
}

}  // namespace

TEST_SUITE("threads") {
    TEST_CASE("Kokkos prints no advice on threads that are not bound") {
        const std::string command = "info tests/golden/cli/wide.mtx";
        CHECK(run(command, "env -u OMP_PROC_BIND OMP_NUM_THREADS=2").text == run(command).text);
    }

    TEST_CASE("a variable that is no number of threads or of a device is refused in one sentence") {
        const TemporaryFolder folder;
        const std::string out = (folder.path() / "out").string();
        const std::string matrix = " --generate laplace2d:nx=4 ";
        for (const std::string& command : std::vector<std::string>{
                 "info " + csr_file, "generate laplace2d:nx=4 --out " + out, "convert " + csr_file + " " + out + ".mtx",
                 "run recipes/csr.toml" + matrix + "--out " + out, "solve recipes/csr.toml" + matrix + "--out " + out,
                 "choose recipes/csr.toml" + matrix + "-o " + out, "bench recipes/csr.toml" + matrix + "--out " + out,
                 "calibrate --backend kokkos", "serve recipes/csr.toml"}) {
            CAPTURE(command);
            const Outcome outcome = run(command, "KOKKOS_NUM_THREADS=0");
            CHECK(outcome.exit_code == 2);
            CHECK(outcome.text ==
                  "error: the environment variable KOKKOS_NUM_THREADS is '0'; expected a whole number, at least 1\n");
        }
        CHECK_FALSE(std::filesystem::exists(out));
        for (const std::string variable :
             {"KOKKOS_NUM_THREADS=", "KOKKOS_NUM_THREADS=x", "KOKKOS_DEVICE_ID=a", "KOKKOS_NUMA=", "OMP_NUM_THREADS=0"}) {
            CAPTURE(variable);
            const Outcome outcome = run("info tests/golden/cli/wide.mtx", variable);
            CHECK(outcome.exit_code == 2);
            CHECK(outcome.text.find("the environment variable " + variable.substr(0, variable.find('='))) != std::string::npos);
        }
    }

    TEST_CASE("a matrix is complete whatever the variables request") {
        const std::string one = generated_with("OMP_NUM_THREADS=1");
        for (const std::string variable :
             {"OMP_NUM_THREADS=768", "KOKKOS_NUM_THREADS=600", "KOKKOS_NUM_THREADS=99999999999999999999",
              "OMP_THREAD_LIMIT=1 KOKKOS_NUM_THREADS=2", "OMP_DYNAMIC=true OMP_NUM_THREADS=2",
              "KOKKOS_RAND_DEVICES=1 KOKKOS_SKIP_DEVICE=0", "KOKKOS_DISABLE_WARNINGS=0"}) {
            CAPTURE(variable);
            CHECK(generated_with(variable) == one);
        }
    }

    TEST_CASE("a run says that it has fewer threads than requested") {
        const TemporaryFolder folder;
        const Outcome outcome = run("run recipes/csr.toml --generate laplace2d:nx=4 --no-pictures --no-page" + quick +
                                        " --out " + (folder.path() / "out").string(),
                                    "OMP_NUM_THREADS=768");
        CHECK(outcome.exit_code == 0);
        CHECK(outcome.text.starts_with(
            "note: OMP_NUM_THREADS = 768 is more than the processors that this process may use; it runs "));
    }

    TEST_CASE("threads that OpenMP binds to processors are as many, also in a program that another one starts") {
        const std::string matrix = " --generate laplace2d:nx=4 --no-page" + quick;
        const auto threads_of_run = [&](const std::string& binding) {
            const TemporaryFolder folder;
            const std::string file = (folder.path() / "report.json").string();
            const Outcome outcome = run("run recipes/csr.toml" + matrix + " --no-pictures --json " + file + " --out " +
                                            (folder.path() / "out").string(),
                                        "env -u OMP_WAIT_POLICY OMP_NUM_THREADS=2 " + binding);
            CHECK(outcome.exit_code == 0);
            return threads_in(file_text(file));
        };
        const auto threads_of_bench = [&](const std::string& binding) {
            const TemporaryFolder folder;
            const std::string file = (folder.path() / "lines.jsonl").string();
            const Outcome outcome = run("bench recipes/csr.toml" + matrix + " --out " + file, "OMP_NUM_THREADS=2 " + binding);
            CHECK(outcome.exit_code == 0);
            return threads_in(file_text(file));
        };
        const std::string threads = threads_of_run("OMP_PROC_BIND=false");
        CHECK(threads == (std::thread::hardware_concurrency() > 1 ? "2" : "1"));
        for (const std::string binding : {"OMP_PROC_BIND=close OMP_PLACES=cores", "OMP_PROC_BIND=true"}) {
            CAPTURE(binding);
            CHECK(threads_of_run(binding) == threads);
            CHECK(threads_of_bench(binding) == threads);
        }
    }

    TEST_CASE("a multilevel partition of meshes and networks is the same for any number of threads") {
        for (const std::string matrix : {"laplace2d:nx=90", "elasticity3d:nx=8", "rmat:scale=11"}) {
            check_threads("multilevel_sell.toml", "--set stage.multilevel_partition.least_vertices=100 --generate " + matrix);
        }
    }

    TEST_CASE("the Cuthill-McKee order is the same for any number of threads") {
        for (const std::string matrix : {"laplace3d:nx=30", "rmat:scale=13"})
            check_threads("rcm_csr.toml", "--generate " + matrix);
    }
}

}  // namespace workbench
