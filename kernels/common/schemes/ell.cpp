#include "kernels/common/schemes/ell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/matrix/host_array.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

Index longest_row(const ShareView& share) {
    Offset longest = 0;
    for (Index stored = 0; stored < share.row_count(); ++stored) longest = std::max(longest, share.length(stored));
    return static_cast<Index>(longest);
}

}  // namespace

template <ValueType Value>
Ell<Value, HostArray> build_ell(const CsrMatrix& matrix, const ShareView& share, EllOrder order, double slots_per_nonzero) {
    Ell<Value, HostArray> ell;
    ell.order = order;
    ell.row_count = share.row_count();
    ell.column_count = matrix.columns;
    ell.width = longest_row(share);
    require_bounded_slots(fmt::format("{} rows as wide as the longest ({})", ell.row_count, ell.width),
                          static_cast<double>(ell.slot_count()), share.entry_count(), sizeof(Value) + sizeof(Index),
                          {slots_per_nonzero, "slices (layout sell) pad less, slots_per_nonzero allows more"});
    make_filled(ell.column_indices, ell.slot_count(), no_column);
    make_zeros(ell.values, ell.slot_count());
    for_each_in_parallel(share.row_count(), rows_of_chunk, [&](std::int64_t row) {
        const auto stored = static_cast<Index>(row);
        for (Index k = 0; k < share.length(stored); ++k) {
            const Offset nonzero = share.entry(stored, k);
            ell.column_indices[ell.slot(stored, k)] = matrix.column_indices[nonzero];
            ell.values[ell.slot(stored, k)] = static_cast<Value>(matrix.values[nonzero]);
        }
    });
    return ell;
}

template Ell<float, HostArray> build_ell(const CsrMatrix&, const ShareView&, EllOrder, double);
template Ell<double, HostArray> build_ell(const CsrMatrix&, const ShareView&, EllOrder, double);

}  // namespace workbench
