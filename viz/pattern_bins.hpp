// The pattern of a matrix for a page that zooms: nonzeros counted into bins whose sides are powers of two, so that coarser bins
// are sums of finer ones, down to single entries where that fits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// Shares that are told apart; where there are more, the last plane holds all others.
inline constexpr int most_planes = 6;

/// Row i lies in row bin i >> row_bits, column j in column bin j >> column_bits. Only bins with nonzeros are listed. Where the
/// shares are tiles, a row lies where its tile stores it: the i-th of a tile i rows below the tile's upper edge.
struct PatternBins {
    Index rows = 0;
    Index columns = 0;
    int row_bits = 0;
    int column_bits = 0;
    int planes = 1;
    std::vector<Offset> starts{0};   // [row bins + 1] into bin_columns
    std::vector<Index> bin_columns;  // [bins] ascending in each row bin
    std::vector<Offset> counts;      // [bins][planes] nonzeros

    [[nodiscard]] Index row_bins() const { return static_cast<Index>(starts.size()) - 1; }
    [[nodiscard]] std::size_t bins() const { return bin_columns.size(); }

    friend bool operator==(const PatternBins&, const PatternBins&) = default;
};

/// The planes of a matrix: its shares, or all nonzeros; of tiles and segments one for all.
[[nodiscard]] std::vector<std::string> plane_names(const StagedMatrix& staged);

/// Bits with which an axis of this length has at most `most` bins; most >= 1.
[[nodiscard]] int bits_for(Index length, Index most);

/// Runs in parallel over row bins; the result does not depend on the number of threads.
[[nodiscard]] PatternBins count_bins(const StagedMatrix& staged, int row_bits, int column_bits);

/// Bins of twice the side; of an axis that has one bin already, as they are.
[[nodiscard]] PatternBins coarser(const PatternBins& bins);

/// The finest bins of which there are at most `most_bins`: entries one by one where the matrix has no more of them than that.
[[nodiscard]] PatternBins finest_bins(const StagedMatrix& staged, std::size_t most_bins);

/// For each row bin: the number of its bins, then of each the gap to the one before and what it holds, all as numbers of seven
/// bits a byte, least first. What a bin holds: its counts, a plane each; where all counts are 1, nothing with one plane, and
/// the plane with more (`one_each`).
struct PackedBins {
    std::string bytes;
    bool one_each = false;
};
[[nodiscard]] PackedBins packed(const PatternBins& bins);

/// Some nonzeros, the same after every stage: of rows of the input that are drawn at random, one each.
struct PatternSample {
    std::vector<Index> original_rows;
    std::vector<Index> original_columns;
    std::vector<double> values;
    std::vector<Index> drawn_rows;  // where they are drawn now, with tiles as their tile stores them
    std::vector<Index> drawn_columns;
};
[[nodiscard]] PatternSample sample_of(const StagedMatrix& staged, Index most);

/// The rows of tiles in the order of storage, as bytes: the number of tiles; of each its row block, segment, number of rows and
/// the rows, each as the difference from the one before. Empty where the shares are no tiles.
[[nodiscard]] std::string packed_tiles(const StagedMatrix& staged);

/// Numbers of seven bits a byte.
void add_number(std::string& bytes, std::uint64_t number);
/// Small for small differences of either sign.
void add_difference(std::string& bytes, std::int64_t difference);

}  // namespace workbench
