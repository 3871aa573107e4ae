// Random matrices. Each row has a stream of random numbers of its own, so that the number of threads changes nothing, and only
// integer arithmetic and single operations of IEEE 754 are used, so that the machine changes nothing.
#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/input/generator_kinds.hpp"
#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/random.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Rows = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;

constexpr std::int64_t most = std::numeric_limits<Index>::max();

std::uint64_t seed_of(const Parameters& parameters) { return static_cast<std::uint64_t>(parameters.integer("seed")); }

/// An integer from 1 to 9 that belongs to a place.
double value_at(std::uint64_t seed, Index row, Index column) {
    return static_cast<double>(
        1 + mixed(random_stream(seed, static_cast<std::uint64_t>(row)).state + static_cast<std::uint64_t>(column)) % 9);
}

/// Rows of the lengths that `length(row)` gives, to be filled. Throws MachineError before memory is taken, or time for more
/// than the machine could hold.
template <typename Length>
CsrMatrix empty_rows(Index rows, Index columns, double expected_nonzeros, const Length& length) {
    check_generator_memory(rows, expected_nonzeros, 0);
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.row_offsets.resize(static_cast<std::size_t>(rows) + 1);
    Kokkos::parallel_for("lengths", Rows(0, rows), [&](Index row) { matrix.row_offsets[row + 1] = length(row); });
    for (Index row = 0; row < rows; ++row) matrix.row_offsets[row + 1] += matrix.row_offsets[row];
    check_generator_memory(rows, static_cast<double>(matrix.nonzeros()), 0);
    matrix.column_indices.resize(matrix.nonzeros());
    matrix.values.resize(matrix.nonzeros());
    return matrix;
}

// ---- banded

struct Band {
    Index rows;
    Index width;              // columns on each side of the diagonal
    std::uint64_t threshold;  // of 53 bits: below it a place of the band is taken
    std::uint64_t seed;

    /// A place and its mirror image are taken alike.
    [[nodiscard]] bool takes(Index row, Index column) const {
        if (row == column) return true;
        const auto [first, second] = std::minmax(row, column);
        return mixed(random_stream(seed, static_cast<std::uint64_t>(first)).state + static_cast<std::uint64_t>(second)) >> 11 <
               threshold;
    }
    [[nodiscard]] Index begin(Index row) const { return row - std::min(row, width); }
    [[nodiscard]] Index end(Index row) const { return row + std::min(rows - 1 - row, width) + 1; }
};

CsrMatrix banded(const Parameters& parameters) {
    // Scaling by a power of two is exact.
    const auto threshold = static_cast<std::uint64_t>(parameters.real("fill") * 0x1p53);
    const Band band{static_cast<Index>(parameters.integer("rows")), static_cast<Index>(parameters.integer("bandwidth")),
                    threshold, seed_of(parameters)};
    // Every place is looked at, taken or not: a band that would not fit if it were full is refused.
    const double width = std::min(band.width, band.rows - 1);
    const double places = band.rows * (2 * width + 1) - width * (width + 1);
    CsrMatrix matrix = empty_rows(band.rows, band.rows, places, [&band](Index row) {
        Offset length = 0;
        for (Index column = band.begin(row); column < band.end(row); ++column) length += band.takes(row, column) ? 1 : 0;
        return length;
    });
    Kokkos::parallel_for("banded", Rows(0, band.rows), [&](Index row) {
        Offset place = matrix.row_offsets[row];
        for (Index column = band.begin(row); column < band.end(row); ++column) {
            if (!band.takes(row, column)) continue;
            matrix.column_indices[place] = column;
            matrix.values[place++] = row == column ? static_cast<double>(matrix.row_length(row)) : -1.0;
        }
    });
    return matrix;
}

// ---- rows of random lengths

/// So many different columns, each choice of them equally likely, in ascending order.
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

