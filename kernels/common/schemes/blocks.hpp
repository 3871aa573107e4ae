// Dense square blocks in compressed block rows (BSR): the storage of layout bsr and of cuSPARSE's BSR.
#pragma once

#include <span>
#include <vector>

#include "core/contract/precision.hpp"
#include "core/matrix/block_rows.hpp"
#include "core/matrix/types.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// Blocks of block_size x block_size that hold at least one nonzero. Element (r, c) of block b is
/// values[(b * block_size + r) * block_size + c]. If block_size does not divide the sides of the matrix, the blocks at its
/// lower and right edge reach beyond it. Padding is 0.
template <typename Value, template <typename> typename Array>
struct Blocks {
    Index block_size = 1;
    Array<Index> block_offsets;  // first block of each block row
    Array<Index> block_columns;  // ascending in each block row
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(number_field<&Blocks::block_size>(), structure_array<&Blocks::block_offsets>("block rows + 1"),
                          column_array<&Blocks::block_columns>("blocks"),
                          value_array<&Blocks::values>("blocks * block_size * block_size"));
    }

    [[nodiscard]] constexpr Index block_rows() const { return static_cast<Index>(block_offsets.size()) - 1; }
};

/// The number of blocks of this size that hold a nonzero.
template <typename Value>
[[nodiscard]] Offset count_blocks(const CsrOnHost<Value>& matrix, Index size);

/// The smallest of `sizes` whose blocks take the fewest bytes. `sizes` must not be empty.
template <ValueType Value, typename MatrixValue>
[[nodiscard]] Index choose_block_size(const CsrOnHost<MatrixValue>& matrix, std::span<const Index> sizes);

/// Throws Unsuitable, with the figures, if the slots exceed the bound or the free memory, or the blocks 32 bits.
template <ValueType Value, typename MatrixValue>
[[nodiscard]] Blocks<Value, HostArray> build_blocks(const CsrOnHost<MatrixValue>& matrix, Index size, const SlotBound& bound);

}  // namespace workbench
