// CsrMatrix: construction from entries, transpose and permutation, compared with exact results and with Eigen; and violations
// of each invariant. Permutations, staged matrices and metrics are in tests/matrix.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <Eigen/Sparse>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "matrix/placed.hpp"
#include "support/eigen.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

// Compares structure and values with a matrix of Eigen.
bool same(const CsrMatrix& matrix, EigenMatrix expected) {
    expected.makeCompressed();
    return matrix.rows == expected.rows() && matrix.columns == expected.cols() && matrix.nonzeros() == expected.nonZeros() &&
           std::equal(matrix.row_offsets.begin(), matrix.row_offsets.end(), expected.outerIndexPtr()) &&
           std::equal(matrix.column_indices.begin(), matrix.column_indices.end(), expected.innerIndexPtr()) &&
           std::equal(matrix.values.begin(), matrix.values.end(), expected.valuePtr());
}

// Eigen's permutation matrix maps old to new: (P A).row(new_of_old[i]) = A.row(i).
Eigen::PermutationMatrix<Eigen::Dynamic> to_eigen(const Permutation& order) {
    Eigen::PermutationMatrix<Eigen::Dynamic> result(order.size());
    for (Index i = 0; i < order.size(); ++i) result.indices()[i] = order.new_of_old(i);
    return result;
}

}  // namespace

TEST_CASE("the matrices that all tests run on are the stored ones") {
    std::string text;
    for (const NamedMatrix& one : battery()) {
        const CsrMatrix& matrix = one.matrix;
        Offset longest = 0;
        std::uint64_t sum = 0;
        for (Index row = 0; row < matrix.rows; ++row) {
            longest = std::max(longest, matrix.row_length(row));
            for (const Index column : matrix.row_columns(row)) sum = sum * 31 + static_cast<std::uint64_t>(row) * 1009 + column;
        }
        text += fmt::format("{}: {} x {}, {} nonzeros, at most {} in a row, {:016x}\n", one.name, matrix.rows, matrix.columns,
                            matrix.nonzeros(), longest, sum);
    }
    compare_with_golden(std::filesystem::path(WORKBENCH_SOURCE_DIR) / "tests/golden/counted/battery.txt", text);
}

TEST_CASE("csr_from_entries sorts, sums duplicates in the order of the list, and keeps zeros") {
    const CsrMatrix matrix = csr_from_entries(
        3, 4,
        std::vector<Entry>{{2, 3, 1}, {0, 2, 5}, {2, 0, 7}, {2, 3, 1e16}, {0, 1, 0}, {2, 3, -1e16}, {2, 1, -1}, {2, 1, 1}});
    CHECK(matrix.row_offsets == std::vector<Offset>{0, 2, 2, 5});
    CHECK(matrix.column_indices == std::vector<Index>{1, 2, 0, 1, 3});
    CHECK(matrix.values == std::vector<double>{0, 5, 7, 0, 0});  // (1 + 1e16) - 1e16 = 0 in f64
    CHECK(csr_from_entries(0, 0, {}) == CsrMatrix{});
    CHECK(csr_from_entries(2, 3, {}).row_offsets == std::vector<Offset>{0, 0, 0});
    for (const Entry& outside : std::vector<Entry>{{3, 0, 1}, {-1, 0, 1}, {0, 4, 1}, {0, -1, 1}}) {
        CHECK_THROWS_AS((void)csr_from_entries(3, 4, std::vector<Entry>{outside}), std::out_of_range);
    }
    // A row that is too long for the sort of short rows, with every column twice.
    std::vector<Entry> entries;
    for (Index i = 0; i < 400; ++i) entries.push_back({0, (i * 73) % 200, 1.0 + i});
    const CsrMatrix dense = csr_from_entries(1, 200, entries);
    CHECK_NOTHROW(check_csr(dense));
    CHECK(same(dense, to_eigen(dense)));
    CHECK(dense.nonzeros() == 200);
    CHECK(dense.values[73] == 2.0 + 202.0);
}

TEST_CASE("random numbers below a bound are drawn again if they would favour the small ones") {
    RandomStream numbers = random_stream(7, 3);
    RandomStream all = numbers;
    const std::uint64_t bound = (std::uint64_t{1} << 63) + 1;  // half of all numbers of 64 bits
    for (int i = 0; i < 50; ++i) {
        std::uint64_t expected = all.next();
        while (expected >= bound) expected = all.next();
        CHECK(numbers.below(bound) == expected);
    }
}

