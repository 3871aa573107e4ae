// Forecasts: what stages and layouts state about a matrix before they run, from the lengths of its rows and from samples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/precision.hpp"
#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The quality of a graph partition.
struct PartitionForecast {
    std::int64_t parts = 1;
    double inside = 1;    // fraction of the nonzeros whose row and column are in one part
    double halo = 0;      // columns outside of a part that its rows have, per row
    bool stored = false;  // measured after the stage, not estimated

    friend bool operator==(const PartitionForecast&, const PartitionForecast&) = default;
};

/// Counts something in the lengths of rows, such as the slots of slices of some height.
using CountLengths = Offset (*)(std::span<const Offset> lengths, Index parameter);

/// By counting, which takes linear time unless a row is longer than there are rows.
[[nodiscard]] std::vector<Offset> ascending_lengths(std::span<const Offset> lengths);

class KnownChanges;
class PatternForecast;
using ChangePattern = std::function<void(PatternForecast&)>;

/// The pattern of a matrix, or of a share of its nonzeros, in the order of a stage. The lengths of all rows are known. Columns
/// are counted in samples: windows of consecutive rows, or all rows of a small matrix, whose counts are then exact. Copies
/// share their arrays and counts. Several threads may use copies, or one constant forecast, at once.
class PatternForecast {
public:
    /// The input of a recipe. The matrix must outlive all forecasts that are made from it.
    explicit PatternForecast(const CsrMatrix& input, Index node_size = 1);
    /// The matrix after stages, with its orders, partition and shares. `input` is the matrix before them.
    PatternForecast(const CsrMatrix& input, const StagedMatrix& staged);

    [[nodiscard]] Index rows() const;
    [[nodiscard]] Index columns() const { return input_->columns; }
    [[nodiscard]] Offset nonzeros() const { return nonzeros_; }
    [[nodiscard]] Index node_size() const { return node_size_; }
    [[nodiscard]] bool square() const { return input_->square(); }
    [[nodiscard]] const std::optional<PartitionForecast>& partition() const { return partition_; }
    /// [rows] in the current order.
    [[nodiscard]] std::span<const Offset> lengths() const;
    [[nodiscard]] Offset longest_row() const;
    /// count(lengths, parameter), kept with the lengths: the copies of a forecast count once.
    [[nodiscard]] Offset of_lengths(CountLengths count, Index parameter) const;
    [[nodiscard]] double mean_length() const;

    /// True if no order was estimated.
    [[nodiscard]] bool order_is_known() const { return locality_ == 1; }
    /// True if the samples are all rows, in a known order: counts are exact.
    [[nodiscard]] bool is_exact() const;

    /// The sectors of x, of 32 bytes, that groups of consecutive rows read, summed over the groups. By default the groups are
    /// the rows of a sample, which are about those whose x the L1 cache of a multiprocessor keeps.
    [[nodiscard]] double sectors(Precision precision, Index group_rows = 0) const;
    /// The blocks of height x width, counted from the first row and column, that hold a nonzero.
    [[nodiscard]] Offset blocks(Index height, Index width) const;
    /// The blocks of each sampled row of blocks, for square blocks. [sampled rows of blocks]
    [[nodiscard]] const std::vector<Offset>& blocks_of_rows(Index size) const;
    /// The fraction of the groups of this number of consecutive rows whose columns reach over more than 65536.
    [[nodiscard]] double wide_groups(Index group_rows) const;
    /// The first and the last diagonal (column - row) that hold a nonzero, and the number of such diagonals. At least.
    struct Diagonals {
        Offset first = 0;
        Offset last = 0;
        Offset count = 0;
    };
    [[nodiscard]] Diagonals diagonals() const;
    /// The longest column, among the columns of the samples, extrapolated.
    [[nodiscard]] Offset longest_column() const;
    /// True if the sampled nonzeros a_ij have equal mirrors a_ji.
    [[nodiscard]] bool symmetric() const;

