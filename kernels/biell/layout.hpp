// BiELL and BiJAD: bisected ELL. A strip of rows is as high as a warp is wide. The shorter half of its rows bounds how long
// every lane works on a row of its own; then the lanes of that half help the longer half with what is left, two lanes a row;
// then four lanes a row of the longest quarter, until the whole warp shares the longest row. Source: Zheng, Gu, Gu, Yang, Liu,
// "BiELL: a bisection ELLPACK-based storage format for optimizing SpMV on GPUs" (2014), as Wang and Gu, "PELLR: a permutated
// ELLPACK-R format for SpMV on GPUs" (2020), section 2.3, describe it.
#pragma once

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The matrix by strips of `strip_height` = 2^b rows, in descending length within a strip; BiJAD is the same with all rows in
/// descending length. A strip is stored in b + 1 groups. In group g, 2^g lanes share a row: lane l reads row l mod m of the
/// strip, m = strip_height / 2^g, as share l / m of it. The group takes the entries from p on which the groups before it left
/// over, in `width` steps: step k of share s is entry p + 2^g k + s, so that the shares of a row read neighbouring entries. The
/// width is what the longest row that is in no later group needs, row m / 2 (in the last group row 0):
/// width = max(0, ceil((length - p) / 2^g)). Slot of step k and lane l: group_offsets[g] + k * strip_height + l. Padding has
/// value 0 and column 0.
///
/// The source of the format itself was not at hand. From its descriptions are the bisection, the groups (six for a warp of 32),
/// their order and the arrays; the rounding of a width, and which share takes which entry, are this program's. The fourth array
/// of the paper, the permutation of the rows, is the row order here: stage row_sort within windows of strip_height rows
/// (BiELL) or of all rows (BiJAD) makes it.
template <ValueType Value>
struct BiellLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Index strip_height = 32;
    std::vector<Offset> group_offsets{0};  // [strips * groups + 1] first slot of each group; multiples of strip_height
    std::vector<Index> column_indices;     // [slots]
    std::vector<Value> values;             // [slots]

    // Where the slots come from. No kernel reads this and it is no part of the footprint.
    std::vector<Offset> row_offsets{0};  // [row_count + 1] as in CsrMatrix

    [[nodiscard]] Index strip_count() const { return row_count / strip_height + (row_count % strip_height > 0 ? 1 : 0); }
    /// Of each strip: 1 + the binary logarithm of its height.
    [[nodiscard]] int group_count() const;
    [[nodiscard]] Offset width(Offset group) const { return (group_offsets[group + 1] - group_offsets[group]) / strip_height; }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry biell_entry();
[[nodiscard]] LayoutEntry bijad_entry();

[[nodiscard]] std::vector<KernelEntry> biell_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> biell_cuda_kernels();

}  // namespace workbench
