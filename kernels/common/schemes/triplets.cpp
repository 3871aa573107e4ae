#include "kernels/common/schemes/triplets.hpp"

#include "core/matrix/host_array.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// Calls visit(stored row, its k, the place among all entries) for every entry, by all threads.
template <typename Visit>
void for_each_entry(const ShareView& share, const Visit& visit) {
    for_each_in_parallel(share.row_count(), rows_of_chunk, [&](std::int64_t row) {
        const auto stored = static_cast<Index>(row);
        const Offset begin = share.offsets()[stored];
        for (Offset k = 0; k < share.length(stored); ++k) visit(stored, k, begin + k);
    });
}

}  // namespace

template <ValueType Value>
Triplets<Value, HostArray> build_triplets(const CsrMatrix& matrix, const ShareView& share) {
    const Offset count = share.entry_count();
    Triplets<Value, HostArray> triplets;
    make_room(triplets.row_indices, count);
    make_room(triplets.column_indices, count);
    make_room(triplets.values, count);
    for_each_entry(share, [&](Index stored, Offset k, Offset place) {
        const Offset nonzero = share.entry(stored, k);
        triplets.row_indices[place] = share.row(stored);
        triplets.column_indices[place] = matrix.column_indices[nonzero];
        triplets.values[place] = static_cast<Value>(matrix.values[nonzero]);
    });
    return triplets;
}

HostArray<Offset> entries_of(const ShareView& share) {
    HostArray<Offset> entries;
    make_room(entries, share.entry_count());
    for_each_entry(share, [&](Index stored, Offset k, Offset place) { entries[place] = share.entry(stored, k); });
    return entries;
}

template Triplets<float, HostArray> build_triplets(const CsrMatrix&, const ShareView&);
template Triplets<double, HostArray> build_triplets(const CsrMatrix&, const ShareView&);

}  // namespace workbench
