// Sorts rows by length, so that sliced layouts have less padding.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/forecast/forecast.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_array.hpp"
#include "stages/column_keys.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// The parameters of the stage. Throws ParameterError where they contradict each other.
struct SortRequest {
    std::string within;
    bool inside_partition = false;     // the key counts only nonzeros inside the partition
    std::optional<ColumnKey> columns;  // how the key depends on columns; none if it depends on lengths
    bool descending = true;
    std::optional<std::int64_t> window;  // rows
    std::optional<ShareChoice> storage;  // the shares whose storage is sorted; none if the matrix is sorted

    explicit SortRequest(const Parameters& parameters)
        : within(parameters.text("within")),
          inside_partition(parameters.text("key") == "nonzeros_inside_partition"),
          columns(column_key(parameters.text("key"))),
          descending(descends(parameters)) {
        if (parameters.has("window")) window = parameters.integer("window");
        if (window && within == "all") {
            throw ParameterError(
                "window", "window needs within = \"window\", \"partition\", \"segment\" or \"tile\", but within is \"all\"");
        }
        if (!window && within == "window") {
            throw ParameterError("window", "within = \"window\" needs window, a number of rows");
        }
        if (parameters.has("share") && parameters.has("apply")) {
            throw ParameterError("apply", "apply reorders the matrix, but share reorders the storage of a share");
        }
        if (within_tiles()) require_order_of_storage(parameters);
        if (within_tiles()) storage = share_choice(within);
        if (parameters.has("share")) storage = parameters.share("share");
    }

    [[nodiscard]] bool within_partition() const { return within == "partition"; }
    [[nodiscard]] bool within_tiles() const { return within == "segment" || within == "tile"; }

private:
    void require_order_of_storage(const Parameters& parameters) const {
        for (const std::string name : {"apply", "share"}) {
            if (!parameters.has(name)) continue;
            throw ParameterError(name,
                                 "within = \"" + within + "\" sorts the storage of every " + within + ", without " + name);
        }
        if (inside_partition) {
            throw ParameterError("key", "within = \"" + within + "\" sorts by the nonzeros of a row in the " + within +
                                            ", expected another key");
        }
    }
};

StageContract row_sort_contract(const Parameters& parameters) {
    const SortRequest request(parameters);
    StageContract contract;
    if (!request.storage) {
        contract = contract_of_order(parameters);
        if (request.within_partition()) contract.keeps = {CutKind::partition};
    } else {
        contract.needs.shares = {*request.storage};
    }
    if (request.within == "tile") contract.needs.cuts = {CutKind::row_block};
    if (request.within_tiles()) contract.needs.cuts.push_back(CutKind::segment);
    if (request.within_partition() || request.inside_partition) contract.needs.cuts = {CutKind::partition};
    return contract;
}

/// The keys and groups by which the rows of a view are sorted.
class RowSorter {
public:
    RowSorter(const StagedMatrix& staged, const SortRequest& request) : matrix_(staged.matrix), request_(request) {
        if (request.within_partition() || request.inside_partition) {
            piece_of_ = staged.find_cuts(CutKind::partition)->pieces();
        }
    }

    /// The sorted order of the rows, where nodes are sorted by their longest row. Within a parallel loop: serial.
    [[nodiscard]] Permutation sort(const ShareView& view, Index node_size, bool in_parallel) const {
        const std::vector<Index> keys = keys_of_nodes(view, node_size, in_parallel);
        std::vector<Index> groups;
        if (request_.within_partition() || request_.window) groups = groups_of_nodes(view, node_size);
        const SortTask task{.keys = keys, .groups = groups, .descending = request_.descending};
        return expand(Permutation::from_old_of_new(sorted(task)), node_size);
    }

private:
    /// [nodes]
    [[nodiscard]] std::vector<Index> keys_of_nodes(const ShareView& view, Index node_size, bool in_parallel) const {
        if (request_.columns) return column_keys(*request_.columns, matrix_, view, node_size, in_parallel);
        return longest_of_nodes(
            request_.inside_partition ? lengths_inside_partition(view, in_parallel) : row_lengths(view, in_parallel),
            node_size);
    }

    template <typename Body>
    static void for_each_row(const ShareView& view, bool in_parallel, const Body& body) {
        if (in_parallel) {
            Kokkos::parallel_for("sort_keys", HostRange<>(0, view.row_count()), body);
        } else {
            for (Index i = 0; i < view.row_count(); ++i) body(i);
        }
    }

