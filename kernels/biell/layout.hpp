// BiELL and BiJAD: bisected ELL. A strip of rows is as high as a warp is wide. The shorter half of its rows bounds how long
// every lane works on a row of its own; then the lanes of that half help the longer half with what is left, two lanes a row;
// then four lanes a row of the longest quarter, until the whole warp shares the longest row. Source: Zheng, Gu, Gu, Yang, Liu,
// "BiELL: a bisection ELLPACK-based storage format for optimizing SpMV on GPUs" (2014), as Wang and Gu, "PELLR: a permutated
// ELLPACK-R format for SpMV on GPUs" (2020), section 2.3, describe it.
#pragma once

#include <bit>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

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
template <typename Value, template <typename> typename Array>
struct Biell {
    template <template <typename> typename Other>
    using In = Biell<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Index strip_height = 32;
    Array<Offset> group_offsets;  // [strips * groups + 1] first slot of each group; multiples of strip_height
    Array<Index> column_indices;  // [slots]
    Array<Value> values;          // [slots]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::number, "strip_height", of.strip_height...);
        visit(ArrayRole::structure, "group_offsets [strips * groups + 1]", of.group_offsets...);
        visit(ArrayRole::column, "column_indices [slots]", of.column_indices...);
        visit(ArrayRole::value, "values [slots]", of.values...);
    }

    [[nodiscard]] constexpr Index strip_count() const {
        return row_count / strip_height + (row_count % strip_height > 0 ? 1 : 0);
    }
    /// Of each strip: 1 + the binary logarithm of its height.
    [[nodiscard]] constexpr int group_count() const { return std::bit_width(static_cast<unsigned>(strip_height)); }
    [[nodiscard]] constexpr Offset width(Offset group) const {
        return (group_offsets[group + 1] - group_offsets[group]) / strip_height;
    }
};

/// A lane a row of a strip; in group g it helps the row that it shares with others (see above). A kernel takes the last group
/// of a strip first.
template <int height>
struct BiellLanes : ScheduleDefaults {
    static constexpr int groups = std::bit_width(static_cast<unsigned>(height));
    static constexpr int entries_in_flight = 6;  // on an H200 1.0 to 1.1 times as fast as 4

    static constexpr Offset threads(const auto& biell) { return Offset{biell.strip_count()} * height; }
    static constexpr Offset first_group(Offset thread) { return thread / height * groups; }
    /// In group `group` of the thread's strip, whose slots are [begin, end).
    static constexpr Run<Known<height>> run(const auto& biell, Offset thread, int group, Offset begin, Offset end) {
        const int lane = static_cast<int>(thread % height);
        const Offset row = thread - lane + lane % (height >> group);
        return {row < biell.row_count ? static_cast<Index>(row) : -1, begin + lane, (end - begin) / height};
    }
};

template <ValueType Value>
struct BiellLayout final : StoredLayout<Value, Biell<Value, HostArray>> {
    // Where the slots come from. No kernel reads this and it is no part of the footprint.
    HostArray<Offset> row_offsets{0};  // [row_count + 1] as in CsrMatrix
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry biell_entry();
[[nodiscard]] LayoutEntry bijad_entry();
[[nodiscard]] std::vector<KernelEntry> biell_cuda_kernels();

}  // namespace workbench
