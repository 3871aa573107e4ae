// Random matrices. The result does not depend on the number of threads, because each row draws from its own stream, nor on the
// machine, because only integer arithmetic and single IEEE 754 operations are used.
#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/input/generators/generator_kinds.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/random.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using DynamicRows = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;

constexpr std::int64_t index_limit = std::numeric_limits<Index>::max();

std::uint64_t seed_of(const Parameters& parameters) { return static_cast<std::uint64_t>(parameters.integer("seed")); }

/// An integer from 1 to 9, a hash of row and column.
double value_at(std::uint64_t seed, Index row, Index column) {
    return static_cast<double>(
        1 + mixed(random_stream(seed, static_cast<std::uint64_t>(row)).state + static_cast<std::uint64_t>(column)) % 9);
}

/// Rows with length(row) nonzeros each, columns and values still to be filled. Throws MachineError before it takes memory or
/// spends time on a matrix that cannot fit.
template <typename Length>
CsrMatrix empty_rows(RowRange range, Index columns, double expected_nonzeros, const Length& length) {
    check_generator_memory(range.count(), expected_nonzeros, 0);
    CsrMatrix matrix;
    matrix.rows = range.count();
    matrix.columns = columns;
    matrix.row_offsets.resize(static_cast<std::size_t>(matrix.rows) + 1);
    Kokkos::parallel_for("lengths", DynamicRows(range.first, range.end),
                         [&](Index row) { matrix.row_offsets[row - range.first + 1] = length(row); });
    std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());
    check_generator_memory(matrix.rows, static_cast<double>(matrix.nonzeros()), 0);
    matrix.column_indices.resize(matrix.nonzeros());
    matrix.values.resize(matrix.nonzeros());
    return matrix;
}

// ---- banded

class RandomBand {
public:
    RandomBand(Index rows, Index width, double fill, std::uint64_t seed)
        : rows_(rows), width_(std::min(width, rows - 1)), threshold_(static_cast<std::uint64_t>(fill * 0x1p53)), seed_(seed) {}

    [[nodiscard]] Index row_count() const { return rows_; }

    [[nodiscard]] CsrMatrix make(RowRange range) const {
        // The loops visit every place of the band, so a band that would not fit if it were full is refused.
        CsrMatrix matrix = empty_rows(range, rows_, static_cast<double>(places(range)), [this](Index row) {
            Offset length = 0;
            for (Index column = begin(row); column < end(row); ++column) length += takes(row, column) ? 1 : 0;
            return length;
        });
        Kokkos::parallel_for("banded", DynamicRows(range.first, range.end), [&](Index row) {
            const Index made = row - range.first;
            Offset place = matrix.row_offsets[made];
            for (Index column = begin(row); column < end(row); ++column) {
                if (!takes(row, column)) continue;
                matrix.column_indices[place] = column;
                matrix.values[place++] = row == column ? static_cast<double>(matrix.row_length(made)) : -1.0;
            }
        });
        return matrix;
    }

private:
    /// The pattern is symmetric.
    [[nodiscard]] bool takes(Index row, Index column) const {
        if (row == column) return true;
        const auto [first, second] = std::minmax(row, column);
        return mixed(random_stream(seed_, static_cast<std::uint64_t>(first)).state + static_cast<std::uint64_t>(second)) >> 11 <
               threshold_;
    }
    [[nodiscard]] Index begin(Index row) const { return row - std::min(row, width_); }
    [[nodiscard]] Index end(Index row) const { return row + std::min(rows_ - 1 - row, width_) + 1; }

    /// Places of the band on one side of the diagonal in the first `rows` rows, counted from the end where that side begins.
    [[nodiscard]] Offset places_beside(Index rows) const {
        const Offset cut_off = std::min<Offset>(rows, Offset{width_} + 1);
        return cut_off * (cut_off - 1) / 2 + (rows - cut_off) * width_;
    }
    [[nodiscard]] Offset places(RowRange range) const {
        const Offset left = places_beside(range.end) - places_beside(range.first);
        const Offset right = places_beside(rows_ - range.first) - places_beside(rows_ - range.end);
        return range.count() + left + right;
    }

    Index rows_;
    Index width_;              // columns on each side of the diagonal
    std::uint64_t threshold_;  // a place is taken if its 53-bit hash is smaller; scaling by 2^53 is exact
    std::uint64_t seed_;
};

RandomBand banded(const Parameters& parameters) {
    return {static_cast<Index>(parameters.integer("rows")), static_cast<Index>(parameters.integer("bandwidth")),
            parameters.real("fill"), seed_of(parameters)};
}

