#include "core/matrix/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

void measure_distances(const CsrMatrix& matrix, Metrics& metrics) {
    Offset sum = 0;
    Kokkos::parallel_reduce(
        "distances", HostRange<>(0, matrix.rows),
        [&matrix](Index row, Index& bandwidth, Offset& distance_sum, Offset& profile) {
            const auto columns = matrix.row_columns(row);
            if (columns.empty()) return;
            bandwidth = std::max({bandwidth, std::abs(row - columns.front()), std::abs(row - columns.back())});
            profile += row - std::min(row, columns.front());
            for (const Index column : columns) distance_sum += std::abs(row - column);
        },
        Kokkos::Max<Index>(metrics.bandwidth), Kokkos::Sum<Offset>(sum), Kokkos::Sum<Offset>(metrics.profile));
    // The maximum over no rows is the smallest Index.
    metrics.bandwidth = std::max(metrics.bandwidth, Index{0});
    metrics.mean_bandwidth = matrix.nonzeros() == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(matrix.nonzeros());
}

bool has_entry(const CsrMatrix& matrix, Index row, Index column) {
    const auto columns = matrix.row_columns(row);
    return std::binary_search(columns.begin(), columns.end(), column);
}

PartitionMetrics measure_partition(const StagedMatrix& staged, const Cuts& cuts) {
    const CsrMatrix& matrix = staged.matrix;
    PartitionMetrics metrics;
    metrics.count = cuts.count();
    Index largest_rows = 0;
    Offset largest_nonzeros = 0;
    for (Index piece = 0; piece < cuts.count(); ++piece) {
        const Index begin = cuts.begin(piece);
        const Index end = cuts.end(piece);
        largest_rows = std::max(largest_rows, end - begin);
        largest_nonzeros = std::max(largest_nonzeros, matrix.row_offsets[end] - matrix.row_offsets[begin]);
    }
    if (matrix.rows > 0) metrics.row_imbalance = double(largest_rows) * cuts.count() / matrix.rows;
    if (matrix.nonzeros() > 0) {
        metrics.nonzero_imbalance = double(largest_nonzeros) * cuts.count() / static_cast<double>(matrix.nonzeros());
    }

    const std::vector<Index> piece_of = cuts.pieces();
    const Permutation& rows = staged.row_order;
    const Permutation& columns = staged.column_order;
    // An edge that is stored in both directions counts once. Its mirror image is found through the input, because the row and
    // the column of a vertex have different numbers where only the rows were reordered.
    const auto counts = [&](Index row, Index column) {
        const Index u = rows.old_of_new(row);
        const Index v = columns.old_of_new(column);
        return u < v || !has_entry(matrix, rows.new_of_old(v), columns.new_of_old(u));
    };
    Kokkos::parallel_reduce(
        "partition", HostRange<>(0, matrix.rows),
        [&](Index row, Offset& inside, Offset& cut) {
            for (const Index column : matrix.row_columns(row)) {
                if (piece_of[row] == piece_of[column]) {
                    ++inside;
                } else if (counts(row, column)) {
                    ++cut;
                }
            }
        },
        Kokkos::Sum<Offset>(metrics.nonzeros_inside), Kokkos::Sum<Offset>(metrics.edge_cut));
    return metrics;
}

TileMetrics measure_tiles(const StagedMatrix& staged) {
    TileMetrics metrics;
    const std::vector<Share>& shares = staged.shares;
    Kokkos::parallel_reduce(
        "tiles", HostRange<>(0, static_cast<Index>(shares.size())),
        [&shares](Index share, Index& count, Offset& rows, Offset& iterations) {
            count += shares[share].entries.empty() ? 0 : 1;
            rows += static_cast<Offset>(shares[share].rows.size());
            iterations += warp_iterations(shares[share].row_offsets);
        },
        Kokkos::Sum<Index>(metrics.count), Kokkos::Sum<Offset>(metrics.rows_present),
        Kokkos::Sum<Offset>(metrics.warp_iterations));
    if (metrics.warp_iterations > 0) {
        metrics.idle_lanes =
            1 - static_cast<double>(staged.matrix.nonzeros()) / (32 * static_cast<double>(metrics.warp_iterations));
    }
    return metrics;
}

