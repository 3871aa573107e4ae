// Work of stages and layouts that another machine than the host's cores may do: the seam at which a GPU takes over.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/cuts.hpp"
#include "pipeline/matrix/permutation.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// Things to be put in the order of their groups and, in a group, of their keys; equals keep their order.
struct SortTask {
    std::span<const Index> keys;    // [things] >= 0
    std::span<const Index> groups;  // [things] >= 0; empty: all are of one group
    bool descending = false;        // of the keys; groups always ascend
};

/// Rows to be placed by the hash of their lengths, each table by itself (pipeline/matrix/length_hash.hpp).
struct HashTask {
    std::span<const Index> lengths;  // [rows] of all tables, one after the other
    std::span<const Offset> first;   // [tables + 1] the first row of each
    Index sample = 1;                // rows of a table that its hash is fitted to
};

/// Which entries go into the first of two shares.
struct Division {
    enum class By {
        partition,  // those whose row and column lie in one piece
        place,      // those with fewer than `most` entries before them in their row
        length,     // those in rows of more than `most` entries
        distance,   // those with |column - row| <= most
        mark,       // those that are marked
    };
    By by = By::mark;
    std::int64_t most = 0;
    std::span<const Index> piece_of = {};        // [rows] partition: of each row and column
    std::span<const unsigned char> marked = {};  // [nonzeros of the matrix]
};

/// A view's entries in two shares; which rows those list follows from the lengths.
struct DividedEntries {
    HostArray<Index> lengths;                  // [stored rows of the view] entries in the first share
    std::array<HostArray<Offset>, 2> entries;  // as Share::entries
};

/// The places that a slice holds, [begin, begin + count), and whose columns it counts from.
struct SlicePlaces {
    Index group = 0;
    Index begin = 0;
    Index count = 0;
};

/// Slices of rows to be filled, as kernels/common/storage/slices.hpp describes them. All slots are zero beforehand.
struct SliceTask {
    const CsrMatrix& matrix;
    const ShareView& share;
    Index slice_height = 0;
    std::span<const SlicePlaces> places;    // [slices]
    std::span<const Offset> slice_offsets;  // [slices + 1]
    std::span<const Index> stored_rows;     // [places] which row of the share, or -1; empty: place i holds row i
    std::span<const Index> column_bounds;   // [groups + 1]
    std::span<std::byte> columns;           // [slots] of column_bytes each: 2 (unsigned), or 4
    std::span<std::byte> values;            // [slots] of value_bytes each: 4 (f32), or 8
    int column_bytes = sizeof(Index);
    int value_bytes = sizeof(double);
};

/// A piece of work that was done, for the report.
struct PreparedStep {
    std::string what;             // "rows sorted"
    double seconds = 0;           // with the transfers
    double transfer_seconds = 0;  // there and back
};

/// Does some of the work of stages, of `apply` and of layouts. Everything is an offer: where a preparer answers with nothing,
/// be it that it cannot or that it lacks memory, who asked does the work itself on the host. What it gives is the same to the
/// bit as what the host would have made. Called by one thread at a time, and not within a parallel loop.
class Preparer {
public:
    Preparer() = default;
    Preparer(const Preparer&) = delete;
    Preparer& operator=(const Preparer&) = delete;
    virtual ~Preparer() = default;

    /// The machine that does it, for a report.
    [[nodiscard]] virtual std::string name() const = 0;

    /// The things in their new order. [things]
    [[nodiscard]] virtual std::optional<std::vector<Index>> sort(const SortTask&) { return std::nullopt; }

    /// The row in each place, counted from the first of its table: LengthHash of stages/length_hash.hpp. [rows]
    [[nodiscard]] virtual std::optional<std::vector<Index>> place_by_hash(const HashTask&) { return std::nullopt; }

    /// P A Q^T, as `permute` gives it.
    [[nodiscard]] virtual std::optional<CsrMatrix> permute(const CsrMatrix&, const Permutation& /*row_order*/,
                                                           const Permutation& /*column_order*/) {
        return std::nullopt;
    }

    /// The entries of a view of the matrix in two shares.
    [[nodiscard]] virtual std::optional<DividedEntries> divide(const CsrMatrix&, const ShareView&, const Division&) {
        return std::nullopt;
    }

    /// As split_into_tiles (stages/tile_split.hpp). Leaves what lacks host memory to the host, whose error is better.
    [[nodiscard]] virtual std::optional<std::vector<Share>> split_into_tiles(const CsrMatrix&, const Cuts* /*row_blocks*/,
                                                                             const Cuts& /*segments*/) {
        return std::nullopt;
    }

    /// How many entries lie outside the columns of their group.
    [[nodiscard]] virtual std::optional<std::int64_t> fill_slices(const SliceTask&) { return std::nullopt; }

    /// What was done since this was asked last, in order.
    [[nodiscard]] virtual std::vector<PreparedStep> take_steps() = 0;
};

}  // namespace workbench
