// The parts of a matrix for a persistent kernel, interpreted as the kernel does it: the products are those of the matrix.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/permutation.hpp"
#include "kernels/krylov/persistent_builder.hpp"
#include "kernels/krylov/persistent_division.hpp"
#include "kernels/krylov/value_passes.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using krylov::Part;
using krylov::Slice;

/// The host's memory. Items are passed in descending order, because a result must not depend on the order.
class HostSpace {
public:
    template <typename Item>
    using Array = std::vector<Item>;
    template <typename Item>
    using Kept = std::vector<Item>;

    template <typename Item>
    [[nodiscard]] Array<Item> make(std::size_t count) {
        Array<Item> array(count);
        std::memset(static_cast<void*>(array.data()), 0x5A, count * sizeof(Item));  // uninitialized
        return array;
    }
    template <typename Item>
    [[nodiscard]] Kept<Item> keep(std::size_t count) {
        return make<Item>(count);
    }
    template <typename Item>
    void fill(Array<Item>& array, std::byte byte) {
        std::memset(static_cast<void*>(array.data()), static_cast<int>(byte), array.size() * sizeof(Item));
    }
    template <typename Item>
    [[nodiscard]] Array<Item> upload(std::span<const Item> items) {
        return {items.begin(), items.end()};
    }
    template <typename Item>
    [[nodiscard]] std::vector<Item> download(const Array<Item>& array) {
        return array;
    }
    template <typename Item>
    [[nodiscard]] Item item(const Array<Item>& array, std::size_t number) {
        return array.at(number);
    }
    void wait() {}
    template <typename Pass>
    void for_each(std::size_t count, const Pass& pass) {
        for (std::size_t i = count; i > 0; --i) pass(i - 1);
    }
    void sort_pairs(Array<std::uint64_t>& keys, Array<std::uint32_t>& values, int bits) {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs;
        for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], values[i]);
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        std::stable_sort(pairs.begin(), pairs.end(),
                         [&](const auto& a, const auto& b) { return (a.first & mask) < (b.first & mask); });
        for (std::size_t i = 0; i < keys.size(); ++i) std::tie(keys[i], values[i]) = pairs[i];
    }
    void sum_up(Array<Offset>& counts) { std::partial_sum(counts.begin(), counts.end(), counts.begin()); }
};

template <ValueType Stored>
using PersistentMatrix = krylov::PersistentMatrix<Stored, HostSpace::Kept>;

krylov::OrderedRows ordered(const CsrMatrix& matrix) {
    return {.rows = matrix.rows,
            .column_count = matrix.columns,
            .offsets = matrix.row_offsets.data(),
            .columns = matrix.column_indices.data(),
            .values = matrix.values.data()};
}

template <ValueType Value, ValueType Stored = Value>
PersistentMatrix<Stored> make_persistent_matrix(const krylov::OrderedRows& rows, const krylov::PersistentPlan& plan) {
    HostSpace space;
    return krylov::PersistentBuilder<HostSpace, Value, Stored>(space, rows, plan).build();
}

std::vector<Index> divided(const CsrMatrix& matrix, Index parts, const std::vector<Index>& cuts, Index run = 1) {
    HostSpace space;
    return krylov::divide_rows(space, ordered(matrix), parts, cuts, run);
}

Index best_run(const CsrMatrix& matrix) {
    HostSpace space;
    return krylov::best_run(space, ordered(matrix), sizeof(double));
}

template <ValueType Stored>
Offset resident_entries(const PersistentMatrix<Stored>& matrix) {
    Offset entries = 0;
    for (const Part& part : matrix.parts) entries += part.resident;
    return entries;
}

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

