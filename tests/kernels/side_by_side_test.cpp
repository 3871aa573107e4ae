// The Kokkos kernel of threads whose runs lie side by side: slices of any height, and rows of any length. kernels_test.cpp
// multiplies all layouts, most of them with slices of 32 rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

constexpr Index columns = 700;

/// Rows of 0 to 40 nonzeros, in this order, with small integers as values.
CsrMatrix rows_of(std::vector<Index> lengths) {
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index k = 0; k < lengths[row]; ++k) {
            entries.push_back({row, (row * 7 + k * 17) % columns, static_cast<double>((row + 3 * k) % 9 - 4)});
        }
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

std::vector<Index> lengths_of(Index rows) {
    std::vector<Index> lengths(rows);
    for (Index row = 0; row < rows; ++row) lengths[row] = row % 5 == 0 ? 40 : (row * row) % 41;
    return lengths;
}

/// True if y = A x and y += A x are right, and nothing behind y is written.
bool is_right(const LayoutEntry& entry, const CsrMatrix& matrix, const Given& given) {
    const auto device = make_host_device();
    const auto layout = build(entry, stage_input(matrix), given);
    const auto found = std::find_if(entry.kernels.begin(), entry.kernels.end(),
                                    [](const KernelEntry& kernel) { return kernel.backend == Backend::kokkos; });
    const auto kernel = found->prepare.get<double>()(*layout, *device);
    std::vector<double> x(matrix.columns);
    for (Index column = 0; column < matrix.columns; ++column) x[column] = column % 11 - 5;
    constexpr double unwritten = 12345;
    std::vector<double> expected(matrix.rows + 1, unwritten);
    std::vector<double> y(matrix.rows + 1, unwritten);
    for (Index row = 0; row < matrix.rows; ++row) {
        expected[row] = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            expected[row] += matrix.values[i] * x[matrix.column_indices[i]];
        }
    }
    kernel->run(x.data(), y.data(), false);
    if (y != expected) return false;
    kernel->run(x.data(), y.data(), true);
    for (Index row = 0; row < matrix.rows; ++row) expected[row] *= 2;
    return y == expected;
}

}  // namespace

TEST_CASE("side by side: slices of any height, with a last one that is not full") {
    const CsrMatrix matrix = rows_of(lengths_of(1337));
    for (const std::int64_t height : {1, 3, 8, 13, 32, 100, 512, 2000}) {
        CAPTURE(height);
        CHECK(is_right(sell_entry(), matrix, {{"slice_height", height}}));
        CHECK(is_right(sell_entry(), matrix, {{"slice_height", height}, {"column_index", std::string("u16")}}));
        for (const bool with_lengths : {false, true}) {
            CHECK(is_right(rows_entry(), matrix,
                           {{"rows", std::string("slices")}, {"slice_height", height}, {"row_lengths", with_lengths}}));
        }
    }
}

TEST_CASE("side by side: rows of any length, and of descending length") {
    for (const Index rows : {1, 7, 8, 511, 512, 513, 1337}) {
        CAPTURE(rows);
        std::vector<Index> lengths = lengths_of(rows);
        CHECK(is_right(ellr_entry(), rows_of(lengths), {{"slots_per_nonzero", 100.0}}));
        CHECK(is_right(ell_entry(), rows_of(lengths), {{"slots_per_nonzero", 100.0}}));
        for (const bool with_lengths : {false, true}) {
            CHECK(is_right(rows_entry(), rows_of(lengths), {{"slots_per_nonzero", 100.0}, {"row_lengths", with_lengths}}));
        }
        std::sort(lengths.rbegin(), lengths.rend());
        CHECK(is_right(jds_entry(), rows_of(lengths), {}));
        CHECK(is_right(rows_entry(), rows_of(lengths), {{"rows", std::string("jagged")}}));
    }
}

}  // namespace workbench