    /// [stored rows]
    static std::vector<Index> row_lengths(const ShareView& view, bool in_parallel) {
        std::vector<Index> lengths(view.row_count());
        for_each_row(view, in_parallel, [&](Index i) { lengths[i] = static_cast<Index>(view.length(i)); });
        return lengths;
    }

    /// [stored rows] The entries of each row whose column lies in the row's partition.
    [[nodiscard]] std::vector<Index> lengths_inside_partition(const ShareView& view, bool in_parallel) const {
        std::vector<Index> lengths(view.row_count(), 0);
        for_each_row(view, in_parallel, [&](Index i) {
            const Index piece = piece_of_[view.row(i)];
            for (Offset k = 0; k < view.length(i); ++k) {
                if (piece_of_[matrix_.column_indices[view.entry(i, k)]] == piece) ++lengths[i];
            }
        });
        return lengths;
    }

    /// [nodes] The group of each node, by its first row: its partition, or 0; with windows, the window within that group.
    [[nodiscard]] std::vector<Index> groups_of_nodes(const ShareView& view, Index node_size) const {
        std::vector<Index> groups(view.row_count() / node_size, 0);
        if (request_.within_partition()) {
            for (std::size_t node = 0; node < groups.size(); ++node) {
                groups[node] = piece_of_[view.row(static_cast<Index>(node) * node_size)];
            }
        }
        if (!request_.window) return groups;
        const Index pieces = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
        std::vector<std::int64_t> rows(pieces, 0);
        for (const Index piece : groups) rows[piece] += node_size;
        std::vector<Index> first_window(pieces, 0);
        for (Index piece = 1; piece < pieces; ++piece) {
            const std::int64_t windows = rows[piece - 1] == 0 ? 0 : (rows[piece - 1] - 1) / *request_.window + 1;
            first_window[piece] = first_window[piece - 1] + static_cast<Index>(windows);
        }
        std::fill(rows.begin(), rows.end(), 0);
        for (Index& group : groups) {
            const Index piece = group;
            group = first_window[piece] + static_cast<Index>(rows[piece] / *request_.window);
            rows[piece] += node_size;
        }
        return groups;
    }

    const CsrMatrix& matrix_;
    const SortRequest& request_;
    std::vector<Index> piece_of_;  // [rows] the partition of each row, if the request needs it
};

std::string no_such_share(const StagedMatrix& staged, const ShareId& id) {
    const std::string kind(name_of(id.kind));
    std::string count = std::to_string(staged.find_cuts(CutKind::segment)->count());
    if (id.kind == ShareKind::tile) count = std::to_string(staged.find_cuts(CutKind::row_block)->count()) + " x " + count;
    return "there is no share '" + name_of(id) + "' among " + count + " " + kind + "s, counted from 0; " + kind +
           "s without nonzeros have no share";
}

using Shares = UnevenHostRange<std::size_t>;

/// The order of storage of each requested share. Unlike an order of the matrix, it may split nodes.
std::vector<StorageOrder> sorted_storage(const StagedMatrix& staged, const SortRequest& request, const RowSorter& sorter) {
    std::vector<const Share*> shares;
    for (const Share& share : staged.shares) {
        if (request.storage->includes(share.id)) shares.push_back(&share);
    }
    if (request.storage->one && shares.empty()) throw Unsuitable(no_such_share(staged, *request.storage->one));
    std::vector<StorageOrder> orders(shares.size());
    const auto sort = [&](std::size_t i, bool in_parallel) {
        orders[i] = {shares[i]->id, sorter.sort(ShareView(*shares[i]), 1, in_parallel)};
    };
    if (shares.size() == 1) {
        sort(0, true);
        return orders;
    }
    guarded_for("sort_shares", Shares(0, shares.size()), [&](std::size_t i) { sort(i, false); });
    return orders;
}

/// Sorts without the entries. A key that counts entries inside the partition is taken for the length.
void foresee_row_sort(PatternForecast& pattern, const Parameters& parameters, const StageContext&) {
    SortRequest request(parameters);
    if (request.storage) return pattern.sort_share(request.storage->kind, request.descending);
    if (request.within_partition() && !pattern.partition()) return;  // the stage of the partition will report an error
    if (request.columns) return;                                     // only lengths of rows are foreseen
    request.inside_partition = false;
    const StagedMatrix skeleton = pattern.skeleton();
    const Permutation order = RowSorter(skeleton, request).sort(ShareView(skeleton.matrix), skeleton.node_size, true);
    pattern.permute(order.old_of_new(), axes_of(parameters) == Acts::symmetric);
}

