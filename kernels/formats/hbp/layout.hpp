// HBP: tiles whose rows are placed by a hash of their lengths, for one warp or several, and stored without padding; the
// results of the tiles are merged per row afterwards. Source: Yan, Diao, Liu, An, Xu, "A Nonlinear Hash-based Optimization
// Method for SpMV on GPUs" (2025). From the paper's abstract and captions: the two steps (figure 1), `columns`, `data`,
// `add_sign`, `zero_row` and `begin_ptr` and their purpose (figure 2), short rows first (figure 4), one warp per matrix
// block, and fixed and competitive shares of the blocks (figure 5). Designs of this project:
// - A tile lists only the rows present in it.
// - A warp takes one chunk of a tile at a time, so that tiles with many entries do not occupy a warp for long. The columns of
//   a chunk are relative to the smallest, so that 16 bits often suffice.
// - The widths of the arrays, and `zero_row` as a mask.
// - A long row is stored as several rows, which share its entries in turn: no lane processes it alone, and in each step a
//   warp reads adjacent elements of x.
// - A row in one batch is written to y directly; only other rows have partial results, which are stored in the order in which
//   the merge reads them.
// - A warp does not follow add_sign through memory. It takes the adjacent entries of its chunk, 32 at a time and regardless of
//   their rows, and stores their products in shared memory, where the lanes follow add_sign.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The stored rows of a tile are multiplied in batches of at most 32, one row per lane: lane l of batch b has stored row
/// batch_rows[b] + l. A chunk consists of consecutive batches of a tile. A batch is stored step by step: the first entries of
/// its rows, lane by lane, then the second entries of those rows that have two, and so on. Lane l begins at begin_ptr[b] plus
/// the number of previous lanes that are not marked in zero_row[b], and continues from entry e to e + add_sign[e] until that is
/// 0. Adjacent rows of a batch with the same output_order are parts of one row, and their sums are one result.
///
/// Partial results: a group of up to 32 rows stores them step by step as a batch stores entries, beginning with the first
/// result of each row. A group with one row contains only its results. The results of a row have the order of its batches.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Hbp : MatrixSize {
    using Column = ColumnIndex;

    Index fixed_chunks = 0;             // kernel `mixed` distributes these chunks in advance
    Array<Index> chunk_batches;         // [chunks + 1] first batch of each chunk
    Array<Index> chunk_columns;         // [chunks] the smallest column of the chunk
    Array<Offset> begin_ptr;            // [batches + 1] first entry of each batch
    Array<Index> batch_rows;            // [batches + 1] first stored row of each batch
    Array<std::uint32_t> zero_row;      // [batches] bit l: the row of lane l has no entries, or there is no such row
    Array<ColumnIndex> column_indices;  // [nonzeros] relative to the chunk's smallest column
    Array<Value> data;                  // [nonzeros]
    Array<std::uint8_t> add_sign;       // [nonzeros] distance to the row's next entry, at most 32; 0: the last
    Array<Index> output_order;          // [stored rows] the row of y if this is its only result, otherwise ~ its partial result
    Array<Index> absent_rows;           // [rows in no tile]
    Array<Index> merge_rows;            // [groups + 1] first merged row of each group
    Array<Index> merge_results;         // [groups + 1] first partial result of each group
    Array<Index> merged_rows;           // [merged rows] the rows with several partial results
    Array<Index> merged_counts;         // [merged rows] the number of partial results

    static constexpr auto fields() {
        return field_list(
            MatrixSize::fields(), number_field<&Hbp::fixed_chunks>(), structure_array<&Hbp::chunk_batches>("chunks + 1"),
            structure_array<&Hbp::chunk_columns>("chunks"), structure_array<&Hbp::begin_ptr>("batches + 1"),
            structure_array<&Hbp::batch_rows>("batches + 1"), structure_array<&Hbp::zero_row>("batches"),
            column_array<&Hbp::column_indices>("nonzeros"), value_array<&Hbp::data>("nonzeros"),
            structure_array<&Hbp::add_sign>("nonzeros"), structure_array<&Hbp::output_order>("stored rows"),
            structure_array<&Hbp::absent_rows>("rows in no tile"), structure_array<&Hbp::merge_rows>("groups + 1"),
            structure_array<&Hbp::merge_results>("groups + 1"), structure_array<&Hbp::merged_rows>("merged rows"),
            structure_array<&Hbp::merged_counts>("merged rows"));
    }

    [[nodiscard]] constexpr Index chunk_count() const { return static_cast<Index>(chunk_columns.size()); }
    [[nodiscard]] constexpr Index group_count() const { return static_cast<Index>(merge_rows.size()) - 1; }
};

inline constexpr int hbp_lanes = 32;

/// The maximum number of batches of a chunk: the lanes of a warp keep their first entries.
inline constexpr int hbp_batches_of_chunk = 16;

/// The maximum number of nonzeros of a stored row, so that places within a chunk have 32 bits.
inline constexpr std::int64_t hbp_longest_stored_row = 1 << 20;

/// output_order of a lane without a row.
inline constexpr Index hbp_no_output = 0x7fffffff;

/// A chunk is read from a multiple of 32 on, so that 32 lanes read whole sectors. Lane e % 32 reads entry e.
[[nodiscard]] constexpr Offset hbp_stream_begin(Offset first_entry) { return first_entry - first_entry % hbp_lanes; }

/// The distance from the beginning of a batch to the first entry of a lane that is not marked in zero_row.
[[nodiscard]] constexpr int hbp_lanes_before(std::uint32_t zero_row, int lane) {
    return std::popcount(~zero_row & ((std::uint32_t{1} << lane) - 1));
}

[[nodiscard]] constexpr bool hbp_has_entries(std::uint32_t zero_row, int lane) { return (zero_row >> lane & 1U) == 0; }

/// The source of the entries of a stored row: entry k is at first + k * stride in CsrMatrix::values.
struct HbpOrigin {
    Offset first = 0;
    Index stride = 1;
};

template <ValueType Value>
struct HbpLayout final : VariantLayout<Value, Hbp<Value, Index, HostArray>, Hbp<Value, std::uint16_t, HostArray>> {
    static constexpr const char* name = "hbp";
    std::vector<HbpOrigin> origins;  // [stored rows]; no kernel reads it, and it is not part of the footprint

    [[nodiscard]] std::size_t partial_results() const {
        return std::visit([](const auto& hbp) { return static_cast<std::size_t>(hbp.merge_results.back()); }, this->stored);
    }
    /// The minimum traffic of a product: the layout, x and y, and every partial result, which is written and read.
    [[nodiscard]] std::int64_t bytes_of_product() const {
        return this->bytes_to_move() + 2 * static_cast<std::int64_t>(partial_results() * sizeof(Value));
    }
    void transfer(Transfer& all) override { this->transfer_with(all, origins); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

// The CUDA kernels.
template <ValueType Value>
struct HbpFixed;
template <ValueType Value>
struct HbpCompetitive;
template <ValueType Value>
struct HbpMixed;

[[nodiscard]] LayoutEntry hbp_entry();

/// What a product needs beside the arrays.
struct HbpProduct {
    std::size_t partial_results = 0;
    std::int64_t bytes = 0;  // HbpLayout::bytes_of_product
};

/// The CUDA kernel `fixed`, of arrays that were made on the GPU. first_entries: [chunks + 1] the first entry of each chunk.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] std::unique_ptr<Kernel<Value>> hbp_kernel_on_gpu(Hbp<Value, ColumnIndex, DeviceArray>&& hbp,
                                                               const HostArray<Offset>& first_entries,
                                                               const HbpProduct& product, Device& device);

}  // namespace workbench
