// The slots of schedules, for Layout::for_each_slot, and their reads, for ScheduleEntry.
#pragma once

#include <functional>
#include <span>
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
        if constexpr (decodes_columns<S> && !S::hooks.own_columns) {
            return {values, -1};
        } else {
            return {values, array_number(stored, slot_columns<S>(stored))};
        }
    }
};

/// The slots of a run, as Run and JaggedRun have them: slot k is first + k * stride, plus offsets[k] if there are offsets.
struct WalkedRun {
    Index row = -1;
    Offset count = 0;
    Offset first = 0;
    Offset stride = 0;
    const Offset* offsets = nullptr;

    [[nodiscard]] Offset slot(Offset k) const { return first + k * stride + (offsets == nullptr ? 0 : offsets[k]); }
};
template <typename OwnRun>
requires requires(const OwnRun& run) { run.stride; }
[[nodiscard]] WalkedRun walked_run(const OwnRun& run) { return {run.row, run.count, run.first, run.stride}; }

/// A schedule over arrays, without their types, so that the walks are compiled once for all.
struct WalkedSchedule {
    const void* arrays;
    Offset threads;
    Offset slots;    // elements of the array of values
    Offset columns;  // elements of the array of columns; -1: they are computed
    NoColumn no_column;
    WalkedRun (*run)(const void* arrays, Offset thread) = nullptr;
    /// Sets index, column and row of all slots of a thread's run.
    void (*read)(const void* arrays, Offset thread, std::span<Slot> slots) = nullptr;
};

/// Throws std::logic_error if a run leaves the `size` slots of its array, so that corrupted layouts are safe to walk.
void require_run_inside(const WalkedRun& run, Offset size);

/// Throws std::logic_error because a slot reads a column that does not exist.
[[noreturn]] void fail_without_column(Offset slot);

/// The column of a slot in the matrix, or -1.
template <Schedule S, typename State = NoState>
[[nodiscard]] Index column_of(const auto& arrays, const auto& run, const RunSlot& place, State&& state = State()) {
    const Index column = load_column<S>(arrays, run, place, PlainLoad{}, state);
    if (S::no_column != NoColumn::never && column < 0) return -1;
    const Offset of_matrix = Offset{run.first_column} + column;
    if (of_matrix < 0 || of_matrix >= arrays.column_count) fail_without_column(place.slot);
    return static_cast<Index>(of_matrix);
}

/// Sets index, column and row of slot number k of a run.
template <Schedule S, typename State = NoState>
void read_slot(const auto& arrays, const auto& run, Offset k, Slot& slot, State&& state = State()) {
    const RunSlot place{k, run.slot(k)};
    slot.index = place.slot;
    slot.column = column_of<S>(arrays, run, place, state);
    slot.row = run.row < 0 ? -1 : row_of_run<S>(arrays, run, PlainLoad{});
}

