// What must not depend on the number of threads: orders that all threads find together.
#include <doctest/doctest.h>

#include <string>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

using namespace workbench;

TEST_SUITE("threads") {
    TEST_CASE("one partition for any number of threads, through all levels, of meshes and of networks") {
        for (const std::string matrix : {"laplace2d:nx=90", "elasticity3d:nx=8", "rmat:scale=11"}) {
            CAPTURE(matrix);
            const auto order = [&](const std::string& threads) {
                const TemporaryFolder folder;
                const Outcome outcome =
                    shell("OMP_NUM_THREADS=" + threads +
                          " '" WORKBENCH_BINARY "' export '" WORKBENCH_SOURCE_DIR
                          "/recipes/multilevel_sell.toml' --set stage.multilevel_partition.least_vertices=100 --format text "
                          "--generate " +
                          matrix + " -o " + folder.path().string() + " 2>&1");
                CAPTURE(outcome.text);
                CHECK(outcome.exit_code == 0);
                return file_text(folder.path() / "row_old_of_new.txt");
            };
            const std::string one = order("1");
            CHECK(one.size() > 1000);
            CHECK(order("2") == one);
            CHECK(order("4") == one);
        }
    }
}
