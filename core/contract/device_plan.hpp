// The plan of a recipe that a device carries out in its own memory (planned_matrix.hpp), from the matrix to the kernel: the
// host only launches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/contract/parameters.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

struct DeviceProperties;  // device.hpp
struct StageContext;      // stage.hpp
struct ValueFacts;        // value_facts.hpp

// ---- The steps that stages declare (StageEntry::on_device). Orders are of rows and columns alike unless they say otherwise.

/// From this step on, orders move whole nodes: groups of `rows` consecutive rows.
struct KeepNodes {
    Index rows = 0;  // of a node; 0: as in the plan so far, else found by nodes_of_fewest_bytes (node_size.hpp)
};

/// Numbers the vertices by levels, as the stage cuthill_mckee.
struct OrderByLevels {
    bool reversed = true;
};

/// Sorts the vertices by the number of their neighbours, stably.
struct SortByDegree {
    bool descending = true;
};

/// An order, parts or both, as the host finds them.
struct GivenOrder {
    std::vector<Index> old_of_new;  // [rows, or columns] nodes stay together; empty: the natural order
    std::vector<Index> partition;   // the boundaries of new parts; empty: there are none
    std::vector<std::pair<std::string, std::string>> notes = {};  // as those of StageResult
    double seconds = 0;                                           // of finding it, in this run or an earlier one
};

/// Takes an order from a stage that the host runs.
struct TakeOrder {
    /// The matrix is in the order so far, with the values as they are stored. Throws what the stage throws.
    std::function<GivenOrder(const StagedMatrix&, const StageContext&)> find;
    bool reads_entries = true;  // false: the matrix comes with the offsets of its rows alone
    bool has_parts = false;     // are there boundaries of new parts?
    bool needs_parts = false;   // of an earlier step
    bool keeps_parts = false;   // each row stays in its part of those so far
    Acts acts = Acts::symmetric;
};

/// Numbers the rows by levels in reverse, and cuts them into parts of about equal weight.
struct CutLevels {
    Parameters parameters;    // for plan_parts and row_weight (partition_plan.hpp)
    std::string stage;        // that they belong to
    bool keeps_parts = true;  // false: only the order
};

/// What rows are placed by. similarity: the rank of a signature of their columns (stages/column_keys.hpp).
enum class RowKey { nonzeros, inside_partition, first_column, span, similarity };

[[nodiscard]] constexpr bool depends_on_columns(RowKey key) {
    return key == RowKey::first_column || key == RowKey::span || key == RowKey::similarity;
}

/// How rows are placed by a key.
struct RowPlacing {
    std::optional<Index> window;  // rows of a window, within which they are sorted; none: all of a group
    bool descending = true;
    Index sample = 0;  // they are hashed, ascending: the rows of a group to which the hash is fitted; 0: sorted, stably
    RowKey key = RowKey::nonzeros;
};

/// Places nodes by their longest row, or by another key.
struct SortRows : RowPlacing {
    bool within_partition = false;  // each part is a group; otherwise all nodes are one
    Acts acts = Acts::symmetric;
};

/// By what nonzeros are divided into shares: their row, column, diagonal (column - row + rows - 1), place in their row, or
/// place in the matrix; or whether row and column are in the same part.
enum class SplitKey { row, column, diagonal, place, nonzero, inside_partition };

/// What a table depends on beside the lengths of rows.
enum class SplitReads { nothing, counts, columns, values };

/// What is known of a matrix, or of a share, whose nonzeros are divided.
struct SplitFacts {
    const ShareView& view;                  // of its rows
    const CsrMatrix& matrix;                // of which columns and values are there if SplitNonzeros::reads says so
    std::span<const Index> partition = {};  // the boundaries of the parts; empty: there are none
    std::span<const Offset> counts = {};    // [keys] the nonzeros with each; likewise
};

/// The number of the share of each key.
struct SplitTable {
    std::vector<std::uint8_t> shares;  // [keys] rows are those of SplitFacts::view
    std::vector<std::pair<std::string, std::string>> notes = {};
};

/// Divides the nonzeros into shares.
struct SplitNonzeros {
    std::vector<ShareKind> shares = {ShareKind::inside, ShareKind::outside};
    SplitKey key = SplitKey::inside_partition;  // the first share has those whose row and column are in the same part
    std::function<SplitTable(const SplitFacts&)> table = {};  // for all other keys; throws what the stage throws
    SplitReads reads = SplitReads::nothing;                   // counts: of columns or diagonals
    bool needs_parts = true;
    ShareId parent = {};  // the share that is divided; all: the matrix
};

/// Sorts the stored rows of shares by their nonzeros, stably.
struct SortShare : RowPlacing {
    ShareChoice share = {.kind = ShareKind::outside};
    bool within_partition = false;
};

/// Cuts the rows into blocks, for tiles.
struct CutRows {
    std::function<std::vector<Index>(Index rows, const std::vector<Index>& partition)> boundaries;
    bool within_partition = false;  // blocks begin anew in each part, of which `partition` has the boundaries
};

