// The matrix as it passes through the stages, and the function that applies the change of a stage.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/cuts.hpp"
#include "core/matrix/permutation.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// A matrix between the input and a layout. Invariant: matrix = P A Q^T bit for bit, with the input A, the row order P and the
/// column order Q.
struct StagedMatrix {
    CsrMatrix matrix;           // in the current order
    Permutation row_order;      // old: the input's rows; new: the current rows
    Permutation column_order;   // old: the input's columns; new: the current columns
    std::vector<Cuts> cuts;     // at most one of each kind
    Index node_size = 1;        // consecutive rows (the unknowns of a mesh node) that orders keep together
    std::vector<Share> shares;  // empty: the nonzeros are not split

    [[nodiscard]] const Cuts* find_cuts(CutKind kind) const;
    [[nodiscard]] const Share* find_share(const ShareId& id) const;

    /// A view of one share; ShareKind::all names the unsplit matrix. Throws std::out_of_range where the share does not exist.
    [[nodiscard]] ShareView share(const ShareId& id) const;

    /// Returns true if the nonzeros are split into tiles or segments.
    [[nodiscard]] bool has_tiles() const;
};

/// The input before the first stage. Throws std::invalid_argument unless node_size is 1, or divides the size of a square
/// matrix.
[[nodiscard]] StagedMatrix stage_input(CsrMatrix input, Index node_size = 1);

/// The axes that an order acts on; symmetric: rows and columns alike.
enum class Acts { symmetric, rows, columns };

[[nodiscard]] std::string_view name_of(Acts acts);

/// A new order of the matrix.
struct OrderChange {
    Acts acts = Acts::symmetric;
    Permutation order = {};  // from the order before the stage to the order after it
};

/// A new order of the stored rows of a share; the matrix does not change.
struct StorageOrder {
    ShareId share = {};
    Permutation order = {};
};

/// The result of a stage. Cuts and shares refer to the order *after* the change.
struct StageChange {
    std::optional<OrderChange> order = {};
    std::vector<StorageOrder> storage = {};         // in the order of StagedMatrix::shares
    std::vector<Cuts> cuts = {};                    // replace cuts of the same kind
    std::optional<std::vector<Share>> shares = {};  // replace all shares; excludes `storage`
    std::optional<Index> node_size = {};
};

/// Applies a change. An order drops all shares, and the cuts of the axes that it acts on, except for the kinds in `keeps`.
/// Throws std::logic_error where the change does not match the matrix: wrong sizes, an unknown share, an order that splits a
/// node, or a node size that earlier orders did not respect.
void apply(StagedMatrix& staged, StageChange change, const std::vector<CutKind>& keeps);

/// Throws std::logic_error unless the shares, if any, contain each nonzero exactly once, where their kinds require it, and list
/// each of their rows once.
void check_shares(const StagedMatrix& staged);

/// Throws std::logic_error with the first invariant that is violated: the matrix is P A Q^T of the input exactly, cuts divide
/// their axes, shares are sound (check_shares), and orders keep nodes together.
void check_invariants(const StagedMatrix& staged, const CsrMatrix& input);

}  // namespace workbench