StageResult run_row_sort(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const SortRequest request(parameters);
    const RowSorter sorter(staged, request);
    if (request.storage) return {.change = {.storage = sorted_storage(staged, request, sorter)}};
    Permutation order = sorter.sort(ShareView(staged.matrix), staged.node_size, true);
    return {.change = {.order = OrderChange{axes_of(parameters), std::move(order)}}};
}

std::optional<Index> rows_of_window(const SortRequest& request) {
    if (!request.window) return std::nullopt;
    return static_cast<Index>(std::min<std::int64_t>(*request.window, std::numeric_limits<Index>::max()));
}

RowPlacing placing_of(const SortRequest& request) {
    const RowKey key = !request.columns                            ? RowKey::nonzeros
                       : *request.columns == ColumnKey::span       ? RowKey::span
                       : *request.columns == ColumnKey::similarity ? RowKey::similarity
                                                                   : RowKey::first_column;
    return {.window = rows_of_window(request),
            .descending = request.descending,
            .sample = 0,
            .key = request.inside_partition ? RowKey::inside_partition : key};
}

/// The storage that a device sorts: that of a share, or of tiles.
std::optional<DeviceStep> sort_of_storage(const SortRequest& request) {
    const ShareChoice& choice = *request.storage;
    if (choice.kind == ShareKind::segment) return std::nullopt;
    if (choice.kind != ShareKind::tile) return SortShare{placing_of(request), choice, request.within_partition()};
    if (request.within_partition() || request.inside_partition) return std::nullopt;
    PlaceInTiles place{placing_of(request), {}};
    if (choice.one) place.only = {choice.one->row_block, choice.one->segment};
    return place;
}

/// On a device, the matrix is sorted, or the storage of shares is.
std::optional<DeviceStep> row_sort_on_device(const Parameters& parameters) {
    const SortRequest request(parameters);
    if (request.storage) return sort_of_storage(request);
    return SortRows{placing_of(request), request.within_partition(), axes_of(parameters)};
}

}  // namespace

StageEntry row_sort_stage() {
    return {
        .name = "row_sort",
        .summary =
            "Sort rows by their number of nonzeros, so that the rows of a slice have similar lengths, or by their columns "
            "(stable)",
        .source =
            "Kreutzer, Hager, Wellein, Fehske, Bishop, 'A unified sparse matrix data format for efficient general sparse "
            "matrix-vector multiplication on modern processors with wide SIMD units' (SELL-C-sigma), SIAM J. Scientific "
            "Computing "
            "2014; within partitions: Chen, 'Explicit caching HYB: a new high-performance SpMV framework on GPGPU' (EHYB), "
            "arXiv "
            "2022, section 3.2, algorithm 1; within segments: Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector "
            "Multiplication', slides; by similarity: min-wise hashing of Broder, 'On the resemblance and containment of "
            "documents', SEQUENCES 1997, used to reorder sparse rows by Jiang, Hong, Agrawal, 'A novel data transformation and "
            "execution strategy for accelerating sparse matrix multiplication on GPUs', PPoPP 2020",
        .parameters =
            {choice_parameter(
                 "within", by_default("all"), {"all", "window", "partition", "segment", "tile"},
                 "rows move anywhere, within windows of equal size, within their partition, or in the storage of each "
                 "segment or tile (the matrix does not change)"),
             integer_parameter(
                 "window", not_required, at_least(1, "rows"),
                 "size of a window (sigma); required for within = \"window\", optional within partitions, segments and "
                 "tiles, each of which starts a new window; a node belongs to the window of its first row"),
             renamed_from("part",
                          declare("share", ParameterType::share, not_required, {},
                                  "sort the storage of this share, or of every share of this kind, by the lengths of its rows; "
                                  "the matrix does not change")),
             choice_parameter(
                 "key", by_default("nonzeros"), {"nonzeros", "nonzeros_inside_partition", "first_column", "span", "similarity"},
                 "the length of a row: all of its nonzeros, or those whose column is in the row's partition; or its "
                 "first column (empty rows come after all others), the columns from its first to its last nonzero, "
                 "or a signature that rows with a common set of columns share (four min-hashes of its columns)"),
             direction_parameter("longest rows, or those with the largest key,"),
             apply_parameter(not_required, {"symmetric", "rows"}, "; default: symmetric; not with share")},
        .contract = row_sort_contract,
        .reads_entries =
            [](const Parameters& parameters) {
                const SortRequest request(parameters);
                return request.inside_partition || request.columns.has_value();
            },
        .run = run_row_sort,
        .on_device = row_sort_on_device,
        .foresee = foresee_row_sort,
        .nanoseconds_per_nonzero = 7};
}

}  // namespace workbench
