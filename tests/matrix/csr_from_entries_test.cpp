// csr_from_entries on lists that are long enough for threads and blocks of rows, compared with a map; and sort_row.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/random.hpp"
#include "core/matrix/sort_row.hpp"

namespace workbench {
namespace {

// Values whose sum depends on the order of summation.
double some_value(RandomStream& random) {
    constexpr std::array<double, 5> values{1, 0.1, 1e16, -1e16, 3e-7};
    return values[random.below(values.size())];
}

std::vector<Entry> random_list(Index rows, Index columns, std::size_t count, std::uint64_t seed) {
    RandomStream random{seed};
    std::vector<Entry> list;
    for (std::size_t i = 0; i < count; ++i) {
        list.push_back({static_cast<Index>(random.below(rows)), static_cast<Index>(random.below(columns)), some_value(random)});
    }
    return list;
}

// The expected matrix, added up entry by entry.
CsrMatrix expected_of(Index rows, Index columns, const std::vector<Entry>& list, Mirror mirror = Mirror::nothing) {
    std::map<std::pair<Index, Index>, double> sums;
    const auto add = [&sums](Index row, Index column, double value) {
        const auto [place, is_new] = sums.try_emplace({row, column}, value);
        if (!is_new) place->second += value;
    };
    for (const Entry& entry : list) {
        add(entry.row, entry.column, entry.value);
        if (mirror == Mirror::nothing || entry.row == entry.column) continue;
        add(entry.column, entry.row, mirror == Mirror::same ? entry.value : -entry.value);
    }
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
    for (const auto& [place, value] : sums) {
        ++matrix.row_offsets[place.first + 1];
        matrix.column_indices.push_back(place.second);
        matrix.values.push_back(value);
    }
    std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());
    return matrix;
}

}  // namespace

TEST_CASE("csr_from_entries: long lists in random order, with duplicates") {
    constexpr std::size_t count = 200000;
    for (const auto& size : std::vector<std::pair<Index, Index>>{
             {1, 70000}, {2, 300}, {37, 1000}, {700, 400}, {5000, 5000}, {65537, 3}, {1000000, 100000}}) {
        const Index rows = size.first;
        const Index columns = size.second;
        CAPTURE(rows);
        const std::vector<Entry> list = random_list(rows, columns, count, rows);
        CHECK(csr_from_entries(rows, columns, list) == expected_of(rows, columns, list));
    }
    const std::vector<Entry> list = random_list(3000, 3000, count, 1);
    for (const Mirror mirror : {Mirror::same, Mirror::negated}) {
        const std::vector<std::span<const Entry>> pieces{std::span(list).first(10), {}, std::span(list).subspan(10)};
        CHECK(csr_from_entries(3000, 3000, pieces, mirror) == expected_of(3000, 3000, list, mirror));
    }
}

TEST_CASE("csr_from_entries: long lists in typical orders of files") {
    const Index rows = 20000;  // the first 4000 and the last 4000 are empty
    std::vector<Entry> list = random_list(12000, 9000, 150000, 7);
    for (Entry& entry : list) entry.row += 4000;
    const CsrMatrix expected = expected_of(rows, 9000, list);
    std::stable_sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    CHECK(csr_from_entries(rows, 9000, list) == expected);
    std::stable_sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
    CHECK(csr_from_entries(rows, 9000, list) == expected);  // row by row, in order except for duplicates

    std::vector<Entry> in_order;
    for (Index row = 0; row < rows; ++row) {
        for (Offset i = expected.row_offsets[row]; i < expected.row_offsets[row + 1]; ++i) {
            in_order.push_back({row, expected.column_indices[i], expected.values[i]});
        }
    }
    CHECK(csr_from_entries(rows, 9000, in_order) == expected);
    // One pair in the wrong order, also where the list is divided between threads.
    for (const std::size_t place : {std::size_t{0}, (std::size_t{1} << 16) - 1, in_order.size() - 2}) {
        std::vector<Entry> nearly = in_order;
        std::swap(nearly[place], nearly[place + 1]);
        CHECK(csr_from_entries(rows, 9000, nearly) == expected);
        nearly = in_order;
        nearly[place + 1] = nearly[place];  // twice
        CHECK(csr_from_entries(rows, 9000, nearly) == expected_of(rows, 9000, nearly));
        nearly[place + 1].column = 9000;
        CHECK_THROWS_AS((void)csr_from_entries(rows, 9000, nearly), std::out_of_range);
    }
}

TEST_CASE("sort_row: runs of consecutive columns, including runs that overlap") {
    RandomStream random{4};
    constexpr Index last = std::numeric_limits<Index>::max();
    for (int round = 0; round < 4000; ++round) {
        // Runs that are disjoint in even rounds; in odd rounds they may touch, overlap or repeat.
        const bool apart = round % 2 == 0;
        const auto runs = 1 + static_cast<Index>(random.below(40));
        std::vector<std::pair<Index, double>> row;
        for (Index run = 0; run < runs; ++run) {
            const auto length = 1 + static_cast<Index>(random.below(5));
            const Index first = apart ? last - 5 * (run * 7 % 41) - 4 : static_cast<Index>(random.below(200));
            for (Index i = 0; i < length; ++i) row.emplace_back(first + i, static_cast<double>(row.size()));
        }
        std::vector<Index> columns;
        std::vector<double> values;
        for (const auto& [column, value] : row) columns.push_back(column), values.push_back(value);
        sort_row(columns.data(), values.data(), std::ssize(row));
        std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        bool equal = true;
        for (std::size_t i = 0; i < row.size(); ++i) equal &= row[i] == std::pair(columns[i], values[i]);
        CHECK(equal);
    }
}

TEST_CASE("sort_row is stable for every length") {
    RandomStream random{3};
    for (Offset length = 0; length < 300; ++length) {
        for (const std::uint64_t columns : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 31}) {
            std::vector<std::pair<Index, double>> row;
            for (Offset i = 0; i < length; ++i) row.emplace_back(static_cast<Index>(random.below(columns)), i);
            std::vector<Index> sorted_columns;
            std::vector<double> values;
            for (const auto& [column, value] : row) sorted_columns.push_back(column), values.push_back(value);
            sort_row(sorted_columns.data(), values.data(), length);
            std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            bool equal = true;
            for (Offset i = 0; i < length; ++i) equal &= row[i] == std::pair(sorted_columns[i], values[i]);
            CHECK(equal);
        }
    }
}

}  // namespace workbench