RowLengths measure_row_lengths(const CsrMatrix& matrix) {
    RowLengths lengths;
    if (matrix.rows == 0) return lengths;
    lengths.mean = static_cast<double>(matrix.nonzeros()) / matrix.rows;
    Offset minimum = matrix.row_length(0);
    Offset maximum = 0;
    double squares = 0;
    double cubes = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset length = matrix.row_length(row);
        minimum = std::min(minimum, length);
        maximum = std::max(maximum, length);
        const double distance = static_cast<double>(length) - lengths.mean;
        squares += distance * distance;
        cubes += distance * distance * distance;
    }
    lengths.minimum = static_cast<Index>(minimum);
    lengths.maximum = static_cast<Index>(maximum);
    lengths.standard_deviation = std::sqrt(squares / matrix.rows);
    // Equal lengths have no skew, whatever the rounding errors.
    if (minimum < maximum) lengths.skew = cubes / matrix.rows / (lengths.standard_deviation * squares / matrix.rows);
    return lengths;
}

}  // namespace

Offset warp_iterations(std::span<const Offset> row_offsets, Index warp_size) {
    const auto rows = static_cast<Index>(row_offsets.size()) - 1;
    Offset iterations = 0;
    for (Index first = 0; first < rows; first += std::min(warp_size, rows - first)) {
        Offset longest = 0;
        const Index end = first + std::min(warp_size, rows - first);
        for (Index row = first; row < end; ++row) longest = std::max(longest, row_offsets[row + 1] - row_offsets[row]);
        iterations += longest;
    }
    return iterations;
}

Offset sorted_warp_iterations(std::span<const Offset> row_offsets, Index warp_size) {
    const std::size_t rows = row_offsets.size() - 1;
    Offset longest = 0;
    for (std::size_t row = 0; row < rows; ++row) longest = std::max(longest, row_offsets[row + 1] - row_offsets[row]);
    std::vector<Index> rows_of_length(static_cast<std::size_t>(longest) + 1, 0);
    for (std::size_t row = 0; row < rows; ++row) ++rows_of_length[row_offsets[row + 1] - row_offsets[row]];
    // The number of iterations of a warp is the length of its first row.
    const auto warps = [warp_size](Offset count) { return (count + warp_size - 1) / warp_size; };
    Offset iterations = 0;
    Offset longer = 0;
    for (Offset length = longest; length > 0; --length) {
        const Offset at_least = longer + rows_of_length[length];
        iterations += length * (warps(at_least) - warps(longer));
        longer = at_least;
    }
    return iterations;
}

Offset warp_work(std::span<const Offset> row_offsets) {
    Offset work = 0;
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row) {
        work += std::max(2 * (row_offsets[row + 1] - row_offsets[row]) - 1, Offset{0});
    }
    return work;
}

Metrics measure(const StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    Metrics metrics;
    metrics.rows = matrix.rows;
    metrics.columns = matrix.columns;
    metrics.nonzeros = matrix.nonzeros();
    measure_distances(matrix, metrics);
    metrics.row_lengths = measure_row_lengths(matrix);
    metrics.warp_iterations = warp_iterations(matrix.row_offsets);
    metrics.sorted_warp_iterations = sorted_warp_iterations(matrix.row_offsets);
    metrics.warp_work = warp_work(matrix.row_offsets);
    // The width of a slice is its longest row, which is also the number of iterations of its warp.
    metrics.sell32_slots = 32 * metrics.warp_iterations;
    if (metrics.sell32_slots > 0) {
        metrics.sell32_padding = 1 - static_cast<double>(matrix.nonzeros()) / static_cast<double>(metrics.sell32_slots);
    }
    metrics.locality = measure_locality(matrix);
    if (const Cuts* cuts = staged.find_cuts(CutKind::partition)) metrics.partition = measure_partition(staged, *cuts);
    if (staged.has_tiles()) metrics.tiles = measure_tiles(staged);
    return metrics;
}

}  // namespace workbench
