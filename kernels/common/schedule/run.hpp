// A schedule says which slots each thread of a kernel reads, and for which row. It is written once, as constexpr functions over
// the layout's arrays wherever these lie; the kernels of both backends, the walk over the slots and the cache model call it.
//
//   struct Schedule : ScheduleDefaults {
//       static constexpr int lanes = 8;                                // threads of a warp that share a row: a power of two
//       static constexpr Offset threads(const auto& arrays);           // how many threads there is work for
//       static constexpr auto run(const auto& arrays, Offset thread);  // a Run: the row, and the slots that it reads
//   };
//
// ScheduleDefaults has what it may say besides.
#pragma once

#include <type_traits>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// A distance between slots that the compiler knows.
template <int distance>
using Known = std::integral_constant<int, distance>;

/// The distance as a number, whether the compiler knows it or not.
template <int distance>
[[nodiscard]] constexpr int number_of(Known<distance>) {
    return distance;
}
template <typename Distance>
[[nodiscard]] constexpr Distance number_of(Distance distance) {
    return distance;
}

/// The slots that one thread reads for one row: first, first + stride, ..., `count` of them.
template <typename Stride, typename Count = Offset>
struct Run {
    Index row = -1;  // as the layout stores it (see ScheduleDefaults::row_of); -1: the thread has none, and reads nothing
    Offset first = 0;
    Count count{};
    Stride stride{};
    Index first_column = 0;  // what the columns of the run are counted from

    [[nodiscard]] constexpr Offset slot(Offset k) const { return first + k * stride; }
};

/// What is read where a slot has no column of the matrix (column() is below 0).
enum class NoColumn {
    never,        // every slot has one
    slot_read,    // padding, found out by reading the slot: x is not read
    column_read,  // padding, found out by reading the column alone
    skipped,      // the column is known before: neither the value nor x is read
};

/// One of the slots of a run.
struct RunSlot {
    Offset k = 0;     // its number in the run, from 0
    Offset slot = 0;  // the element of the value array
};

struct ScheduleDefaults {
    static constexpr int lanes = 1;
    static constexpr int lane_distance = 1;      // the lanes of a row are so many threads apart
    static constexpr int entries_in_flight = 4;  // that a thread of a GPU loads before it uses the first
    /// Blocks of row_threads that a multiprocessor of a GPU is to hold where a row has one thread: the fewer, the more
    /// registers for entries in flight. 0: as the compiler finds best, as where threads share a row and read few entries each.
    static constexpr int resident_blocks = 6;
    static constexpr NoColumn no_column = NoColumn::never;
    static constexpr bool atomic = false;  // do threads of other warps add to the same row?

    /// The arrays that the runs are slots of. Where a slot's column is not the element of the same number, the schedule has
    ///     static constexpr Index column(const auto& arrays, const auto& run, const RunSlot& place, const auto& load);
    /// which reads what it needs with load(address).
    static constexpr const auto& values(const auto& arrays) { return arrays.values; }
    static constexpr const auto& columns(const auto& arrays) { return arrays.column_indices; }

    /// The row of the matrix, in its current order, that a run adds to. Where it stands in an array, it is read at the end.
    static constexpr Index row_of(const auto&, const auto& run, const auto&) { return run.row; }
};

/// How the host reads an array. A kernel has its own ways (device/loads.cuh): load(address) for what is read once, and
/// load.kept(address) for what neighbours read, too.
struct PlainLoad {
    template <typename Element>
    constexpr Element operator()(const Element* address) const {
        return *address;
    }
    template <typename Element>
    [[nodiscard]] constexpr Element kept(const Element* address) const {
        return *address;
    }
};

/// The run of a thread. A schedule that reads arrays for it may have a third parameter, `load`.
template <typename Schedule>
[[nodiscard]] constexpr auto run_of_thread(const auto& arrays, Offset thread, const auto& load) {
    if constexpr (requires { Schedule::run(arrays, thread, load); }) {
        return Schedule::run(arrays, thread, load);
    } else {
        return Schedule::run(arrays, thread);
    }
}

/// Does the schedule tell the column of a slot itself? Otherwise it is the element of the same number.
template <typename Schedule, typename Arrays, typename RunOfIt>
concept has_own_column = requires(const Arrays& arrays, const RunOfIt& run) {
    Schedule::column(arrays, run, RunSlot{}, PlainLoad{});
};

/// Are there runs of it whose columns are the elements of the same number all the same (Schedule::has_plain_columns(run))?
template <typename Schedule, typename RunOfIt>
concept may_have_plain_columns = requires(const RunOfIt& run) {
    Schedule::has_plain_columns(run);
};

/// The column of a slot, counted from the run's first_column.
template <typename Schedule>
[[nodiscard]] constexpr Index load_column(const auto& arrays, const auto& run, const RunSlot& place, const auto& load) {
    if constexpr (has_own_column<Schedule, decltype(arrays), decltype(run)>) {
        return Schedule::column(arrays, run, place, load);
    } else {
        return load(Schedule::columns(arrays).data() + place.slot);
    }
}

/// Which of the lanes of its row a thread is.
template <typename Schedule>
[[nodiscard]] constexpr int lane_of(Offset thread) {
    return static_cast<int>(thread / Schedule::lane_distance % Schedule::lanes);
}

/// Every lanes-th of the slots [begin, end), from the lane's own on.
template <int lanes>
[[nodiscard]] constexpr Run<Known<lanes>> run_of_lane(Index row, Offset begin, Offset end, int lane) {
    const Offset first = begin + lane;
    return {row, first, (end - first + lanes - 1) / lanes};
}

/// Compressed rows, each for `lanes` neighbouring threads: lane l takes the entries l, l + lanes, ... of it, so that
/// neighbouring lanes read neighbouring entries.
template <int row_lanes>
struct CompressedRows : ScheduleDefaults {
    static constexpr int lanes = row_lanes;

    static constexpr Offset threads(const auto& arrays) { return Offset{arrays.row_count} * lanes; }
    static constexpr Run<Known<lanes>> run(const auto& arrays, Offset thread, const auto& load) {
        const Offset row = thread / lanes;
        if (row >= arrays.row_count) return {};
        const Offset* const offsets = arrays.row_offsets.data() + row;
        return run_of_lane<lanes>(static_cast<Index>(row), load.kept(offsets), load.kept(offsets + 1),
                                  static_cast<int>(thread % lanes));
    }
};

/// The fewest lanes, `least` or more, that take at most two entries each of a row of mean length; a whole warp where none do.
[[nodiscard]] constexpr int lanes_for(Index rows, Offset nonzeros, int least = 1) {
    int lanes = least;
    while (lanes < 32 && Offset{2} * lanes * rows < nonzeros) lanes *= 2;
    return lanes;
}

/// Calls use(Known<lanes>), so that what is compiled for a number of lanes can be picked when it runs. `lanes` is one of
/// least, 2 * least, ... 32.
template <int least, typename Use>
auto with_lanes(int lanes, const Use& use) {
    if constexpr (least < 32) {
        if (lanes != least) return with_lanes<2 * least>(lanes, use);
    }
    return use(Known<least>{});
}

/// Calls use(schedule): a schedule for some arrays is either itself, or chosen for them by its function `choose`.
template <typename Schedule>
auto with_schedule(const auto& arrays, const auto& use) {
    if constexpr (requires { Schedule::choose(arrays, use); }) {
        return Schedule::choose(arrays, use);
    } else {
        return use(Schedule{});
    }
}

}  // namespace workbench
