#include "stages/row_placement.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/host_array.hpp"
#include "stages/order.hpp"

namespace workbench {
namespace {

bool within_tiles(const Parameters& parameters) { return parameters.text("within") == "tile"; }

Acts acts_on(const Parameters& parameters) {
    return parameters.has("apply") ? acts_named(parameters.text("apply")) : Acts::symmetric;
}

template <typename Body>
void for_each_in_parallel(std::size_t count, const Body& body) {
    using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                      Kokkos::IndexType<std::size_t>>;
    guarded_for("place_rows", Range(0, count), body);
}

std::vector<StorageOrder> place_in_shares(const std::vector<Share>& shares, const PlaceRows& place) {
    std::vector<StorageOrder> placed(shares.size());
    for_each_in_parallel(shares.size(), [&](std::size_t i) {
        const ShareView view(shares[i]);
        std::vector<Index> lengths(view.row_count());
        for (Index stored = 0; stored < view.row_count(); ++stored) lengths[stored] = static_cast<Index>(view.length(stored));
        placed[i] = {shares[i].id, Permutation::from_old_of_new(place(lengths))};
    });
    return placed;
}

/// The same by somebody else; none where that one leaves it.
std::optional<std::vector<StorageOrder>> place_in_shares_at_once(const std::vector<Share>& shares,
                                                                 const PlaceTables& place_tables) {
    std::vector<Offset> first{0};
    for (const Share& share : shares) first.push_back(first.back() + static_cast<Offset>(share.rows.size()));
    const RawArray<Index> lengths(first.back());
    for_each_in_parallel(shares.size(), [&](std::size_t i) {
        const ShareView view(shares[i]);
        for (Index row = 0; row < view.row_count(); ++row) lengths[first[i] + row] = static_cast<Index>(view.length(row));
    });
    const std::optional<std::vector<Index>> places = place_tables({lengths.data(), lengths.size()}, first);
    if (!places) return std::nullopt;
    std::vector<StorageOrder> placed(shares.size());
    for_each_in_parallel(shares.size(), [&](std::size_t i) {
        placed[i] = {shares[i].id, Permutation::from_old_of_new({places->begin() + first[i], places->begin() + first[i + 1]})};
    });
    return placed;
}

/// The longest row of each node.
std::vector<Index> node_lengths(const CsrMatrix& matrix, Index node_size) {
    std::vector<Index> lengths(matrix.rows / node_size);
    using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
    Kokkos::parallel_for("node_lengths", Range(0, matrix.rows / node_size), [&](Index node) {
        for (Index row = node * node_size; row < (node + 1) * node_size; ++row) {
            lengths[node] = std::max(lengths[node], static_cast<Index>(matrix.row_length(row)));
        }
    });
    return lengths;
}

/// The first node of each partition: nodes are whole. [partitions + 1]
std::vector<Index> first_nodes(const Cuts& partition, Index node_size) {
    std::vector<Index> nodes = partition.boundaries;
    for (Index& boundary : nodes) boundary /= node_size;
    return nodes;
}

}  // namespace

std::vector<ParameterDeclaration> placement_parameters() {
    return {
        {.name = "within",
         .type = ParameterType::choice,
         .default_value = "all",
         .words = {"all", "partition", "tile"},
         .help = "how far a row may move: anywhere, within its partition, or in the order of storage of every tile, the matrix "
                 "staying as it is"},
        {.name = "apply",
         .type = ParameterType::choice,
         .optional = true,
         .words = {"symmetric", "rows"},
         .help = "rows and columns alike (symmetric, where nothing is said), or rows alone; not within tiles"}};
}

StageContract placement_contract(const Parameters& parameters) {
    if (within_tiles(parameters)) {
        if (parameters.has("apply")) {
            throw ParameterError("apply",
                                 "apply is for an order of the matrix; within = \"tile\" changes the order of storage");
        }
        return {.needs = {.cuts = {CutKind::row_block, CutKind::segment}, .shares = {{ShareKind::tile}}}};
    }
    const Acts acts = acts_on(parameters);
    StageContract contract{.needs = {.square = acts == Acts::symmetric}, .acts = acts};
    if (parameters.text("within") == "partition") {
        contract.needs.cuts = {CutKind::partition};
        contract.keeps = {CutKind::partition};
    }
    return contract;
}

StageChange place_rows(const StagedMatrix& staged, const Parameters& parameters, const PlaceRows& place,
                       const PlaceTables& place_tables) {
    if (within_tiles(parameters)) {
        if (place_tables != nullptr) {
            if (auto placed = place_in_shares_at_once(staged.shares, place_tables)) return {.storage = std::move(*placed)};
        }
        return {.storage = place_in_shares(staged.shares, place)};
    }

    const std::vector<Index> lengths = node_lengths(staged.matrix, staged.node_size);
    const Cuts whole{CutKind::row_block, {0, staged.matrix.rows}};
    const bool by_partition = parameters.text("within") == "partition";
    const std::vector<Index> first =
        first_nodes(by_partition ? *staged.find_cuts(CutKind::partition) : whole, staged.node_size);
    std::optional<std::vector<Index>> places;
    if (place_tables != nullptr) places = place_tables(lengths, std::vector<Offset>(first.begin(), first.end()));
    std::vector<Index> old_of_new(lengths.size());
    for_each_in_parallel(first.size() - 1, [&](std::size_t piece) {
        const auto count = static_cast<std::size_t>(first[piece + 1] - first[piece]);
        const auto put = [&](std::span<const Index> placed) {
            std::transform(placed.begin(), placed.end(), old_of_new.begin() + first[piece],
                           [&](Index node) { return first[piece] + node; });
        };
        if (places) {
            put(std::span<const Index>(*places).subspan(first[piece], count));
        } else {
            put(place(std::span(lengths).subspan(first[piece], count)));
        }
    });
    const Permutation nodes = Permutation::from_old_of_new(std::move(old_of_new));
    return {.order = OrderChange{acts_on(parameters), expand(nodes, staged.node_size)}};
}

}  // namespace workbench
