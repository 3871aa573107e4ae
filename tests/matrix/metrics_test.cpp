// Metrics of rows, warps and partitions: computed by hand, and on the battery counted entry by entry.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "matrix/placed.hpp"

namespace workbench {

using Offsets = std::vector<Offset>;

TEST_CASE("metrics, by hand") {
    // x . . x .      distances 0 3
    // . . . . .
    // x . x . .                2 0
    // . x . x x                2 0 1
    // . . . . x                0
    const CsrMatrix matrix = placed(5, 5, {{0, 0}, {0, 3}, {2, 0}, {2, 2}, {3, 1}, {3, 3}, {3, 4}, {4, 4}});
    const Metrics metrics = measure(stage_input(matrix));
    CHECK(metrics.rows == 5);
    CHECK(metrics.columns == 5);
    CHECK(metrics.nonzeros == 8);
    CHECK(metrics.bandwidth == 3);
    CHECK(metrics.mean_bandwidth == 1.0);
    CHECK(metrics.profile == 4);
    CHECK(metrics.row_lengths.minimum == 0);
    CHECK(metrics.row_lengths.maximum == 3);
    CHECK(metrics.row_lengths.mean == 1.6);
    CHECK(metrics.row_lengths.standard_deviation == doctest::Approx(std::sqrt(1.04)).epsilon(1e-15));
    CHECK(metrics.sell32_slots == 96);
    CHECK(metrics.sell32_padding == doctest::Approx(88.0 / 96).epsilon(1e-15));
    CHECK(metrics.warp_iterations == 3);
    CHECK(metrics.warp_work == 3 + 0 + 3 + 5 + 1);
    CHECK_FALSE(metrics.partition);
}

TEST_CASE("skew of row lengths, by hand") {
    const auto skew = [](const std::vector<Index>& lengths) {
        std::vector<std::pair<Index, Index>> places;
        for (std::size_t row = 0; row < lengths.size(); ++row) {
            for (Index column = 0; column < lengths[row]; ++column) places.emplace_back(static_cast<Index>(row), column);
        }
        return measure(stage_input(placed(static_cast<Index>(lengths.size()), 9, places))).row_lengths.skew;
    };
    CHECK(skew({1, 1, 1, 5}) == doctest::Approx(2 / std::sqrt(3.0)).epsilon(1e-15));  // distances -1, -1, -1, 3 from 2
    CHECK(skew({5, 5, 5, 1}) == doctest::Approx(-2 / std::sqrt(3.0)).epsilon(1e-15));
    CHECK(skew({1, 3, 5}) == 0);
    CHECK(skew({7, 7, 7}) == 0);
    CHECK(skew({1}) == 0);
}

TEST_CASE("metrics of a partition, by hand") {
    // Partitions {0, 1, 2} and {3, 4}. Across: {0, 3} stored once, {1, 3} both ways, {2, 4} once.
    const CsrMatrix matrix = placed(5, 5, {{0, 0}, {0, 3}, {1, 0}, {1, 3}, {3, 1}, {3, 3}, {4, 2}, {4, 4}});
    StagedMatrix staged = stage_input(matrix);
    StageChange change;
    change.cuts = {{CutKind::partition, {0, 3, 5}}};
    apply(staged, change, {});
    const auto partition = measure(staged).partition;
    REQUIRE(partition);
    CHECK(partition->count == 2);
    CHECK(partition->nonzeros_inside == 4);
    CHECK(partition->edge_cut == 3);
    CHECK(partition->row_imbalance == doctest::Approx(3 / 2.5).epsilon(1e-15));
    CHECK(partition->nonzero_imbalance == 1.0);

    change.cuts = {{CutKind::partition, {0, 0, 2, 5}}};  // one is empty
    apply(staged, change, {});
    const auto uneven = measure(staged).partition;
    CHECK(uneven->count == 3);
    CHECK(uneven->row_imbalance == doctest::Approx(3 / (5.0 / 3)).epsilon(1e-15));
    CHECK(uneven->nonzero_imbalance == doctest::Approx(4 / (8.0 / 3)).epsilon(1e-15));
}

TEST_CASE("metrics of empty matrices are zero") {
    for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 7}, {7, 0}, {9, 9}}) {
        const Metrics metrics = measure(stage_input(csr_from_entries(rows, columns, {})));
        CHECK(metrics.bandwidth == 0);
        CHECK(metrics.mean_bandwidth == 0);
        CHECK(metrics.profile == 0);
        CHECK(metrics.row_lengths.maximum == 0);
        CHECK(metrics.row_lengths.mean == 0);
        CHECK(metrics.sell32_slots == 0);
        CHECK(metrics.sell32_padding == 0);
        CHECK(metrics.warp_work == 0);
        CHECK(metrics.row_lengths.skew == 0);
        CHECK(metrics.locality.row_span.maximum == 0);
        CHECK(metrics.locality.column_span.mean == 0);
        CHECK(metrics.locality.x_lines[0].lines == 0);
        CHECK(metrics.locality.x_lines[2].bytes_per_nonzero == 0);
        CHECK(metrics.locality.neighbour_runs.mean_length == 0);
    }
}

