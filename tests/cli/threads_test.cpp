// Orders that several threads compute together do not depend on the number of threads.
#include <doctest/doctest.h>

#include <string>

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

}  // namespace

TEST_SUITE("threads") {
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
