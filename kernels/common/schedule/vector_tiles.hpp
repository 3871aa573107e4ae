// How threads of a GPU share the vectors of Y = A X.
#pragma once

namespace workbench {

/// Each thread of a schedule becomes `parts` neighbouring threads, which read the same entries. A row of X consists of packets
/// that a thread loads at a time. The parts of a thread take turns in them, so that neighbouring threads read neighbouring
/// packets.
struct VectorTiles {
    int packet = 1;   // elements
    int packets = 1;  // of a row
    int parts = 1;    // if several threads share a row, a power of two
    int own = 1;      // packets of a part, the last of which may lack some
};

/// Bytes of a row of X that a thread takes.
inline constexpr int bytes_of_part = 32;

[[nodiscard]] constexpr VectorTiles vector_tiles(int lanes, int vectors, int value_bytes) {
    constexpr int longest_load = 16;  // bytes
    VectorTiles tiles;
    while (2 * tiles.packet * value_bytes <= longest_load && vectors % (2 * tiles.packet) == 0) tiles.packet *= 2;
    tiles.packets = vectors / tiles.packet;
    const int elements = bytes_of_part / value_bytes;
    const int wanted = (vectors + elements - 1) / elements;
    if (lanes == 1) {
        tiles.parts = wanted;
    } else {
        while (tiles.parts < wanted && 2 * tiles.parts * lanes <= 32) tiles.parts *= 2;  // all lanes of a row are in one warp
    }
    tiles.own = (tiles.packets + tiles.parts - 1) / tiles.parts;
    return tiles;
}

}  // namespace workbench
