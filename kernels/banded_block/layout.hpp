// Banded blocks: a matrix with a band, stored as the dense blocks along it, in one array.
// Source: Wikberg, "Unstructured mesh FVM with GPU" (dissertation, University of Cambridge, 2025), chapter 4, "Banded block
// format": blocks of a given height and length, all blocks of a band whose number is the same in each block row, all entries
// of a block stored, no other array.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"
#include "kernels/common/storage/pattern.hpp"

namespace workbench {

/// The rows are cut into block rows of block_height, the columns into block columns of block_width. The diagonal block of block
/// row I is the block column of column I * block_height. A block row stores the blocks_per_row block columns from first_block
/// on, counted from its diagonal block: the least such band that holds every nonzero. The band may leave the matrix, at its
/// corners and where the block size does not divide its sides: that is padding, as is every zero inside.
///
/// values [block rows * blocks_per_row * block_width * block_height]: in each block row the columns of the band one after the
/// other, so that the rows of a block row, which take a thread each, are neighbours. The source leaves the order in a block
/// open.
template <typename Value, template <typename> typename Array>
struct BandedBlock {
    template <template <typename> typename Other>
    using In = BandedBlock<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Index block_height = 1;
    Index block_width = 1;
    Index first_block = 0;
    Index blocks_per_row = 0;
    Array<Value> values;

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::number, "block_height", of.block_height...);
        visit(ArrayRole::number, "block_width", of.block_width...);
        visit(ArrayRole::number, "first_block", of.first_block...);
        visit(ArrayRole::number, "blocks_per_row", of.blocks_per_row...);
        visit(ArrayRole::value, "values [slots]", of.values...);
    }

    [[nodiscard]] constexpr Index block_rows() const {
        return row_count / block_height + (row_count % block_height > 0 ? 1 : 0);
    }
    /// Columns of the band, in each block row.
    [[nodiscard]] constexpr Offset band_width() const { return Offset{blocks_per_row} * block_width; }
    /// The column of the matrix where a block row's band begins; it may be outside the matrix.
    [[nodiscard]] constexpr Offset first_column(Offset block_row) const {
        return (block_row * block_height / block_width + first_block) * block_width;
    }
};

/// All slots of the rows, those of rows past the last one too.
struct BandSlots : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::skipped;

    static constexpr Offset threads(const auto& band) { return Offset{band.block_rows()} * band.block_height; }
    static constexpr Run<int> run(const auto& band, Offset row) {
        const Offset in_block = row % band.block_height;
        return {row < band.row_count ? static_cast<Index>(row) : -1, (row - in_block) * band.band_width() + in_block,
                band.band_width(), band.block_height};
    }
    static constexpr Index column(const auto& band, const auto& run, const RunSlot& place, const auto&) {
        const Offset block_row = run.first / (Offset{band.block_height} * band.band_width());
        const Offset column = band.first_column(block_row) + place.k;
        return column >= 0 && column < band.column_count ? static_cast<Index>(column) : -1;
    }
};

/// A thread a row: the threads of a block row read neighbouring values and one and the same x. What lies outside the matrix is
/// not read. Height: the block height where it is known beforehand, otherwise 0.
template <int known_height>
struct BandRows : ScheduleDefaults {
    static constexpr int entries_in_flight = 8;

    static constexpr Offset threads(const auto& band) { return band.row_count; }
    static constexpr auto run(const auto& band, Offset row) {
        using Stride = std::conditional_t<known_height == 0, int, Known<known_height>>;
        if (row >= band.row_count) return Run<Stride>{};
        const Index height = known_height == 0 ? band.block_height : known_height;
        const Offset first_row = row / height * height;  // of its block row
        const Offset first_column = (first_row / band.block_width + band.first_block) * band.block_width;
        const Offset begin = first_column < 0 ? 0 : first_column;
        const Offset last = first_column + band.band_width();
        const Offset end = last < band.column_count ? last : band.column_count;
        Run<Stride> run{static_cast<Index>(row),
                        first_row * band.band_width() + (begin - first_column) * height + (row - first_row),
                        end - begin,
                        {},
                        static_cast<Index>(begin < end ? begin : 0)};
        if constexpr (known_height == 0) run.stride = height;
        return run;
    }
    static constexpr Index column(const auto&, const auto&, const RunSlot& place, const auto&) {
        return static_cast<Index>(place.k);
    }
};

struct BandRow {
    static auto choose(const auto& band, const auto& use) {
        if (band.block_height == 8) return use(BandRows<8>{});
        return band.block_height == 32 ? use(BandRows<32>{}) : use(BandRows<0>{});
    }
};

template <ValueType Value>
struct BandedBlockLayout final : StoredLayout<Value, BandedBlock<Value, HostArray>> {
    static constexpr const char* name = "banded_block";
    Pattern pattern;  // tells nonzeros from padding; no kernel reads it
    /// As bytes_to_move, but without the padding outside the matrix, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry banded_block_entry();

[[nodiscard]] std::vector<KernelEntry> banded_block_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> banded_block_cuda_kernels();

}  // namespace workbench
