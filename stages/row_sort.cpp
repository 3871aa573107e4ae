// Rows of like length together: what sliced layouts pad less.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/host_array.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

// What the parameters ask for. Throws ParameterError where they contradict each other.
struct Request {
    std::string within;
    bool inside_partition = false;  // the key counts nonzeros inside the partition only
    bool descending = true;
    std::optional<std::int64_t> window;  // rows
    std::optional<ShareChoice> storage;  // the shares whose order of storage is sorted; none: the matrix is
    Acts acts = Acts::symmetric;         // on the matrix

    explicit Request(const Parameters& parameters)
        : within(parameters.text("within")),
          inside_partition(parameters.text("key") == "nonzeros_inside_partition"),
          descending(parameters.text("order") == "descending") {
        if (parameters.has("window")) window = parameters.integer("window");
        if (window && within == "all") {
            throw ParameterError(
                "window", "window is for within = \"window\", \"partition\", \"segment\" or \"tile\", here within is \"all\"");
        }
        if (!window && within == "window") {
            throw ParameterError("window", "within = \"window\" needs window, a number of rows");
        }
        if (parameters.has("share") && parameters.has("apply")) {
            throw ParameterError(
                "apply", "apply is for an order of the matrix; with share, the order of storage in that share is sorted");
        }
        if (within_tiles()) require_order_of_storage(parameters);
        if (within_tiles()) storage = share_choice(within);
        if (parameters.has("share")) storage = parameters.share("share");
        if (parameters.has("apply")) acts = acts_named(parameters.text("apply"));
    }

    [[nodiscard]] bool within_partition() const { return within == "partition"; }
    [[nodiscard]] bool within_tiles() const { return within == "segment" || within == "tile"; }

private:
    void require_order_of_storage(const Parameters& parameters) const {
        for (const std::string name : {"apply", "share"}) {
            if (!parameters.has(name)) continue;
            throw ParameterError(
                name, "within = \"" + within + "\" sorts the order of storage in every " + within + ", without " + name);
        }
        if (inside_partition) {
            throw ParameterError("key", "within = \"" + within + "\" sorts by the nonzeros of a row in the " + within +
                                            ", expected key = \"nonzeros\"");
        }
    }
};

StageContract contract(const Parameters& parameters) {
    const Request request(parameters);
    StageContract contract;
    if (request.within == "tile") contract.needs.cuts = {CutKind::row_block};
    if (request.within_tiles()) contract.needs.cuts.push_back(CutKind::segment);
    if (request.within_partition() || request.inside_partition) contract.needs.cuts = {CutKind::partition};
    if (request.storage) {
        contract.needs.shares = {*request.storage};
    } else {
        contract.needs.square = request.acts == Acts::symmetric;
        contract.acts = request.acts;
        if (request.within_partition()) contract.keeps = {CutKind::partition};
    }
    return contract;
}

/// In parallel, or in order where many lists of rows are sorted in parallel.
template <typename Body>
void for_each_row(Index count, bool in_parallel, const Body& body) {
    if (in_parallel) {
        Kokkos::parallel_for("sort_keys", Range(0, count), body);
    } else {
        for (Index i = 0; i < count; ++i) body(i);
    }
}

/// The length of each stored row. [view.row_count()]
std::vector<Index> row_lengths(const ShareView& view, bool in_parallel) {
    std::vector<Index> lengths(view.row_count());
    for_each_row(view.row_count(), in_parallel, [&](Index i) { lengths[i] = static_cast<Index>(view.length(i)); });
    return lengths;
}

/// The entries of each stored row whose column lies in the row's own partition. [view.row_count()]
std::vector<Index> lengths_inside_partition(const ShareView& view, const CsrMatrix& matrix, const std::vector<Index>& piece_of,
                                            bool in_parallel) {
    std::vector<Index> lengths(view.row_count(), 0);
    for_each_row(view.row_count(), in_parallel, [&](Index i) {
        const Index piece = piece_of[view.row(i)];
        for (Offset k = 0; k < view.length(i); ++k) {
            if (piece_of[matrix.column_indices[view.entry(i, k)]] == piece) ++lengths[i];
        }
    });
    return lengths;
}

/// The longest row of each node.
std::vector<Index> longest_of_nodes(const std::vector<Index>& lengths, Index node_size) {
    std::vector<Index> longest(lengths.size() / node_size, 0);
    for (std::size_t i = 0; i < lengths.size(); ++i) longest[i / node_size] = std::max(longest[i / node_size], lengths[i]);
    return longest;
}