/// Cuts the columns into segments, and divides the nonzeros by tiles.
struct CutColumns {
    std::function<std::vector<Index>(Index columns, const StageContext&)> boundaries;  // throws what the stage throws
};

/// Places the rows of each tile, or of one, by its nonzeros.
struct PlaceInTiles : RowPlacing {
    struct Tile {
        Index row_block = 0;
        Index segment = 0;
    };
    std::optional<Tile> only;
};

using DeviceStep = std::variant<KeepNodes, OrderByLevels, SortByDegree, TakeOrder, CutLevels, SortRows, SplitNonzeros,
                                SortShare, CutRows, CutColumns, PlaceInTiles>;

// ---- The storage that layouts declare (LayoutEntry::on_device). Values are stored in full unless it says otherwise.

/// How values are stored, as the parameter `values` of a layout says; `auto` is replaced before (DevicePlan::settle).
enum class DeviceValues { full, one, by_row, by_column, dictionary, f32, rounded_f32, rounded_bf16 };

/// The columns of slices. automatic: of 32 bits if many slices would be wide.
enum class DeviceColumns { of_32_bits, of_16_bits, in_words, automatic };

/// All rows, one after another without padding.
struct WholeRows {
    bool short_columns = false;    // of 16 bits, counted from the first of their row; otherwise of 32
    bool values_of_lines = false;  // equal values may be those of each row or column
    Index threads_per_row = 0;     // 0: chosen by the mean length of a row
    DeviceValues values = DeviceValues::full;
};

/// All rows, each padded to the longest.
struct PaddedRows {
    bool row_major = false;        // the slots of a row are neighbours; otherwise the k-th slots of all rows are
    bool with_lengths = false;     // the lengths of the rows are stored beside them
    Index threads_per_row = 1;     // if its slots are neighbours; 0: chosen by the mean length
    double slots_per_nonzero = 0;  // the most
    DeviceValues values = DeviceValues::full;
};

/// Slices of all rows.
struct RowSlices {
    Index slice_height = 0;     // 0: as many rows as a warp has
    Index threads_per_row = 0;  // 0: chosen by the slice height and the mean length of a row
    Index split_length = 0;     // entries of a row
    DeviceColumns columns = DeviceColumns::of_32_bits;
    bool with_lengths = false;  // the lengths of the rows are stored beside them
    DeviceValues values = DeviceValues::full;
};

/// Slices of all rows of square blocks, with columns of 16 bits, and a row of blocks for each lane of a warp.
struct BlockSlices {
    Index block_size = 0;          // rows; 0: those of a node
    Index threads_per_row = 0;     // 0: chosen
    double slots_per_nonzero = 0;  // the most, before blocks are padded to slices
    DeviceValues values = DeviceValues::full;
};

/// Slices of the rows inside each part, and of the rows outside; for the fused kernel.
struct PartSlices {
    bool short_columns = true;  // of 16 bits inside the parts; otherwise of 32
};

/// Batches of the rows of each tile, stored step by step (hbp).
struct TileBatches {
    Index row_limit = 0;    // nonzeros of a stored row
    Index chunk_limit = 0;  // nonzeros of a chunk of several batches
    double fixed_share = 0;
    std::optional<bool> short_columns;  // of 16 bits, counted from the least of their chunk; none: if 16 bits suffice
};

/// Nothing: there are orders and parts, but no kernel.
struct OrdersAlone {};

using DeviceStorage = std::variant<WholeRows, PaddedRows, RowSlices, BlockSlices, PartSlices, TileBatches, OrdersAlone>;

/// The storage for a matrix with these values, of the same kind, or nothing if the host makes it. Empty: the storage as it is.
using SettleStorage = std::function<std::optional<DeviceStorage>(const ValueFacts&)>;

/// The storage of one share of the nonzeros, and the kernel that reads it.
struct StoredShare {
    ShareId share;
    DeviceStorage storage;
    SettleStorage settle = {};  // for its values
    std::string kernel;
};

/// What a stage declares, and its version of the host, which replaces it where a device declines the pattern.
struct PlanStep {
    std::string stage;  // its id
    DeviceStep step;
    std::optional<TakeOrder> on_host = {};
};

/// A recipe for a device.
struct DevicePlan {
    Index node_size = 1;                      // before the first step
    const DeviceProperties* model = nullptr;  // that the recipe names; null: the device that carries out the plan
    std::vector<PlanStep> steps;
    DeviceStorage storage;
    SettleStorage settle;
    std::string kernel;               // that reads the storage
    std::vector<StoredShare> shares;  // instead of both, in a hybrid
    bool side_by_side = false;        // their kernels, see HybridKernel

    [[nodiscard]] const std::string& kernel_of(std::size_t share) const {
        return shares.empty() ? kernel : shares.at(share).kernel;
    }

    /// The reason why no device carries out the plan, whatever the matrix; empty: one may.
    [[nodiscard]] std::string refusal() const;

    /// May a matrix have other numbers of rows and columns?
    [[nodiscard]] bool suits_any_shape() const;
};

}  // namespace workbench
