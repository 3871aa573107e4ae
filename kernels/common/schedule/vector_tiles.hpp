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

/// bytes_of_part: of a row of X that a thread takes.
[[nodiscard]] constexpr VectorTiles vector_tiles(int lanes, int vectors, int value_bytes, int bytes_of_part = 32) {
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

/// Entries whose values a thread loads before it adds them.
inline constexpr int entries_of_batch = 4;

/// Threads of a row with several vectors.
struct ThreadsForVectors {
    int most = 32;                           // lanes and parts together
    int entries_of_lane = entries_of_batch;  // the least in a row of mean length
};

/// The most lanes, of those that the parts of a row leave in its warp, that have as many entries each as `threads` requires.
/// Lanes with less than a batch of entries, or that have all vectors to themselves, took up to three times as long
/// (docs/results/several-vectors.md).
[[nodiscard]] constexpr int lanes_for_vectors(long long rows, long long entries, int vectors, int value_bytes,
                                              const ThreadsForVectors& threads = {}) {
    const int parts = vector_tiles(1, vectors, value_bytes).parts;
    int lanes = 1;
    while (2 * lanes * parts <= threads.most && 2 * lanes * threads.entries_of_lane * rows <= entries) lanes *= 2;
    return lanes;
}

}  // namespace workbench
