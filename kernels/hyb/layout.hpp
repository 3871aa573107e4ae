// HYB: ELL for the first k nonzeros of each row, a coordinate list for what longer rows have beyond them. Most rows of a matrix
// with few long ones are short: ELL alone would pad them all to the longest.
// Source: Bell and Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).
// Stage split with by = "first_k" chooses k.
#pragma once

#include "kernels/common/storage/ell.hpp"
#include "kernels/common/storage/origin.hpp"
#include "kernels/common/storage/triplets.hpp"

namespace workbench {

/// The rows present in share `first` in ELL, column by column, in that share's order; then share `rest` as triplets, which add
/// to what is there. A row without nonzeros is in neither.
template <typename Value, template <typename> typename Array>
struct Hyb {
    template <template <typename> typename Other>
    using In = Hyb<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Array<Index> first_rows;  // [first.row_count] the row at each place of ELL; empty: place i is row i, for all rows
    Ell<Value, Array> first;
    Triplets<Value, Array> rest;

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::structure, "first_rows [first.row_count]", of.first_rows...);
        Ell<Value, Array>::fields(prefixed("first_", visit), of.first...);
        Triplets<Value, Array>::fields(prefixed("rest_", visit), of.rest...);
    }

    /// Does ELL write every row of y?
    [[nodiscard]] constexpr bool first_has_all_rows() const { return first.row_count == row_count; }
};

/// A thread a row of ELL.
struct HybFirst : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::slot_read;

    static constexpr const auto& values(const auto& hyb) { return hyb.first.values; }
    static constexpr const auto& columns(const auto& hyb) { return hyb.first.column_indices; }
    static constexpr Offset threads(const auto& hyb) { return hyb.first.row_count; }
    static constexpr Run<Offset> run(const auto& hyb, Offset place) {
        return run_in_ell<EllOrder::column_major, 1>(hyb.first, place < hyb.first.row_count ? static_cast<Index>(place) : -1,
                                                     place, 0);
    }
    static constexpr Index row_of(const auto& hyb, const auto& run, const auto&) {
        return hyb.first_rows.size() == 0 ? run.row : hyb.first_rows[run.row];
    }
};

/// A thread a triplet of the rest.
struct HybRest : EachTriplet {
    static constexpr const auto& values(const auto& hyb) { return hyb.rest.values; }
    static constexpr const auto& columns(const auto& hyb) { return hyb.rest.column_indices; }
    static constexpr Offset threads(const auto& hyb) { return EachTriplet::threads(hyb.rest); }
    static constexpr auto run(const auto& hyb, Offset thread) { return EachTriplet::run(hyb.rest, thread); }
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

[[nodiscard]] LayoutEntry hyb_entry();

[[nodiscard]] std::vector<KernelEntry> hyb_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> hyb_cuda_kernels();

}  // namespace workbench
