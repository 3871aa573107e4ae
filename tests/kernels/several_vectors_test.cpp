// How threads of a GPU share rows and vectors.
#include <doctest/doctest.h>

#include "kernels/common/schedule/vector_tiles.hpp"

namespace workbench {
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
