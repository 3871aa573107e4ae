// ELLPACK-R: ELL column by column with the length of each row, so that no thread reads padding.
// Source: Vazquez, Ortega, Fernandez, Garzon, "Improving the performance of the sparse matrix vector product with GPUs" (2010).
// With all rows sorted by length, it is PELLR (Wang, Gu, 2020, section 3), whose array perm is the row order.
#pragma once

#include "kernels/common/schemes/ell.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

template <typename StoredValue, template <typename> typename Array>
struct Ellr : Ell<StoredValue, Array> {
    Array<Index> row_lengths;

    static constexpr auto fields() {
        return field_list(structure_array<&Ellr::row_lengths>("rows"), Ell<StoredValue, Array>::fields());
    }
};

/// All slots of the rows.
struct EllrSlots final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read}> {
    static constexpr Offset threads(const auto& ellr) { return ellr.row_count; }
    static constexpr Run<Offset> run(const auto& ellr, Offset row, const auto&) {
        return run_in_ell<EllOrder::column_major, 1>(ellr, row < ellr.row_count ? static_cast<Index>(row) : -1, row, 0);
    }
};

/// The kernels `rows`: one thread per row, which stops at the end of the row.
struct EllrRows final : ScheduleBase<Hooks{.resident_blocks = tuned::ellr_resident_blocks, .side_by_side = AdjacentRuns::any}> {
    static constexpr Offset threads(const auto& ellr) { return ellr.row_count; }
    static constexpr Offset threads_side_by_side(const auto& ellr) { return ellr.row_count; }
    static constexpr Run<Offset> run(const auto& ellr, Offset row, const auto&) {
        if (row >= ellr.row_count) return {};
        return {static_cast<Index>(row), row, ellr.row_lengths[row], ellr.row_count};
    }
};

template <ValueType Value>
struct EllrLayout final : OriginLayout<Value, InAnyCoding<Ellr, Value>, EllrSlots> {
    static constexpr const char* name = "ellr";
    /// bytes_to_move without the padding, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry ellr_entry();

/// The CUDA kernel `rows` of arrays that were made on the GPU. nonzeros: slots without padding.
template <ValueType Value, typename Stored>
[[nodiscard]] std::unique_ptr<Kernel<Value>> ellr_kernel_on_gpu(Ellr<Stored, DeviceArray>&& ellr, Offset nonzeros,
                                                                Device& device);

}  // namespace workbench
