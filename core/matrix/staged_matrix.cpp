#include "core/matrix/staged_matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "core/matrix/entries_behind.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

template <typename Items, typename Matches>
auto find_in(Items& items, Matches matches) -> decltype(items.data()) {
    const auto found = std::find_if(items.begin(), items.end(), matches);
    return found == items.end() ? nullptr : &*found;
}

/// Throws unless every node of the new order is a node of the old order, with its rows in the same sequence.
void check_nodes(const Permutation& order, Index node_size, std::string_view what) {
    for (Index i = 0; i < order.size(); ++i) {
        const Index within = i % node_size;
        const Index first = order.old_of_new(i - within);
        if (first % node_size != 0 || order.old_of_new(i) != first + within) {
            throw std::logic_error(std::string(what) + " splits the node of " + std::to_string(node_size) +
                                   " unknowns at row " + std::to_string(i));
        }
    }
}

void check_cuts(const StagedMatrix& staged, const Cuts& cuts) {
    const auto tiles = [&cuts](Index length) {
        return !cuts.boundaries.empty() && cuts.boundaries.front() == 0 && cuts.boundaries.back() == length &&
               std::is_sorted(cuts.boundaries.begin(), cuts.boundaries.end());
    };
    if ((cuts_rows(cuts.kind) && !tiles(staged.matrix.rows)) || (cuts_columns(cuts.kind) && !tiles(staged.matrix.columns))) {
        throw std::logic_error("cuts of kind " + std::string(name_of(cuts.kind)) + " do not cover their axis");
    }
}

[[noreturn]] void refuse(const Share& share, const std::string& what) {
    throw std::logic_error("share '" + name_of(share.id) + "' " + what);
}

/// The shares that were checked so far.
struct CheckedShares {
    std::vector<bool> covered;            // [nonzeros] is in one of them
    std::vector<const Share*> listed_by;  // [rows] the last one that lists the row
};

/// Checks a share against the shares before it, and adds it to them.
void check_share(const Share& share, const CsrMatrix& matrix, CheckedShares& checked) {
    if (share.row_offsets.size() != share.rows.size() + 1 || share.row_offsets.front() != 0 ||
        share.row_offsets.back() != static_cast<Offset>(share.entries.size())) {
        refuse(share, "has arrays of inconsistent sizes");
    }
    if (!std::is_sorted(share.row_offsets.begin(), share.row_offsets.end())) refuse(share, "has offsets that descend");
    for (std::size_t stored = 0; stored < share.rows.size(); ++stored) {
        const Index row = share.rows[stored];
        if (row < 0 || row >= matrix.rows) refuse(share, "lists row " + std::to_string(row) + ", which does not exist");
        if (checked.listed_by[row] == &share) refuse(share, "lists row " + std::to_string(row) + " twice");
        checked.listed_by[row] = &share;
        Offset previous = -1;
        for (Offset i = share.row_offsets[stored]; i < share.row_offsets[stored + 1]; ++i) {
            const Offset entry = share.entries[i];
            if (entry < matrix.row_offsets[row] || entry >= matrix.row_offsets[row + 1] || entry <= previous) {
                refuse(share, "has entry " + std::to_string(entry) + " in row " + std::to_string(row) +
                                  ", out of order or from another row");
            }
            if (checked.covered[entry]) refuse(share, "has entry " + std::to_string(entry) + ", which another share also has");
            checked.covered[entry] = true;
            previous = entry;
        }
    }
}

/// The kind of a share, and the kinds of the shares that it was split from.
std::vector<ShareKind> kinds_of(const ShareId& id) {
    std::vector<ShareKind> kinds{id.kind};
    for (const ShareKind parent : id.within) {
        if (parent != ShareKind::all) kinds.push_back(parent);
    }
    return kinds;
}

/// The cuts that define a share of this kind.
std::vector<CutKind> cuts_of_share(ShareKind kind) {
    switch (kind) {
        case ShareKind::inside:
        case ShareKind::outside: return {CutKind::partition};
        case ShareKind::segment: return {CutKind::segment};
        case ShareKind::tile: return {CutKind::row_block, CutKind::segment};
        default: return {};
    }
}