TEST_CASE("transpose and permute give exact results on an unsymmetric matrix") {
    // 00 01  .  .        columns of the transpose ascend too
    //  .  . 12  .
    // 20  .  . 23
    const CsrMatrix matrix = placed(3, 4, {{0, 0}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
    const CsrMatrix transposed = transpose(matrix);
    CHECK(transposed.rows == 4);
    CHECK(transposed.columns == 3);
    CHECK(transposed.row_offsets == std::vector<Offset>{0, 2, 3, 4, 5});
    CHECK(transposed.column_indices == std::vector<Index>{0, 2, 0, 1, 2});
    CHECK(transposed.values == std::vector<double>{0, 20, 1, 12, 23});

    // Row 2 comes first; column 1 comes first, then 3.
    const CsrMatrix moved =
        permute(matrix, Permutation::from_old_of_new({2, 0, 1}), Permutation::from_old_of_new({1, 3, 0, 2}));
    CHECK(moved.row_offsets == std::vector<Offset>{0, 2, 4, 5});
    CHECK(moved.column_indices == std::vector<Index>{1, 2, 0, 2, 3});
    CHECK(moved.values == std::vector<double>{23, 20, 1, 0, 12});

    CHECK_THROWS_AS((void)permute(matrix, Permutation::identity(4), Permutation::identity(4)), std::invalid_argument);
    CHECK_THROWS_AS((void)permute(matrix, Permutation::identity(3), Permutation::identity(3)), std::invalid_argument);
}

TEST_CASE("battery: matrices are sound, and transpose and permute agree with Eigen") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        CHECK_NOTHROW(check_csr(matrix));
        CHECK(same(transpose(matrix), to_eigen(matrix).transpose()));
        CHECK(transpose(transpose(matrix)) == matrix);

        const Permutation rows = random_permutation(matrix.rows, 1);
        const Permutation columns = random_permutation(matrix.columns, 2);
        const CsrMatrix permuted = permute(matrix, rows, columns);
        CHECK(same(permuted, to_eigen(rows) * to_eigen(matrix) * to_eigen(columns).transpose()));
        const auto inverse = [](const Permutation& order) {
            return Permutation::from_old_of_new({order.new_of_old().begin(), order.new_of_old().end()});
        };
        CHECK(permute(permuted, inverse(rows), inverse(columns)) == matrix);
    }
}

TEST_CASE("check_csr detects a violation of each invariant") {
    const CsrMatrix good = placed(3, 4, {{0, 0}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
    CHECK_NOTHROW(check_csr(good));
    const auto broken = [&good](const std::function<void(CsrMatrix&)>& breaks) {
        CsrMatrix matrix = good;
        breaks(matrix);
        CHECK_THROWS_AS(check_csr(matrix), std::logic_error);
    };
    broken([](CsrMatrix& m) { m.rows = -1; });
    broken([](CsrMatrix& m) { m.columns = -1; });
    broken([](CsrMatrix& m) { m.rows = 2; });
    broken([](CsrMatrix& m) { m.columns = 3; });
    broken([](CsrMatrix& m) { m.row_offsets.clear(); });
    broken([](CsrMatrix& m) { m.row_offsets.push_back(5); });
    broken([](CsrMatrix& m) { m.row_offsets[0] = 1; });
    broken([](CsrMatrix& m) { m.row_offsets[1] = 4; });
    broken([](CsrMatrix& m) { m.row_offsets[3] = 6; });
    broken([](CsrMatrix& m) { m.row_offsets[2] = 9; });
    broken([](CsrMatrix& m) { m.column_indices.pop_back(); });
    broken([](CsrMatrix& m) { m.values.pop_back(); });
    broken([](CsrMatrix& m) { m.column_indices[0] = -1; });
    broken([](CsrMatrix& m) { m.column_indices[4] = 4; });
    broken([](CsrMatrix& m) { m.column_indices[1] = 0; });
    broken([](CsrMatrix& m) { std::swap(m.column_indices[3], m.column_indices[4]); });
}

}  // namespace workbench