/// The group that each node stays in, by its first row: a partition, or all rows; where there are windows, one of those that
/// begin afresh in each.
std::vector<Index> groups_of_nodes(const ShareView& view, Index node_size, const Request& request,
                                   const std::vector<Index>& piece_of) {
    std::vector<Index> groups(view.row_count() / node_size, 0);
    if (request.within_partition()) {
        for (std::size_t node = 0; node < groups.size(); ++node) {
            groups[node] = piece_of[view.row(static_cast<Index>(node) * node_size)];
        }
    }
    if (!request.window) return groups;
    const Index pieces = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
    std::vector<std::int64_t> rows(pieces, 0);
    for (const Index piece : groups) rows[piece] += node_size;
    std::vector<Index> first_window(pieces, 0);
    for (Index piece = 1; piece < pieces; ++piece) {
        const std::int64_t windows = rows[piece - 1] == 0 ? 0 : (rows[piece - 1] - 1) / *request.window + 1;
        first_window[piece] = first_window[piece - 1] + static_cast<Index>(windows);
    }
    std::fill(rows.begin(), rows.end(), 0);
    for (Index& group : groups) {
        const Index piece = group;
        group = first_window[piece] + static_cast<Index>(rows[piece] / *request.window);
        rows[piece] += node_size;
    }
    return groups;
}

/// The rows of the matrix, or of a share, sorted. piece_of: the partition of each row of the matrix, where it is asked for.
/// `preparer`: null within a parallel loop.
Permutation sorted_rows(const ShareView& view, const StagedMatrix& staged, Index node_size, const Request& request,
                        const std::vector<Index>& piece_of, bool in_parallel, Preparer* preparer) {
    std::vector<Index> keys = request.inside_partition ? lengths_inside_partition(view, staged.matrix, piece_of, in_parallel)
                                                       : row_lengths(view, in_parallel);
    if (node_size > 1) keys = longest_of_nodes(keys, node_size);
    std::vector<Index> groups;
    if (request.within_partition() || request.window) groups = groups_of_nodes(view, node_size, request, piece_of);
    return expand(Permutation::from_old_of_new(sorted({keys, groups, request.descending}, preparer)), node_size);
}

std::string no_such_share(const StagedMatrix& staged, const ShareId& id) {
    const std::string kind(name_of(id.kind));
    std::string count = std::to_string(staged.find_cuts(CutKind::segment)->count());
    if (id.kind == ShareKind::tile) count = std::to_string(staged.find_cuts(CutKind::row_block)->count()) + " x " + count;
    return "there is no share '" + name_of(id) + "' among " + count + " " + kind + "s, counted from 0; a " + kind +
           " without nonzeros is no share";
}

using DynamicRange =
    Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::size_t>>;

/// Many shares as one task of a preparer: their rows one after the other, each share or window a group. None where partitions
/// come into it, or where the preparer leaves it to the host.
std::optional<std::vector<Permutation>> sorted_together(const std::vector<const Share*>& shares, const Request& request,
                                                        Preparer& preparer) {
    if (request.within_partition() || request.inside_partition) return std::nullopt;
    std::vector<std::ptrdiff_t> first{0};
    std::vector<std::int64_t> first_group{0};
    for (const Share* share : shares) {
        const std::int64_t rows = std::ssize(share->rows);
        first.push_back(first.back() + rows);
        first_group.push_back(first_group.back() + (request.window ? (rows + *request.window - 1) / *request.window : 1));
    }
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    if (first.back() > most || first_group.back() > most) return std::nullopt;
    const auto rows = static_cast<std::size_t>(first.back());
    const RawArray<Index> keys(rows);
    const RawArray<Index> groups(rows);
    Kokkos::parallel_for("join_keys", DynamicRange(0, shares.size()), [&](std::size_t i) {
        const ShareView view(*shares[i]);
        for (Index row = 0; row < view.row_count(); ++row) {
            keys[first[i] + row] = static_cast<Index>(view.length(row));
            groups[first[i] + row] = static_cast<Index>(first_group[i] + (request.window ? row / *request.window : 0));
        }
    });
    const std::optional<std::vector<Index>> order =
        preparer.sort({{keys.data(), rows}, {groups.data(), rows}, request.descending});
    if (!order) return std::nullopt;
    std::vector<Permutation> orders(shares.size());
    guarded_for("cut_order", DynamicRange(0, shares.size()), [&](std::size_t i) {
        std::vector<Index> own(order->begin() + first[i], order->begin() + first[i + 1]);
        for (Index& place : own) place -= static_cast<Index>(first[i]);
        orders[i] = Permutation::from_old_of_new(std::move(own));
    });
    return orders;
}

