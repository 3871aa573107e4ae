#include "kernels/common/triplets.hpp"

#include <stdexcept>

#include "kernels/common/host_loops.hpp"

namespace workbench {
namespace {

constexpr int row_chunk = 256;  // rows that a thread takes at a time

/// Where each stored row begins. [rows present]
std::vector<Offset> offsets_of(const ShareView& share) {
    std::vector<Offset> offsets(share.row_count());
    Offset before = 0;
    for (Index stored = 0; stored < share.row_count(); ++stored) {
        offsets[stored] = before;
        before += share.length(stored);
    }
    return offsets;
}

}  // namespace

template <ValueType Value>
Triplets<Value> build_triplets(const CsrMatrix& matrix, const ShareView& share) {
    const Offset count = share.entry_count();
    Triplets<Value> triplets;
    triplets.rows.resize(count);
    triplets.columns.resize(count);
    triplets.values.resize(count);
    if (!share.is_whole()) triplets.nonzeros.resize(count);
    const std::vector<Offset> offsets = offsets_of(share);
    for_each_in_parallel(share.row_count(), row_chunk, [&](std::int64_t row) {
        const auto stored = static_cast<Index>(row);
        for (Offset k = 0; k < share.length(stored); ++k) {
            const Offset nonzero = share.entry(stored, k);
            const Offset place = offsets[stored] + k;
            triplets.rows[place] = share.row(stored);
            triplets.columns[place] = matrix.column_indices[nonzero];
            triplets.values[place] = static_cast<Value>(matrix.values[nonzero]);
            if (!triplets.nonzeros.empty()) triplets.nonzeros[place] = nonzero;
        }
    });
    return triplets;
}

template <ValueType Value>
void for_each_slot(const Triplets<Value>& triplets, const TripletFrame& frame, const std::function<void(const Slot&)>& visit) {
    if (triplets.rows.size() != triplets.values.size() || triplets.columns.size() != triplets.values.size()) {
        throw std::logic_error("triplets: the arrays are not of one size");
    }
    for (Offset i = 0; i < triplets.count(); ++i) {
        visit({.array = frame.value_array,
               .column_array = frame.column_array,
               .index = i,
               .column_index = i,
               .nonzero = triplets.nonzeros.empty() ? i : triplets.nonzeros[i],
               .column = triplets.columns[i],
               .row = triplets.rows[i],
               .warp = frame.first_warp + i / 32,
               .lane = static_cast<int>(i % 32)});
    }
}

template Triplets<float> build_triplets(const CsrMatrix&, const ShareView&);
template Triplets<double> build_triplets(const CsrMatrix&, const ShareView&);

using VisitSlot = std::function<void(const Slot&)>;
template void for_each_slot(const Triplets<float>&, const TripletFrame&, const VisitSlot&);
template void for_each_slot(const Triplets<double>&, const TripletFrame&, const VisitSlot&);

}  // namespace workbench
