#include "stages/row_placement.hpp"

#include <algorithm>
#include <utility>

#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_array.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"

namespace workbench {
namespace {

bool within_tiles(const Parameters& parameters) { return parameters.text("within") == "tile"; }

template <typename Body>
void for_each_group(std::size_t count, const Body& body) {
    guarded_for("place_rows", UnevenHostRange<std::size_t>(0, count), body);
}

/// Writes the length of each stored row of a share.
void copy_lengths(const Share& share, Index* lengths) {
    const ShareView view(share);
    for (Index stored = 0; stored < view.row_count(); ++stored) lengths[stored] = static_cast<Index>(view.length(stored));
}

std::vector<StorageOrder> place_in_shares(const std::vector<Share>& shares, const PlaceRows& place) {
    std::vector<StorageOrder> placed(shares.size());
    for_each_group(shares.size(), [&](std::size_t i) {
        std::vector<Index> lengths(shares[i].rows.size());
        copy_lengths(shares[i], lengths.data());
        placed[i] = {shares[i].id, Permutation::from_old_of_new(place(lengths))};
    });
    return placed;
}

/// [nodes] The length of the longest row of each node.
std::vector<Index> node_lengths(const CsrMatrix& matrix, Index node_size) {
    std::vector<Index> lengths(matrix.rows);
    Kokkos::parallel_for("row_lengths", HostRange<>(0, matrix.rows),
                         [&](Index row) { lengths[row] = static_cast<Index>(matrix.row_length(row)); });
    return longest_of_nodes(std::move(lengths), node_size);
}

/// [partitions + 1] The first node of each partition.
std::vector<Index> first_nodes(const Cuts& partition, Index node_size) {
    std::vector<Index> nodes = partition.boundaries;
    for (Index& boundary : nodes) boundary /= node_size;
    return nodes;
}

}  // namespace

std::vector<ParameterDeclaration> placement_parameters(ParameterDeclaration own) {
    return {choice_parameter(
                "within", by_default("all"), {"all", "partition", "tile"},
                "rows move anywhere, within their partition, or in the storage of each tile (the matrix does not change)"),
            apply_parameter(not_required, {"symmetric", "rows"}, "; default: symmetric; not within tiles"), std::move(own)};
}

StageContract placement_contract(const Parameters& parameters) {
    if (within_tiles(parameters)) {
        if (parameters.has("apply")) {
            throw ParameterError("apply", "apply reorders the matrix, but within = \"tile\" reorders the storage");
        }
        return {.needs = {.cuts = {CutKind::row_block, CutKind::segment}, .shares = {{ShareKind::tile}}}};
    }
    StageContract contract = contract_of_order(parameters);
    if (parameters.text("within") == "partition") {
        contract.needs.cuts = {CutKind::partition};
        contract.keeps = {CutKind::partition};
    }
    return contract;
}

StageChange place_rows(const StagedMatrix& staged, const Parameters& parameters, const PlaceRows& place) {
    if (within_tiles(parameters)) return {.storage = place_in_shares(staged.shares, place)};

    const std::vector<Index> lengths = node_lengths(staged.matrix, staged.node_size);
    const Cuts whole{CutKind::row_block, {0, staged.matrix.rows}};
    const bool by_partition = parameters.text("within") == "partition";
    const std::vector<Index> first =
        first_nodes(by_partition ? *staged.find_cuts(CutKind::partition) : whole, staged.node_size);
    std::vector<Index> old_of_new(lengths.size());
    for_each_group(first.size() - 1, [&](std::size_t piece) {
        const auto count = static_cast<std::size_t>(first[piece + 1] - first[piece]);
        const std::vector<Index> placed = place(std::span(lengths).subspan(first[piece], count));
        std::transform(placed.begin(), placed.end(), old_of_new.begin() + first[piece],
                       [&](Index node) { return first[piece] + node; });
    });
    return {.order = order_of_nodes(std::move(old_of_new), staged.node_size, axes_of(parameters))};
}

}  // namespace workbench
