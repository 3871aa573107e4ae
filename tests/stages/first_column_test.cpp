// The stage of docs/new_stage.md.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "stages/steps.hpp"
#include "support/golden.hpp"
#include "support/shown_files.hpp"

namespace workbench {

StageEntry first_column_stage();

TEST_SUITE("first_column") {
    TEST_CASE("rows are sorted by their first nonzero, nodes by that of their first row") {
        const CsrMatrix matrix = matrix_of(6, {{3, 5}, {1}, {}, {2}, {1, 5}, {0}});
        CHECK(run(first_column_stage(), {}, stage_input(matrix)).order() == Indices{2, 5, 1, 4, 3, 0});
        CHECK(run(first_column_stage(), {{"width", 2_i}}, stage_input(matrix)).order() == Indices{1, 2, 4, 5, 0, 3});
        CHECK(run(first_column_stage(), {}, stage_input(matrix, 2)).order() == Indices{2, 3, 4, 5, 0, 1});
    }

    TEST_CASE("docs/new_stage.md shows it as it is") {
        const std::filesystem::path source = WORKBENCH_SOURCE_DIR;
        const std::string path = "docs/examples/first_column.cpp";
        const ShownBlocks shown = shown_blocks(file_text(source / "docs/new_stage.md"));
        REQUIRE(shown.files.contains(path));
        CHECK(shown.files.at(path) == file_text(source / path));
    }
}

}  // namespace workbench
