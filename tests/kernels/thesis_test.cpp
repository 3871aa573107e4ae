// The matrix "100K" of Wikberg, "Unstructured Mesh FVM with GPU" (2025), which tables 5.1 and 5.2 identify.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "core/matrix/metrics.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {
namespace {

CsrMatrix five_point_laplacian() {
    const GeneratorEntry& laplace = *catalogue().find_generator("laplace2d");
    return laplace.generate(Parameters(laplace.parameters, {{"nx", std::int64_t{320}}, {"ny", std::int64_t{320}}}));
}

/// The same rows with each off-diagonal entry stored twice, the second time in a separate column: a matrix here has no
/// duplicate columns, and sizes depend only on the lengths of rows.
CsrMatrix with_neighbours_twice(const CsrMatrix& matrix) {
    CsrMatrix twice;
    twice.rows = matrix.rows;
    twice.columns = 2 * matrix.columns;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index shift : {Index{0}, matrix.columns}) {
            for (const Index column : matrix.row_columns(row)) {
                if (shift == 0 || column != row) twice.column_indices.push_back(column + shift);
            }
        }
        twice.row_offsets.push_back(static_cast<Offset>(twice.column_indices.size()));
    }
    twice.values.assign(twice.column_indices.size(), 1.0);
    return twice;
}

/// Bytes in f64 by format, with slices of this height.
std::map<std::string, std::int64_t> bytes_of(const CsrMatrix& matrix, Index slice_height) {
    const std::vector<Index> heights{slice_height};
    const std::vector<double> alphas{0.0076};
    std::map<std::string, std::int64_t> bytes;
    for (const StorageSize& size : storage_sizes(catalogue(), matrix, heights, alphas, {})) bytes[size.format] = size.bytes;
    return bytes;
}

constexpr std::int64_t pointer = 4;  // bytes

}  // namespace

TEST_CASE("the thesis's matrix 100K is the five-point Laplacian on 320 x 320: table 5.1") {
    const CsrMatrix matrix = five_point_laplacian();
    CHECK(matrix.rows == 102400);  // n_rows
    CHECK(matrix.nonzeros() == 5 * 102400 - 4 * 320);
    const RowLengths lengths = measure(stage_input(matrix)).row_lengths;
    CHECK(lengths.mean == 4.9875);                                                     // printed: 4.988
    CHECK(lengths.standard_deviation == doctest::Approx(0.1114534656).epsilon(1e-8));  // printed: 0.111
    // By hand: 4 corners with 3 nonzeros, 4 x 318 boundary rows with 4, 318 x 318 with 5.
    std::map<Offset, int> rows;
    for (const Offset length : row_lengths(matrix)) ++rows[length];
    CHECK(rows == std::map<Offset, int>{{3, 4}, {4, 1272}, {5, 101124}});
}

TEST_CASE("the sizes of 100K in the thesis follow if each off-diagonal entry is stored twice: table 5.2") {
    const CsrMatrix twice = with_neighbours_twice(five_point_laplacian());
    // Rows have 5, 7 or 9 nonzeros. In ascending order the first 39 slices of 32 rows are 7 wide, the other 3161 are 9 wide.
    // The table has 11,042,048: it counts one pointer per slice; eq. 4.5 and this program count one more.
    constexpr std::int64_t slots = Offset{32} * (39 * 7 + 3161 * 9);
    CHECK(slots * 12 + 3200 * pointer == 11'042'048);
    CHECK(bytes_of(twice, 32).at("SELL by length") == 11'042'048 + pointer);
    // Four rows of 5 are fewer than alpha. Of the 1276 rows with at most 7 nonzeros, 672 make a slice; the others join the rows
    // with 9, which make 152 slices.
    CHECK(Offset{672} * (1 * 7 + 152 * 9) * 12 == 11'088'000);
    CHECK(bytes_of(twice, 672).at("Staircase SELL") == 11'088'000);
}

TEST_CASE("the sizes of 100K in the thesis do not follow if each entry is stored once, or rows are in natural order") {
    const CsrMatrix once = five_point_laplacian();
    CHECK(bytes_of(once, 32).at("SELL by length") == Offset{32} * (39 * 4 + 3161 * 5) * 12 + 3201 * pointer);  // 6,141,828
    CHECK(bytes_of(once, 672).at("Staircase SELL") == Offset{672} * (1 * 4 + 152 * 5) * 12);                   // 6,160,896
    // A grid line is ten slices; those of the first and the last line are 7 wide.
    CHECK(bytes_of(with_neighbours_twice(once), 32).at("SELL") == Offset{32} * (20 * 7 + 3180 * 9) * 12 + 3201 * pointer);
}

}  // namespace workbench
