// Dense square blocks in compressed block rows (BSR): the storage of layout bsr and of cuSPARSE's BSR.
#pragma once

#include <span>
#include <vector>

#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/storage/fields.hpp"
#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

inline constexpr Index largest_block = 32;  // a row of a block is read by lanes of one warp

/// A matrix in CSR with ascending columns, whatever holds its arrays.
template <typename Value>
struct CsrView {
    Index rows = 0;
    Index columns = 0;
    std::span<const Offset> row_offsets;
    std::span<const Index> column_indices;
    std::span<const Value> values;
};

/// Blocks of size x size that hold at least one nonzero. Element (r, c) of block b: values[(b * size + r) * size + c]. Where
/// the size does not divide the sides of the matrix, the blocks at its lower and right edge reach beyond it. Padding is 0.
template <typename Value, template <typename> typename Array>
struct Blocks {
    template <template <typename> typename Other>
    using In = Blocks<Value, Other>;

    Index size = 1;
    Array<Index> block_offsets;  // [block rows + 1] first block of each block row
    Array<Index> block_columns;  // [blocks] ascending in each block row
    Array<Value> values;         // [blocks * size * size]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "block_size", of.size...);
        visit(ArrayRole::structure, "block_offsets [block rows + 1]", of.block_offsets...);
        visit(ArrayRole::column, "block_columns [blocks]", of.block_columns...);
        visit(ArrayRole::value, "values [blocks * size * size]", of.values...);
    }

    [[nodiscard]] constexpr Index block_rows() const { return static_cast<Index>(block_offsets.size()) - 1; }
};

/// How many blocks of this size hold a nonzero.
template <typename Value>
[[nodiscard]] Offset count_blocks(const CsrView<Value>& matrix, Index size);

/// The size among `sizes`, which is not empty, whose blocks take the fewest bytes; the smallest such size.
template <ValueType Value, typename MatrixValue>
[[nodiscard]] Index choose_block_size(const CsrView<MatrixValue>& matrix, std::span<const Index> sizes);

/// Throws Unsuitable, with the figures, where the blocks have more than `slots_per_nonzero` places a nonzero, would not fit
/// into memory, or are too many for 32 bits.
template <ValueType Value, typename MatrixValue>
[[nodiscard]] Blocks<Value, HostArray> build_blocks(const CsrView<MatrixValue>& matrix, Index size, const SlotBound& bound);

}  // namespace workbench