/// `arrays` must remain while it is walked.
template <typename S, typename Arrays>
requires ScheduleOf<S, Arrays>
[[nodiscard]] WalkedSchedule walked(const Arrays& arrays) {
    WalkedSchedule schedule{.arrays = &arrays,
                            .threads = S::threads(arrays),
                            .slots = static_cast<Offset>(slot_values<S>(arrays).size()),
                            .columns = -1,
                            .no_column = S::no_column};
    if constexpr (!decodes_columns<S>) schedule.columns = static_cast<Offset>(slot_columns<S>(arrays).size());
    schedule.run = [](const void* of, Offset thread) {
        return walked_run(S::run(*static_cast<const Arrays*>(of), thread, PlainLoad{}));
    };
    schedule.read = [](const void* of, Offset thread, std::span<Slot> slots) {
        const auto& own = *static_cast<const Arrays*>(of);
        const auto run = S::run(own, thread, PlainLoad{});
        auto state = state_of_run<S>(own, run, PlainLoad{});
        Offset k = 0;
        for (Slot& slot : slots) read_slot<S>(own, run, k++, slot, state);
    };
    return schedule;
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

/// Calls visit(thread, run) for the threads that read any slots.
void for_each_run(const WalkedSchedule& schedule, const std::function<void(Offset, const WalkedRun&)>& visit);

/// Calls visit(read) for every slot that the threads of a kernel read, thread by thread. 32 threads are a warp, numbered from
/// first_warp on; `values` is the number of the value array.
void for_each_read(const WalkedSchedule& schedule, int values, const std::function<void(const Read&)>& visit,
                   std::int64_t first_warp = 0);

/// The nonzero of a slot, as a position in CsrMatrix::values; -1: padding. The slot is the k-th of a stored row.
using NonzeroOf = std::function<Offset(const Slot& slot, Offset stored, Offset k)>;

/// Calls visit(slot) for every slot of a value array in the order of memory. The schedule has one thread for each stored row,
/// whose run has the entries of that row in order, then padding. Throws std::logic_error unless the runs contain each slot
/// once.
void for_each_stored_slot(const WalkedSchedule& schedule, const WalkedArrays& where, const NonzeroOf& nonzero,
                          const std::function<void(const Slot&)>& visit);

/// `structure`: views without values.
template <Schedule S>
void for_each_slot_in(const auto& structure, const NonzeroOf& nonzero, const std::function<void(const Slot&)>& visit) {
    for_each_stored_slot(walked<S>(structure), WalkedArrays::of<S>(structure), nonzero, visit);
}
template <Schedule S>
void for_each_stored_slot(const auto& arrays, const NonzeroOf& nonzero, const std::function<void(const Slot&)>& visit) {
    for_each_slot_in<S>(structure_of(arrays), nonzero, visit);
}

/// The nonzeros of a layout with an origin, or with the pattern of its matrix. They must remain while it is walked.
[[nodiscard]] NonzeroOf nonzeros_of(const Origin& origin);
[[nodiscard]] NonzeroOf nonzeros_of(PatternWalk& walk);

/// The nonzeros of compressed rows in the order of the matrix. Throws std::logic_error unless the offsets tile as many values.
[[nodiscard]] NonzeroOf nonzeros_of(std::span<const Offset> row_offsets, std::size_t values);

template <ValueType Value, typename... StoredArrays>
std::vector<std::pair<std::string, std::string>> VariantLayout<Value, StoredArrays...>::notes() const {
    return with_alternative(stored, [](const auto& one) {
        std::vector<std::pair<std::string, std::string>> notes;
        if constexpr (requires { one.wide_offsets; }) notes = notes_on_columns(one);
        if constexpr (requires { one.values; }) {
            for (auto& note : notes_on_values(one.values)) notes.push_back(std::move(note));
        }
        return notes;
    });
}

template <ValueType Value, typename Stored, typename Rows>
void CompressedLayout<Value, Stored, Rows>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& stored) {
        for_each_stored_slot<Rows>(stored, nonzeros_of(stored.row_offsets, slot_values<Rows>(stored).size()), visit);
    });
}

template <ValueType Value, typename Stored, typename Rows>
void OriginLayout<Value, Stored, Rows>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& stored) {
        with_schedule<Rows>(stored,
                            [&]<typename Chosen>(Chosen) { for_each_stored_slot<Chosen>(stored, nonzeros_of(origin), visit); });
    });
}

template <ValueType Value, typename Stored, typename Rows>
void PatternLayout<Value, Stored, Rows>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    PatternWalk walk(pattern);
    for_each_stored_slot<Rows>(this->stored(), nonzeros_of(walk), visit);
}

/// The schedule or choice by which the kernel of another is walked: its type `Walk`, which is faster to compile, or itself.
template <typename S>
struct WalkOf {
    using Type = S;
};
template <typename S>
requires requires { typename S::Walk; }
struct WalkOf<S> {
    using Type = typename S::Walk;
};

/// Visits the reads of schedules one after another; each begins a new warp. stored: what they are chosen by; structure: the
/// same without values.
template <typename... Schedules>
void walk_in_turn(const auto& stored, const auto& structure, const std::function<void(const Read&)>& visit) {
    std::int64_t first_warp = 0;
    const auto with_array = [&]<typename Chosen>(Chosen) {
        return std::pair(walked<Chosen>(structure), array_number(structure, slot_values<Chosen>(structure)));
    };
    const auto walk = [&](const std::pair<WalkedSchedule, int>& chosen) {
        for_each_read(chosen.first, chosen.second, visit, first_warp);
        first_warp += (chosen.first.threads + 31) / 32;
    };
    (walk(with_schedule<typename WalkOf<Schedules>::Type>(stored, with_array)), ...);
}

/// For ScheduleEntry::walk.
template <ValueType Value, typename OwnLayout, typename... Schedules>
void walk_reads(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    if constexpr (HasSlots<OwnLayout>) {
        const auto any = own.slots();
        with_alternative(any, [&](const auto& slots) { walk_in_turn<Schedules...>(slots, slots, visit); });
    } else {
        with_stored(own, [&](const auto& stored) { walk_in_turn<Schedules...>(stored, structure_of(stored), visit); });
    }
}

/// The reads of a kernel whose threads follow these schedules, one after another.
template <template <typename> typename LayoutOf, typename... Schedules>
[[nodiscard]] ForEachPrecision<WalkReads> walk_of() {
    return {walk_reads<float, LayoutOf<float>, Schedules...>, walk_reads<double, LayoutOf<double>, Schedules...>};
}

}  // namespace workbench