// ---- the Laplace operator of a random graph

/// A random order of 0 .. size - 1 that is computed, not stored: four rounds of a Feistel network (Luby and Rackoff 1988)
/// permute all numbers of 2 `bits_` bits, repeated until the result is below the size.
class HashedOrder {
public:
    HashedOrder(Index size, std::uint64_t seed) : size_(static_cast<std::uint64_t>(size)), seed_(seed) {
        while ((std::uint64_t{1} << (2 * bits_)) < size_) ++bits_;
    }

    [[nodiscard]] Index after(Index number) const {
        return walk(number, [this](std::uint64_t& left, std::uint64_t& right) {
            for (std::uint64_t round = 0; round < rounds; ++round) left = std::exchange(right, left ^ hash(round, right));
        });
    }

    [[nodiscard]] Index before(Index number) const {
        return walk(number, [this](std::uint64_t& left, std::uint64_t& right) {
            for (std::uint64_t round = rounds; round-- > 0;) right = std::exchange(left, right ^ hash(round, left));
        });
    }

private:
    static constexpr std::uint64_t rounds = 4;

    template <typename Network>
    [[nodiscard]] Index walk(Index number, const Network& network) const {
        auto at = static_cast<std::uint64_t>(number);
        do {
            std::uint64_t left = at >> bits_;
            std::uint64_t right = at & mask();
            network(left, right);
            at = left << bits_ | right;
        } while (at >= size_);
        return static_cast<Index>(at);
    }

    [[nodiscard]] std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }
    [[nodiscard]] std::uint64_t hash(std::uint64_t round, std::uint64_t half) const {
        return mixed(random_stream(seed_, round).state + half) & mask();
    }

    std::uint64_t size_;
    std::uint64_t seed_;
    int bits_ = 1;  // of a half
};

/// Each vertex has edges to its successor and its predecessor in several random orders, so a rank can compute the neighbours of
/// its rows without the other rows.
class RandomLaplacian {
public:
    RandomLaplacian(Index rows, Index degree, std::uint64_t seed) : rows_(rows) {
        for (Index i = 0; i < degree / 2; ++i) orders_.emplace_back(rows, mixed(seed) + static_cast<std::uint64_t>(i));
    }

    [[nodiscard]] Index row_count() const { return rows_; }

    [[nodiscard]] CsrMatrix make(RowRange range) const {
        const double most_of_row = 2.0 * static_cast<double>(orders_.size()) + 1;
        CsrMatrix matrix = empty_rows(range, rows_, range.count() * std::min<double>(most_of_row, rows_), [this](Index row) {
            Offset length = 0;
            for_each_entry(row, [&length](Index, double) { ++length; });
            return length;
        });
        guarded_for("random_laplacian", DynamicRows(range.first, range.end), [&](Index row) {
            Offset place = matrix.row_offsets[row - range.first];
            for_each_entry(row, [&](Index column, double value) {
                matrix.column_indices[place] = column;
                matrix.values[place++] = value;
            });
        });
        return matrix;
    }

private:
    /// Visits columns in ascending order. Parallel edges are summed; self-loops are dropped.
    template <typename Visit>
    void for_each_entry(Index row, const Visit& visit) const {
        thread_local std::vector<Index> ends;
        ends.clear();
        for (const HashedOrder& order : orders_) {
            const Index after = order.after(row);
            if (after == row) continue;
            ends.push_back(after);
            ends.push_back(order.before(row));
        }
        const auto edges = static_cast<double>(ends.size());
        ends.push_back(row);
        std::sort(ends.begin(), ends.end());
        for (auto first = ends.begin(); first != ends.end();) {
            const auto end = std::upper_bound(first, ends.end(), *first);
            visit(*first, *first == row ? edges + 1 : -static_cast<double>(end - first));
            first = end;
        }
    }

    Index rows_;
    std::vector<HashedOrder> orders_;
};

RandomLaplacian random_laplacian(const Parameters& parameters) {
    const std::int64_t degree = parameters.integer("degree");
    if (degree % 2 != 0) throw ParameterError("degree", fmt::format("found {}; expected an even number", degree));
    return {static_cast<Index>(parameters.integer("rows")), static_cast<Index>(degree), seed_of(parameters)};
}

// ---- rows of random lengths

/// Chooses `count` different columns uniformly at random, in ascending order.
void choose_columns(RandomStream random, Index columns, std::size_t count, std::vector<Index>& chosen) {
    chosen.clear();
    while (chosen.size() < count) {
        for (std::size_t i = chosen.size(); i < count; ++i) {
            chosen.push_back(static_cast<Index>(random.below(static_cast<std::uint64_t>(columns))));
        }
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    }
}

