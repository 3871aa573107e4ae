// HBP: tiles whose rows lie as a hash of their lengths has placed them, a tile for one warp, stored without padding; the
// results of the tiles are merged per row afterwards. Source: Yan, Diao, Liu, An, Xu, "A Nonlinear Hash-based Optimization
// Method for SpMV on GPUs" (2025). Of the paper, by its abstract and captions: the two steps (figure 1), `columns`, `data`,
// `add_sign`, `zero_row` and `begin_ptr` and what they are for (figure 2), short rows first (figure 4), a warp for a matrix
// block, and fixed and competitive shares of the blocks (figure 5). Designs of this project: that a tile lists only the rows
// present in it, the widths of the arrays, `zero_row` as a mask, and where a result is stored, which makes the results of a row
// neighbours.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/device/recorded.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// The stored rows of a tile are multiplied in batches of 32, a lane a row: lane l of batch b has stored row batch_rows[b] + l.
/// A batch is stored step by step: the first entries of its rows, lane by lane, then the second ones of those rows that have
/// two, and so on. So lane l begins at begin_ptr[b] plus the number of lanes before it that are not marked in zero_row[b], and
/// goes on from entry e to e + add_sign[e] until that is 0. Results: those of row r are numbers result_offsets[r] ..
/// result_offsets[r + 1] - 1, by the order of the tiles.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Hbp {
    template <template <typename> typename Other>
    using In = Hbp<Value, ColumnIndex, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Index fixed_tiles = 0;              // of kernel `mixed`: the tiles that are dealt to the warps beforehand
    Array<Index> tile_batches;          // [tiles + 1] first batch of each tile
    Array<Index> tile_columns;          // [tiles] the first column of the tile's segment
    Array<Offset> begin_ptr;            // [batches + 1] first entry of each batch
    Array<Index> batch_rows;            // [batches + 1] first stored row of each batch
    Array<std::uint32_t> zero_row;      // [batches] bit l: the row of lane l has no entries, or there is no such row
    Array<ColumnIndex> column_indices;  // [nonzeros] from the tile's first column on
    Array<Value> data;                  // [nonzeros]
    Array<std::uint8_t> add_sign;       // [nonzeros] distance to the row's next entry, at most 32; 0: the last
    Array<Index> output_order;          // [stored rows] the number of each row's result
    Array<Index> result_offsets;        // [rows + 1] first result of each row of the matrix

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::number, "fixed_tiles", of.fixed_tiles...);
        visit(ArrayRole::structure, "tile_batches [tiles + 1]", of.tile_batches...);
        visit(ArrayRole::structure, "tile_columns [tiles]", of.tile_columns...);
        visit(ArrayRole::structure, "begin_ptr [batches + 1]", of.begin_ptr...);
        visit(ArrayRole::structure, "batch_rows [batches + 1]", of.batch_rows...);
        visit(ArrayRole::structure, "zero_row [batches]", of.zero_row...);
        visit(ArrayRole::column, "columns [nonzeros]", of.column_indices...);
        visit(ArrayRole::value, "data [nonzeros]", of.data...);
        visit(ArrayRole::structure, "add_sign [nonzeros]", of.add_sign...);
        visit(ArrayRole::structure, "output_order [stored rows]", of.output_order...);
        visit(ArrayRole::structure, "result_offsets [rows + 1]", of.result_offsets...);
    }

    [[nodiscard]] constexpr Index tile_count() const { return static_cast<Index>(tile_columns.size()); }
    /// Stored rows, and so results, of all tiles together.
    [[nodiscard]] constexpr Index result_count() const { return static_cast<Index>(output_order.size()); }
};

inline constexpr int hbp_lanes = 32;

/// Batches of a tile whose rows a warp of the CUDA kernels multiplies side by side, entry by entry; on an H200 fewer wait
/// longer, and more are idle in small tiles.
inline constexpr int hbp_batches_in_flight = 4;

/// What a lane has of a batch.
struct HbpLane {
    bool has_row = false;
    bool has_entries = false;
    Index stored = 0;  // its stored row
    Offset entry = 0;  // the first of this row
};

/// From batch `end` on a lane has nothing; the last batch is read instead, so that no load waits for a branch.
[[nodiscard]] constexpr HbpLane lane_of_batch(const auto& hbp, Index batch, Index end, int lane) {
    const bool there = batch < end;
    const Index read = there ? batch : end - 1;
    const std::uint32_t zero_row = there ? hbp.zero_row[read] : ~std::uint32_t{0};
    const Index stored = hbp.batch_rows[read] + lane;
    const int lanes_before = std::popcount(~zero_row & ((std::uint32_t{1} << lane) - 1));
    return {there && stored < hbp.batch_rows[read + 1], (zero_row >> lane & 1U) == 0, stored,
            hbp.begin_ptr[read] + lanes_before};
}

template <ValueType Value>
struct HbpLayout final : VariantLayout<Value, Hbp<Value, Index, HostArray>, Hbp<Value, std::uint16_t, HostArray>> {
    // Where the entries come from; no kernel reads it and it is no part of the footprint.
    std::vector<Offset> first_nonzeros;  // [stored rows] position in CsrMatrix::values; those of a row and tile are neighbours

    /// What a product moves at least: beside the layout, every tile result is written and read.
    [[nodiscard]] std::int64_t bytes_of_product() const {
        return this->bytes_to_move() + 2 * static_cast<std::int64_t>(first_nonzeros.size() * sizeof(Value));
    }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry hbp_entry();
[[nodiscard]] std::vector<KernelEntry> hbp_cuda_kernels();

/// For tests: a product as by kernel `fixed` that records who reads each element of `data`; warp t has tile t.
[[nodiscard]] std::vector<Recorded> record_hbp_reads(const HbpLayout<double>& layout, Device& device);

}  // namespace workbench
