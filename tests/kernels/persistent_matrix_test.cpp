// The parts of a matrix for a persistent kernel, interpreted as the kernel does it: the products are those of the matrix.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "kernels/krylov/persistent_matrix.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/battery.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using krylov::Part;
using krylov::PersistentMatrix;
using krylov::Slice;

template <typename Value>
std::vector<Value> uneven(Index size) {
    std::vector<Value> x(size);
    for (Index i = 0; i < size; ++i) x[i] = static_cast<Value>(1 + 0.125 * (i * 7 % 23));
    return x;
}

template <ValueType Value>
std::vector<Value> product_of_rows(const CsrMatrix& matrix, const std::vector<Value>& x) {
    std::vector<Value> y(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            y[row] += static_cast<Value>(matrix.values[k]) * x[matrix.column_indices[k]];
        }
    }
    return y;
}

template <ValueType Value, ValueType Stored>
std::vector<Value> product_of_parts(const PersistentMatrix<Value, Stored>& matrix, const std::vector<Value>& x) {
    std::vector<Value> y(matrix.rows, -1);
    const auto at_place = [&](Index place) { return matrix.row_at[place] < 0 ? Value{0} : x[matrix.row_at[place]]; };
    for (const Part& part : matrix.parts) {
        std::vector<Value> p;
        for (Index i = 0; i < part.rows; ++i) p.push_back(at_place(part.first_row + i));
        for (Index i = 0; i < part.halo; ++i) p.push_back(at_place(matrix.halo[part.first_halo + i]));
        for (Index i = 0; i < part.rows; ++i) {
            const Slice& slice = matrix.slices[part.first_slice + i / krylov::rows_per_slice];
            Value sum = 0;
            for (Index j = 0; j < slice.width; ++j) {
                const Offset at = part.first_entry + slice.first + krylov::rows_per_slice * j + i % krylov::rows_per_slice;
                sum += static_cast<Value>(matrix.values[at]) * p[matrix.columns[at]];
            }
            const Index row = matrix.row_at[part.first_row + i];
            if (row >= 0) {
                y[row] = sum;
            } else {
                CHECK(sum == 0);
            }
        }
    }
    return y;
}

/// What the kernel relies on.
template <ValueType Value, ValueType Stored>
void check_parts(const PersistentMatrix<Value, Stored>& matrix, std::size_t shared_bytes) {
    std::vector<Index> rows;
    std::copy_if(matrix.row_at.begin(), matrix.row_at.end(), std::back_inserter(rows), [](Index row) { return row >= 0; });
    std::sort(rows.begin(), rows.end());
    REQUIRE(std::ssize(rows) == matrix.rows);
    for (Index i = 0; i < matrix.rows; ++i) REQUIRE(rows[i] == i);
    std::vector<bool> exported(matrix.places(), false);
    for (const Part& part : matrix.parts) {
        for (Index i = 0; i < part.exported; ++i) exported[part.first_row + i] = true;
    }
    for (const Part& part : matrix.parts) {
        CHECK(part.rows % krylov::rows_per_slice == 0);
        CHECK(krylov::shared_places<Value, Stored>(part).end <= shared_bytes);
        CHECK(krylov::shared_places<Value, Stored>(part).end <= matrix.shared_bytes);
        Index resident = 0;
        for (Index s = 0; s < part.slices(); ++s) {
            const Slice& slice = matrix.slices[part.first_slice + s];
            const Index entries = krylov::rows_per_slice * slice.width;
            const bool stays = slice.first < part.resident;
            if (stays) resident += entries;
            if (entries > 0) CHECK((stays ? slice.first + entries <= part.resident : slice.first >= part.resident));
        }
        CHECK(resident == part.resident);
        for (Index i = 0; i < part.halo; ++i) {
            const Index place = matrix.halo[part.first_halo + i];
            CHECK(exported[place]);
            CHECK((place < part.first_row || place >= part.first_row + part.rows));
            if (i > 0) CHECK(place > matrix.halo[part.first_halo + i - 1]);
        }
    }
}