TEST_CASE("metrics of the battery, counted entry by entry") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        const Metrics metrics = measure(stage_input(matrix));
        Index bandwidth = 0;
        Offset distances = 0;
        Offset profile = 0;
        Offset slots = 0;
        for (Index row = 0; row < matrix.rows; ++row) {
            Index reach = 0;
            for (const Index column : matrix.row_columns(row)) {
                bandwidth = std::max(bandwidth, std::abs(row - column));
                distances += std::abs(row - column);
                reach = std::max(reach, row - column);
            }
            profile += reach;
        }
        for (Index slice = 0; slice < matrix.rows; slice += 32) {
            Offset width = 0;
            for (Index row = slice; row < std::min(slice + 32, matrix.rows); ++row) {
                width = std::max(width, matrix.row_length(row));
            }
            slots += 32 * width;
        }
        CHECK(metrics.bandwidth == bandwidth);
        CHECK(metrics.mean_bandwidth * static_cast<double>(matrix.nonzeros()) == doctest::Approx(double(distances)));
        CHECK(metrics.profile == profile);
        CHECK(metrics.sell32_slots == slots);
        CHECK(metrics.warp_iterations * 32 == slots);
        CHECK(static_cast<double>(slots) * (1 - metrics.sell32_padding) == doctest::Approx(double(matrix.nonzeros())));
    }
}

TEST_CASE("warp iterations and work, on the row lengths of PELLR, figure 5") {
    std::vector<Offset> lengths{2, 3, 3, 4, 4, 4, 2, 4,  //
                                2, 3, 2, 3, 2, 3, 2, 2,  //
                                2, 2, 7, 3, 3, 3, 3, 3,  //
                                4, 3};
    const auto offsets = [&lengths] {
        std::vector<Offset> result{0};
        for (const Offset length : lengths) result.push_back(result.back() + length);
        return result;
    };
    CHECK(warp_iterations(offsets(), 8) == 18);
    CHECK(warp_iterations(offsets()) == 7);
    CHECK(warp_iterations(offsets(), 1) == 78);
    CHECK(warp_work(offsets()) == 2 * 78 - 26);
    CHECK(sorted_warp_iterations(offsets(), 8) == 15);
    CHECK(sorted_warp_iterations(offsets(), 1) == 78);
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    CHECK(warp_iterations(offsets(), 8) == 15);
    CHECK(warp_work(offsets()) == 2 * 78 - 26);
    // The paper prints 14: its list of sorted lengths has one row of length 2 instead of 3, which is the longest row of the
    // third warp. That would also change the work.
    CHECK(lengths == std::vector<Offset>{7, 4, 4, 4, 4, 4, 3, 3,  //
                                         3, 3, 3, 3, 3, 3, 3, 3,  //
                                         3, 2, 2, 2, 2, 2, 2, 2,  //
                                         2, 2});
    lengths[16] = 2;
    CHECK(warp_iterations(offsets(), 8) == 14);
    CHECK(warp_work(offsets()) == 2 * 77 - 26);
    // Rows without nonzeros do no work.
    CHECK(warp_work(Offsets{0, 0, 2, 2, 3}) == 3 + 1);
    CHECK(warp_iterations(Offsets{0}, 8) == 0);
    CHECK(sorted_warp_iterations(Offsets{0}, 8) == 0);
    CHECK(sorted_warp_iterations(Offsets{0, 0, 0}, 8) == 0);
    // Warps wider than any matrix.
    CHECK(warp_iterations(Offsets{0, 5, 5, 5}, std::numeric_limits<Index>::max()) == 5);
    CHECK(sorted_warp_iterations(Offsets{0, 5, 5, 5}, std::numeric_limits<Index>::max()) == 5);
}

}  // namespace workbench
