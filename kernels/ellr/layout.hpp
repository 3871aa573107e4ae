// ELLPACK-R: ELL column by column, and the length of each row, so that no thread reads padding.
// Source: Vazquez, Ortega, Fernandez, Garzon, "Improving the performance of the sparse matrix vector product with GPUs" (2010).
// With all rows sorted by length beforehand it is PELLR (Wang, Gu, 2020, section 3), whose array perm is the row order.
#pragma once

#include "kernels/common/storage/ell.hpp"
#include "kernels/common/storage/origin.hpp"

namespace workbench {

template <typename Value, template <typename> typename Array>
struct Ellr : Ell<Value, Array> {
    template <template <typename> typename Other>
    using In = Ellr<Value, Other>;

    Array<Index> row_lengths;  // [rows] so many slots of a row are read

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "row_lengths [rows]", of.row_lengths...);
        Ell<Value, Array>::fields(visit, of...);
    }
};

/// All slots of the rows.
struct EllrSlots : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::slot_read;
    static constexpr Offset threads(const auto& ellr) { return ellr.row_count; }
    static constexpr Run<Offset> run(const auto& ellr, Offset row) {
        return run_in_ell<EllOrder::column_major, 1>(ellr, row < ellr.row_count ? static_cast<Index>(row) : -1, row, 0);
    }
};

/// Of the kernels `rows`: a thread a row, which stops at the row's end.
struct EllrRows : ScheduleDefaults {
    static constexpr int resident_blocks = 0;  // on an H200 1.1 to 1.2 times as fast as 6
    static constexpr Offset threads(const auto& ellr) { return ellr.row_count; }
    static constexpr Run<Offset> run(const auto& ellr, Offset row) {
        if (row >= ellr.row_count) return {};
        return {static_cast<Index>(row), row, ellr.row_lengths[row], ellr.row_count};
    }
};

template <ValueType Value>
struct EllrLayout final : StoredLayout<Value, Ellr<Value, HostArray>> {
    static constexpr const char* name = "ellr";
    Origin origin;
    /// As bytes_to_move, but without the padding, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry ellr_entry();
[[nodiscard]] std::vector<KernelEntry> ellr_cuda_kernels();

}  // namespace workbench
