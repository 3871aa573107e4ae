// The slots of schedules, for Layout::for_each_slot, and their reads, for ScheduleEntry.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The arrays of a walk's slots.
struct WalkedArrays {
    int values = 0;    // numbers in Layout::fields()
    int columns = -1;  // -1: the columns are computed

    /// For a schedule whose arrays all belong to `stored`. Columns that are computed from those of an array belong to it.
    template <Schedule S>
    [[nodiscard]] static WalkedArrays of(const auto& stored) {
        const int values = array_number(stored, slot_values<S>(stored));
        if constexpr (S::hooks.own_column && !S::hooks.own_columns) {
            return {values, -1};
        } else {
            return {values, array_number(stored, slot_columns<S>(stored))};
        }
    }
};

/// Throws std::logic_error if a run leaves the `size` slots of its array, so that corrupted layouts are safe to walk.
void require_run_inside(Offset first, Offset count, Offset stride, Offset size);

/// Calls visit(thread, run) for the threads that read any of `size` slots.
template <typename S, typename Arrays>
requires ScheduleOf<S, Arrays>
void for_each_run_of(const Arrays& arrays, Offset size, const auto& visit) {
    for (Offset thread = 0; thread < S::threads(arrays); ++thread) {
        const auto run = S::run(arrays, thread, PlainLoad{});
        if (run.count <= 0) continue;
        if constexpr (requires { run.stride; }) {
            require_run_inside(run.first, run.count, run.stride, size);
        } else {
            for (Offset k = 0; k < run.count; ++k) require_run_inside(run.slot(k), 1, 1, size);
        }
        visit(thread, run);
    }
}

/// The column of a slot in the matrix, or -1.
template <Schedule S>
[[nodiscard]] Index column_of(const auto& arrays, const auto& run, const RunSlot& place) {
    const Index column = load_column<S>(arrays, run, place, PlainLoad{});
    if (S::no_column != NoColumn::never && column < 0) return -1;
    const Offset of_matrix = Offset{run.first_column} + column;
    if (of_matrix < 0 || of_matrix >= arrays.column_count) {
        throw std::logic_error("slot " + std::to_string(place.slot) + " reads a column that does not exist");
    }
    return static_cast<Index>(of_matrix);
}

/// The slot number k of a run, without its nonzero. values: the number of the value array.
template <Schedule S>
[[nodiscard]] Slot slot_of_run(const auto& arrays, int values, const auto& run, Offset k) {
    const RunSlot place{k, run.slot(k)};
    return {.array = values,
            .index = place.slot,
            .column = column_of<S>(arrays, run, place),
            .row = run.row < 0 ? -1 : row_of_run<S>(arrays, run, PlainLoad{})};
}

/// The read of a slot by a thread of the grid.
[[nodiscard]] inline Read read_of(const Slot& slot, Offset thread, std::int64_t step) {
    return {.warp = thread / 32,
            .lane = static_cast<int>(thread % 32),
            .step = step,
            .array = slot.array,
            .index = slot.index,
            .row = slot.row,
            .column = slot.column};
}

/// Calls visit(read) for every slot that the threads of a kernel read, thread by thread. 32 threads are a warp, numbered from
/// first_warp on; `values` is the number of the value array.
template <Schedule S>
void for_each_read(const auto& arrays, int values, const std::function<void(const Read&)>& visit, std::int64_t first_warp = 0) {
    for_each_run_of<S>(arrays, static_cast<Offset>(slot_values<S>(arrays).size()), [&](Offset thread, const auto& run) {
        if (run.row < 0) return;
        for (Offset k = 0; k < run.count; ++k) {
            const Slot slot = slot_of_run<S>(arrays, values, run, k);
            if (S::no_column == NoColumn::skipped && slot.column < 0) continue;
            visit(read_of(slot, first_warp * 32 + thread, k));
        }
    });
}