/// The order of storage in each share that is asked for. Storage may take nodes apart, which the order of the matrix may not.
std::vector<StorageOrder> sorted_storage(const StagedMatrix& staged, const Request& request,
                                         const std::vector<Index>& piece_of) {
    std::vector<const Share*> shares;
    for (const Share& share : staged.shares) {
        if (request.storage->includes(share.id)) shares.push_back(&share);
    }
    if (request.storage->one && shares.empty()) throw Unsuitable(no_such_share(staged, *request.storage->one));
    std::vector<StorageOrder> orders(shares.size());
    const auto sort = [&](std::size_t i, bool in_parallel, Preparer* preparer) {
        orders[i] = {shares[i]->id, sorted_rows(ShareView(*shares[i]), staged, 1, request, piece_of, in_parallel, preparer)};
    };
    if (shares.size() == 1) {
        sort(0, true, staged.preparer);
        return orders;
    }
    std::optional<std::vector<Permutation>> together;
    if (staged.preparer != nullptr) together = sorted_together(shares, request, *staged.preparer);
    if (together) {
        for (std::size_t i = 0; i < shares.size(); ++i) orders[i] = {shares[i]->id, std::move((*together)[i])};
    } else {
        guarded_for("sort_shares", DynamicRange(0, shares.size()), [&](std::size_t i) { sort(i, false, nullptr); });
    }
    return orders;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Request request(parameters);
    std::vector<Index> piece_of;
    if (request.within_partition() || request.inside_partition) piece_of = staged.find_cuts(CutKind::partition)->pieces();
    if (request.storage) return {.change = {.storage = sorted_storage(staged, request, piece_of)}};
    Permutation order =
        sorted_rows(ShareView(staged.matrix), staged, staged.node_size, request, piece_of, true, staged.preparer);
    return {.change = {.order = OrderChange{request.acts, std::move(order)}}};
}

}  // namespace

StageEntry row_sort_stage() {
    return {
        .name = "row_sort",
        .summary = "Sort rows by their number of nonzeros, so that rows stored in one slice are of like length (stable)",
        .source =
            "SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop (2014); within partitions: EHYB section 3.2, algorithm 1; "
            "within segments: Nagasaka's slides",
        .parameters =
            {{.name = "within",
              .type = ParameterType::choice,
              .default_value = "all",
              .words = {"all", "window", "partition", "segment", "tile"},
              .help =
                  "how far a row may move: anywhere, within windows of equal size, within its partition, or in the order of "
                  "storage of every segment or tile, the matrix staying as it is"},
             {.name = "window",
              .type = ParameterType::integer,
              .optional = true,
              .minimum = 1,
              .unit = "rows",
              .help = "size of a window (sigma), needed with within = \"window\", possible within partitions, segments and "
                      "tiles, where windows begin afresh; a node belongs to the window of its first row"},
             {.name = "share",
              .type = ParameterType::share,
              .optional = true,
              .help = "sort the order of storage of the rows in this share, or in every share of this kind, by their lengths "
                      "in it; the matrix stays as it is",
              .formerly = "part"},
             {.name = "key",
              .type = ParameterType::choice,
              .default_value = "nonzeros",
              .words = {"nonzeros", "nonzeros_inside_partition"},
              .help = "what is counted: all nonzeros of a row, or those whose column is in the row's partition"},
             {.name = "order",
              .type = ParameterType::choice,
              .default_value = "descending",
              .words = {"descending", "ascending"},
              .help = "longest rows first, or shortest first; equal rows keep their order"},
             {.name = "apply",
              .type = ParameterType::choice,
              .optional = true,
              .words = {"symmetric", "rows"},
              .help = "rows and columns alike (symmetric, where nothing is said), or rows alone; not with share"}},
        .contract = contract,
        .reads_entries = [](const Parameters& parameters) { return Request(parameters).inside_partition; },
        .run = run};
}

}  // namespace workbench
