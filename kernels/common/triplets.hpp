// Triplets, the storage that several layouts share: a row, a column and a value for each nonzero.
#pragma once

#include <functional>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// The nonzeros of a share, row by row in the order in which the share stores its rows: the nonzeros of a row are neighbours.
template <ValueType Value>
struct Triplets {
    std::vector<Index> rows;     // [nonzeros] of the matrix in its current order
    std::vector<Index> columns;  // [nonzeros]
    std::vector<Value> values;   // [nonzeros]

    // Which nonzeros these are, as positions in CsrMatrix::values; empty: 0, 1, 2, ... No part of the footprint.
    std::vector<Offset> nonzeros;

    [[nodiscard]] Offset count() const { return static_cast<Offset>(values.size()); }
};

template <ValueType Value>
[[nodiscard]] Triplets<Value> build_triplets(const CsrMatrix& matrix, const ShareView& share);

/// What the owner of the triplets knows about them and they do not.
struct TripletFrame {
    int value_array = 0;  // numbers in Layout::arrays()
    int column_array = 0;
    std::int64_t first_warp = 0;  // triplets are dealt to warps of 32 in order, from this one on
};

/// Walks every slot in the order of memory, for Layout::for_each_slot: a lane a triplet, in one step.
/// Throws std::logic_error where the arrays are not of one size.
template <ValueType Value>
void for_each_slot(const Triplets<Value>& triplets, const TripletFrame& frame, const std::function<void(const Slot&)>& visit);

}  // namespace workbench