/// An entry of a share: its row, and its number k among the share's entries of that row.
struct ShareEntry {
    Index row = 0;
    Offset entry = 0;
    Offset k = 0;
};

/// Returns true if an entry belongs to the share as far as the cuts and the share's kind and place can decide it.
bool belongs_to(ShareKind kind, const ShareId& id, const StagedMatrix& staged, const ShareEntry& at) {
    const auto piece = [&](CutKind cuts, Index place) { return staged.find_cuts(cuts)->piece_at(place); };
    const Index row = at.row;
    const Index column = staged.matrix.column_indices[at.entry];
    const auto in_one_partition = [&] { return piece(CutKind::partition, row) == piece(CutKind::partition, column); };
    switch (kind) {
        case ShareKind::inside: return in_one_partition();
        case ShareKind::outside: return !in_one_partition();
        case ShareKind::first: return id.is_split_again() || at.entry == staged.matrix.row_offsets[row] + at.k;
        case ShareKind::segment: return piece(CutKind::segment, column) == id.segment;
        case ShareKind::tile:
            return piece(CutKind::row_block, row) == id.row_block && piece(CutKind::segment, column) == id.segment;
        default: return true;
    }
}

/// Checks that a share, whose arrays are sound, has the entries that its kind and place require.
void check_place(const Share& share, const StagedMatrix& staged) {
    if (&share != staged.find_share(share.id)) refuse(share, "exists twice");
    const std::vector<ShareKind> kinds = kinds_of(share.id);
    for (const ShareKind kind : kinds) {
        for (const CutKind cuts : cuts_of_share(kind)) {
            if (staged.find_cuts(cuts) == nullptr) refuse(share, "needs cuts of kind " + std::string(name_of(cuts)));
        }
    }
    for (std::size_t stored = 0; stored < share.rows.size(); ++stored) {
        for (Offset i = share.row_offsets[stored]; i < share.row_offsets[stored + 1]; ++i) {
            const ShareEntry at{share.rows[stored], share.entries[i], i - share.row_offsets[stored]};
            const auto belongs = [&](ShareKind kind) { return belongs_to(kind, share.id, staged, at); };
            if (std::all_of(kinds.begin(), kinds.end(), belongs)) continue;
            refuse(share, "has entry " + std::to_string(share.entries[i]) + ", which does not belong to it");
        }
    }
}

/// The share that each order applies to. All are found before any is changed, so that a refused change changes nothing.
std::vector<Share*> shares_to_order(StagedMatrix& staged, const std::vector<StorageOrder>& orders) {
    std::vector<Share*> found;
    auto next = staged.shares.begin();
    for (const StorageOrder& change : orders) {
        next = std::find_if(next, staged.shares.end(), [&](const Share& share) { return share.id == change.share; });
        if (next == staged.shares.end()) {
            throw std::logic_error("there is no share '" + name_of(change.share) +
                                   "' to order, or the orders are not in the order of the shares");
        }
        if (change.order.size() != static_cast<Index>(next->rows.size())) {
            refuse(*next, "has " + std::to_string(next->rows.size()) + " rows, but its order has " +
                              std::to_string(change.order.size()));
        }
        found.push_back(&*next++);
    }
    return found;
}

/// Like reorder_rows, but one large share is reordered by all threads.
Share reorder_rows_in_parallel(const Share& share, const Permutation& order) {
    Share ordered{.id = share.id,
                  .rows = unwritten_array<Index>(share.rows.size()),
                  .row_offsets = permuted_offsets(share.row_offsets, order),
                  .entries = unwritten_array<Offset>(share.entries.size())};
    Kokkos::parallel_for("order_rows", HostRange<>(0, order.size()), [&](Index row) {
        const Index old = order.old_of_new(row);
        ordered.rows[row] = share.rows[old];
        std::copy(share.entries.begin() + share.row_offsets[old], share.entries.begin() + share.row_offsets[old + 1],
                  ordered.entries.begin() + ordered.row_offsets[row]);
    });
    return ordered;
}

