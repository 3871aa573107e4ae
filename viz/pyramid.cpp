#include "viz/pyramid.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_threads.hpp"
#include "viz/placed_rows.hpp"

namespace workbench {
namespace {

constexpr Offset unlimited = std::numeric_limits<Offset>::max();

Index bins_at_level(Index length, int bits) { return length == 0 ? 0 : static_cast<Index>((length - 1) >> bits) + 1; }

struct Bits {
    int row = 0;
    int column = 0;

    friend bool operator==(const Bits&, const Bits&) = default;
};

Bits coarser_bits(Index rows, Index columns, Bits bits) {
    const std::int64_t row_bins = bins_at_level(rows, bits.row);
    const std::int64_t column_bins = bins_at_level(columns, bits.column);
    return {bits.row + (row_bins > 1 && 2 * row_bins > column_bins ? 1 : 0),
            bits.column + (column_bins > 1 && 2 * column_bins > row_bins ? 1 : 0)};
}

/// Collects the bins of one bin row: in a dense array if there are few bin columns, otherwise in a list that is sorted later.
class BinRow {
public:
    BinRow(Index column_bins, int planes) : planes_(planes) {
        constexpr Index most_places = 1 << 21;
        if (column_bins > most_places) return;
        places_.resize(static_cast<std::size_t>(column_bins) * planes);
        met_.resize((column_bins + 63) / 64);
    }

    void add(Index column, int plane, Offset count) {
        if (met_.empty()) {
            // The columns of a row ascend, so that neighbours often share a bin.
            if (bins_.empty() || bins_.back().column != column || bins_.back().plane != plane)
                bins_.push_back({column, plane, 0});
            bins_.back().count += count;
            return;
        }
        places_[static_cast<std::size_t>(column) * planes_ + plane] += count;
        std::uint64_t& word = met_[column / 64];
        if (word == 0) words_.push_back(column / 64);
        word |= std::uint64_t{1} << (column % 64);
    }

    /// Appends the bins in the order of their columns, and clears the row.
    void move_to(std::vector<Index>& columns, std::vector<Offset>& counts) {
        std::sort(words_.begin(), words_.end());
        for (const Index word : words_) {
            for (; met_[word] != 0; met_[word] &= met_[word] - 1) {
                const auto column = word * 64 + static_cast<Index>(std::countr_zero(met_[word]));
                Offset* first = places_.data() + static_cast<std::size_t>(column) * planes_;
                columns.push_back(column);
                for (int plane = 0; plane < planes_; ++plane) counts.push_back(std::exchange(first[plane], 0));
            }
        }
        words_.clear();
        std::sort(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) { return a.column < b.column; });
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            if (i == 0 || bins_[i - 1].column != bins_[i].column) {
                columns.push_back(bins_[i].column);
                counts.insert(counts.end(), planes_, 0);
            }
            *(counts.end() - planes_ + bins_[i].plane) += bins_[i].count;
        }
        bins_.clear();
    }

private:
    struct Bin {
        Index column = 0;
        int plane = 0;
        Offset count = 0;
    };

    int planes_;
    std::vector<Offset> places_;      // [bin columns][planes]
    std::vector<std::uint64_t> met_;  // [bin columns / 64] one bit per column: is it nonempty?
    std::vector<Index> words_;        // the nonzero elements of met_
    std::vector<Bin> bins_;
};

/// Consecutive bin rows of a level.
struct BinRows {
    std::vector<Offset> row_ends;  // bins up to the end of each bin row
    std::vector<Index> columns;
    std::vector<Offset> counts;
};

/// The level whose bin rows are filled by `fill(bin row, BinRow&)`; none if it has more than `most_bins` bins.
template <typename Fill>
std::optional<PyramidLevel> make_level(Index rows, Index columns, Bits bits, int planes, Offset most_bins, const Fill& fill) {
    PyramidLevel level{rows, columns, bits.row, bits.column, planes, {0}, {}, {}};
    const std::int64_t row_bins = bins_at_level(rows, bits.row);
    const std::int64_t part_count = std::min<std::int64_t>(row_bins, std::int64_t{host_threads()} * 16);
    std::vector<BinRows> parts(part_count);
    std::atomic<Offset> bins{0};
    using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
    guarded_for("pyramid", Policy(0, part_count).set_chunk_size(1), [&](std::int64_t i) {
        BinRows& part = parts[i];
        BinRow line(bins_at_level(columns, bits.column), planes);
        for (std::int64_t bin = i * row_bins / part_count; bin < (i + 1) * row_bins / part_count; ++bin) {
            if (bins > most_bins) return;
            fill(static_cast<Index>(bin), line);
            const std::size_t before = part.columns.size();
            line.move_to(part.columns, part.counts);
            part.row_ends.push_back(static_cast<Offset>(part.columns.size()));
            bins += static_cast<Offset>(part.columns.size() - before);
        }
    });
    if (bins > most_bins) return std::nullopt;
    level.bin_columns.reserve(bins);
    level.counts.reserve(bins * planes);
    for (const BinRows& part : parts) {
        for (const Offset end : part.row_ends) level.row_offsets.push_back(level.bins() + end);
        level.bin_columns.insert(level.bin_columns.end(), part.columns.begin(), part.columns.end());
        level.counts.insert(level.counts.end(), part.counts.begin(), part.counts.end());
    }
    return level;
}