void fill_row(CsrMatrix& matrix, Index row, std::uint64_t seed) {
    thread_local std::vector<Index> chosen;
    const Offset begin = matrix.row_offsets[row];
    const Offset length = matrix.row_length(row);
    const RandomStream random = random_stream(mixed(seed), static_cast<std::uint64_t>(row));
    // Of a row that is nearly full, the columns that are left out are drawn: drawing the last ones would take too long.
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

template <typename Length>
CsrMatrix random_rows(const Parameters& parameters, double mean, const Length& length) {
    const auto rows = static_cast<Index>(parameters.integer("rows"));
    const Index columns = parameters.has("columns") ? static_cast<Index>(parameters.integer("columns")) : rows;
    const std::uint64_t seed = seed_of(parameters);
    CsrMatrix matrix = empty_rows(rows, columns, rows * std::min<double>(mean, columns), [&](Index row) {
        return length(random_stream(seed, static_cast<std::uint64_t>(row)), columns);
    });
    guarded_for("random_rows", Rows(0, rows), [&](Index row) { fill_row(matrix, row, seed); });
    return matrix;
}

CsrMatrix random_uniform(const Parameters& parameters) {
    const std::int64_t shortest = parameters.integer("shortest");
    const std::int64_t longest = parameters.integer("longest");
    const std::int64_t columns = parameters.integer(parameters.has("columns") ? "columns" : "rows");
    if (longest < shortest) {
        throw ParameterError("longest", fmt::format("found {}; expected at least shortest, {}", longest, shortest));
    }
    if (longest > columns) {
        throw ParameterError("longest", fmt::format("found {}; expected at most the columns, {}", longest, columns));
    }
    return random_rows(parameters, static_cast<double>(shortest + longest) / 2, [=](RandomStream random, Index) {
        return shortest + static_cast<Offset>(random.below(static_cast<std::uint64_t>(longest - shortest + 1)));
    });
}

/// Of mean 0 and deviation 1: the sum of twelve uniform numbers less 6, within -6 and 6. No function of the C library is used:
/// the bits are the same everywhere.
double nearly_normal(RandomStream& random) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t two = random.next();
        sum += (two >> 32) + (two & 0xFFFFFFFF);
    }
    return static_cast<double>(sum) * 0x1p-32 - 6;
}

CsrMatrix random_normal(const Parameters& parameters) {
    const double mean = parameters.real("mean");
    const double deviation = parameters.real("deviation");
    return random_rows(parameters, mean, [=](RandomStream random, Index columns) {
        const double length = std::floor(mean + deviation * nearly_normal(random) + 0.5);
        return static_cast<Offset>(std::clamp(length, 0.0, static_cast<double>(columns)));
    });
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

ParameterDeclaration real_parameter(const std::string& name, std::optional<double> default_value, double maximum,
                                    const std::string& help) {
    ParameterDeclaration declaration;
    declaration.name = name;
    declaration.type = ParameterType::real;
    if (default_value) declaration.default_value = *default_value;
    declaration.minimum = 0;
    declaration.maximum = maximum;
    declaration.help = help;
    return declaration;
}

ParameterDeclaration rows_parameter() { return integer_parameter("rows", 1, most, "rows, and columns where these are absent"); }

ParameterDeclaration columns_parameter() {
    ParameterDeclaration declaration = integer_parameter("columns", 1, most, "columns; as rows where absent");
    declaration.optional = true;
    return declaration;
}

ParameterDeclaration degree_parameter() {
    ParameterDeclaration declaration = integer_parameter(
        "degree", 1, 1 << 20, "edges over vertices; edges at one place are summed, so that there are fewer nonzeros");
    declaration.default_value = std::int64_t{16};
    return declaration;
}

}  // namespace

std::vector<GeneratorEntry> random_generators() {
    return {
        {"banded",
         "a band around the diagonal, full or with random gaps; symmetric positive definite: -1, and a row's length on the "
         "diagonal",
         {integer_parameter("rows", 1, most, "rows and columns"),
          integer_parameter("bandwidth", 0, most, "places on each side of the diagonal"),
          real_parameter("fill", 1.0, 1, "share of the places beside the diagonal that are taken"), seed_parameter()},
         banded},
        {"random_uniform",
         "rows of random lengths, uniform between two bounds; columns anywhere, values from 1 to 9",
         {rows_parameter(), columns_parameter(), integer_parameter("shortest", 0, most, "nonzeros of a row, at least"),
          integer_parameter("longest", 0, most, "nonzeros of a row, at most"), seed_parameter()},
         random_uniform},
        {"random_normal",
         "rows of random lengths, as good as normally distributed; columns anywhere, values from 1 to 9",
         {rows_parameter(), columns_parameter(), real_parameter("mean", {}, static_cast<double>(most), "mean length of a row"),
          real_parameter("deviation", {}, static_cast<double>(most),
                         "standard deviation of the lengths, before they are rounded and kept between 0 and the columns"),
          seed_parameter()},
         random_normal},
        {"rmat",
         "a random graph by recursion (R-MAT): few vertices with many edges, many with few; the value is the number of edges",
         {integer_parameter("scale", 0, 30, "there are 2^scale rows"), degree_parameter(),
          real_parameter("a", 0.57, 1, "share of the edges in the upper left quarter, and of them again, and so on"),
          real_parameter("b", 0.19, 1, "the same for the upper right"),
          real_parameter("c", 0.19, 1, "and for the lower left; the rest is for the lower right"), seed_parameter()},
         rmat},
    };
}

}  // namespace workbench