    /// The share, or this forecast if there is none of this kind.
    [[nodiscard]] const PatternForecast& share(ShareKind kind) const;

    /// True if both share their lengths, orders, samples, partition and shares. The quality of an unknown order may differ.
    [[nodiscard]] bool same_pattern(const PatternForecast& other) const;

    /// Applies a change of a stage. Forecasts of the same pattern share the result, which `known` keeps; the change must not
    /// depend on the quality of an unknown order. If it throws, this forecast is unchanged.
    void change_once(const ChangePattern& change, KnownChanges& known);

    // Stages use the following functions.

    /// A matrix with the lengths of the rows and without columns or values, as before a stage that reads none of them.
    [[nodiscard]] StagedMatrix skeleton() const;

    /// A known order of rows, and of columns if `symmetric` and the matrix is square: old_of_new [rows].
    void permute(std::span<const Index> old_of_new, bool symmetric);
    /// An order that is not known: the stage must run to find it. `locality`: the sectors that rows read then, relative to now.
    void reorder(double locality);
    void set_node_size(Index node_size) { node_size_ = node_size; }
    /// Estimates a partition into this many parts: breadth-first balls of their size around a few rows.
    void set_partition(std::int64_t parts);
    /// A share whose stored rows have these lengths.
    void add_share(ShareKind kind, std::vector<Offset> lengths);
    /// Sorts the stored rows of a share by their lengths.
    void sort_share(ShareKind kind, bool descending);

private:
    struct Samples;
    struct Lengths;
    struct Input;

    [[nodiscard]] const Samples& samples() const;
    [[nodiscard]] double per_sample(double count) const;
    /// The distinct values of column / width in each group of `height` sampled rows.
    [[nodiscard]] const std::vector<Offset>& groups(Index height, Index width) const;
    /// Their sum, in proportion for all nonzeros.
    [[nodiscard]] double distinct(Index height, Index width) const;

    void set_locality(double locality);

    const CsrMatrix* input_;
    std::shared_ptr<Input> of_input_;
    std::shared_ptr<Lengths> lengths_;
    std::shared_ptr<const std::vector<Index>> row_order_;     // old_of_new; null: the input's
    std::shared_ptr<const std::vector<Index>> column_order_;  // new_of_old; null: the input's
    Offset nonzeros_ = 0;
    Index node_size_ = 1;
    double locality_ = 1;
    std::optional<PartitionForecast> partition_;
    std::vector<std::pair<ShareKind, PatternForecast>> shares_;
    mutable std::shared_ptr<Samples> samples_;
};

/// The results of one change for the patterns to which it was applied. Several threads may use it at once.
class KnownChanges {
public:
    KnownChanges();
    ~KnownChanges();

    [[nodiscard]] std::size_t size() const;

private:
    friend class PatternForecast;
    struct Change;

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<Change>> changes_;
};

/// The cost of a product with a layout, predicted before the layout is built.
struct LayoutCost {
    Offset slots = 0;               // including padding
    std::int64_t array_bytes = 0;   // Layout::array_bytes
    std::int64_t vector_bytes = 0;  // of x and y
    std::int64_t unread_bytes = 0;  // of padding that the layout's kernels skip
    bool exact = false;             // the bytes follow from what is known; otherwise they are estimated
    double sectors = 0;             // of x, of 32 bytes, that warps look up in the L2 cache of a GPU
    int launches = 1;
    Offset chain = 0;             // the most slots that one thread of a GPU reads one after another
    double bandwidth = 1;         // that a GPU reaches while it reads the arrays, relative to copying
    std::string unsuitable = {};  // the reason why the layout will refuse the matrix; empty: none is known

    /// The bytes that a product moves at least.
    [[nodiscard]] std::int64_t bytes() const { return array_bytes + vector_bytes - unread_bytes; }
};

}  // namespace workbench