/// x has the rows, then the remote elements.
template <ValueType Value, ValueType Stored>
std::vector<Value> product_of_parts(const PersistentMatrix<Stored>& matrix, const std::vector<Value>& x) {
    std::vector<Value> y(matrix.rows, -1);
    const auto at_place = [&](Index place) {
        if (place >= matrix.places) return x[matrix.rows + place - matrix.places];
        return matrix.row_at[place] < 0 ? Value{0} : x[matrix.row_at[place]];
    };
    for (const Part& part : matrix.parts) {
        std::vector<Value> p;
        for (Index i = 0; i < part.rows; ++i) p.push_back(at_place(part.first_row + i));
        for (Index i = 0; i < part.halo; ++i) p.push_back(at_place(matrix.halo[part.first_halo + i]));
        for (Index i = 0; i < part.rows; ++i) {
            const Slice& slice = matrix.slices[part.first_slice + i / krylov::rows_per_slice];
            const Offset lane = i % krylov::rows_per_slice;
            Value sum = 0;
            for (Index j = 0; j < slice.runs * matrix.run; ++j) {
                const Offset at = part.first_entry + slice.first + krylov::rows_per_slice * j + lane;
                const Offset of_run =
                    (part.first_entry + slice.first) / matrix.run + krylov::rows_per_slice * (j / matrix.run) + lane;
                sum += static_cast<Value>(matrix.values[at]) * p[matrix.columns[of_run] + j % matrix.run];
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

template <ValueType Value, ValueType Stored>
krylov::SharedPlaces places_of(const PersistentMatrix<Stored>& matrix, const Part& part) {
    return krylov::shared_places(part, sizeof(Value), sizeof(Stored), matrix.run);
}

/// What the kernel relies on.
template <ValueType Value, ValueType Stored>
void check_parts(const PersistentMatrix<Stored>& matrix, std::size_t shared_bytes) {
    std::vector<Index> rows;
    std::copy_if(matrix.row_at.begin(), matrix.row_at.end(), std::back_inserter(rows), [](Index row) { return row >= 0; });
    std::sort(rows.begin(), rows.end());
    REQUIRE(std::ssize(rows) == matrix.rows);
    for (Index i = 0; i < matrix.rows; ++i) REQUIRE(rows[i] == i);
    std::vector<bool> exported(matrix.places, false);
    for (const Part& part : matrix.parts) {
        CHECK(part.sent <= part.exported);
        for (Index i = 0; i < part.exported; ++i) exported[part.first_row + i] = true;
    }
    Offset entry = 0;
    for (const Part& part : matrix.parts) {
        CHECK(part.rows % krylov::rows_per_slice == 0);
        CHECK(part.first_entry == entry);
        CHECK(part.first_entry % (krylov::rows_per_slice * matrix.run) == 0);
        entry += part.entries;
        CHECK(places_of<Value>(matrix, part).end <= shared_bytes);
        Part with_list = part;
        with_list.keeps_halo = true;
        with_list.vectors = with_list.resident = 0;
        CHECK(part.keeps_halo == (places_of<Value>(matrix, with_list).end <= shared_bytes));
        CHECK(places_of<Value>(matrix, part).end <= matrix.shared_bytes);
        Index resident = 0;
        Index all = 0;
        for (Index s = 0; s < part.slices(); ++s) {
            const Slice& slice = matrix.slices[part.first_slice + s];
            const Index entries = krylov::rows_per_slice * slice.runs * matrix.run;
            const bool stays = slice.first < part.resident;
            all += entries;
            if (stays) resident += entries;
            if (entries > 0) CHECK((stays ? slice.first + entries <= part.resident : slice.first >= part.resident));
        }
        CHECK(all == part.entries);
        CHECK(resident == part.resident);
        for (Index i = 0; i < part.halo; ++i) {
            const Index place = matrix.halo[part.first_halo + i];
            CHECK(place < matrix.places + matrix.remote);
            if (place < matrix.places) CHECK(exported[place]);
            CHECK((place < part.first_row || place >= part.first_row + part.rows));
            if (i > 0) CHECK(place > matrix.halo[part.first_halo + i - 1]);
        }
    }
    CHECK(std::ssize(matrix.values) == entry);
    CHECK(std::ssize(matrix.columns) * matrix.run == entry);
}

template <ValueType Value, ValueType Stored = Value>
void check_matrix(const CsrMatrix& matrix, Index parts, const std::vector<Index>& cuts = {}, Index run = 1) {
    const std::vector<Index> boundaries = divided(matrix, parts, cuts, run);
    REQUIRE(std::ssize(boundaries) == parts + 1);
    REQUIRE(std::is_sorted(boundaries.begin(), boundaries.end()));
    REQUIRE((boundaries.front() == 0 && boundaries.back() == matrix.rows));
    const std::vector<Value> x = uneven<Value>(matrix.columns);
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        krylov::PersistentPlan plan{.boundaries = boundaries, .shared_bytes = 1 << 30, .method = method, .run = run};
        const auto roomy = make_persistent_matrix<Value, Stored>(ordered(matrix), plan);
        std::size_t least = 0;  // of shared memory
        for (const Part& part : roomy.parts) {
            Part alone = part;
            alone.resident = alone.vectors = 0;
            alone.keeps_halo = false;
            least = std::max(least, places_of<Value>(roomy, alone).end);
        }
        for (const std::size_t shared_bytes : {least, least + 700, least + 5000, std::size_t{1} << 20}) {
            for (const bool preconditioned : {false, true}) {
                for (const HaloOfParts halo : {HaloOfParts::with_r, HaloOfParts::without_r}) {
                    plan.shared_bytes = shared_bytes;
                    plan.preconditioned = preconditioned;
                    plan.halo = halo;
                    const auto made = make_persistent_matrix<Value, Stored>(ordered(matrix), plan);
                    check_parts<Value>(made, shared_bytes);
                    CHECK(product_of_parts(made, x) == product_of_rows(matrix, x));
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("columns of nodes are stored once, and their rows stay together") {
    for (const Index unknowns : {2, 3}) {
        CsrMatrix matrix = in_dense_blocks(scaled_laplacian(13, 0), unknowns);
        CHECK(best_run(matrix) == unknowns);
        for (const Index parts : {1, 4, 29}) {
            check_matrix<double>(matrix, parts, {}, unknowns);
            check_matrix<double, float>(matrix, parts, {}, unknowns);
            check_matrix<float>(matrix, parts, {}, unknowns);
        }
        check_matrix<double>(matrix, 4, {0, 40, 90, 130, matrix.rows}, unknowns);
    }
    CHECK(best_run(scaled_laplacian(12, 0)) == 1);
    check_matrix<double>(scaled_laplacian(12, 0), 5, {}, 3);  // mostly padding
}

TEST_CASE("rows of a rank multiply elements of other ranks, and send theirs") {
    // Rows 0 to 29 of a matrix of 60 columns; the last 30 are remote.
    std::vector<Entry> entries;
    for (Index row = 0; row < 30; ++row) {
        for (const Index column : {row, (row + 7) % 30, 30 + row, 30 + (row * 11) % 30}) {
            entries.push_back({row, column, 1.0 + row + 0.5 * column});
        }
    }
    CsrMatrix matrix = square_of(60, entries);
    matrix.rows = 30;
    matrix.row_offsets.resize(31);
    check_matrix<double>(matrix, 3);
    const std::vector<Index> boundaries = divided(matrix, 3, {});
    const std::vector<SentElement> sent{{25, 1, 4}, {3, 2, 0}, {3, 1, 5}, {26, 2, 9}};
    const auto made =
        make_persistent_matrix<double>(ordered(matrix), {.boundaries = boundaries, .shared_bytes = 1 << 20, .sent = sent});
    check_parts<double>(made, 1 << 20);
    CHECK(made.remote == 30);
    std::vector<std::vector<Index>> found;  // row, rank, remote element
    for (const Part& part : made.parts) {
        for (Index i = 0; i < part.sent; ++i) {
            for (Index at = made.first_targets[part.first_sent + i]; at < made.first_targets[part.first_sent + i + 1]; ++at) {
                found.push_back({made.row_at[part.first_row + i], made.targets[at].rank, made.targets[at].place});
            }
        }
    }
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<std::vector<Index>>{{3, 1, 5}, {3, 2, 0}, {25, 1, 4}, {26, 2, 9}});
}

TEST_CASE("rows that other parts read come first in their part, and each of the two groups ends with its shortest rows") {
    // Rows 0 to 11 and 12 to 23 are two parts; the other one reads rows 3, 7 and 15. Rows 3, 5 and 20 have no entries.
    std::vector<Entry> entries{{12, 3, 1}, {13, 3, 1}, {14, 7, 1}, {2, 15, 1}};
    for (Index row = 0; row < 24; ++row) {
        if (row == 3 || row == 5 || row == 20) continue;
        const Index begin = row < 12 ? 0 : 12;
        for (Index k = 0; k < 1 + row % 4; ++k) entries.push_back({row, begin + (row + 5 * k) % 12, 1});
    }
    const CsrMatrix matrix = square_of(24, entries);
    const std::vector<Index> boundaries{0, 12, 24};
    const auto made = make_persistent_matrix<double>(ordered(matrix), {.boundaries = boundaries, .shared_bytes = 1 << 20});
    REQUIRE(made.parts.size() == 2);
    for (const Part& part : made.parts) {
        const Index first = &part == &made.parts.front() ? 0 : 12;
        std::vector<std::pair<bool, Offset>> found;  // not read by the other part; minus the length
        for (Index i = 0; i < 12; ++i) {
            const Index row = made.row_at[part.first_row + i];
            bool is_read = false;
            for (Index other = 0; other < 24; ++other) {
                const auto columns = matrix.row_columns(other);
                is_read =
                    is_read || ((other < first || other >= first + 12) && std::ranges::find(columns, row) != columns.end());
            }
            found.emplace_back(!is_read, -matrix.row_length(row));
        }
        CHECK(std::ranges::is_sorted(found));
        CHECK(part.exported == std::ranges::count(found, false, &std::pair<bool, Offset>::first));
    }
}

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
    const std::vector<Index> boundaries = divided(matrix, 2, {});
    const std::size_t shared_bytes = 100000;
    const krylov::PersistentPlan plan{.boundaries = boundaries, .shared_bytes = shared_bytes};
    const auto in_full = make_persistent_matrix<double>(ordered(matrix), plan);
    const auto narrow = make_persistent_matrix<double, float>(ordered(matrix), plan);
    CHECK(resident_entries(in_full) > 0);
    CHECK(3 * resident_entries(narrow) > 4 * resident_entries(in_full));
}

TEST_CASE("parts of a matrix in another order have the products of the matrix as it was given") {
    const CsrMatrix given = scaled_laplacian(23, 0.3);
    std::vector<Index> old_of_new(given.rows);
    for (Index i = 0; i < given.rows; ++i) old_of_new[i] = static_cast<Index>(Offset{i} * 100 % given.rows);  // 529 = 23 * 23
    const Permutation order = Permutation::from_old_of_new(old_of_new);
    const CsrMatrix moved = permute(given, order, order);
    krylov::OrderedRows rows = ordered(moved);
    rows.old_of_new = order.old_of_new().data();
    // Values in the order that they were given, as on a GPU.
    std::vector<double> values(moved.values.rbegin(), moved.values.rend());
    std::vector<std::uint32_t> entries(values.size());
    for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = static_cast<std::uint32_t>(entries.size() - 1 - k);
    rows.values = values.data();
    rows.entries = entries.data();
    const std::vector<Index> boundaries = divided(moved, 5, {});
    const auto made = make_persistent_matrix<double>(rows, {.boundaries = boundaries, .shared_bytes = 1 << 20});
    const std::vector<double> x = uneven<double>(given.columns);
    const std::vector<double> expected = product_of_rows(given, x);
    const std::vector<double> found = product_of_parts(made, x);
    for (Index row = 0; row < given.rows; ++row) CHECK(found[row] == doctest::Approx(expected[row]).epsilon(1e-14));
}

TEST_CASE("parts take values in f32, and new values of the matrix as it was given") {
    CsrMatrix matrix = scaled_laplacian(23, 0.3);
    const std::vector<float> narrow(matrix.values.begin(), matrix.values.end());
    krylov::OrderedRows rows = ordered(matrix);
    rows.values = nullptr;
    rows.values_in_f32 = narrow.data();
    // As if the k-th value had been given at the k-th place from the end.
    std::vector<std::uint32_t> entries(narrow.size());
    for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = static_cast<std::uint32_t>(entries.size() - 1 - k);
    const std::vector<float> given(narrow.rbegin(), narrow.rend());
    rows.values_in_f32 = given.data();
    rows.entries = entries.data();
    const std::vector<Index> boundaries = divided(matrix, 5, {});
    auto made = make_persistent_matrix<float>(rows, {.boundaries = boundaries, .shared_bytes = 1 << 20, .keeps_entries = true});
    REQUIRE(made.entries.size() == made.values.size());
    const std::vector<float> x = uneven<float>(matrix.columns);
    const std::vector<float> expected = product_of_rows(matrix, x);
    std::vector<float> found = product_of_parts(made, x);
    for (Index row = 0; row < matrix.rows; ++row) CHECK(found[row] == doctest::Approx(expected[row]).epsilon(1e-5));

    std::vector<float> next(given.size());
    for (std::size_t k = 0; k < next.size(); ++k) next[k] = 3 - 2 * given[k];
    HostSpace().for_each(made.entries.size(),
                         krylov::passes::ReplaceValues<float, float>{made.entries.data(), next.data(), made.values.data()});
    for (double& value : matrix.values) value = 3 - 2 * static_cast<double>(static_cast<float>(value));
    const std::vector<float> changed = product_of_rows(matrix, x);
    found = product_of_parts(made, x);
    for (Index row = 0; row < matrix.rows; ++row) CHECK(found[row] == doctest::Approx(changed[row]).epsilon(1e-5));
    const auto of_padding = std::count(made.entries.begin(), made.entries.end(), krylov::padding_entry);
    CHECK(of_padding == std::ssize(made.entries) - matrix.nonzeros());
    CHECK(make_persistent_matrix<float>(rows, {.boundaries = boundaries, .shared_bytes = 1 << 20}).entries.empty());
}

TEST_CASE("values that f32 rounds are found, also while they replace others") {
    const auto any = [](const std::vector<double>& values) {
        char found = 0;
        HostSpace().for_each(values.size(), krylov::passes::FindInexact{values.data(), &found});
        std::vector<std::uint32_t> entries(values.size() + 1, krylov::padding_entry);
        std::iota(entries.begin() + 1, entries.end(), 0U);
        std::vector<float> stored(entries.size(), 7);
        char rounds = 0;
        HostSpace().for_each(entries.size(), krylov::passes::ReplaceValues<double, float>{entries.data(), values.data(),
                                                                                          stored.data(), &rounds});
        CHECK_EQ(rounds, found);
        CHECK_EQ(stored.front(), 7);
        return found != 0;
    };
    CHECK_FALSE(any({}));
    CHECK_FALSE(any({0.5, -0.0, 3, std::numeric_limits<double>::infinity(), std::nan("")}));
    CHECK(any({0.1}));
    CHECK(any({1, 1e300, 2}));
    CHECK(any({1, 2, 1e-300}));
}

TEST_CASE("parts have as much work, and begin where a partition does, if it is near") {
    const CsrMatrix matrix = scaled_laplacian(20, 0);  // 400 rows
    CHECK(divided(matrix, 2, {0, 190, 400}) == std::vector<Index>{0, 190, 400});
    CHECK(divided(matrix, 2, {0, 50, 210, 400}) == std::vector<Index>{0, 210, 400});
    CHECK(divided(matrix, 2, {0, 195, 206, 400}) == std::vector<Index>{0, 195, 400});  // the nearer one
    CHECK(divided(matrix, 2, {0, 50, 400, 400}) == divided(matrix, 2, {}));
    check_matrix<double>(matrix, 5, {0, 100, 160, 250, 320, 330, 400});
    std::vector<Entry> entries;  // 100 rows of one nonzero, then 100 rows of ten
    for (Index i = 0; i < 1000; ++i) entries.push_back({100 + i / 10, i % 10, 1.0});
    for (Index row = 0; row < 100; ++row) entries.push_back({row, 0, 1.0});
    const CsrMatrix mixed_rows = csr_from_entries(200, 200, entries);
    CHECK(divided(mixed_rows, 2, {}) == std::vector<Index>{0, 125, 200});
    CHECK(divided(mixed_rows, 2, {}, 10) == std::vector<Index>{0, 130, 200});
    CHECK(divided(mixed_rows, 2, {0, 115, 200, 200}, 10) == std::vector<Index>{0, 120, 200});
}

TEST_CASE("parts keep r in their halos if all of them have room, and the matrix takes the memory of r otherwise") {
    // Row i of the first part reads element i of the second part, which reads `back` elements of the first.
    const auto matrix_of = [](Index rows, Index back) {
        std::vector<Entry> entries;
        for (Index i = 0; i < 2 * rows; ++i) entries.push_back({i, i, 3});
        for (Index i = 0; i < rows; ++i) entries.push_back({i, rows + i, 1});
        for (Index i = 0; i < back; ++i) entries.push_back({rows + i, i, 1});
        return square_of(2 * rows, entries);
    };
    const auto parts_of = [](const CsrMatrix& matrix, krylov::PersistentPlan plan) {
        const std::vector<Index> boundaries{0, matrix.rows / 2, matrix.rows};
        plan.boundaries = boundaries;
        return make_persistent_matrix<double>(ordered(matrix), plan);
    };
    const Index rows = 4000;
    const CsrMatrix both = matrix_of(rows, rows);
    const auto with = parts_of(both, {.shared_bytes = 200'000, .halo = HaloOfParts::with_r});
    Part r_alone = with.parts[0];  // and p with its halo, and the list of this one
    CHECK(r_alone.halo == rows);
    r_alone.vectors = 1;
    r_alone.resident = 0;
    const std::size_t room = krylov::shared_places<double>(r_alone).end;
    CHECK(room == 8 * (rows + rows) + 8 * (rows - 24 * 32 * 2 + rows) + 4 * rows + 1008);  // of 125 slices, and alignment
    for (const Index back : {rows, Index{9}}) {  // the second part reads few elements, or as many as the first
        const CsrMatrix matrix = matrix_of(rows, back);
        const auto roomy = parts_of(matrix, {.shared_bytes = room});
        CHECK(roomy.parts[0].vectors == 1);
        for (const Part& part : roomy.parts) CHECK(part.halo_has_r);
        const auto narrow = parts_of(matrix, {.shared_bytes = room - 1});
        CHECK(narrow.parts[0].vectors == 2);
        for (const Part& part : narrow.parts) CHECK_FALSE(part.halo_has_r);
    }
    CHECK_FALSE(parts_of(both, {.shared_bytes = room, .method = KrylovMethod::bicgstab}).parts[0].halo_has_r);
    CHECK(parts_of(both, {.shared_bytes = room - 1, .halo = HaloOfParts::with_r}).parts[0].halo_has_r);

    const auto without = parts_of(both, {.shared_bytes = 200'000, .halo = HaloOfParts::without_r});
    CHECK(without.parts[0].vectors == with.parts[0].vectors);
    CHECK(resident_entries(without) > resident_entries(with) + 2 * 3000);  // 4,000 elements of 8 bytes for entries of 10
}

TEST_CASE("a part that does not fit is refused with the figures") {
    const auto refusal = [](const CsrMatrix& matrix, const std::vector<Index>& boundaries, std::size_t bytes) {
        return message_of<Unsuitable>(
            [&] { (void)make_persistent_matrix<double>(ordered(matrix), {.boundaries = boundaries, .shared_bytes = bytes}); });
    };
    CHECK(refusal(scaled_laplacian(20, 0), {0, 300, 400}, 2000) ==
          "part 0, one of a multiprocessor, has 300 rows and reads 20 elements of other parts, which need 2800 bytes of shared "
          "memory; 2000 are available");
    std::vector<Entry> entries;
    for (Index i = 0; i < 70000; ++i) entries.push_back({0, i, 1});
    CHECK(refusal(square_of(70000, entries), {0, 1, 30000, 70000}, 1 << 30) ==
          "part 0 has 1 row and reads 69999 elements of other parts; at most 65536 together have numbers of 16 bits");
}

}  // namespace workbench
