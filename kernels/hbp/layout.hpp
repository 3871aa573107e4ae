// HBP: tiles whose rows lie as a hash of their lengths has placed them, a tile for one warp, stored without padding; the
// results of the tiles are merged per row afterwards. Source: Yan, Diao, Liu, An, Xu, "A Nonlinear Hash-based Optimization
// Method for SpMV on GPUs" (2025). Of the paper, by its abstract and captions: the two steps (figure 1), `columns`, `data`,
// `add_sign`, `zero_row` and `begin_ptr` and what they are for (figure 2), short rows first (figure 4), a warp for a matrix
// block, and fixed and competitive shares of the blocks (figure 5). Designs of this project: that a tile lists only the rows
// present in it, the widths of the arrays, `zero_row` as a mask, and where a result is stored, which makes the results of a row
// neighbours.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The stored rows of a tile are multiplied in batches of 32, a lane a row: lane l of batch b has stored row batch_rows[b] + l.
/// A batch is stored step by step: the first entries of its rows, lane by lane, then the second ones of those rows that have
/// two, and so on. So lane l begins at begin_ptr[b] plus the number of lanes before it that are not marked in zero_row[b], and
/// goes on from entry e to e + add_sign[e] until that is 0. Results: those of row r are numbers result_offsets[r] ..
/// result_offsets[r + 1] - 1, by the order of the tiles.
template <ValueType Value>
struct HbpLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    std::vector<Index> tile_batches{0};   // [tiles + 1] first batch of each tile
    std::vector<Index> tile_columns;      // [tiles] the first column of the tile's segment
    std::vector<Offset> begin_ptr{0};     // [batches + 1] first entry of each batch
    std::vector<Index> batch_rows{0};     // [batches + 1] first stored row of each batch
    std::vector<std::uint32_t> zero_row;  // [batches] bit l: the row of lane l has no entries, or there is no such row
    std::variant<std::vector<std::uint16_t>, std::vector<Index>> column_indices;  // [nonzeros] from the tile's first column on
    std::vector<Value> data;                                                      // [nonzeros]
    std::vector<std::uint8_t> add_sign;    // [nonzeros] distance to the row's next entry, at most 32; 0: the last
    std::vector<Index> output_order;       // [stored rows] the number of each row's result
    std::vector<Index> result_offsets{0};  // [rows + 1] first result of each row of the matrix

    Index fixed_tiles = 0;  // of kernel `mixed`: the tiles that are dealt to the warps beforehand

    // Where the entries come from; no kernel reads it and it is no part of the footprint.
    std::vector<Offset> first_nonzeros;  // [stored rows] position in CsrMatrix::values; those of a row and tile are neighbours

    [[nodiscard]] Index tile_count() const { return static_cast<Index>(tile_columns.size()); }
    [[nodiscard]] Index batch_count() const { return static_cast<Index>(zero_row.size()); }
    /// Stored rows, and so results, of all tiles together.
    [[nodiscard]] Index result_count() const { return static_cast<Index>(output_order.size()); }

    /// What a product moves at least: beside the layout, every tile result is written and read.
    [[nodiscard]] std::int64_t bytes_of_product() const {
        return this->bytes_to_move() + 2 * std::int64_t{result_count()} * static_cast<std::int64_t>(sizeof(Value));
    }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return static_cast<Offset>(data.size()); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    /// As the CUDA kernel reads them: a step is an entry of each row of a batch, and batches in flight take turns.
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// Batches of a tile whose rows a warp of the CUDA kernel multiplies side by side, entry by entry; on an H200 fewer wait
/// longer, and more are idle in small tiles.
inline constexpr int hbp_batches_in_flight = 4;

[[nodiscard]] LayoutEntry hbp_entry();

[[nodiscard]] std::vector<KernelEntry> hbp_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> hbp_cuda_kernels();

}  // namespace workbench
