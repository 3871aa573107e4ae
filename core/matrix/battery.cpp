#include "core/matrix/battery.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/matrix/random.hpp"

namespace workbench {
namespace {

using Entries = std::vector<Entry>;

std::uint64_t mixed_place(std::uint64_t row, std::uint64_t column) { return mixed(mixed(row) + column); }

// A nonzero value that identifies its place: a multiple of 1/64 in [-2048, 2048), exact in f32.
double value_at(Index row, Index column) {
    const auto step = static_cast<double>(mixed_place(row, column) % (1U << 18)) - (1 << 17);
    return (step + 0.5) / 64;
}

Entry entry_at(Index row, Index column) { return {row, column, value_at(row, column)}; }

void add_both(Entries& entries, Index a, Index b) {
    const double value = value_at(std::min(a, b), std::max(a, b));
    entries.push_back({a, b, value});
    if (a != b) entries.push_back({b, a, value});
}

// All places of a matrix that satisfy a condition.
template <typename Condition>
CsrMatrix where(Index rows, Index columns, Condition&& condition) {
    Entries entries;
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
            if (condition(i, j)) entries.push_back(entry_at(i, j));
        }
    }
    return csr_from_entries(rows, columns, entries);
}

CsrMatrix identity(Index size) {
    Entries entries;
    for (Index i = 0; i < size; ++i) entries.push_back({i, i, 1});
    return csr_from_entries(size, size, entries);
}

// Each place is in the matrix with the probability `percent`.
CsrMatrix scattered(Index rows, Index columns, std::uint64_t percent, std::uint64_t seed) {
    return where(rows, columns, [=](Index i, Index j) { return mixed(mixed_place(i, j) + seed) % 100 < percent; });
}

void add_grid(Entries& entries, Index width, Index height, const std::vector<Index>& number) {
    for (Index y = 0; y < height; ++y) {
        for (Index x = 0; x < width; ++x) {
            const Index here = y * width + x;
            add_both(entries, number[here], number[here]);
            if (x + 1 < width) add_both(entries, number[here], number[here + 1]);
            if (y + 1 < height) add_both(entries, number[here], number[here + width]);
        }
    }
}

CsrMatrix grid(Index width, Index height) {
    std::vector<Index> number(width * height);
    for (Index i = 0; i < width * height; ++i) number[i] = i;
    Entries entries;
    add_grid(entries, width, height, number);
    return csr_from_entries(width * height, width * height, entries);
}

// A 6 x 5 grid on the even vertices and a path of 30 on the odd ones.
CsrMatrix two_components() {
    std::vector<Index> even(30);
    for (Index i = 0; i < 30; ++i) even[i] = 2 * i;
    Entries entries;
    add_grid(entries, 6, 5, even);
    for (Index i = 0; i < 30; ++i) {
        add_both(entries, 2 * i + 1, 2 * i + 1);
        if (i > 0) add_both(entries, 2 * i - 1, 2 * i + 1);
    }
    return csr_from_entries(60, 60, entries);
}

// A grid, then vertices without neighbours: 42 and 44 have only their diagonal entry, 43 has no entry.
CsrMatrix isolated_vertices() {
    std::vector<Index> number(42);
    for (Index i = 0; i < 42; ++i) number[i] = i;
    Entries entries;
    add_grid(entries, 7, 6, number);
    add_both(entries, 42, 42);
    add_both(entries, 44, 44);
    return csr_from_entries(45, 45, entries);
}

// Three unknowns per node: full 3 x 3 blocks on a ring of nodes with some chords.
CsrMatrix node_blocks(Index nodes) {
    return where(3 * nodes, 3 * nodes, [=](Index i, Index j) {
        const Index a = std::min(i / 3, j / 3);
        const Index b = std::max(i / 3, j / 3);
        return b - a <= 1 || b - a == nodes - 1 || mixed_place(a, b) % 16 == 0;
    });
}

// A band around the diagonal, in which every fourth stored entry is zero.
CsrMatrix explicit_zeros() {
    Entries entries;
    for (Index i = 0; i < 48; ++i) {
        for (Index j = std::max(0, i - 2); j < std::min(48, i + 4); ++j) {
            entries.push_back({i, j, mixed_place(i, j) % 4 == 0 ? 0.0 : value_at(i, j)});
        }
    }
    return csr_from_entries(48, 48, entries);
}

// Row lengths fall like 1 / rank, with ranks in random order; the longest row is full.
bool is_skewed_entry(Index i, Index j, Index size) {
    const Index rank = (i * 37 + 5) % size;
    return (j * 41 + i) % size < size / (rank + 1);
}

std::vector<NamedMatrix> all_matrices() {
    std::vector<NamedMatrix> all;
    const auto add = [&](std::string name, CsrMatrix matrix) { all.push_back({std::move(name), std::move(matrix)}); };
    const auto everywhere = [](Index, Index) { return true; };

    add("empty", csr_from_entries(0, 0, {}));
    add("no_rows", csr_from_entries(0, 7, {}));
    add("no_columns", csr_from_entries(7, 0, {}));
    add("one_by_one", where(1, 1, everywhere));
    add("no_nonzeros", csr_from_entries(9, 9, {}));
    add("identity", identity(40));
    add("dense", where(33, 33, everywhere));
    add("dense_row", where(70, 70, [](Index i, Index j) { return i == j || i == 33; }));
    add("dense_column", where(70, 70, [](Index i, Index j) { return i == j || j == 12; }));
    add("arrow", where(65, 65, [](Index i, Index j) { return i == j || i == 64 || j == 64; }));
    add("empty_rows_and_columns", where(50, 50, [](Index i, Index j) {
            return i % 7 != 0 && j % 7 != 0 && mixed_place(i, j) % 8 == 0;  // including the first and last row and column
        }));
    add("last_column_only", where(35, 35, [](Index i, Index j) { return j == 34 && i % 2 == 0; }));
    add("tridiagonal", where(64, 64, [](Index i, Index j) { return i - j <= 1 && j - i <= 1; }));
    add("band", where(97, 97, [](Index i, Index j) { return i - j <= 5 && j - i <= 3 && mixed_place(i, j) % 4 != 0; }));
    add("upper_triangle", where(34, 34, [](Index i, Index j) { return i < j; }));
    add("directed_cycle", where(41, 41, [](Index i, Index j) { return j == (i + 1) % 41; }));
    add("node_blocks", node_blocks(32));
    add("grid", grid(9, 8));
    add("two_components", two_components());
    add("isolated_vertices", isolated_vertices());
    add("explicit_zeros", explicit_zeros());
    add("skewed", where(83, 83, [](Index i, Index j) { return is_skewed_entry(i, j, 83); }));
    add("random", scattered(100, 100, 5, 1));
    add("wide", scattered(20, 90, 12, 2));
    add("tall", scattered(90, 20, 12, 3));
    add("one_row", scattered(1, 75, 50, 4));
    add("one_column", scattered(75, 1, 50, 5));
    add("random_300", where(300, 300, [](Index i, Index j) { return i == 150 || i == j || mixed_place(i, j) % 100 < 3; }));
    return all;
}

}  // namespace

const std::vector<NamedMatrix>& battery() {
    static const std::vector<NamedMatrix> matrices = all_matrices();
    return matrices;
}

}  // namespace workbench
