// Metrics of locality and symmetry: computed by hand, and on the battery counted with sets.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/locality.hpp"
#include "matrix/placed.hpp"

namespace workbench {

TEST_CASE("spans and runs, by hand") {
    // . x x . x x x      span 6, runs 3
    // . . . . . . .
    // x . . . . . .           1       1
    // . x x . . . .           2       1
    const CsrMatrix matrix = placed(4, 7, {{0, 1}, {0, 2}, {0, 4}, {0, 5}, {0, 6}, {2, 0}, {3, 1}, {3, 2}});
    const Locality locality = measure_locality(matrix);
    CHECK(locality.row_span.mean == 3);
    CHECK(locality.row_span.maximum == 6);
    CHECK(locality.column_span.mean == doctest::Approx((1 + 4 + 4 + 1 + 1 + 1) / 6.0).epsilon(1e-15));  // column 3 has none
    CHECK(locality.column_span.maximum == 4);
    CHECK(locality.neighbour_runs.count == 4);
    CHECK(locality.neighbour_runs.mean_length == 2);
    CHECK_FALSE(locality.symmetry);
}

TEST_CASE("lines of x, by hand") {
    // Lines of 4, 8 and 16 columns. Rows 0 and 31 are one block, row 32 is another one.
    const CsrMatrix matrix =
        placed(33, 70, {{0, 0}, {0, 3}, {0, 4}, {0, 15}, {31, 1}, {31, 16}, {31, 64}, {31, 69}, {32, 3}, {32, 7}, {32, 69}});
    const auto lines = measure_locality(matrix).x_lines;
    CHECK(lines[0].line_bytes == 32);
    CHECK(lines[0].lines == 6 + 3);  // 0, 1, 3, 4, 16, 17 and 0, 1, 17
    CHECK(lines[1].line_bytes == 64);
    CHECK(lines[1].lines == 4 + 2);  // 0, 1, 2, 8 and 0, 8
    CHECK(lines[2].line_bytes == 128);
    CHECK(lines[2].lines == 3 + 2);  // 0, 1, 4 and 0, 4
    CHECK(lines[0].per_row_block == 4.5);
    CHECK(lines[2].bytes_per_nonzero == doctest::Approx(128 * 5 / 11.0).epsilon(1e-15));
}

TEST_CASE("symmetry, by hand") {
    const auto symmetry = [](const std::vector<Entry>& entries) {
        return measure_locality(csr_from_entries(4, 4, entries)).symmetry.value();
    };
    // Pairs: one equal, one unequal, one of two NaNs; and one entry without a mirror image.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Symmetry mixed =
        symmetry({{0, 0, 9}, {0, 1, 2}, {1, 0, 2}, {0, 2, 3}, {2, 0, -3}, {1, 2, nan}, {2, 1, nan}, {3, 1, 7}, {3, 3, 1}});
    CHECK(mixed.pattern == doctest::Approx(6 / 7.0).epsilon(1e-15));
    CHECK(mixed.values == doctest::Approx(2 / 7.0).epsilon(1e-15));
    CHECK(symmetry({{0, 0, 1}, {2, 2, 5}}).pattern == 1);
    CHECK(symmetry({}).values == 1);
    CHECK(symmetry({{0, 3, 0.0}, {3, 0, -0.0}}).values == 1);
    CHECK(symmetry({{0, 3, 1}, {1, 2, 1}}).pattern == 0);
}

TEST_CASE("locality of the battery, counted with sets") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        std::map<std::pair<Index, Index>, double> entries;
        std::map<Index, std::pair<Index, Index>> rows;
        std::map<Index, std::pair<Index, Index>> columns;
        std::array<std::set<std::pair<Index, Index>>, 3> lines;
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                const Index column = matrix.column_indices[i];
                entries[{row, column}] = matrix.values[i];
                rows.try_emplace(row, column, column).first->second.second = column;
                columns.try_emplace(column, row, row).first->second.second = row;
                for (int k = 0; k < 3; ++k) lines[k].emplace(row / 32, column / (4 << k));
            }
        }
        const auto check_span = [](const Span& span, const std::map<Index, std::pair<Index, Index>>& bounds) {
            double sum = 0;
            Index maximum = 0;
            for (const auto& [place, ends] : bounds) {
                sum += ends.second - ends.first + 1;
                maximum = std::max(maximum, ends.second - ends.first + 1);
            }
            CHECK(span.maximum == maximum);
            CHECK(span.mean == doctest::Approx(bounds.empty() ? 0 : sum / static_cast<double>(bounds.size())));
        };
        const Locality locality = measure_locality(matrix);
        check_span(locality.row_span, rows);
        check_span(locality.column_span, columns);
        for (int k = 0; k < 3; ++k) CHECK(locality.x_lines[k].lines == static_cast<Offset>(lines[k].size()));
        Offset runs = 0;
        Offset off_diagonal = 0;
        Offset mirrored = 0;
        Offset equal = 0;
        for (const auto& [place, value] : entries) {
            const auto [row, column] = place;
            runs += entries.contains({row, column - 1}) ? 0 : 1;
            if (row == column) continue;
            ++off_diagonal;
            const auto mirror = entries.find({column, row});
            mirrored += mirror == entries.end() ? 0 : 1;
            equal += mirror == entries.end() || mirror->second != value ? 0 : 1;
        }
        CHECK(locality.neighbour_runs.count == runs);
        CHECK(locality.symmetry.has_value() == matrix.square());
        if (locality.symmetry && off_diagonal > 0) {
            CHECK(locality.symmetry->pattern == doctest::Approx(double(mirrored) / double(off_diagonal)));
            CHECK(locality.symmetry->values == doctest::Approx(double(equal) / double(off_diagonal)));
        }
    }
}

}  // namespace workbench
