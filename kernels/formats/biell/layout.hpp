// BiELL and BiJAD: bisected ELL. A strip has as many rows as a warp has lanes. Every lane works on a row of its own until the
// shorter half of the rows is done; then the lanes of that half help the longer half, two lanes per row; then four lanes share
// a row of the longest quarter, until the whole warp shares the longest row. Source: Zheng, Gu, Gu, Yang, Liu, "BiELL: a
// bisection ELLPACK-based storage format for optimizing SpMV on GPUs" (2014), as Wang and Gu, "PELLR: a permutated ELLPACK-R
// format for SpMV on GPUs" (2020), section 2.3, describe it.
#pragma once

#include <bit>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The matrix by strips of `strip_height` = 2^b rows, in descending length within a strip; BiJAD is the same with all rows in
/// descending length. A strip is stored in b + 1 groups. In group g, 2^g lanes share a row: lane l reads row l mod m of the
/// strip, m = strip_height / 2^g, as share l / m of it. The group has the entries that follow the p entries of the groups
/// before it, in `width` steps: step k of share s is entry p + 2^g k + s, so that the shares of a row read neighbouring
/// entries. The width is that of the longest row that is in no later group, row m / 2 (in the last group row 0): width = max(0,
/// ceil((length - p) / 2^g)). Slot of step k and lane l: group_offsets[g] + k * strip_height + l. Padding has value 0 and
/// the last column of its row; in a row without nonzeros column 0.
///
/// The original paper was not available. The bisection, the groups (six for a warp of 32), their order and the arrays are from
/// descriptions of it; the rounding of a width, and the entries of each share, are designs of this project. The fourth array of
/// the paper, the permutation of the rows, is the row order here: stage row_sort makes it, within windows of strip_height rows
/// (BiELL) or of all rows (BiJAD).
template <typename Value, template <typename> typename Array>
struct Biell : MatrixSize {
    Index strip_height = 32;
    Array<Offset> group_offsets;  // first slot of each group; multiples of strip_height
    Array<Index> column_indices;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&Biell::strip_height>(),
                          structure_array<&Biell::group_offsets>("strips * groups + 1"),
                          column_array<&Biell::column_indices>("slots"), value_array<&Biell::values>("slots"));
    }

    [[nodiscard]] constexpr Index strip_count() const {
        return row_count / strip_height + (row_count % strip_height > 0 ? 1 : 0);
    }
    /// The groups of each strip: 1 + the binary logarithm of its height.
    [[nodiscard]] constexpr int group_count() const { return std::bit_width(static_cast<unsigned>(strip_height)); }
    [[nodiscard]] constexpr Offset width(Offset group) const {
        return (group_offsets[group + 1] - group_offsets[group]) / strip_height;
    }
};

/// One lane per row of a strip; in group g it works on the row that it shares with others (see above). A kernel takes the last
/// group of a strip first.
template <int height>
struct BiellLanes final : ScheduleBase<Hooks{.entries_in_flight = tuned::biell_entries_in_flight}> {
    static constexpr int groups = std::bit_width(static_cast<unsigned>(height));

    static constexpr Offset threads(const auto& biell) { return Offset{biell.strip_count()} * height; }
    static constexpr Offset first_group(Offset thread) { return thread / height * groups; }
    /// The run in group `group` of the thread's strip, whose slots are [begin, end).
    static constexpr Run<Known<height>> run(const auto& biell, Offset thread, int group, Offset begin, Offset end) {
        const int lane = static_cast<int>(thread % height);
        const Offset row = thread - lane + lane % (height >> group);
        return {row < biell.row_count ? static_cast<Index>(row) : -1, begin + lane, (end - begin) / height};
    }
};

template <ValueType Value>
struct BiellLayout final : StoredLayout<Value, Biell<Value, HostArray>> {
    static constexpr const char* name = "biell";
    // For the walk over the slots. No kernel reads it, and it does not count in the footprint.
    HostArray<Offset> row_offsets{0};  // [row_count + 1] as in CsrMatrix
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return rows_without_nonzeros(row_offsets); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// The CUDA kernel `strips`.
template <ValueType Value>
class BiellKernel;

[[nodiscard]] LayoutEntry biell_entry();
[[nodiscard]] LayoutEntry bijad_entry();

}  // namespace workbench
