// Banded blocks: a matrix with a band, stored as the dense blocks along it, in one array.
// Source: Wikberg, "Unstructured mesh FVM with GPU" (dissertation, University of Cambridge, 2025), chapter 4, "Banded block
// format": blocks of a given height and length, the same number of them in the band of each block row, all of their entries
// stored, and no other array.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The rows are cut into block rows of block_height, the columns into block columns of block_width. The diagonal block of block
/// row I is the block column of column I * block_height. A block row stores blocks_per_row block columns beginning with
/// first_block, counted from its diagonal block: the narrowest such band that holds every nonzero. The band may reach beyond
/// the matrix, at its corners and where the block size does not divide its sides: that is padding, as is every zero inside.
///
/// values [block rows * blocks_per_row * block_width * block_height]: in each block row the columns of the band one after
/// another, so that the rows of a block row, which have a thread each, are neighbours. The source does not define the order in
/// a block.
template <typename Value, template <typename> typename Array>
struct BandedBlock : MatrixSize {
    Index block_height = 1;
    Index block_width = 1;
    Index first_block = 0;
    Index blocks_per_row = 0;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&BandedBlock::block_height>(),
                          number_field<&BandedBlock::block_width>(), number_field<&BandedBlock::first_block>(),
                          number_field<&BandedBlock::blocks_per_row>(), value_array<&BandedBlock::values>("slots"));
    }

    [[nodiscard]] constexpr Index block_rows() const {
        return row_count / block_height + (row_count % block_height > 0 ? 1 : 0);
    }
    /// The number of columns of the band in each block row.
    [[nodiscard]] constexpr Offset band_width() const { return Offset{blocks_per_row} * block_width; }
    /// The first column of a block row's band, which may be outside the matrix.
    [[nodiscard]] constexpr Offset first_column(Offset block_row) const {
        return (block_row * block_height / block_width + first_block) * block_width;
    }
};

/// All slots, including those of rows past the last one.
struct BandSlots final : ScheduleBase<Hooks{.no_column = NoColumn::skipped, .own_column = true}> {
    static constexpr Offset threads(const auto& band) { return Offset{band.block_rows()} * band.block_height; }
    static constexpr Run<int> run(const auto& band, Offset row, const auto&) {
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

/// One thread per row: the threads of a block row read neighbouring values and the same x. Places outside the matrix are not
/// read. known_height: the block height if it is known at compile time, otherwise 0.
template <int known_height>
struct BandRows final
    : ScheduleBase<Hooks{
          .entries_in_flight = tuned::banded_block_entries_in_flight, .stores_zeros = true, .own_column = true}> {
    static constexpr Offset threads(const auto& band) { return band.row_count; }
    static constexpr auto run(const auto& band, Offset row, const auto&) {
        using Stride = std::conditional_t<known_height == 0, int, Known<known_height>>;
        if (row >= band.row_count) return Run<Stride>{};
        const Index height = known_height == 0 ? band.block_height : known_height;
        const Offset first_row = row / height * height;  // of its block row
        const Offset first_column = (first_row / band.block_width + band.first_block) * band.block_width;
        const Offset begin = first_column < 0 ? 0 : first_column;
        const Offset last = first_column + band.band_width();
        const Offset end = last < band.column_count ? last : band.column_count;
        Run<Stride> run{.row = static_cast<Index>(row),
                        .first = first_row * band.band_width() + (begin - first_column) * height + (row - first_row),
                        .count = end - begin,
                        .first_column = static_cast<Index>(begin < end ? begin : 0)};
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
struct BandedBlockLayout final : PatternLayout<Value, BandedBlock<Value, HostArray>, BandSlots> {
    static constexpr const char* name = "banded_block";
    /// bytes_to_move without the padding outside the matrix, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
};

[[nodiscard]] LayoutEntry banded_block_entry();

}  // namespace workbench