template <ValueType Value, ValueType Stored = Value>
void check_matrix(const CsrMatrix& matrix, Index parts, const std::vector<Index>& cuts = {}) {
    const std::vector<Index> boundaries = krylov::divide_rows(matrix.row_offsets, parts, cuts);
    REQUIRE(std::ssize(boundaries) == parts + 1);
    REQUIRE(std::is_sorted(boundaries.begin(), boundaries.end()));
    REQUIRE((boundaries.front() == 0 && boundaries.back() == matrix.rows));
    const std::vector<Value> x = uneven<Value>(matrix.rows);
    std::size_t least = 0;  // of shared memory
    for (const Part& part : krylov::make_persistent_matrix<Value, Stored>(matrix, boundaries, 1 << 30, 0).parts) {
        Part alone = part;
        alone.resident = alone.vectors = 0;
        least = std::max(least, krylov::shared_places<Value, Stored>(alone).end);
    }
    for (const std::size_t shared_bytes : {least, least + 700, least + 5000, std::size_t{1} << 20}) {
        for (const Index vectors : {2, 3}) {
            const auto made = krylov::make_persistent_matrix<Value, Stored>(matrix, boundaries, shared_bytes, vectors);
            check_parts(made, shared_bytes);
            CHECK(product_of_parts(made, x) == product_of_rows(matrix, x));
        }
    }
}

}  // namespace

TEST_CASE("parts for a persistent kernel have the products of the matrix") {
    for (const NamedMatrix& named : battery()) {
        if (!named.matrix.square()) continue;
        CAPTURE(named.name);
        for (const Index parts : {1, 3, 40}) {
            check_matrix<double>(named.matrix, parts);
            check_matrix<float>(named.matrix, parts);
        }
    }
    check_matrix<double>(scaled_laplacian(37, 0), 17);
    check_matrix<double>(scaled_laplacian(70, 0.3), 2);  // several slices a warp
}

TEST_CASE("values that f32 represents are stored in f32, and more of them in shared memory") {
    CsrMatrix matrix = scaled_laplacian(70, 0.3);
    for (double& value : matrix.values) value = static_cast<double>(static_cast<float>(value));
    check_matrix<double, float>(matrix, 3);
    const std::vector<Index> boundaries = krylov::divide_rows(matrix.row_offsets, 2, {});
    const std::size_t shared_bytes = 100000;
    const auto in_full = krylov::make_persistent_matrix<double>(matrix, boundaries, shared_bytes, 2);
    const auto narrow = krylov::make_persistent_matrix<double, float>(matrix, boundaries, shared_bytes, 2);
    CHECK(in_full.resident() > 0);
    CHECK(3 * narrow.resident() > 4 * in_full.resident());
}

TEST_CASE("parts begin where a partition does, if it is near") {
    const CsrMatrix matrix = scaled_laplacian(20, 0);  // 400 rows
    CHECK(krylov::divide_rows(matrix.row_offsets, 2, std::vector<Index>{0, 190, 400}) == std::vector<Index>{0, 190, 400});
    CHECK(krylov::divide_rows(matrix.row_offsets, 2, std::vector<Index>{0, 50, 210, 400}) == std::vector<Index>{0, 210, 400});
    CHECK(krylov::divide_rows(matrix.row_offsets, 2, std::vector<Index>{0, 50, 400, 400}) ==
          krylov::divide_rows(matrix.row_offsets, 2, {}));
    check_matrix<double>(matrix, 5, {0, 100, 160, 250, 320, 330, 400});
}

TEST_CASE("rows are divided as well as nonzeros") {
    std::vector<Offset> row_offsets{0};  // of 100 rows of one nonzero, then 100 rows of ten
    for (Index row = 0; row < 200; ++row) row_offsets.push_back(row_offsets.back() + (row < 100 ? 1 : 10));
    CHECK(krylov::divide_rows(row_offsets, 2, {}) == std::vector<Index>{0, 125, 200});
}

TEST_CASE("a part that does not fit is refused with the figures") {
    const CsrMatrix matrix = scaled_laplacian(20, 0);
    const std::vector<Index> boundaries{0, 300, 400};
    CHECK(message_of<Unsuitable>([&] { (void)krylov::make_persistent_matrix<double>(matrix, boundaries, 2000, 2); }) ==
          "part 0, one of a multiprocessor, has 300 rows and reads 20 elements of other parts, which need 2880 bytes of shared "
          "memory; 2000 are available");
    std::vector<Entry> entries;
    for (Index i = 0; i < 70000; ++i) entries.push_back({0, i, 1});
    const CsrMatrix long_row = square_of(70000, entries);
    CHECK(message_of<Unsuitable>([&] {
              (void)krylov::make_persistent_matrix<double>(long_row, std::vector<Index>{0, 1, 30000, 70000}, 1 << 30, 2);
          }) == "part 0 has 1 rows and reads 69999 elements of other parts; at most 65536 together have numbers of 16 bits");
}

}  // namespace workbench
