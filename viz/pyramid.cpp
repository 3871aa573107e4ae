#include "viz/pyramid.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/host_threads.hpp"
#include "viz/placed_rows.hpp"

namespace workbench {
namespace {

Index bins_along(Index length, int shift) {
    return static_cast<Index>((std::int64_t{length} + (std::int64_t{1} << shift) - 1) >> shift);
}

struct Bin {
    Index column = 0;
    Offset count = 0;
    Offset others = 0;
};

/// The bins of one bin row at a time. Where there are few bin columns, each has a place; otherwise what is there is sorted.
class BinRow {
public:
    explicit BinRow(Index column_bins) {
        constexpr Index most_places = 1 << 21;
        if (column_bins <= most_places) places_.resize(column_bins);
    }

    void add(Index column, Offset count, Offset others) {
        if (places_.empty()) {
            // The columns of a row ascend: neighbours often share a bin.
            if (bins_.empty() || bins_.back().column != column) bins_.push_back({column, 0, 0});
            bins_.back().count += count;
            bins_.back().others += others;
            return;
        }
        auto& [sum, sum_of_others] = places_[column];
        if (sum == 0) touched_.push_back(column);
        sum += count;
        sum_of_others += others;
    }

    /// The bins by column; the row is empty again.
    [[nodiscard]] const std::vector<Bin>& take() {
        if (places_.empty()) {
            merge();
            return taken_;
        }
        taken_.clear();
        std::sort(touched_.begin(), touched_.end());
        for (const Index column : touched_) {
            auto& [count, others] = places_[column];
            taken_.push_back({column, count, others});
            count = others = 0;
        }
        touched_.clear();
        return taken_;
    }

private:
    void merge() {
        std::sort(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) { return a.column < b.column; });
        taken_.clear();
        for (const Bin& bin : bins_) {
            if (taken_.empty() || taken_.back().column != bin.column) taken_.push_back({bin.column, 0, 0});
            taken_.back().count += bin.count;
            taken_.back().others += bin.others;
        }
        bins_.clear();
    }

    std::vector<std::pair<Offset, Offset>> places_;  // [bin columns]
    std::vector<Index> touched_;
    std::vector<Bin> bins_;
    std::vector<Bin> taken_;
};

/// Some bin rows of a level.
struct Stretch {
    std::vector<Offset> row_ends;  // bins up to the end of each bin row
    std::vector<Index> columns;
    std::vector<Offset> counts;
    std::vector<Offset> others;
};

void append(std::vector<Offset>& to, const std::vector<Offset>& from) { to.insert(to.end(), from.begin(), from.end()); }

/// A level whose bin rows `fill(bin row, BinRow&)` fills; none where it has more than `most_bins`.
template <typename Fill>
std::optional<PyramidLevel> make_level(Index rows, Index columns, int shift, bool planes, Offset most_bins, const Fill& fill) {
    PyramidLevel level{shift, bins_along(rows, shift), bins_along(columns, shift), {0}, {}, {}, {}};
    const std::int64_t stretches = std::clamp<std::int64_t>(level.row_bins, 0, std::int64_t{host_threads()} * 16);
    std::vector<Stretch> parts(stretches);
    std::atomic<Offset> bins{0};
    using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
    guarded_for("pyramid", Policy(0, stretches).set_chunk_size(1), [&](std::int64_t i) {
        Stretch& part = parts[i];
        BinRow line(level.column_bins);
        for (std::int64_t bin = i * level.row_bins / stretches; bin < (i + 1) * level.row_bins / stretches; ++bin) {
            if (bins > most_bins) return;
            fill(static_cast<Index>(bin), line);
            const std::vector<Bin>& row = line.take();
            for (const Bin& each : row) {
                part.columns.push_back(each.column);
                part.counts.push_back(each.count);
                if (planes) part.others.push_back(each.others);
            }
            part.row_ends.push_back(static_cast<Offset>(part.columns.size()));
            bins += static_cast<Offset>(row.size());
        }
    });
    if (bins > most_bins) return std::nullopt;
    level.columns.reserve(bins);
    level.counts.reserve(bins);
    for (const Stretch& part : parts) {
        for (const Offset end : part.row_ends) level.row_offsets.push_back(level.bins() + end);
        level.columns.insert(level.columns.end(), part.columns.begin(), part.columns.end());
        append(level.counts, part.counts);
        append(level.others, part.others);
    }
    return level;
}

std::optional<PyramidLevel> level_of(const StagedMatrix& staged, const Placement& placement, int shift, Offset most_bins) {
    const CsrMatrix& matrix = staged.matrix;
    const auto fill = [&](Index bin, BinRow& line) {
        const std::int64_t begin = std::int64_t{bin} << shift;
        const std::int64_t end = std::min<std::int64_t>(begin + (std::int64_t{1} << shift), matrix.rows);
        placement.for_each_row(static_cast<Index>(begin), static_cast<Index>(end), [&](const PlacedRow& row) {
            row.for_each_entry([&](Offset entry, int plane) { line.add(matrix.column_indices[entry] >> shift, 1, plane); });
        });
    };
    return make_level(matrix.rows, matrix.columns, shift, placement.has_planes(), most_bins, fill);
}

/// The deepest level that fits; where none does, that of `coarsest_shift`.
PyramidLevel deepest_level(const StagedMatrix& staged, const Placement& placement, Offset most_bins, int coarsest_shift) {
    constexpr Offset unlimited = std::numeric_limits<Offset>::max();
    // A finer level has at most four times the bins, so that this one surely fits; it is where the search begins.
    int shift = coarsest_shift;
    std::optional<PyramidLevel> level = level_of(staged, placement, shift, unlimited);
    while (shift > 0 && level->bins() <= most_bins) {
        Offset sure = level->bins();
        int next = shift - 1;
        for (; next > 0 && sure * 16 <= most_bins; sure *= 4) --next;
        std::optional<PyramidLevel> finer = level_of(staged, placement, next, most_bins);
        if (!finer) break;
        level = std::move(finer);
        shift = next;
    }
    return *std::move(level);
}

}  // namespace

PyramidLevel coarser(const PyramidLevel& level) {
    const Index rows = level.row_bins;
    const bool planes = !level.others.empty();
    const auto fill = [&](Index bin, BinRow& line) {
        const Offset begin = level.row_offsets[std::int64_t{bin} * 2];
        const Offset end = level.row_offsets[std::min<std::int64_t>(std::int64_t{bin} * 2 + 2, rows)];
        for (Offset k = begin; k < end; ++k) line.add(level.columns[k] >> 1, level.counts[k], planes ? level.others[k] : 0);
    };
    PyramidLevel made = *make_level(level.row_bins, level.column_bins, 1, planes, std::numeric_limits<Offset>::max(), fill);
    made.shift = level.shift + 1;
    return made;
}

Pyramid build_pyramid(const StagedMatrix& staged, Offset most_bins, Index coarsest) {
    if (most_bins < 1 || coarsest < 1) throw std::invalid_argument("a pyramid has at least one bin");
    const Placement placement(staged);
    Pyramid pyramid{staged.matrix.rows,
                    staged.matrix.columns,
                    staged.matrix.nonzeros(),
                    placement.tiles(),
                    plane_names(staged, placement.tiles()),
                    {}};
    int last = 0;
    while (bins_along(std::max(pyramid.rows, pyramid.columns), last) > coarsest) ++last;
    pyramid.levels.push_back(deepest_level(staged, placement, most_bins, last));
    while (pyramid.levels.back().shift < last) pyramid.levels.push_back(coarser(pyramid.levels.back()));
    return pyramid;
}

}  // namespace workbench
