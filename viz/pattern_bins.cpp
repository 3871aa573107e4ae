#include "viz/pattern_bins.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>

#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/random.hpp"
#include "viz/drawn_tiles.hpp"

namespace workbench {
namespace {

using Rows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;

Index bins_along(Index length, int bits) { return length == 0 ? 0 : static_cast<Index>((length - 1) >> bits) + 1; }

/// What a row bin has met so far: counts, and which of them are not zero, so that few are looked at where few are.
class Line {
public:
    Line(Index columns, int planes)
        : planes_(planes), counts_(static_cast<std::size_t>(columns) * planes), met_((columns + 63) / 64) {}

    void add(Index column, int plane) {
        ++counts_[static_cast<std::size_t>(column) * planes_ + plane];
        std::uint64_t& word = met_[column / 64];
        if (word == 0) words_.push_back(column / 64);
        word |= std::uint64_t{1} << (column % 64);
    }

    /// Appends what was met, in ascending columns, and forgets it.
    void move_to(std::vector<Index>& columns, std::vector<Offset>& counts) {
        std::sort(words_.begin(), words_.end());
        for (const Index word : words_) {
            for (; met_[word] != 0; met_[word] &= met_[word] - 1) {
                const auto column = word * 64 + static_cast<Index>(std::countr_zero(met_[word]));
                columns.push_back(column);
                Offset* first = counts_.data() + static_cast<std::size_t>(column) * planes_;
                counts.insert(counts.end(), first, first + planes_);
                std::fill_n(first, planes_, 0);
            }
        }
        words_.clear();
    }

private:
    int planes_;
    std::vector<Offset> counts_;
    std::vector<std::uint64_t> met_;  // [columns / 64] a bit a column
    std::vector<Index> words_;        // those that are not 0
};

/// The plane of each nonzero; empty where there is one plane.
std::vector<std::uint8_t> planes_of(const StagedMatrix& staged, int planes) {
    std::vector<std::uint8_t> plane_of;
    if (planes == 1) return plane_of;
    plane_of.resize(staged.matrix.nonzeros());
    for (std::size_t share = 0; share < staged.shares.size(); ++share) {
        const auto plane = static_cast<std::uint8_t>(std::min<std::size_t>(share, planes - 1));
        if (plane == 0) continue;
        for (const Offset entry : staged.shares[share].entries) plane_of[entry] = plane;
    }
    return plane_of;
}

/// Rows of bins that were made apart, one after the other.
struct Part {
    std::vector<Index> columns;
    std::vector<Offset> counts;
    std::vector<Index> of_row_bin;  // bins
};

void join(std::vector<Part>& parts, PatternBins& bins) {
    std::size_t total = 0;
    for (const Part& part : parts) total += part.columns.size();
    bins.bin_columns.reserve(total);
    bins.counts.reserve(total * bins.planes);
    for (Part& part : parts) {
        bins.bin_columns.insert(bins.bin_columns.end(), part.columns.begin(), part.columns.end());
        bins.counts.insert(bins.counts.end(), part.counts.begin(), part.counts.end());
        for (const Index count : part.of_row_bin) bins.starts.push_back(bins.starts.back() + count);
        part = {};
    }
}

}  // namespace

std::vector<std::string> plane_names(const StagedMatrix& staged) {
    if (staged.shares.empty() || staged.has_tiles()) return {"nonzeros"};
    std::vector<std::string> names;
    for (const Share& share : staged.shares) names.push_back(name_of(share.id));
    if (names.size() > most_planes) {
        names.resize(most_planes);
        names.back() = fmt::format("{} other shares", staged.shares.size() - most_planes + 1);
    }
    return names;
}

int bits_for(Index length, Index most) {
    int bits = 0;
    while (bins_along(length, bits) > most) ++bits;
    return bits;
}

PatternBins count_bins(const StagedMatrix& staged, int row_bits, int column_bits) {
    const CsrMatrix& matrix = staged.matrix;
    PatternBins bins;
    bins.rows = matrix.rows;
    bins.columns = matrix.columns;
    bins.row_bits = row_bits;
    bins.column_bits = column_bits;
    bins.planes = static_cast<int>(plane_names(staged).size());
    const Index row_bins = bins_along(matrix.rows, row_bits);
    const Index column_bins = bins_along(matrix.columns, column_bits);
    const std::vector<std::uint8_t> plane_of = planes_of(staged, bins.planes);
    const DrawnTiles tiles(staged);

    constexpr Index most_parts = 256;
    const Index row_bins_a_part = std::max<Index>(16, (row_bins + most_parts - 1) / most_parts);
    std::vector<Part> parts((row_bins + row_bins_a_part - 1) / row_bins_a_part);
    guarded_for("count bins", Rows(0, static_cast<Index>(parts.size())), [&](Index number) {
        Part& part = parts[number];
        Line line(column_bins, bins.planes);
        const Index end = std::min(row_bins, (number + 1) * row_bins_a_part);
        for (Index bin = number * row_bins_a_part; bin < end; ++bin) {
            const auto first = static_cast<Index>(static_cast<std::int64_t>(bin) << row_bits);
            const auto last =
                static_cast<Index>(std::min<std::int64_t>(matrix.rows, (static_cast<std::int64_t>(bin) + 1) << row_bits));
            if (tiles.empty()) {
                for (Offset k = matrix.row_offsets[first]; k < matrix.row_offsets[last]; ++k) {
                    line.add(matrix.column_indices[k] >> column_bits, plane_of.empty() ? 0 : plane_of[k]);
                }
            } else {
                tiles.for_each_row(first, last, [&](const DrawnTile& tile, Index stored) {
                    const ShareView share(*tile.share);
                    for (Offset k = 0; k < share.length(stored); ++k) {
                        line.add(matrix.column_indices[share.entry(stored, k)] >> column_bits, 0);
                    }
                });
            }
            const std::size_t before = part.columns.size();
            line.move_to(part.columns, part.counts);
            part.of_row_bin.push_back(static_cast<Index>(part.columns.size() - before));
        }
    });
    join(parts, bins);
    return bins;
}

PatternBins coarser(const PatternBins& bins) {
    const bool fewer_rows = bins.row_bins() > 1;
    const bool fewer_columns = bins_along(bins.columns, bins.column_bits) > 1;
    PatternBins result;
    result.rows = bins.rows;
    result.columns = bins.columns;
    result.row_bits = bins.row_bits + (fewer_rows ? 1 : 0);
    result.column_bits = bins.column_bits + (fewer_columns ? 1 : 0);
    result.planes = bins.planes;
    const auto add = [&result](Index column, const Offset* counts) {
        const bool is_new = static_cast<Offset>(result.bins()) == result.starts.back() || result.bin_columns.back() != column;
        if (is_new) {
            result.bin_columns.push_back(column);
            result.counts.insert(result.counts.end(), counts, counts + result.planes);
            return;
        }
        for (int plane = 0; plane < result.planes; ++plane) *(result.counts.end() - result.planes + plane) += counts[plane];
    };
    const int shift = fewer_columns ? 1 : 0;
    const Index step = fewer_rows ? 2 : 1;
    for (Index row = 0; row < bins.row_bins(); row += step) {
        Offset a = bins.starts[row];
        const Offset a_end = bins.starts[row + 1];
        Offset b = a_end;
        const Offset b_end = step == 2 && row + 1 < bins.row_bins() ? bins.starts[row + 2] : b;
        while (a < a_end || b < b_end) {
            const bool from_a = b == b_end || (a < a_end && bins.bin_columns[a] <= bins.bin_columns[b]);
            const Offset next = from_a ? a++ : b++;
            add(bins.bin_columns[next] >> shift, bins.counts.data() + next * bins.planes);
        }
        result.starts.push_back(static_cast<Offset>(result.bins()));
    }
    return result;
}

PatternBins finest_bins(const StagedMatrix& staged, std::size_t most_bins) {
    const CsrMatrix& matrix = staged.matrix;
    if (matrix.nonzeros() <= static_cast<Offset>(most_bins)) return count_bins(staged, 0, 0);
    constexpr Index first_try = 4096;  // bins along an axis
    PatternBins bins = count_bins(staged, bits_for(matrix.rows, first_try), bits_for(matrix.columns, first_try));
    while (bins.bins() > most_bins) bins = coarser(bins);
    constexpr Index last_try = 65536;
    for (Index most = 2 * first_try; most <= last_try && bins.bins() <= most_bins / 2; most *= 2) {
        PatternBins finer = count_bins(staged, bits_for(matrix.rows, most), bits_for(matrix.columns, most));
        if (finer.bins() > most_bins) break;
        bins = std::move(finer);
    }
    return bins;
}

void add_number(std::string& bytes, std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes += static_cast<char>(number % 128 + 128);
    bytes += static_cast<char>(number);
}

void add_difference(std::string& bytes, std::int64_t difference) {
    const auto twice = static_cast<std::uint64_t>(difference) << 1;
    add_number(bytes, difference < 0 ? ~twice : twice);
}

PackedBins packed(const PatternBins& bins) {
    PackedBins result;
    result.one_each = true;
    for (std::size_t i = 0; i < bins.bins() && result.one_each; ++i) {
        const auto first = bins.counts.begin() + static_cast<Offset>(i) * bins.planes;
        result.one_each = std::accumulate(first, first + bins.planes, Offset{0}) == 1;
    }
    for (Index row = 0; row < bins.row_bins(); ++row) {
        add_number(result.bytes, bins.starts[row + 1] - bins.starts[row]);
        Index next = 0;
        for (Offset i = bins.starts[row]; i < bins.starts[row + 1]; ++i) {
            add_number(result.bytes, bins.bin_columns[i] - next);
            next = bins.bin_columns[i] + 1;
            const auto first = bins.counts.begin() + i * bins.planes;
            if (!result.one_each) {
                for (int plane = 0; plane < bins.planes; ++plane) add_number(result.bytes, first[plane]);
            } else if (bins.planes > 1) {
                add_number(result.bytes, std::find(first, first + bins.planes, 1) - first);
            }
        }
    }
    return result;
}

PatternSample sample_of(const StagedMatrix& staged, Index most) {
    const CsrMatrix& matrix = staged.matrix;
    PatternSample sample;
    std::map<Index, std::size_t> by_row;  // current rows; one nonzero each
    const Index tries = std::min(most, matrix.rows);
    std::vector<Index> originals;
    for (Index i = 0; i < tries; ++i) {
        // One row of each stretch of the input, not always the same of it, so that no pattern of the numbering stands out.
        const std::int64_t begin = std::int64_t{i} * matrix.rows / tries;
        const std::int64_t end = (std::int64_t{i} + 1) * matrix.rows / tries;
        RandomStream random = random_stream(1, i);
        const auto original = static_cast<Index>(begin + static_cast<std::int64_t>(random.below(end - begin)));
        const Index row = staged.row_order.new_of_old(original);
        const auto columns = matrix.row_columns(row);
        if (columns.empty()) continue;
        originals.clear();
        for (const Index column : columns) originals.push_back(staged.column_order.old_of_new(column));
        const auto chosen = originals.begin() + static_cast<Offset>(random.below(originals.size()));
        std::nth_element(originals.begin(), chosen, originals.end());
        const Index column = staged.column_order.new_of_old(*chosen);
        const auto at = std::lower_bound(columns.begin(), columns.end(), column) - columns.begin();
        by_row.emplace(row, sample.values.size());
        sample.original_rows.push_back(original);
        sample.original_columns.push_back(*chosen);
        sample.values.push_back(matrix.values[matrix.row_offsets[row] + at]);
        sample.drawn_rows.push_back(row);
        sample.drawn_columns.push_back(column);
    }
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    const DrawnTiles tiles(staged);
    for (const DrawnTile& tile : tiles.tiles()) {
        const std::vector<Index>& rows = tile.share->rows;
        for (std::size_t stored = 0; stored < rows.size(); ++stored) {
            const auto found = by_row.find(rows[stored]);
            if (found == by_row.end()) continue;
            const Index column = sample.drawn_columns[found->second];
            const bool is_here = segments->piece_at(column) == tile.share->id.segment;
            if (is_here) sample.drawn_rows[found->second] = tile.first_row + static_cast<Index>(stored);
        }
    }
    return sample;
}

std::string packed_tiles(const StagedMatrix& staged) {
    const DrawnTiles tiles(staged);
    std::string bytes;
    if (tiles.empty()) return bytes;
    add_number(bytes, tiles.tiles().size());
    for (const DrawnTile& tile : tiles.tiles()) {
        add_number(bytes, tile.share->id.row_block);
        add_number(bytes, tile.share->id.segment);
        add_number(bytes, tile.share->rows.size());
        Index before = tile.first_row - 1;
        for (const Index row : tile.share->rows) {
            add_difference(bytes, std::int64_t{row} - before - 1);
            before = row;
        }
    }
    return bytes;
}

}  // namespace workbench
