// The distinct blocks of a matrix, which decide whether codes can stand for them.
#include <doctest/doctest.h>

#include <vector>

#include "core/matrix/distinct_blocks.hpp"

namespace workbench {
namespace {

/// Block row i has the blocks (i % 5 + 1) [1 0; 0 2] at block column i, and one value at the end of the first row.
CsrMatrix matrix_of_blocks(Index block_rows) {
    std::vector<Entry> entries;
    for (Index i = 0; i < block_rows; ++i) {
        entries.push_back({2 * i, 2 * i, 1.0 + i % 5});
        entries.push_back({2 * i + 1, 2 * i + 1, 2.0 * (1 + i % 5)});
    }
    entries.push_back({0, 2 * block_rows - 1, 7});
    return csr_from_entries(2 * block_rows, 2 * block_rows, entries);
}

}  // namespace

TEST_CASE("distinct blocks: found in pieces of the matrix, and sorted by their bits") {
    const std::vector<double> expected{0, 7, 0, 0, 1, 0, 0, 2, 2, 0, 0, 4, 3, 0, 0, 6, 4, 0, 0, 8, 5, 0, 0, 10};
    CHECK(distinct_blocks<double>(matrix_of_blocks(300'000), 2, 6) == expected);
    CHECK(distinct_blocks<double>(matrix_of_blocks(300'000), 2, 5) == std::nullopt);
    CHECK(distinct_blocks<float>(matrix_of_blocks(7), 2, 6) == std::vector<float>(expected.begin(), expected.end()));
}

TEST_CASE("distinct blocks: a block that exceeds the matrix has zeros there, and -0 is not 0") {
    const CsrMatrix matrix = csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {2, 2, 1}, {1, 2, -0.0}});
    CHECK(distinct_blocks<double>(matrix, 2, 10)->size() == 2 * 4);  // [1 0; 0 0] twice and [0 0; -0 0]
    CHECK(distinct_blocks<double>(csr_from_entries(3, 3, {}), 2, 10)->empty());
}

TEST_CASE("block set: numbers in the order of insertion") {
    BlockSet<double> set(2, 2);
    const std::vector<double> a{1, 2};
    const std::vector<double> b{1, 3};
    const std::vector<double> c{0, 0};
    CHECK(set.insert(a.data()));
    CHECK(set.insert(b.data()));
    CHECK(set.insert(a.data()));
    CHECK_FALSE(set.insert(c.data()));
    CHECK(set.count() == 2);
    CHECK(set.find(a.data()) == 0);
    CHECK(set.find(b.data()) == 1);
    CHECK(set.find(c.data()) == -1);
}

}  // namespace workbench
