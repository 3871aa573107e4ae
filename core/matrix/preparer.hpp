// The preprocessing steps of stages and layouts that a GPU can do instead of the host.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/cuts.hpp"
#include "core/matrix/interface.hpp"
#include "core/matrix/permutation.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// A stable sort of items by group, and by key within a group.
struct SortTask {
    std::span<const Index> keys;    // [items] >= 0
    std::span<const Index> groups;  // [items] >= 0; empty: there is one group
    bool descending = false;        // applies to keys; groups always ascend
};

/// Placement of rows by a hash of their lengths (core/matrix/length_hash.hpp), in one or more tables.
struct HashTask {
    std::span<const Index> lengths;  // [rows of all tables] table by table
    std::span<const Offset> first;   // [tables + 1] the first row of each table
    Index sample = 1;                // rows per table to which its hash is fitted
};

/// The criterion that selects the entries of the first of two shares.
struct Division {
    enum class By {
        partition,  // row and column are in the same partition
        place,      // fewer than `most` entries precede it in its row
        length,     // its row has more than `most` entries
        distance,   // |column - row| <= most
        mark,       // it is marked
    };
    By by = By::mark;
    std::int64_t most = 0;
    std::span<const Index> piece_of = {};        // [rows] By::partition: the partition of each row and column
    std::span<const unsigned char> marked = {};  // [nonzeros of the matrix] By::mark
};

/// The entries of a view in two shares.
struct DividedEntries {
    HostArray<Index> lengths;                  // [stored rows of the view] entries in the first share
    std::array<HostArray<Offset>, 2> entries;  // as Share::entries
};

/// The places of a slice, [begin, begin + count), and its group, whose first column its columns are relative to.
struct SlicePlaces {
    Index group = 0;
    Index begin = 0;
    Index count = 0;
};

/// Slices of rows to fill (kernels/common/schemes/slices.hpp). All slots are zero beforehand.
struct SliceTask {
    const CsrMatrix& matrix;
    const ShareView& share;
    Index slice_height = 0;
    std::span<const SlicePlaces> places;    // [slices]
    std::span<const Offset> slice_offsets;  // [slices + 1]
    std::span<const Index> stored_rows;     // [places] the row of the share, -1: none; empty: place i holds row i
    std::span<const Index> column_bounds;   // [groups + 1]
    std::span<std::byte> columns;           // [slots] of column_bytes each: 2 (unsigned) or 4
    std::span<std::byte> values;            // [slots] of value_bytes each: 4 (f32) or 8 (f64)
    int column_bytes = sizeof(Index);
    int value_bytes = sizeof(double);
};

/// An order by levels of a graph.
struct LevelOrder {
    std::vector<Index> old_of_new;  // [rows]
    Index components = 0;           // connected components
};

/// A step that a preparer has done, for the report.
struct PreparedStep {
    std::string what;             // "rows sorted"
    double seconds = 0;           // including transfers
    double transfer_seconds = 0;  // in both directions
};

/// Does preprocessing for stages, `apply` and layouts. Each function may return nothing, for example where memory is short; the
/// caller then does the work on the host. Results are bit-identical to the host's. Called by one thread at a time, outside
/// parallel loops.
class Preparer : public Interface {
public:
    /// The name of the device, for reports.
    [[nodiscard]] virtual std::string name() const = 0;

    /// The items in their new order. [items]
    [[nodiscard]] virtual std::optional<std::vector<Index>> sort(const SortTask&) { return std::nullopt; }

    /// The row in each slot, relative to the first row of its table (place_by_hash of stages/length_hash.hpp). [rows]
    [[nodiscard]] virtual std::optional<std::vector<Index>> place_by_hash(const HashTask&) { return std::nullopt; }

    /// The order of the stage cuthill_mckee for a square matrix with one unknown a mesh node. Returns nothing if the pattern is
    /// not symmetric, or if the host is faster.
    [[nodiscard]] virtual std::optional<LevelOrder> cuthill_mckee(const CsrMatrix&, bool /*reversed*/) { return std::nullopt; }

    /// P A Q^T, like `permute` of csr_matrix.hpp.
    [[nodiscard]] virtual std::optional<CsrMatrix> permute(const CsrMatrix&, const Permutation& /*row_order*/,
                                                           const Permutation& /*column_order*/) {
        return std::nullopt;
    }

    /// Divides the entries of a view of the matrix into two shares.
    [[nodiscard]] virtual std::optional<DividedEntries> divide(const CsrMatrix&, const ShareView&, const Division&) {
        return std::nullopt;
    }

    /// Like split_into_tiles of stages/tile_split.hpp. Where host memory is short it returns nothing, because the host's error
    /// message has the figures.
    [[nodiscard]] virtual std::optional<std::vector<Share>> split_into_tiles(const CsrMatrix&, const Cuts* /*row_blocks*/,
                                                                             const Cuts& /*segments*/) {
        return std::nullopt;
    }

    /// Fills slices, and returns the number of entries outside the columns of their group.
    [[nodiscard]] virtual std::optional<std::int64_t> fill_slices(const SliceTask&) { return std::nullopt; }

    /// The steps since the last call, in order.
    [[nodiscard]] virtual std::vector<PreparedStep> take_steps() = 0;
};

}  // namespace workbench
