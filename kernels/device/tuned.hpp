// The numbers that were tuned on one NVIDIA H200, and the pages of docs/results that show the measurements.
//
// GPUs of compute capability 7.0, 8.0, 9.0 and 10.0 have the H200's 65,536 registers and 2048 threads a multiprocessor, so that
// launch shapes and loads in flight also apply to a V100, an A100, an H100 and a GB200. Numbers that depend on the
// multiprocessors or their shared memory are functions of the device (tuned.cpp).
#pragma once

#include <cstdint>

#include "core/matrix/types.hpp"

namespace workbench {
struct DeviceProperties;
}

namespace workbench::tuned {

// Schedules (h200-house.md): entries that a thread loads before it uses the first, and blocks of 256 threads that a
// multiprocessor holds. With several threads a row, the compiler's choice of blocks is up to 1.2 times as fast as 6.
inline constexpr int entries_in_flight = 4;
inline constexpr int resident_blocks = 6;
inline constexpr int chosen_by_compiler = 0;

// biell (h200-rivals.md: 6 entries are up to 1.1 times as fast as 4), banded_block, and ellr (h200-house.md: the compiler's
// choice of blocks is 1.1 to 1.2 times as fast as 6).
inline constexpr int biell_entries_in_flight = 6;
inline constexpr int banded_block_entries_in_flight = 8;
inline constexpr int ellr_resident_blocks = chosen_by_compiler;

// sell (h200-short-columns.md), and by the lengths of rows (h200-rivals.md: 4 entries take 1.3 times as long if rows are not
// sorted). With one load an entry, as of words, more blocks fit (codings.md: a grid of 27 points takes 79 us, with 4 blocks
// 86). Rows with more entries in the mean than short ones have two threads, rows with more than middling ones four; a row
// longer than sell_split_length is divided into parts.
inline constexpr int sell_entries_in_flight = 8;
inline constexpr int sell_resident_blocks = 4;
inline constexpr int sell_resident_blocks_of_one_load = 8;
inline constexpr int sell_entries_in_flight_by_lengths = 6;
inline constexpr int sell_short_rows = 20;
inline constexpr int sell_middling_rows = 48;
inline constexpr Index sell_split_length = 512;
inline constexpr Index sell_part_length = 4096;

// csr, kernel `adaptive` (h200-rivals.md): rows of fewer nonzeros in the mean have the smallest tiles, rows of more have the
// largest if their columns are neighbours. Blocks that a multiprocessor holds, by the size of tiles.
inline constexpr Offset csr_short_rows = 6;
inline constexpr Offset csr_long_rows = 16;
inline constexpr int csr_resident_blocks_of_small_tiles = 6;
template <typename Value>
inline constexpr int csr_resident_blocks_of_tiles = sizeof(Value) == 8 ? 5 : 6;
template <typename Value>
inline constexpr int csr_resident_blocks_of_large_tiles = sizeof(Value) == 8 ? 3 : 4;

// csr, kernel `merge` (h200-rivals.md).
inline constexpr int csr_merge_resident_blocks = 8;

// dasp (h200-rivals.md): with fewer row blocks than this, one shape is the fastest for all matrices; in f64, up to 69,000 row
// blocks it was, from 77,000 on it was not. Otherwise the mean number of entries of a lane decides.
[[nodiscard]] std::int64_t dasp_many_row_blocks(const DeviceProperties& device);
inline constexpr Offset dasp_flat_entries = 2;
inline constexpr Offset dasp_small_entries = 4;
/// A warp takes `row_blocks` row blocks side by side and loads `fragments` of each before it uses the first. ahead: it loads
/// the next ones while these wait for x. A multiprocessor holds `resident_blocks` blocks.
struct DaspNumbers {
    int row_blocks;
    int fragments;
    bool ahead;
    int resident_blocks;
};
inline constexpr DaspNumbers dasp_deep{.row_blocks = 2, .fragments = 3, .ahead = false, .resident_blocks = 4};
inline constexpr DaspNumbers dasp_wide{.row_blocks = 4, .fragments = 1, .ahead = true, .resident_blocks = 4};
inline constexpr DaspNumbers dasp_flat{.row_blocks = 2, .fragments = 2, .ahead = false, .resident_blocks = 4};
inline constexpr DaspNumbers dasp_small{.row_blocks = 1, .fragments = 3, .ahead = false, .resident_blocks = 6};
inline constexpr DaspNumbers dasp_long{.row_blocks = 1, .fragments = 2, .ahead = true, .resident_blocks = 6};
// A warp loads this many fragments of short rows, or of a long row, before it uses the first.
inline constexpr int dasp_short_in_flight = 4;
inline constexpr int dasp_long_in_flight = 8;

// block_sell (h200-short-columns.md): values that a thread has in flight, if a row has one thread, or several; and the blocks
// of 128 threads that a multiprocessor holds.
inline constexpr int block_sell_values = 9;
template <typename Value>
inline constexpr int block_sell_values_of_several = sizeof(Value) == 8 ? 18 : 27;
/// Blocks that a thread has in flight if codes represent them: their x takes its registers.
[[nodiscard]] constexpr int block_sell_codes(int block_size) { return block_size <= 3 ? 4 : 2; }
[[nodiscard]] constexpr int block_sell_resident_blocks(int block_size, int threads_of_row) {
    return block_size == 6 ? 4 : threads_of_row == 1 && block_size <= 3 ? 8 : 5;
}

// ehyb (h200-ehyb.md): a multiprocessor may hold the x of one block alone, with half of its threads.
inline constexpr int ehyb_entries_in_flight = 8;

// halo (h200-halo.md): two parts for each multiprocessor, which holds both at a time, and values that a lane has in flight. The
// values of larger blocks take the registers of both.
inline constexpr int halo_parts_of_processor = 2;
inline constexpr int halo_values = 9;
[[nodiscard]] constexpr int halo_resident_blocks(int values_of_block) {
    return values_of_block > halo_values ? 1 : halo_parts_of_processor;
}
[[nodiscard]] std::int64_t halo_parts(const DeviceProperties& device);
/// The shared memory of a part: each thread block occupies some bytes more than it requests.
[[nodiscard]] std::int64_t halo_shared_memory(const DeviceProperties& device);

// hbp (h200-rivals.md): entries of a piece that a lane loads, partial results that it loads, thread blocks that a
// multiprocessor holds, and the latency of the start of a chunk, in entries.
inline constexpr int hbp_entries_in_flight = 8;
inline constexpr int hbp_results_in_flight = 4;
inline constexpr int hbp_resident_blocks = 4;
inline constexpr Offset hbp_cost_of_chunk = 192;

// hola (h200-rivals.md): threads that a multiprocessor holds, if each has at most 7 nonzeros, or more.
inline constexpr int hola_resident_threads = 1536;
inline constexpr int hola_resident_threads_of_many = 1024;

// bccoo (h200-rivals.md): threads that a multiprocessor holds, for blocks of one value, or of more.
inline constexpr int bccoo_resident_threads = 1024;
inline constexpr int bccoo_resident_threads_of_blocks = 512;
/// Blocks that a lane loads before it uses the first: as many as it has registers for their values.
[[nodiscard]] constexpr int bccoo_blocks_in_flight(int values_of_block) {
    if (values_of_block == 1) return 8;
    return values_of_block <= 4 ? 4 : values_of_block <= 9 ? 2 : 1;
}

/// Neighbouring blocks that a thread takes, for blocks of `area` values.
[[nodiscard]] constexpr Index bccoo_blocks_per_lane(Index area) { return area <= 4 ? 16 : area <= 9 ? 8 : 4; }

}  // namespace workbench::tuned