/// Fills row `made` of the matrix, which holds row `row` of the whole matrix.
void fill_row(CsrMatrix& matrix, Index made, Index row, std::uint64_t seed) {
    thread_local std::vector<Index> chosen;
    const Offset begin = matrix.row_offsets[made];
    const Offset length = matrix.row_length(made);
    const RandomStream random = random_stream(mixed(seed), static_cast<std::uint64_t>(row));
    // For a nearly full row, drawing the missing columns takes fewer attempts.
    const bool leave_out = length > matrix.columns / 2;
    choose_columns(random, matrix.columns, static_cast<std::size_t>(leave_out ? matrix.columns - length : length), chosen);
    if (leave_out) {
        Offset place = begin;
        auto next = chosen.begin();
        for (Index column = 0; column < matrix.columns; ++column) {
            if (next != chosen.end() && *next == column) {
                ++next;
            } else {
                matrix.column_indices[place++] = column;
            }
        }
    } else {
        std::copy(chosen.begin(), chosen.end(), matrix.column_indices.begin() + begin);
    }
    for (Offset i = begin; i < begin + length; ++i) matrix.values[i] = value_at(seed, row, matrix.column_indices[i]);
}

/// Rows whose lengths are drawn by length(random).
template <typename Length>
class RandomRows {
public:
    RandomRows(Index rows, Index columns, std::uint64_t seed, double mean, Length length)
        : rows_(rows), columns_(columns), seed_(seed), mean_(mean), length_(std::move(length)) {}

    [[nodiscard]] Index row_count() const { return rows_; }

    [[nodiscard]] CsrMatrix make(RowRange range) const {
        const double expected = range.count() * std::min<double>(mean_, columns_);
        CsrMatrix matrix = empty_rows(range, columns_, expected, [this](Index row) {
            return length_(random_stream(seed_, static_cast<std::uint64_t>(row)));
        });
        guarded_for("random_rows", DynamicRows(range.first, range.end),
                    [&](Index row) { fill_row(matrix, row - range.first, row, seed_); });
        return matrix;
    }

private:
    Index rows_;
    Index columns_;
    std::uint64_t seed_;
    double mean_;  // expected length of a row
    Length length_;
};

Index rows_of(const Parameters& parameters) { return static_cast<Index>(parameters.integer("rows")); }

Index columns_of(const Parameters& parameters) {
    return static_cast<Index>(parameters.integer(parameters.has("columns") ? "columns" : "rows"));
}

auto random_uniform(const Parameters& parameters) {
    const std::int64_t shortest = parameters.integer("shortest");
    const std::int64_t longest = parameters.integer("longest");
    const Index columns = columns_of(parameters);
    if (longest < shortest) {
        throw ParameterError("longest", fmt::format("found {}; expected at least shortest, {}", longest, shortest));
    }
    if (longest > columns) {
        throw ParameterError("longest", fmt::format("found {}; expected at most the columns, {}", longest, columns));
    }
    const auto length = [=](RandomStream random) {
        return shortest + static_cast<Offset>(random.below(static_cast<std::uint64_t>(longest - shortest + 1)));
    };
    return RandomRows(rows_of(parameters), columns, seed_of(parameters), static_cast<double>(shortest + longest) / 2, length);
}

/// Mean 0, standard deviation 1, range -6 to 6: the sum of twelve uniform numbers minus 6. Avoiding the C library keeps the
/// bits identical on all machines.
double nearly_normal(RandomStream& random) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t two = random.next();
        sum += (two >> 32) + (two & 0xFFFFFFFF);
    }
    return static_cast<double>(sum) * 0x1p-32 - 6;
}

auto random_normal(const Parameters& parameters) {
    const double mean = parameters.real("mean");
    const double deviation = parameters.real("deviation");
    const Index columns = columns_of(parameters);
    const auto length = [=](RandomStream random) {
        const double drawn = std::floor(mean + deviation * nearly_normal(random) + 0.5);
        return static_cast<Offset>(std::clamp(drawn, 0.0, static_cast<double>(columns)));
    };
    return RandomRows(rows_of(parameters), columns, seed_of(parameters), mean, length);
}

// ---- R-MAT

