// HYB: ELL for the first k nonzeros of each row, a coordinate list for the other nonzeros of longer rows. With few long rows,
// ELL alone would consist mostly of padding. Source: Bell and Garland, "Implementing sparse matrix-vector multiplication on
// throughput-oriented processors" (2009). Stage split with by = "first_k" chooses k.
#pragma once

#include "kernels/common/schemes/ell.hpp"
#include "kernels/common/schemes/triplets.hpp"
#include "kernels/common/storage/origin.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The rows present in share `first` in ELL, column by column, in that share's order; then share `rest` as triplets, which are
/// added. A row without nonzeros is in neither.
template <typename Value, template <typename> typename Array>
struct Hyb : MatrixSize {
    Array<Index> first_rows;  // the row at each place of ELL; empty: row i is at place i
    Ell<Value, Array> first;
    Triplets<Value, Array> rest;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Hyb::first_rows>("first.row_count"),
                          nested_fields<&Hyb::first>(), nested_fields<&Hyb::rest>());
    }

    /// True if ELL writes every row of y.
    [[nodiscard]] constexpr bool first_has_all_rows() const { return first.row_count == row_count; }
};

/// One thread per row of ELL.
struct HybFirst final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read,
                                           .side_by_side = AdjacentRuns::descending,
                                           .own_values = true,
                                           .own_columns = true,
                                           .own_row_of = true}> {
    static constexpr const auto& values(const auto& hyb) { return hyb.first.values; }
    static constexpr const auto& columns(const auto& hyb) { return hyb.first.column_indices; }
    static constexpr Offset threads(const auto& hyb) { return hyb.first.row_count; }
    static constexpr Offset threads_side_by_side(const auto& hyb) { return hyb.first.row_count; }
    static constexpr Run<Offset> run(const auto& hyb, Offset place, const auto&) {
        return run_in_ell<EllOrder::column_major, 1>(hyb.first, place < hyb.first.row_count ? static_cast<Index>(place) : -1,
                                                     place, 0);
    }
    static constexpr Index row_of(const auto& hyb, const auto& run, const auto&) {
        return hyb.first_rows.size() == 0 ? run.row : hyb.first_rows[run.row];
    }
};

/// One thread per triplet.
struct HybRest final
    : ScheduleBase<Hooks{.entries_in_flight = 1, .atomic = true, .own_values = true, .own_columns = true, .own_row_of = true}> {
    static constexpr const auto& values(const auto& hyb) { return hyb.rest.values; }
    static constexpr const auto& columns(const auto& hyb) { return hyb.rest.column_indices; }
    static constexpr Offset threads(const auto& hyb) { return EachTriplet::threads(hyb.rest); }
    static constexpr auto run(const auto& hyb, Offset thread, const auto& load) {
        return EachTriplet::run(hyb.rest, thread, load);
    }
    static constexpr Index row_of(const auto& hyb, const auto& run, const auto& load) {
        return EachTriplet::row_of(hyb.rest, run, load);
    }
};

template <ValueType Value>
struct HybLayout final : StoredLayout<Value, Hyb<Value, HostArray>> {
    static constexpr const char* name = "hyb";
    Origin first_origin;
    HostArray<Offset> rest_origin;  // the nonzero of each triplet
    void transfer(Transfer& all) override { this->transfer_with(all, first_origin, rest_origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

// The CUDA kernels.
template <ValueType Value>
struct HybSegmented;
template <ValueType Value>
struct HybAtomic;

[[nodiscard]] LayoutEntry hyb_entry();

}  // namespace workbench
