// Banded blocks: a matrix with a band, stored as the dense blocks along it, in one array.
// Source: Wikberg, "Unstructured mesh FVM with GPU" (dissertation, University of Cambridge, 2025), chapter 4, "Banded block
// format": blocks of a given height and length, all blocks of a band whose number is the same in each block row, all entries
// of a block stored, no other array.
#pragma once

#include <vector>

#include "kernels/common/storage/pattern.hpp"
#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The rows are cut into block rows of block_height, the columns into block columns of block_width. The diagonal block of block
/// row I is the block column of column I * block_height. A block row stores the blocks_per_row block columns from first_block
/// on, counted from its diagonal block: the least such band that holds every nonzero. The band may leave the matrix, at its
/// corners and where the block size does not divide its sides: that is padding, as is every zero inside.
///
/// values [block rows * blocks_per_row * block_width * block_height]: in each block row the columns of the band one after the
/// other, so that the rows of a block row, which take a thread each, are neighbours. The source leaves the order in a block
/// open.
template <ValueType Value>
struct BandedBlockLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Index block_height = 1;
    Index block_width = 1;
    Index first_block = 0;
    Index blocks_per_row = 0;
    std::vector<Value> values;
    Pattern pattern;  // tells nonzeros from padding; no kernel reads it

    [[nodiscard]] Index block_rows() const { return row_count / block_height + (row_count % block_height > 0 ? 1 : 0); }
    /// Columns of the band, in each block row.
    [[nodiscard]] Offset band_width() const { return Offset{blocks_per_row} * block_width; }
    /// The column of the matrix where a block row's band begins; it may be outside the matrix.
    [[nodiscard]] Offset first_column(Index block_row) const {
        return (Offset{block_row} * block_height / block_width + first_block) * block_width;
    }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return pattern.row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    /// As bytes_to_move, but without the padding outside the matrix, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry banded_block_entry();

[[nodiscard]] std::vector<KernelEntry> banded_block_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> banded_block_cuda_kernels();

}  // namespace workbench