void apply_storage(StagedMatrix& staged, const std::vector<StorageOrder>& orders) {
    const std::vector<Share*> shares = shares_to_order(staged, orders);
    if (shares.size() == 1) {
        *shares.front() = reorder_rows_in_parallel(*shares.front(), orders.front().order);
        return;
    }
    Kokkos::parallel_for("order_storage", UnevenHostRange<std::size_t>(0, shares.size()),
                         [&](std::size_t i) { *shares[i] = reorder_rows(*shares[i], orders[i].order.old_of_new()); });
}

/// Permutes the row offsets at once, and leaves the permutation of the entries to catch_up.
void delay_entries(StagedMatrix& staged, const Permutation& rows, const Permutation& columns,
                   std::optional<EntriesBehind>& behind) {
    CsrMatrix& matrix = staged.matrix;
    HostArray<Offset> offsets = permuted_offsets(matrix.row_offsets, rows);
    if (behind) {
        behind->rows = behind->rows.then(rows);
        behind->columns = behind->columns.then(columns);
        matrix.row_offsets = std::move(offsets);
        return;
    }
    CsrMatrix without_entries{matrix.rows, matrix.columns, std::move(offsets), {}, {}};
    behind = EntriesBehind{std::exchange(matrix, std::move(without_entries)), rows, columns};
}

/// `behind`: null if the entries are permuted at once.
void apply_order_of_matrix(StagedMatrix& staged, const OrderChange& change, const std::vector<CutKind>& keeps,
                           std::optional<EntriesBehind>* behind) {
    const bool rows_move = change.acts != Acts::columns;
    const bool columns_move = change.acts != Acts::rows;
    if ((rows_move && change.order.size() != staged.matrix.rows) ||
        (columns_move && change.order.size() != staged.matrix.columns)) {
        throw std::logic_error("an order of " + std::to_string(change.order.size()) + " rows or columns for a matrix of " +
                               std::to_string(staged.matrix.rows) + " x " + std::to_string(staged.matrix.columns));
    }
    if (staged.node_size > 1) check_nodes(change.order, staged.node_size, "the new order");

    const Permutation identity = rows_move && columns_move
                                     ? Permutation()
                                     : Permutation::identity(rows_move ? staged.matrix.columns : staged.matrix.rows);
    const Permutation& row_change = rows_move ? change.order : identity;
    const Permutation& column_change = columns_move ? change.order : identity;
    if (behind == nullptr) {
        staged.matrix = permute(staged.matrix, row_change, column_change);
    } else {
        delay_entries(staged, row_change, column_change, *behind);
    }
    if (rows_move) staged.row_order = staged.row_order.then(row_change);
    if (columns_move) staged.column_order = staged.column_order.then(column_change);
    std::erase_if(staged.cuts, [&](const Cuts& cuts) {
        const bool moves = (rows_move && cuts_rows(cuts.kind)) || (columns_move && cuts_columns(cuts.kind));
        return moves && std::find(keeps.begin(), keeps.end(), cuts.kind) == keeps.end();
    });
    staged.shares.clear();
}

void require_whole_nodes(const CsrMatrix& matrix, Index node_size) {
    if (node_size < 1) throw std::invalid_argument("a node size of " + std::to_string(node_size));
    if (node_size > 1 && (!matrix.square() || matrix.rows % node_size != 0)) {
        throw std::invalid_argument("a matrix of " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
                                    " cannot be divided into nodes of " + std::to_string(node_size) + " unknowns");
    }
}

void require_nodes_in_orders(const StagedMatrix& staged) {
    if (staged.node_size == 1) return;
    check_nodes(staged.row_order, staged.node_size, "the row order");
    check_nodes(staged.column_order, staged.node_size, "the column order");
}

}  // namespace

const Cuts* StagedMatrix::find_cuts(CutKind kind) const {
    return find_in(cuts, [kind](const Cuts& candidate) { return candidate.kind == kind; });
}

const Share* StagedMatrix::find_share(const ShareId& id) const {
    return find_in(shares, [&id](const Share& candidate) { return candidate.id == id; });
}

