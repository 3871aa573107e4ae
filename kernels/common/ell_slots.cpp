#include "kernels/common/ell_slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/common/host_loops.hpp"

namespace workbench {
namespace {

constexpr int row_chunk = 256;  // rows that a thread takes at a time

Index longest_row(const ShareView& share) {
    Offset longest = 0;
    for (Index stored = 0; stored < share.row_count(); ++stored) longest = std::max(longest, share.length(stored));
    return static_cast<Index>(longest);
}

/// Remembers which nonzeros the rows hold; a whole matrix holds them in order.
template <ValueType Value>
void remember_nonzeros(EllSlots<Value>& slots, const ShareView& share) {
    slots.row_offsets.resize(static_cast<std::size_t>(share.row_count()) + 1);
    for (Index stored = 0; stored < share.row_count(); ++stored) {
        slots.row_offsets[stored + 1] = slots.row_offsets[stored] + share.length(stored);
    }
    if (share.is_whole()) return;
    slots.nonzeros.resize(share.entry_count());
    for_each_in_parallel(share.row_count(), row_chunk, [&](std::int64_t row) {
        const auto stored = static_cast<Index>(row);
        for (Offset k = 0; k < share.length(stored); ++k)
            slots.nonzeros[slots.row_offsets[stored] + k] = share.entry(stored, k);
    });
}

template <ValueType Value>
void require_sound_arrays(const EllSlots<Value>& slots) {
    const auto expected = static_cast<std::size_t>(slots.slot_count());
    if (slots.columns.size() != expected || slots.values.size() != expected ||
        slots.row_offsets.size() != static_cast<std::size_t>(slots.row_count) + 1) {
        throw std::logic_error("ell: the arrays are not as large as rows and width say");
    }
}

}  // namespace

template <ValueType Value>
EllSlots<Value> build_ell_slots(const CsrMatrix& matrix, const ShareView& share, EllOrder order, double slots_per_nonzero) {
    EllSlots<Value> slots;
    slots.order = order;
    slots.row_count = share.row_count();
    slots.width = longest_row(share);
    require_bounded_slots(fmt::format("{} rows as wide as the longest ({})", slots.row_count, slots.width),
                          static_cast<double>(slots.slot_count()), share.entry_count(), sizeof(Value) + sizeof(Index),
                          {slots_per_nonzero, "slices (layout sell) pad less, slots_per_nonzero allows more"});
    remember_nonzeros(slots, share);
    slots.columns.assign(slots.slot_count(), no_column);
    slots.values.assign(slots.slot_count(), 0);
    for_each_in_parallel(share.row_count(), row_chunk, [&](std::int64_t row) {
        const auto stored = static_cast<Index>(row);
        for (Index k = 0; k < share.length(stored); ++k) {
            const Offset nonzero = share.entry(stored, k);
            slots.columns[slots.slot(stored, k)] = matrix.column_indices[nonzero];
            slots.values[slots.slot(stored, k)] = static_cast<Value>(matrix.values[nonzero]);
        }
    });
    return slots;
}

template <ValueType Value>
void for_each_slot(const EllSlots<Value>& slots, const EllFrame& frame, const std::function<void(const Slot&)>& visit) {
    require_sound_arrays(slots);
    const bool by_rows = slots.order == EllOrder::row_major;
    const Index outer = by_rows ? slots.row_count : slots.width;
    const Index inner = by_rows ? slots.width : slots.row_count;
    Slot slot{.array = frame.value_array, .column_array = frame.column_array};
    for (Index i = 0; i < outer; ++i) {
        for (Index j = 0; j < inner; ++j, ++slot.index) {
            const Index stored = by_rows ? i : j;
            const Index k = by_rows ? j : i;
            const Offset entry = slots.row_offsets[stored] + k;
            const bool padding = entry >= slots.row_offsets[stored + 1];
            slot.column_index = slot.index;
            slot.column = slots.columns[slot.index];
            if (padding && slot.column != no_column) {
                throw std::logic_error(fmt::format("ell: slot {} is padding, but has a column", slot.index));
            }
            slot.nonzero = padding ? -1 : slots.nonzeros.empty() ? entry : slots.nonzeros[entry];
            slot.row = padding ? -1 : frame.row ? frame.row(stored) : stored;
            const Offset lane = static_cast<Offset>(stored) * frame.lanes_per_row + k % frame.lanes_per_row;
            slot.warp = frame.first_warp + lane / 32;
            slot.lane = static_cast<int>(lane % 32);
            slot.step = k / frame.lanes_per_row;
            visit(slot);
        }
    }
}

template EllSlots<float> build_ell_slots(const CsrMatrix&, const ShareView&, EllOrder, double);
template EllSlots<double> build_ell_slots(const CsrMatrix&, const ShareView&, EllOrder, double);

using VisitSlot = std::function<void(const Slot&)>;
template void for_each_slot(const EllSlots<float>&, const EllFrame&, const VisitSlot&);
template void for_each_slot(const EllSlots<double>&, const EllFrame&, const VisitSlot&);

}  // namespace workbench