std::optional<PyramidLevel> level_of(const StagedMatrix& staged, const Placement& placement, Bits bits, Offset most_bins) {
    const CsrMatrix& matrix = staged.matrix;
    const auto fill = [&](Index bin, BinRow& line) {
        const std::int64_t begin = std::int64_t{bin} << bits.row;
        const std::int64_t end = std::min<std::int64_t>(begin + (std::int64_t{1} << bits.row), matrix.rows);
        placement.for_each_row(static_cast<Index>(begin), static_cast<Index>(end), [&](const PlacedRow& row) {
            row.for_each_entry(
                [&](Offset entry, int plane) { line.add(matrix.column_indices[entry] >> bits.column, plane, 1); });
        });
    };
    return make_level(matrix.rows, matrix.columns, bits, placement.planes(), most_bins, fill);
}

PyramidLevel deepest_level(const StagedMatrix& staged, const Placement& placement, Offset most_bins) {
    const CsrMatrix& matrix = staged.matrix;
    if (matrix.nonzeros() <= most_bins) return *level_of(staged, placement, {}, unlimited);
    std::vector<Bits> all{{}};  // of each level, the deepest first
    for (Bits next = coarser_bits(matrix.rows, matrix.columns, {}); next != all.back();
         next = coarser_bits(matrix.rows, matrix.columns, next)) {
        all.push_back(next);
    }
    // A finer level has at most four times the bins, so levels that surely fit are skipped.
    const auto deeper_than = [most_bins](int from, Offset bins) {
        for (--from; from > 0 && bins * 16 <= most_bins; bins *= 4) --from;
        return from;
    };
    int depth = deeper_than(static_cast<int>(all.size()) - 1, 1) + 1;
    std::optional<PyramidLevel> level = level_of(staged, placement, all[depth], unlimited);
    while (depth > 0 && level->bins() <= most_bins) {
        const int next = deeper_than(depth, level->bins());
        std::optional<PyramidLevel> finer = level_of(staged, placement, all[next], most_bins);
        if (!finer) break;
        level = std::move(finer);
        depth = next;
    }
    return *std::move(level);
}

}  // namespace

PyramidLevel count_bins(const StagedMatrix& staged, int row_bits, int column_bits) {
    return *level_of(staged, Placement(staged, most_planes), {row_bits, column_bits}, unlimited);
}

PyramidLevel coarser(const PyramidLevel& level) {
    const Bits bits = coarser_bits(level.rows, level.columns, {level.row_bits, level.column_bits});
    const int row_step = bits.row - level.row_bits;
    const int column_step = bits.column - level.column_bits;
    const auto fill = [&](Index bin, BinRow& line) {
        const std::int64_t first = std::int64_t{bin} << row_step;
        const std::int64_t last = std::min<std::int64_t>((std::int64_t{bin} + 1) << row_step, level.row_bins());
        for (Offset i = level.row_offsets[first]; i < level.row_offsets[last]; ++i) {
            for (int plane = 0; plane < level.planes; ++plane) {
                const Offset count = level.counts[i * level.planes + plane];
                if (count > 0) line.add(level.bin_columns[i] >> column_step, plane, count);
            }
        }
    };
    return *make_level(level.rows, level.columns, bits, level.planes, unlimited, fill);
}

Pyramid build_pyramid(const StagedMatrix& staged, Offset most_bins) {
    if (most_bins < 1) throw std::invalid_argument("a pyramid needs at least one bin");
    return {plane_names(staged, most_planes), deepest_level(staged, Placement(staged, most_planes), most_bins)};
}

}  // namespace workbench
