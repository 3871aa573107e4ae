#include "core/matrix/locality.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/matrix/guarded_loop.hpp"

namespace workbench {
namespace {

constexpr Index row_block = 32;

double ratio(Offset part, Offset whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

/// bounds(place) returns the {first, last} nonzero of a row or column; first > last if it has none.
template <typename Bounds>
Span measure_span(Index places, const Bounds& bounds) {
    Span span;
    Offset sum = 0;
    Offset count = 0;
    Kokkos::parallel_reduce(
        "span", HostRange<>(0, places),
        [&bounds](Index place, Index& maximum, Offset& part, Offset& present) {
            const auto [first, last] = bounds(place);
            if (first > last) return;
            maximum = std::max(maximum, last - first + 1);
            part += last - first + 1;
            ++present;
        },
        Kokkos::Max<Index>(span.maximum), Kokkos::Sum<Offset>(sum), Kokkos::Sum<Offset>(count));
    span.maximum = std::max(span.maximum, Index{0});  // the maximum over nothing is the smallest Index
    span.mean = ratio(sum, count);
    return span;
}

struct Bounds {
    Index first = std::numeric_limits<Index>::max();
    Index last = -1;
};

/// An atomic minimum or maximum that writes only where the bound moves, which few rows do.
template <typename Before>
void move_bound(Index& bound, Index row, Before before) {
    std::atomic_ref<Index> shared(bound);
    Index seen = shared.load(std::memory_order_relaxed);
    while (before(row, seen) && !shared.compare_exchange_weak(seen, row, std::memory_order_relaxed)) {
    }
}

std::vector<Bounds> rows_of_columns(const CsrMatrix& matrix) {
    std::vector<Bounds> bounds(matrix.columns);
    Kokkos::parallel_for("rows_of_columns", UnevenHostRange<>(0, matrix.rows), [&](Index row) {
        for (const Index column : matrix.row_columns(row)) {
            move_bound(bounds[column].first, row, std::less<>());
            move_bound(bounds[column].last, row, std::greater<>());
        }
    });
    return bounds;
}

/// The number of distinct lines in an ascending list, for the three line sizes, each of which is twice the previous one.
std::array<Offset, 3> count_lines(std::vector<Index>& lines) {
    std::array<Offset, 3> counts{};
    for (Offset& count : counts) {
        lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        count = static_cast<Offset>(lines.size());
        for (Index& line : lines) line /= 2;
    }
    return counts;
}

/// The number of lines that a row block reads, for the three line sizes.
std::array<Offset, 3> lines_of_block(const CsrMatrix& matrix, Index block) {
    constexpr Index columns_a_line = cache_line_bytes[0] / static_cast<Index>(sizeof(double));
    thread_local std::vector<Index> lines;
    lines.clear();
    const Index end = block * row_block + std::min(row_block, matrix.rows - block * row_block);
    for (Index row = block * row_block; row < end; ++row) {
        Index previous = -1;
        for (const Index column : matrix.row_columns(row)) {
            const Index line = column / columns_a_line;
            if (line != previous) lines.push_back(line);
            previous = line;
        }
    }
    std::sort(lines.begin(), lines.end());
    return count_lines(lines);
}

std::array<CacheLines, 3> measure_lines(const CsrMatrix& matrix) {
    const Index blocks = matrix.rows / row_block + (matrix.rows % row_block > 0 ? 1 : 0);
    std::array<Offset, 3> sums{};
    LoopGuard guard;
    Kokkos::parallel_reduce(
        "x_lines", UnevenHostRange<>(0, blocks),
        [&](Index block, Offset& lines32, Offset& lines64, Offset& lines128) {
            guard.run([&] {
                const std::array<Offset, 3> counts = lines_of_block(matrix, block);
                lines32 += counts[0];
                lines64 += counts[1];
                lines128 += counts[2];
            });
        },
        sums[0], sums[1], sums[2]);
    guard.finish();
    std::array<CacheLines, 3> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = {.line_bytes = cache_line_bytes[i],
                  .lines = sums[i],
                  .per_row_block = ratio(sums[i], blocks),
                  .bytes_per_nonzero = ratio(cache_line_bytes[i] * sums[i], matrix.nonzeros())};
    }
    return all;
}

NeighbourRuns measure_runs(const CsrMatrix& matrix) {
    NeighbourRuns runs;
    Kokkos::parallel_reduce(
        "runs", UnevenHostRange<>(0, matrix.rows),
        [&matrix](Index row, Offset& count) {
            Index previous = -2;
            for (const Index column : matrix.row_columns(row)) {
                count += column == previous + 1 ? 0 : 1;
                previous = column;
            }
        },
        runs.count);
    runs.mean_length = ratio(matrix.nonzeros(), runs.count);
    return runs;
}

Symmetry measure_symmetry(const CsrMatrix& matrix) {
    Offset mirrored = 0;
    Offset equal = 0;
    Offset off_diagonal = 0;
    Kokkos::parallel_reduce(
        "symmetry", UnevenHostRange<>(0, matrix.rows),
        [&matrix](Index row, Offset& pairs, Offset& equal_pairs, Offset& others) {
            const auto columns = matrix.row_columns(row);
            for (std::size_t k = 0; k < columns.size(); ++k) {
                if (columns[k] == row) continue;
                ++others;
                if (columns[k] < row) continue;  // its mirror image finds it
                const auto mirror = matrix.row_columns(columns[k]);
                const auto found = std::lower_bound(mirror.begin(), mirror.end(), row);
                if (found == mirror.end() || *found != row) continue;
                ++pairs;
                const Offset here = matrix.row_offsets[row] + static_cast<Offset>(k);
                const Offset there = matrix.row_offsets[columns[k]] + (found - mirror.begin());
                equal_pairs += matrix.values[here] == matrix.values[there] ? 1 : 0;
            }
        },
        mirrored, equal, off_diagonal);
    if (off_diagonal == 0) return {};
    return {ratio(2 * mirrored, off_diagonal), ratio(2 * equal, off_diagonal)};
}

}  // namespace

Locality measure_locality(const CsrMatrix& matrix) {
    Locality locality;
    locality.row_span = measure_span(matrix.rows, [&matrix](Index row) {
        const auto columns = matrix.row_columns(row);
        return columns.empty() ? Bounds{} : Bounds{columns.front(), columns.back()};
    });
    const std::vector<Bounds> rows = rows_of_columns(matrix);
    locality.column_span = measure_span(matrix.columns, [&rows](Index column) { return rows[column]; });
    locality.x_lines = measure_lines(matrix);
    locality.neighbour_runs = measure_runs(matrix);
    if (matrix.square()) locality.symmetry = measure_symmetry(matrix);
    return locality;
}

}  // namespace workbench
