// What a schedule says, slot by slot: for Layout::for_each_slot, and for what a kernel of it reads (ScheduleEntry).
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/common/storage/origin.hpp"

namespace workbench {

/// Does the column of a slot follow from its place, instead of being an element of the same number?
template <typename Schedule, typename Arrays>
concept columns_follow =
    has_own_column<Schedule, Arrays, decltype(run_of_thread<Schedule>(std::declval<const Arrays&>(), Offset{0}, PlainLoad{}))>;

/// Where the slots of a walk lie.
struct WalkedArrays {
    int values = 0;    // numbers in Layout::arrays()
    int columns = -1;  // -1: the columns follow from the place

    /// Of a schedule whose arrays all belong to `stored`.
    template <typename Schedule>
    [[nodiscard]] static WalkedArrays of(const auto& stored) {
        const int values = array_number(stored, Schedule::values(stored));
        if constexpr (columns_follow<Schedule, decltype(stored)>) {
            return {values, -1};
        } else {
            return {values, array_number(stored, Schedule::columns(stored))};
        }
    }
};

/// Throws std::logic_error where a run leaves the `size` slots of its array, so that a layout which was tampered with is safe
/// to walk.
void require_run_inside(Offset first, Offset count, Offset stride, Offset size);

/// Calls visit(thread, run) for the threads that read something of `size` slots.
template <typename Schedule>
void for_each_run_of(const auto& arrays, Offset size, const auto& visit) {
    for (Offset thread = 0; thread < Schedule::threads(arrays); ++thread) {
        const auto run = run_of_thread<Schedule>(arrays, thread, PlainLoad{});
        if (run.count <= 0) continue;
        if constexpr (requires { run.stride; }) {
            require_run_inside(run.first, run.count, run.stride, size);
        } else {
            for (Offset k = 0; k < run.count; ++k) require_run_inside(run.slot(k), 1, 1, size);
        }
        visit(thread, run);
    }
}

/// The column that a slot's x has, or -1.
template <typename Schedule>
[[nodiscard]] Index column_of(const auto& arrays, const auto& run, const RunSlot& place) {
    const Index column = load_column<Schedule>(arrays, run, place, PlainLoad{});
    if (Schedule::no_column != NoColumn::never && column < 0) return -1;
    const Offset of_matrix = Offset{run.first_column} + column;
    if (of_matrix < 0 || of_matrix >= arrays.column_count) {
        throw std::logic_error("slot " + std::to_string(place.slot) + " reads a column that does not exist");
    }
    return static_cast<Index>(of_matrix);
}

/// Calls visit(read) for every slot that the threads of a kernel read, thread by thread. Threads are dealt to warps of 32 in
/// order, from first_warp on; `values` is the number of the value array.
template <typename Schedule>
void for_each_read(const auto& arrays, int values, const std::function<void(const Read&)>& visit, std::int64_t first_warp = 0) {
    for_each_run_of<Schedule>(arrays, static_cast<Offset>(Schedule::values(arrays).size()),
                              [&](Offset thread, const auto& run) {
                                  if (run.row < 0) return;
                                  for (Offset k = 0; k < run.count; ++k) {
                                      const RunSlot place{k, run.slot(k)};
                                      const Index column = column_of<Schedule>(arrays, run, place);
                                      if (Schedule::no_column == NoColumn::skipped && column < 0) continue;
                                      visit({.warp = first_warp + thread / 32,
                                             .lane = static_cast<int>(thread % 32),
                                             .step = k,
                                             .array = values,
                                             .index = place.slot,
                                             .row = run.row < 0 ? -1 : Schedule::row_of(arrays, run, PlainLoad{}),
                                             .column = column});
                                  }
                              });
}

/// Calls visit(slot) for every slot of a value array in the order of memory. `Schedule` has one thread for each stored row, and
/// its runs are the slots of that row in the order of its entries, padding after them: nonzero(stored, k) is the k-th entry's
/// position in CsrMatrix::values, or -1 where the row has no such entry. Throws std::logic_error where the runs are not each
/// slot once.
template <typename Schedule>
void for_each_stored_slot(const auto& arrays, const WalkedArrays& where, const auto& nonzero,
                          const std::function<void(const Slot&)>& visit) {
    struct Owner {
        Offset stored = -1;
        Offset k = 0;
    };
    if constexpr (!columns_follow<Schedule, decltype(arrays)>) {
        if (Schedule::columns(arrays).size() != Schedule::values(arrays).size()) {
            throw std::logic_error("there are not as many columns as values");
        }
    }
    std::vector<Owner> owners(Schedule::values(arrays).size());
    for_each_run_of<Schedule>(
        arrays, static_cast<Offset>(Schedule::values(arrays).size()), [&](Offset stored, const auto& run) {
            for (Offset k = 0; k < run.count; ++k) {
                Owner& owner = owners[run.slot(k)];
                if (owner.stored >= 0) throw std::logic_error("slot " + std::to_string(run.slot(k)) + " belongs to two rows");
                owner = {stored, k};
            }
        });
    for (Offset index = 0; index < static_cast<Offset>(owners.size()); ++index) {
        const auto [stored, k] = owners[index];
        if (stored < 0) throw std::logic_error("slot " + std::to_string(index) + " belongs to no row");
        const auto run = run_of_thread<Schedule>(arrays, stored, PlainLoad{});
        const RunSlot place{k, index};
        Slot slot{.array = where.values,
                  .column_array = where.columns,
                  .index = index,
                  .column_index = where.columns < 0 ? 0 : index,
                  .nonzero = nonzero(stored, k),
                  .column = column_of<Schedule>(arrays, run, place),
                  .row = run.row < 0 ? -1 : Schedule::row_of(arrays, run, PlainLoad{})};
        if (slot.column < 0) slot.row = -1;
        if ((Schedule::no_column == NoColumn::slot_read || Schedule::no_column == NoColumn::column_read) && slot.nonzero < 0 &&
            slot.column >= 0) {
            throw std::logic_error("slot " + std::to_string(index) + " is padding, but has a column");
        }
        visit(slot);
    }
}

/// The same for a schedule over all arrays of a layout whose stored rows are known.
template <typename Schedule>
void for_each_stored_slot(const auto& arrays, const Origin& origin, const std::function<void(const Slot&)>& visit) {
    for_each_stored_slot<Schedule>(
        arrays, WalkedArrays::of<Schedule>(arrays), [&](Offset stored, Offset k) { return origin.nonzero(stored, k); }, visit);
}

/// The slots of compressed rows that hold all nonzeros of the matrix in its order. Throws std::logic_error where the offsets do
/// not tile the arrays.
template <typename Schedule>
void for_each_compressed_slot(const auto& arrays, const std::function<void(const Slot&)>& visit) {
    const auto& values = Schedule::values(arrays);
    if (!tiles(arrays.row_offsets, values.size())) throw std::logic_error("the row offsets do not tile the arrays");
    for_each_stored_slot<Schedule>(
        arrays, WalkedArrays::of<Schedule>(arrays), [&](Offset row, Offset k) { return arrays.row_offsets[row] + k; }, visit);
}

/// The reads of schedules over the arrays of one struct, one after another; each begins with a new warp.
template <typename... Schedules>
void walk_in_turn(const auto& stored, const std::function<void(const Read&)>& visit) {
    std::int64_t first_warp = 0;
    const auto walk = [&]<typename Chosen>(Chosen) {
        for_each_read<Chosen>(stored, array_number(stored, Chosen::values(stored)), visit, first_warp);
        first_warp += (Chosen::threads(stored) + 31) / 32;
    };
    (with_schedule<Schedules>(stored, walk), ...);
}

/// For ScheduleEntry::walk, of a StoredLayout.
template <ValueType Value, typename OwnLayout, typename... Schedules>
void walk_reads(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    walk_in_turn<Schedules...>(dynamic_cast<const OwnLayout&>(layout).stored(), visit);
}

/// What a kernel of the layout reads whose threads follow these schedules.
template <template <typename> typename LayoutOf, typename... Schedules>
[[nodiscard]] ScheduleEntry schedule_of(std::string kernel) {
    return {std::move(kernel),
            {walk_reads<float, LayoutOf<float>, Schedules...>, walk_reads<double, LayoutOf<double>, Schedules...>}};
}

}  // namespace workbench
