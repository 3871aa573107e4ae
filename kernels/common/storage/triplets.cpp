#include "kernels/common/storage/triplets.hpp"

#include "kernels/common/device/host_loops.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {
namespace {

constexpr int row_chunk = 256;  // rows that a thread takes at a time

/// Where each stored row begins. [rows present]
HostArray<Offset> offsets_of(const ShareView& share) {
    HostArray<Offset> offsets(share.row_count());
    Offset before = 0;
    for (Index stored = 0; stored < share.row_count(); ++stored) {
        offsets[stored] = before;
        before += share.length(stored);
    }
    return offsets;
}

}  // namespace

template <ValueType Value>
Triplets<Value, HostArray> build_triplets(const CsrMatrix& matrix, const ShareView& share) {
    const Offset count = share.entry_count();
    Triplets<Value, HostArray> triplets;
    make_zeros(triplets.row_indices, count);
    make_zeros(triplets.column_indices, count);
    make_zeros(triplets.values, count);
    const HostArray<Offset> offsets = offsets_of(share);
    for_each_in_parallel(share.row_count(), row_chunk, [&](std::int64_t row) {
        const auto stored = static_cast<Index>(row);
        for (Offset k = 0; k < share.length(stored); ++k) {
            const Offset nonzero = share.entry(stored, k);
            const Offset place = offsets[stored] + k;
            triplets.row_indices[place] = share.row(stored);
            triplets.column_indices[place] = matrix.column_indices[nonzero];
            triplets.values[place] = static_cast<Value>(matrix.values[nonzero]);
        }
    });
    return triplets;
}

HostArray<Offset> entries_of(const ShareView& share) {
    HostArray<Offset> entries;
    entries.reserve(share.entry_count());
    for (Index stored = 0; stored < share.row_count(); ++stored) {
        for (Offset k = 0; k < share.length(stored); ++k) entries.push_back(share.entry(stored, k));
    }
    return entries;
}

template Triplets<float, HostArray> build_triplets(const CsrMatrix&, const ShareView&);
template Triplets<double, HostArray> build_triplets(const CsrMatrix&, const ShareView&);

}  // namespace workbench
