// The matrix on its way through the stages, and the one place where a stage's change is applied to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/cuts.hpp"
#include "pipeline/matrix/permutation.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

class Preparer;  // preparer.hpp

/// A matrix on its way from the input to a layout. Always: matrix = P A Q^T of the input A, bit for bit, with P the row order
/// and Q the column order.
struct StagedMatrix {
    CsrMatrix matrix;           // in the current order
    Permutation row_order;      // old: the input's rows; new: the current rows
    Permutation column_order;   // old: the input's columns; new: the current columns
    std::vector<Cuts> cuts;     // at most one of a kind
    Index node_size = 1;        // d consecutive rows (the unknowns of one mesh node) that orders keep together
    std::vector<Share> shares;  // empty: the nonzeros are not split
    /// Who is asked first to do the work on it. Changes nothing but where that is done and how long it takes; null: the host.
    Preparer* preparer = nullptr;

    [[nodiscard]] const Cuts* find_cuts(CutKind kind) const;
    [[nodiscard]] const Share* find_share(const ShareId& id) const;

    /// One share; ShareKind::all is the unsplit matrix. Throws std::out_of_range where there is no such share.
    [[nodiscard]] ShareView share(const ShareId& id) const;

    /// Are the nonzeros split into tiles, or into segments?
    [[nodiscard]] bool has_tiles() const;
};

/// The input before the first stage. Throws std::invalid_argument where node_size < 1, or where node_size > 1 and the matrix is
/// not square or its rows are not a multiple of node_size.
[[nodiscard]] StagedMatrix stage_input(CsrMatrix input, Index node_size = 1);

/// What an order of the matrix acts on.
enum class Acts { symmetric, rows, columns };

[[nodiscard]] std::string_view name_of(Acts acts);

/// A new order of the current rows and columns alike, of the rows, or of the columns.
struct OrderChange {
    Acts acts = Acts::symmetric;
    Permutation order = {};  // old: the order before this stage; new: the order after it
};

/// A new order of the rows as a share stores them; the matrix stays as it is.
struct StorageOrder {
    ShareId share = {};
    Permutation order = {};  // old: the places before this stage; new: those after it
};

/// What a stage returns. Cuts and shares are in terms of the order *after* the change.
struct StageChange {
    std::optional<OrderChange> order = {};
    std::vector<StorageOrder> storage = {};         // of some shares, in the order of StagedMatrix::shares
    std::vector<Cuts> cuts = {};                    // replace those of the same kind
    std::optional<std::vector<Share>> shares = {};  // replace all shares; not with `storage`
    std::optional<Index> node_size = {};            // of the matrix from now on
};

/// Applies a change. `keeps` are the kinds of cuts that the order leaves valid; other cuts of an axis that is reordered are
/// dropped, and so are all shares where the matrix itself is reordered. Throws std::logic_error where the change does not fit
/// the matrix (sizes, an order that tears a node apart, a share that does not exist, nodes that earlier orders tore apart).
void apply(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps);

/// Checks that the shares, if any, hold each nonzero exactly once, where their kinds say, in rows that exist and are listed
/// once. Throws std::logic_error.
void check_shares(const StagedMatrix& staged);

/// Checks everything that StagedMatrix promises against the input it came from: orders are bijections of the right size, the
/// matrix is P A Q^T exactly, cuts tile their axis, shares cover each nonzero exactly once with rows that exist and are listed
/// once, nodes are whole. Throws std::logic_error with the first broken promise.
void check_invariants(const StagedMatrix& staged, const CsrMatrix& input);

}  // namespace workbench