/// Calls visit(slot) for every slot of a value array in the order of memory. S has one thread for each stored row, whose run
/// has the entries of that row in order, then padding: nonzero(stored, k) is the position of the k-th entry in
/// CsrMatrix::values, or -1 if the row has no such entry. Throws std::logic_error unless the runs contain each slot once.
template <Schedule S>
void for_each_stored_slot(const auto& arrays, const WalkedArrays& where, const auto& nonzero,
                          const std::function<void(const Slot&)>& visit) {
    struct Owner {
        Offset stored = -1;
        Offset k = 0;
    };
    const auto slots = static_cast<std::size_t>(slot_values<S>(arrays).size());
    if constexpr (!S::hooks.own_column) {
        if (static_cast<std::size_t>(slot_columns<S>(arrays).size()) != slots) {
            throw std::logic_error("there are not as many columns as values");
        }
    }
    std::vector<Owner> owners(slots);
    for_each_run_of<S>(arrays, static_cast<Offset>(slots), [&](Offset stored, const auto& run) {
        for (Offset k = 0; k < run.count; ++k) {
            Owner& owner = owners[run.slot(k)];
            if (owner.stored >= 0) throw std::logic_error("slot " + std::to_string(run.slot(k)) + " belongs to two rows");
            owner = {stored, k};
        }
    });
    for (Offset index = 0; index < static_cast<Offset>(owners.size()); ++index) {
        const auto [stored, k] = owners[index];
        if (stored < 0) throw std::logic_error("slot " + std::to_string(index) + " belongs to no row");
        const auto run = S::run(arrays, stored, PlainLoad{});
        Slot slot = slot_of_run<S>(arrays, where.values, run, k);
        slot.column_array = where.columns;
        slot.column_index = where.columns < 0 ? 0 : index;
        slot.nonzero = nonzero(stored, k);
        if (slot.column < 0) slot.row = -1;
        if ((S::no_column == NoColumn::slot_read || S::no_column == NoColumn::column_read) && slot.nonzero < 0 &&
            slot.column >= 0) {
            throw std::logic_error("slot " + std::to_string(index) + " is padding, but has a column");
        }
        visit(slot);
    }
}

/// for_each_stored_slot of a layout with an origin.
template <Schedule S>
void for_each_stored_slot(const auto& arrays, const Origin& origin, const std::function<void(const Slot&)>& visit) {
    for_each_stored_slot<S>(
        arrays, WalkedArrays::of<S>(arrays), [&](Offset stored, Offset k) { return origin.nonzero(stored, k); }, visit);
}

/// for_each_stored_slot of compressed rows with the nonzeros in the order of the matrix. Throws std::logic_error unless the
/// offsets tile the arrays.
template <Schedule S>
void for_each_compressed_slot(const auto& arrays, const std::function<void(const Slot&)>& visit) {
    const auto& values = slot_values<S>(arrays);
    if (!tiles(arrays.row_offsets, values.size())) throw std::logic_error("the row offsets do not tile the arrays");
    for_each_stored_slot<S>(
        arrays, WalkedArrays::of<S>(arrays), [&](Offset row, Offset k) { return arrays.row_offsets[row] + k; }, visit);
}

template <ValueType Value, typename... StoredArrays>
std::vector<std::pair<std::string, std::string>> VariantLayout<Value, StoredArrays...>::notes() const {
    return std::visit(
        [](const auto& one) {
            if constexpr (requires { one.values; }) {
                return notes_on_values(one.values);
            } else {
                return std::vector<std::pair<std::string, std::string>>();
            }
        },
        stored);
}

template <ValueType Value, typename Stored, typename Rows>
void CompressedLayout<Value, Stored, Rows>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& stored) { for_each_compressed_slot<Rows>(stored, visit); });
}

template <ValueType Value, typename Stored, typename Rows>
void OriginLayout<Value, Stored, Rows>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& stored) {
        with_schedule<Rows>(stored, [&]<typename Chosen>(Chosen) { for_each_stored_slot<Chosen>(stored, origin, visit); });
    });
}

template <ValueType Value, typename Stored, typename Rows>
void PatternLayout<Value, Stored, Rows>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    PatternWalk walk(pattern);
    const auto nonzero = [&](Offset thread, Offset k) {
        const auto run = Rows::run(this->stored(), thread, PlainLoad{});
        return walk.nonzero_at(run.row, load_column<Rows>(this->stored(), run, RunSlot{k, run.slot(k)}, PlainLoad{}));
    };
    for_each_stored_slot<Rows>(this->stored(), WalkedArrays::of<Rows>(this->stored()), nonzero, visit);
}

/// Visits the reads of schedules one after another; each begins a new warp.
template <typename... Schedules>
void walk_in_turn(const auto& stored, const std::function<void(const Read&)>& visit) {
    std::int64_t first_warp = 0;
    const auto walk = [&]<typename Chosen>(Chosen) {
        for_each_read<Chosen>(stored, array_number(stored, slot_values<Chosen>(stored)), visit, first_warp);
        first_warp += (Chosen::threads(stored) + 31) / 32;
    };
    (with_schedule<Schedules>(stored, walk), ...);
}

/// For ScheduleEntry::walk.
template <ValueType Value, typename OwnLayout, typename... Schedules>
void walk_reads(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    with_stored(dynamic_cast<const OwnLayout&>(layout), [&](const auto& stored) { walk_in_turn<Schedules...>(stored, visit); });
}

/// The reads of a kernel whose threads follow these schedules, one after another.
template <template <typename> typename LayoutOf, typename... Schedules>
[[nodiscard]] ScheduleEntry schedule_of(std::string kernel) {
    return {std::move(kernel),
            {walk_reads<float, LayoutOf<float>, Schedules...>, walk_reads<double, LayoutOf<double>, Schedules...>}};
}

}  // namespace workbench
