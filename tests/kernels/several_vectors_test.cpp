// What kernels for several vectors are made of: blocked ELL, and lanes.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/common/schedule/vector_tiles.hpp"
#include "kernels/common/schemes/blocks.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

constexpr std::array<Index, 4> sizes{2, 3, 4, 8};

CsrOnHost<double> view_of_host(const CsrMatrix& matrix) {
    return {matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
}

/// The matrix that the arrays store, without zeros.
CsrMatrix matrix_of(const BlockedEll<double>& ell, Index rows, Index columns) {
    std::vector<Entry> entries;
    const Index slots = ell.width * ell.block_size;
    for (Index row = 0; row < rows; ++row) {
        for (Index slot = 0; slot < slots; ++slot) {
            const double value = ell.values[std::size_t(row) * slots + slot];
            const Index block_column = ell.block_columns[row / ell.block_size * ell.width + slot / ell.block_size];
            if (value == 0) continue;
            REQUIRE(block_column >= 0);
            entries.push_back({row, block_column * ell.block_size + slot % ell.block_size, value});
        }
    }
    return csr_from_entries(rows, columns, entries);
}

}  // namespace

TEST_CASE("blocked ELL stores each nonzero in its row and column") {
    int stored = 0;
    for (const NamedMatrix& named : battery()) {
        CsrMatrix matrix = named.matrix;
        for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = static_cast<double>(i + 1);
        for (const Index size : sizes) {
            if (matrix.nonzeros() == 0 || matrix.rows % size != 0 || matrix.columns % size != 0) continue;
            CAPTURE(named.name);
            CAPTURE(size);
            const BlockedEll<double> ell = build_blocked_ell(view_of_host(matrix), std::span(&size, 1), {});
            CHECK(ell.block_size == size);
            CHECK(std::ssize(ell.values) == Offset{matrix.rows} * ell.width * size);
            CHECK(matrix_of(ell, matrix.rows, matrix.columns) == matrix);
            ++stored;
        }
    }
    CHECK(stored > 20);
}

TEST_CASE("blocked ELL has the block size that takes the fewest bytes, and a bound") {
    // Block rows of 4 x 4 have one full block, but the last one has two.
    std::vector<Entry> entries;
    for (Index row = 0; row < 24; ++row) {
        for (Index k = 0; k < 4; ++k) entries.push_back({row, row / 4 * 4 + k, 1});
    }
    CsrMatrix matrix = csr_from_entries(24, 24, entries);
    BlockedEll<double> ell = build_blocked_ell(view_of_host(matrix), sizes, {});
    CHECK(ell.block_size == 4);
    CHECK(ell.width == 1);
    CHECK(ell.block_columns == std::vector<Index>{0, 1, 2, 3, 4, 5});
    entries.push_back({23, 0, 5});
    matrix = csr_from_entries(24, 24, entries);
    ell = build_blocked_ell(view_of_host(matrix), std::array<Index, 1>{4}, {});
    CHECK(ell.width == 2);
    CHECK(ell.block_columns == std::vector<Index>{0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 0, 5});
    CHECK(message_of<Unsuitable>([&] {
              (void)build_blocked_ell(view_of_host(matrix), std::array<Index, 1>{4}, {1.5, "A hint"});
          }).starts_with("blocked ELL: 2 blocks of 4 x 4 in each block row"));
    const CsrMatrix odd = csr_from_entries(25, 24, std::vector<Entry>{{0, 0, 1}});
    CHECK(message_of<Unsuitable>([&] { (void)build_blocked_ell(view_of_host(odd), sizes, {}); }) ==
          "blocked ELL: no block size of 2, 3, 4, 8 divides 25 x 24");
}

TEST_CASE("lanes of a row have a batch of entries each, and fill a warp at most") {
    CHECK(lanes_for_vectors(1000, 7000, 16, 8) == 1);
    CHECK(lanes_for_vectors(1000, 8000, 16, 8) == 2);
    CHECK(lanes_for_vectors(1000, 32000, 16, 8) == 8);
    CHECK(lanes_for_vectors(1000, 75000, 16, 8) == 8);  // of 4 parts
    CHECK(lanes_for_vectors(1000, 75000, 16, 4) == 16);
    CHECK(lanes_for_vectors(1000, 1000000, 4, 8) == 32);
    CHECK(lanes_for_vectors(0, 0, 4, 8) >= 1);
    for (const int bytes : {4, 8}) {
        for (int vectors = 2; vectors <= 64; ++vectors) {
            for (const long long entries : {1, 10, 100, 10000}) {
                const int lanes = lanes_for_vectors(1, entries, vectors, bytes);
                const VectorTiles tiles = vector_tiles(lanes, vectors, bytes);
                CHECK((lanes == 1 || lanes * tiles.parts <= 32));
                // Lanes take no part of a row from its vectors.
                CHECK(tiles.own <= vector_tiles(1, vectors, bytes).own);
            }
        }
    }
}

}  // namespace workbench
