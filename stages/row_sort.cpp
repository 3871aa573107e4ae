// Rows of like length together: what sliced layouts pad less.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/tiles.hpp"
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
    Acts acts = Acts::symmetric;         // where it is an order: rows of tiles are sorted by new shares

    explicit Request(const Parameters& parameters)
        : within(parameters.text("within")),
          inside_partition(parameters.text("key") == "nonzeros_inside_partition"),
          descending(parameters.text("order") == "descending") {
        if (parameters.has("window")) window = parameters.integer("window");
        if (window && within != "window" && !within_tiles()) {
            throw ParameterError(
                "window", "window is for within = \"window\", \"segment\" or \"tile\", here within is \"" + within + "\"");
        }
        if (!window && within == "window") {
            throw ParameterError("window", "within = \"window\" needs window, a number of rows");
        }
        if (parameters.has("share") && parameters.has("apply")) {
            throw ParameterError(
                "apply", "apply is for an order of the matrix; with share, the order of storage in that share is sorted");
        }
        if (within_tiles()) require_order_of_storage(parameters);
        if (parameters.has("share")) {
            acts = Acts::share;
        } else if (parameters.has("apply")) {
            acts = acts_named(parameters.text("apply"));
        }
    }

    [[nodiscard]] bool within_partition() const { return within == "partition"; }
    [[nodiscard]] bool within_tiles() const { return within == segment_family || within == tile_family; }

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
    if (request.within_tiles()) {
        StageContract contract{.needs = {.cuts = {CutKind::segment}, .shares = {request.within}}};
        if (request.within == tile_family) contract.needs.cuts.insert(contract.needs.cuts.begin(), CutKind::row_block);
        return contract;
    }
    StageContract contract{.needs = {.square = request.acts == Acts::symmetric}, .acts = request.acts};
    if (request.within_partition() || request.inside_partition) contract.needs.cuts = {CutKind::partition};
    if (request.acts == Acts::share) contract.needs.shares = {parameters.text("share")};
    if (request.within_partition()) contract.keeps = {CutKind::partition};
    return contract;
}

/// The length of each stored row. [view.row_count()]
std::vector<Index> row_lengths(const ShareView& view) {
    std::vector<Index> lengths(view.row_count());
    Kokkos::parallel_for("row_lengths", Range(0, view.row_count()),
                         [&](Index i) { lengths[i] = static_cast<Index>(view.length(i)); });
    return lengths;
}

/// The entries of each stored row whose column lies in the row's own partition. [view.row_count()]
std::vector<Index> lengths_inside_partition(const ShareView& view, const CsrMatrix& matrix, const Cuts& partition) {
    const std::vector<Index> piece_of = partition.pieces();
    std::vector<Index> lengths(view.row_count(), 0);
    Kokkos::parallel_for("lengths_inside", Range(0, view.row_count()), [&](Index i) {
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

/// The group of each node, by its first row: the window or the partition that it stays in.
std::vector<Index> groups_of_nodes(const ShareView& view, Index node_size, const Request& request, const Cuts* partition) {
    std::vector<Index> groups(view.row_count() / node_size);
    const std::vector<Index> piece_of = request.within_partition() ? partition->pieces() : std::vector<Index>{};
    for (std::size_t node = 0; node < groups.size(); ++node) {
        const Index first = static_cast<Index>(node) * node_size;
        groups[node] = request.within_partition() ? piece_of[view.row(first)] : static_cast<Index>(first / *request.window);
    }
    return groups;
}

/// Positions in the order of their keys, stable.
std::vector<Index> sorted_by(std::vector<Index> keys, bool descending) {
    if (descending && !keys.empty()) {
        // Counted down from the longest, so that equal rows stay in their order.
        const Index longest = *std::max_element(keys.begin(), keys.end());
        for (Index& key : keys) key = longest - key;
    }
    std::vector<Index> order = all_of(static_cast<Index>(keys.size()));
    stable_sort_by(order, keys);
    return order;
}

/// The order of storage in every share, by the lengths of the rows in it.
std::vector<Share> sort_shares(const std::vector<Share>& shares, const Request& request) {
    using DynamicRange = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                             Kokkos::IndexType<std::size_t>>;
    std::vector<Share> sorted(shares.size());
    Kokkos::parallel_for("sort_shares", DynamicRange(0, shares.size()), [&](std::size_t i) {
        const ShareView view(shares[i]);
        std::vector<Index> lengths(view.row_count());
        for (Index stored = 0; stored < view.row_count(); ++stored) lengths[stored] = static_cast<Index>(view.length(stored));
        std::vector<Index> order = sorted_by(std::move(lengths), request.descending);
        if (request.window) stable_sort_by(order, groups_of_nodes(view, 1, request, nullptr));
        sorted[i] = reorder_rows(shares[i], order);
    });
    return sorted;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Request request(parameters);
    if (request.within_tiles()) {
        if (request.within == segment_family && staged.find_cuts(CutKind::row_block) != nullptr) {
            throw Unsuitable("there are row blocks, whose segments are tiles: use within = \"tile\"");
        }
        return {.change = {.shares = sort_shares(staged.shares, request)}};
    }
    const bool of_share = request.acts == Acts::share;
    const std::string share = of_share ? parameters.text("share") : "";
    const ShareView view = of_share ? staged.share(share) : ShareView(staged.matrix);
    const Index node_size = of_share ? 1 : staged.node_size;  // storage may take nodes apart, the matrix's order may not
    const Cuts* partition = staged.find_cuts(CutKind::partition);

    std::vector<Index> keys =
        request.inside_partition ? lengths_inside_partition(view, staged.matrix, *partition) : row_lengths(view);
    if (node_size > 1) keys = longest_of_nodes(keys, node_size);
    std::vector<Index> order = sorted_by(std::move(keys), request.descending);
    if (request.within != "all") stable_sort_by(order, groups_of_nodes(view, node_size, request, partition));

    const Permutation nodes = Permutation::from_old_of_new(std::move(order));
    return {.change = {.order = OrderChange{request.acts, expand(nodes, node_size), share}}};
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
              .help = "size of a window (sigma), needed with within = \"window\", possible within segments and tiles; a node "
                      "belongs to the window of its first row"},
             {.name = "share",
              .type = ParameterType::text,
              .optional = true,
              .help = "sort the order of storage of the rows in this share, by their lengths in it; the matrix stays as it is",
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
        .run = run};
}

}  // namespace workbench