ShareView StagedMatrix::share(const ShareId& id) const {
    if (shares.empty() && id.kind == ShareKind::all) return ShareView(matrix);
    if (const Share* found = find_share(id)) return ShareView(*found);
    throw std::out_of_range("there is no share '" + name_of(id) + "'");
}

bool StagedMatrix::has_tiles() const {
    if (shares.empty()) return false;
    const ShareKind kind = shares.front().id.kind;
    return kind == ShareKind::tile || kind == ShareKind::segment;
}

StagedMatrix stage_input(CsrMatrix input, Index node_size) {
    require_whole_nodes(input, node_size);
    StagedMatrix staged;
    staged.row_order = Permutation::identity(input.rows);
    staged.column_order = Permutation::identity(input.columns);
    staged.node_size = node_size;
    staged.matrix = std::move(input);
    return staged;
}

std::string_view name_of(Acts acts) {
    constexpr std::array<std::string_view, 3> names{"symmetric", "rows", "columns"};
    return names.at(static_cast<std::size_t>(acts));
}

namespace {

void apply_change(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps,
                  std::optional<EntriesBehind>* behind) {
    if (change.order) apply_order_of_matrix(staged, *change.order, keeps, behind);
    if (!change.storage.empty()) apply_storage(staged, change.storage);
    for (const Cuts& cuts : change.cuts) {
        check_cuts(staged, cuts);
        std::erase_if(staged.cuts, [&cuts](const Cuts& old) { return old.kind == cuts.kind; });
        staged.cuts.push_back(cuts);
    }
    if (change.shares) staged.shares = std::move(*change.shares);
    if (change.node_size) {
        require_whole_nodes(staged.matrix, *change.node_size);
        staged.node_size = *change.node_size;
        require_nodes_in_orders(staged);
    }
}

}  // namespace

void apply(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps) {
    apply_change(staged, std::move(change), keeps, nullptr);
}

void apply(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps, std::optional<EntriesBehind>& behind) {
    apply_change(staged, std::move(change), keeps, &behind);
}

void catch_up(StagedMatrix& staged, std::optional<EntriesBehind>& behind) {
    if (!behind) return;
    staged.matrix = permute(behind->matrix, behind->rows, behind->columns);
    behind.reset();
}

void check_shares(const StagedMatrix& staged) {
    if (staged.shares.empty()) return;
    CheckedShares checked{std::vector<bool>(staged.matrix.values.size(), false),
                          std::vector<const Share*>(staged.matrix.rows, nullptr)};
    for (const Share& share : staged.shares) {
        check_share(share, staged.matrix, checked);
        check_place(share, staged);
    }
    const auto lost = std::find(checked.covered.begin(), checked.covered.end(), false);
    if (lost != checked.covered.end()) {
        throw std::logic_error("entry " + std::to_string(lost - checked.covered.begin()) + " is in no share");
    }
}

void check_invariants(const StagedMatrix& staged, const CsrMatrix& input) {
    check_csr(staged.matrix);
    const CsrMatrix expected = permute(input, staged.row_order, staged.column_order);
    // By bits: a NaN equals itself, and 0 differs from -0.
    const auto same_bits = [](double a, double b) {
        return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    };
    if (expected.rows != staged.matrix.rows || expected.columns != staged.matrix.columns ||
        expected.row_offsets != staged.matrix.row_offsets || expected.column_indices != staged.matrix.column_indices ||
        !std::equal(expected.values.begin(), expected.values.end(), staged.matrix.values.begin(), staged.matrix.values.end(),
                    same_bits)) {
        throw std::logic_error("the matrix is not P A Q^T of the input");
    }
    for (std::size_t i = 0; i < staged.cuts.size(); ++i) {
        check_cuts(staged, staged.cuts[i]);
        for (std::size_t k = 0; k < i; ++k) {
            if (staged.cuts[k].kind == staged.cuts[i].kind) throw std::logic_error("there are two cuts of the same kind");
        }
    }
    require_nodes_in_orders(staged);
    check_shares(staged);
}

}  // namespace workbench