/// Source: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining" (2004). An edge descends through quarters
/// of the matrix: upper left with probability a, upper right with b, lower left with c.
CsrMatrix rmat(const Parameters& parameters) {
    const int scale = static_cast<int>(parameters.integer("scale"));
    const std::int64_t edges = parameters.integer("degree") << scale;
    const double a = parameters.real("a");
    const double b = parameters.real("b");
    const double c = parameters.real("c");
    if (a + b + c > 1) throw ParameterError("c", fmt::format("found a + b + c = {}; expected at most 1", a + b + c));
    const auto bits = [](double share) { return static_cast<std::uint64_t>(share * 0x1p32); };
    const std::uint64_t end_a = bits(a);
    const std::uint64_t end_b = bits(a + b);
    const std::uint64_t end_c = bits(a + b + c);
    const Index rows = Index{1} << scale;
    check_generator_memory(rows, static_cast<double>(edges), static_cast<double>(edges) * sizeof(Entry));
    std::vector<Entry> entries(edges);
    const std::uint64_t seed = seed_of(parameters);
    using Edges = Kokkos::RangePolicy<Host, Kokkos::IndexType<Offset>>;
    Kokkos::parallel_for("rmat", Edges(0, edges), [&](Offset edge) {
        RandomStream random = random_stream(seed, static_cast<std::uint64_t>(edge));
        Index row = 0;
        Index column = 0;
        std::uint64_t drawn = 0;
        for (int level = 0; level < scale; ++level) {
            drawn = level % 2 == 0 ? random.next() : drawn >> 32;
            const std::uint64_t quarter = drawn & 0xFFFFFFFF;
            row = 2 * row + (quarter < end_b ? 0 : 1);
            column = 2 * column + (quarter < end_a || (quarter >= end_b && quarter < end_c) ? 0 : 1);
        }
        entries[edge] = {row, column, 1};
    });
    return csr_from_entries(rows, rows, entries);
}

ParameterDeclaration rows_parameter() { return integer_parameter("rows", 1, index_limit, "rows"); }

ParameterDeclaration columns_parameter() {
    ParameterDeclaration declaration = integer_parameter("columns", 1, index_limit, "columns; default: rows");
    declaration.optional = true;
    return declaration;
}

}  // namespace

std::vector<GeneratorEntry> random_generators() {
    constexpr auto most_real = static_cast<double>(index_limit);
    return {
        made_by_rows<banded>("banded",
                             "a band around the diagonal, full or with random gaps; symmetric positive definite: -1, and the "
                             "row's length on the "
                             "diagonal",
                             {integer_parameter("rows", 1, index_limit, "rows and columns"),
                              integer_parameter("bandwidth", 0, index_limit, "places on each side of the diagonal"),
                              real_parameter("fill", 0, 1, "fraction of the places beside the diagonal that hold a nonzero", 1),
                              seed_parameter()}),
        made_by_rows<random_uniform>(
            "random_uniform", "rows of random lengths, uniform between two bounds; columns anywhere, values from 1 to 9",
            {rows_parameter(), columns_parameter(),
             integer_parameter("shortest", 0, index_limit, "smallest row length, in nonzeros"),
             integer_parameter("longest", 0, index_limit, "largest row length, in nonzeros"), seed_parameter()}),
        made_by_rows<random_normal>(
            "random_normal", "rows of random lengths, nearly normally distributed; columns anywhere, values from 1 to 9",
            {rows_parameter(), columns_parameter(), real_parameter("mean", 0, most_real, "mean row length"),
             real_parameter("deviation", 0, most_real,
                            "standard deviation of the row lengths, before rounding and clamping to 0 .. columns"),
             seed_parameter()}),
        made_by_rows<random_laplacian>(
            "random_laplacian",
            "the Laplace operator of a random graph, plus 1; symmetric positive definite: -1 per edge, degree + 1 on the "
            "diagonal",
            {integer_parameter("rows", 1, index_limit, "rows and columns"),
             integer_parameter("degree", 0, 1 << 20, "edges of a vertex, an even number; parallel edges are summed"),
             seed_parameter()}),
        {"rmat",
         "a recursive random graph (R-MAT): few vertices of high degree, many of low degree; the value is the number of edges",
         {integer_parameter("scale", 0, 30, "the matrix has 2^scale rows"),
          integer_parameter("degree", 1, 1 << 20, "edges per vertex; parallel edges are summed, so there are fewer nonzeros",
                            16),
          real_parameter("a", 0, 1, "fraction of edges in the upper left quarter, at each level of the recursion", 0.57),
          real_parameter("b", 0, 1, "fraction of edges in the upper right quarter", 0.19),
          real_parameter("c", 0, 1, "fraction of edges in the lower left quarter; the rest is in the lower right", 0.19),
          seed_parameter()},
         rmat},
    };
}

}  // namespace workbench
