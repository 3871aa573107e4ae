// COO, the coordinate list: a row, a column and a value for each nonzero, row by row.
// Source: Bell, Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).
#pragma once

#include "kernels/common/schemes/triplets.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

template <typename StoredValue, template <typename> typename Array>
struct Coo : Triplets<StoredValue, Array>, MatrixSize {
    static constexpr auto fields() { return field_list(MatrixSize::fields(), Triplets<StoredValue, Array>::fields()); }
    /// Rows without nonzeros have no thread of TripletRows.
    static constexpr bool first_has_all_rows() { return false; }
};

template <ValueType Value>
struct CooLayout final : LayoutOfArrays<Value, InAnyCoding<Coo, Value>> {
    static constexpr const char* name = "coo";
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// The CUDA kernel `segmented`.
template <ValueType Value>
struct CooRuns;

[[nodiscard]] LayoutEntry coo_entry();

}  // namespace workbench
