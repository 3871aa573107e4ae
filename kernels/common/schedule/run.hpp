// A schedule lists the slots that each thread of a kernel reads, and the row that it adds them to. It is written once, as
// constexpr functions over the layout's arrays in any storage; the kernels of both backends, the walk over the slots and the
// cache model call it.
//
//   struct Rows final : ScheduleBase<Hooks{.lanes = 8}> {
//       static constexpr Offset threads(const auto& arrays);                             // the number of threads
//       static constexpr auto run(const auto& arrays, Offset thread, const auto& load);  // a Run: the row and its slots
//   };
//
// Hooks names everything else that a schedule may define, so that a misspelt hook does not compile.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "core/matrix/types.hpp"
#include "kernels/common/schedule/vector_tiles.hpp"
#include "kernels/common/storage/coded_values.hpp"
#include "kernels/device/tuned.hpp"

namespace workbench {

/// A distance between slots that is known at compile time.
template <int distance>
using Known = std::integral_constant<int, distance>;

/// The distance as a number.
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
    Index row = -1;  // as the layout stores it (row_of_run); -1: the thread has no row and reads nothing
    Offset first = 0;
    Count count{};
    Stride stride{};
    Index first_column = 0;  // the columns of the run are counted from it

    [[nodiscard]] constexpr Offset slot(Offset k) const { return first + k * stride; }
};

/// The threads of a block of the CUDA kernel (rows_kernel.cuh).
inline constexpr int row_threads = 256;

/// The arrays that a kernel reads for a slot without a column of the matrix, such as padding (load_column is negative).
enum class NoColumn {
    never,        // every slot has one
    slot_read,    // padding that the stored column marks: the value and the column, but not x
    column_read,  // padding that the stored column marks: the column alone
    skipped,      // the column is computed: neither the value nor x
};

/// States whether the runs of neighbouring threads are side by side, so that the host can multiply several at a time. If so,
/// with n = threads_side_by_side(arrays), the threads [i * n, (i + 1) * n) have these properties: the threads with a row come
/// first, and their rows ascend by one; the k-th slot of a thread follows the k-th slot of the thread before it; and column()
/// and row_of() use no other member of a run that differs between these threads.
enum class AdjacentRuns {
    none,        // not known
    descending,  // and no run has more slots than the one before it
    any,         // runs of any lengths
};

[[nodiscard]] constexpr AdjacentRuns side_by_side_if(bool known) {
    return known ? AdjacentRuns::descending : AdjacentRuns::none;
}

/// One of the slots of a run.
struct RunSlot {
    Offset k = 0;     // number in the run, from 0
    Offset slot = 0;  // element of the value array
};

/// The properties of a schedule, and which optional functions it declares.
struct Hooks {
    int lanes = 1;                                     // threads of a warp that share a row: a power of two
    int lane_distance = 1;                             // threads from one lane of a row to the next
    int entries_in_flight = tuned::entries_in_flight;  // that a thread of a GPU loads before it uses the first
    /// Blocks of row_threads that a multiprocessor of a GPU holds where a row has one thread: the fewer, the more registers
    /// there are for entries in flight. Where threads share a row, the compiler chooses.
    int resident_blocks = tuned::resident_blocks;
    ThreadsForVectors threads_for_vectors = {};  // where lanes are chosen for several vectors (OfLanes)
    bool counts_alike = false;                   // the runs of a warp have about the same length (sparse_dot)
    bool atomic = false;                         // threads of several warps add to one row
    bool compiled_in = true;                     // the program contains its CUDA kernels for values in full (is_compiled_in)
    NoColumn no_column = NoColumn::never;
    AdjacentRuns side_by_side = AdjacentRuns::none;  // otherwise: Offset threads_side_by_side(arrays), at least 1
    /// Slots may be zeros in columns that the row lacks, by which a NaN in x would reach it. Kernels of the host for several
    /// vectors look at their sums, and leave such slots out if one is not finite.
    bool stores_zeros = false;

    /// The runs of threads that are side by side count their columns from different ones (Run::first_column).
    bool own_first_columns = false;
    bool own_values = false;   // const auto& values(arrays): the array of the slots; default: arrays.values
    bool own_columns = false;  // const auto& columns(arrays): parallel to values; default: arrays.column_indices
    bool own_column = false;   // Index column(arrays, run, RunSlot, load): computed, or decoded from own_columns
    /// auto state(arrays, run, load), and Index next_column(arrays, run, RunSlot, load, auto& state) instead of column: for
    /// columns that depend on those before them. It is called for the slots of a run in their order.
    bool own_state = false;
    bool own_has_plain_columns = false;  // bool has_plain_columns(run): the columns of this run are stored in `columns`
    bool own_row_of = false;             // Index row_of(arrays, run, load): the row of the matrix; default: run.row
};

template <Hooks chosen = Hooks{}>
struct ScheduleBase {
    static constexpr Hooks hooks = chosen;
    static constexpr int lanes = chosen.lanes;
    static constexpr int lane_distance = chosen.lane_distance;
    static constexpr int entries_in_flight = chosen.entries_in_flight;
    static constexpr int resident_blocks = chosen.resident_blocks;
    static constexpr bool counts_alike = chosen.counts_alike;
    static constexpr bool atomic = chosen.atomic;
    static constexpr NoColumn no_column = chosen.no_column;
    static constexpr AdjacentRuns side_by_side = chosen.side_by_side;
};

/// The host's loads; those of GPUs are in device/loads.cuh. load(address) is for data that is read once, load.kept(address) for
/// data that neighbouring threads also read.
struct PlainLoad {
    template <typename Element>
    constexpr Element operator()(const Element* address) const {
        return *address;
    }
    template <ValuePointer Pointer>
    constexpr auto operator()(const Pointer& pointer) const {
        return pointer.decode(*this);
    }
    template <typename Element>
    [[nodiscard]] constexpr Element kept(const Element* address) const {
        return *address;
    }
};

/// True if the properties of a schedule are those of its Hooks, and none is declared beside them.
template <typename S>
constexpr bool hides_no_property() {
    constexpr Hooks hooks = S::hooks;
    return S::lanes == hooks.lanes && S::lane_distance == hooks.lane_distance &&
           S::entries_in_flight == hooks.entries_in_flight && S::resident_blocks == hooks.resident_blocks &&
           S::counts_alike == hooks.counts_alike && S::atomic == hooks.atomic && S::no_column == hooks.no_column &&
           S::side_by_side == hooks.side_by_side;
}

/// Final, because a misspelt function of a derived schedule would silently be that of its base.
template <typename S>
concept Schedule = std::is_final_v<S> && std::derived_from<S, ScheduleBase<S::hooks>> && hides_no_property<S>();

template <typename S, typename Arrays>
using RunOf = decltype(S::run(std::declval<const Arrays&>(), Offset{}, PlainLoad{}));

/// The functions that a schedule declares.
template <typename S, typename Arrays>
struct DeclaredHooks {
    static constexpr bool threads = requires(const Arrays& arrays) {
        { S::threads(arrays) } -> std::convertible_to<Offset>;
    };
    static constexpr bool run = requires(const RunOf<S, Arrays>& run) {
        { run.row } -> std::convertible_to<Index>;
        { run.slot(Offset{run.count}) } -> std::convertible_to<Offset>;
    };
    static constexpr bool threads_side_by_side = requires(const Arrays& arrays) { S::threads_side_by_side(arrays); };
    static constexpr bool values = requires(const Arrays& arrays) { S::values(arrays); };
    static constexpr bool columns = requires(const Arrays& arrays) { S::columns(arrays); };
    static constexpr bool column = requires(const Arrays& arrays, const RunOf<S, Arrays>& run, const PlainLoad& load) {
        S::column(arrays, run, RunSlot{}, load);
    };
    static constexpr bool state = requires(const Arrays& arrays, const RunOf<S, Arrays>& run, const PlainLoad& load) {
        S::state(arrays, run, load);
    };
    static constexpr bool next_column = requires(const Arrays& arrays, const RunOf<S, Arrays>& run, const PlainLoad& load) {
        S::next_column(arrays, run, RunSlot{}, load,
                       std::declval<std::remove_cvref_t<decltype(S::state(arrays, run, load))>&>());
    };
    static constexpr bool has_plain_columns = requires(const RunOf<S, Arrays>& run) { S::has_plain_columns(run); };
    static constexpr bool row_of = requires(const Arrays& arrays, const RunOf<S, Arrays>& run, const PlainLoad& load) {
        S::row_of(arrays, run, load);
    };
};

/// A schedule over these arrays. It declares exactly the optional functions that its hooks announce.
template <typename S, typename Arrays, typename Declared = DeclaredHooks<S, Arrays>>
concept ScheduleOf = Schedule<S> && Declared::threads && Declared::run &&
                         (S::hooks.side_by_side != AdjacentRuns::none) == Declared::threads_side_by_side&& S::hooks.own_values
                         == Declared::values&& S::hooks.own_columns == Declared::columns&& S::hooks.own_column
                         == Declared::column&& S::hooks.own_state == Declared::state&& S::hooks.own_state
                         == Declared::next_column
                     && (!S::hooks.own_state || (!S::hooks.own_column && S::hooks.side_by_side == AdjacentRuns::none)) &&
                     S::hooks.own_has_plain_columns == Declared::has_plain_columns&& S::hooks.own_row_of == Declared::row_of;

/// Does not compile unless S is a ScheduleOf these arrays. Of all that a compiler prints, compile_shared_object shows the first
/// of these messages alone.
template <typename S, typename Arrays>
consteval bool require_hooks() {
    using Declared = DeclaredHooks<S, Arrays>;
    constexpr Hooks hooks = S::hooks;
    static_assert(Declared::threads,
                  "schedule: threads(arrays) is missing, cannot be called with these arrays, or returns no Offset");
    static_assert(Declared::run,
                  "schedule: run(arrays, thread, load) is missing, cannot be called with these arrays, or returns no Run");
    static_assert(
        (hooks.side_by_side != AdjacentRuns::none) == Declared::threads_side_by_side,
        "schedule: hook side_by_side requires a function threads_side_by_side(arrays), and the function requires the hook");
    static_assert(hooks.own_values == Declared::values,
                  "schedule: hook own_values requires a function values(arrays), and the function requires the hook");
    static_assert(hooks.own_columns == Declared::columns,
                  "schedule: hook own_columns requires a function columns(arrays), and the function requires the hook");
    static_assert(
        hooks.own_column == Declared::column,
        "schedule: hook own_column requires a function column(arrays, run, slot, load), and the function requires the hook");
    static_assert(hooks.own_state == Declared::state,
                  "schedule: hook own_state requires a function state(arrays, run, load), and the function requires the hook");
    static_assert(hooks.own_state == Declared::next_column,
                  "schedule: hook own_state requires a function next_column(arrays, run, slot, load, state), and the function "
                  "requires the hook");
    static_assert(!hooks.own_state || (!hooks.own_column && hooks.side_by_side == AdjacentRuns::none),
                  "schedule: hook own_state excludes own_column and side_by_side");
    static_assert(
        hooks.own_has_plain_columns == Declared::has_plain_columns,
        "schedule: hook own_has_plain_columns requires a function has_plain_columns(run), and the function requires the hook");
    static_assert(
        hooks.own_row_of == Declared::row_of,
        "schedule: hook own_row_of requires a function row_of(arrays, run, load), and the function requires the hook");
    return ScheduleOf<S, Arrays>;
}

/// The array that the runs are slots of.
template <Schedule S>
[[nodiscard]] constexpr const auto& slot_values(const auto& arrays) {
    if constexpr (S::hooks.own_values) {
        return S::values(arrays);
    } else {
        return arrays.values;
    }
}

/// The array of columns that is parallel to the values.
template <Schedule S>
[[nodiscard]] constexpr const auto& slot_columns(const auto& arrays) {
    if constexpr (S::hooks.own_columns) {
        return S::columns(arrays);
    } else {
        return arrays.column_indices;
    }
}

/// True if columns are computed or decoded by a function of the schedule.
template <Schedule S>
inline constexpr bool decodes_columns = S::hooks.own_column || S::hooks.own_state;

/// The state of a schedule without one.
struct NoState {};

/// The state at the beginning of a run.
template <Schedule S>
[[nodiscard]] constexpr auto state_of_run(const auto& arrays, const auto& run, const auto& load) {
    if constexpr (S::hooks.own_state) {
        return S::state(arrays, run, load);
    } else {
        return NoState();
    }
}

/// The column of a slot, counted from the run's first_column. With a state, the slots before it were loaded with the same.
template <Schedule S, typename State = NoState>
[[nodiscard]] constexpr Index load_column(const auto& arrays, const auto& run, const RunSlot& place, const auto& load,
                                          State&& state = State()) {
    if constexpr (S::hooks.own_state) {
        return S::next_column(arrays, run, place, load, state);
    } else if constexpr (S::hooks.own_column) {
        return S::column(arrays, run, place, load);
    } else {
        const auto column = load(slot_columns<S>(arrays).data() + place.slot);
        if constexpr (S::no_column != NoColumn::never && std::is_same_v<decltype(column), const std::uint16_t>) {
            if (column == padding_column) return -1;
        }
        return column;
    }
}

/// The row of the matrix, in its current order, that a run adds to. Kernels call it last: the row may be stored in an array.
template <Schedule S>
[[nodiscard]] constexpr Index row_of_run(const auto& arrays, const auto& run, const auto& load) {
    if constexpr (S::hooks.own_row_of) {
        return S::row_of(arrays, run, load);
    } else {
        return run.row;
    }
}

/// The number of a thread among the lanes of its row.
template <Schedule S>
[[nodiscard]] constexpr int lane_of(Offset thread) {
    return static_cast<int>(thread / S::lane_distance % S::lanes);
}

/// Every lanes-th of the slots [begin, end), beginning with number `lane`.
template <int lanes>
[[nodiscard]] constexpr Run<Known<lanes>> run_of_lane(Index row, Offset begin, Offset end, int lane) {
    const Offset first = begin + lane;
    return {row, first, (end - first + lanes - 1) / lanes};
}

/// Compressed rows, each shared by `row_lanes` neighbouring threads: lane l has the entries l, l + row_lanes, ..., so that
/// neighbouring lanes read neighbouring entries. The lanes of a row have about equally many entries.
template <int row_lanes>
struct CompressedRows final
    : ScheduleBase<Hooks{.lanes = row_lanes,
                         .resident_blocks = (row_lanes == 1 ? tuned::resident_blocks : tuned::chosen_by_compiler),
                         .counts_alike = (row_lanes > 1)}> {
    template <int lanes>
    using OfLanes = CompressedRows<lanes>;

    static constexpr Offset threads(const auto& arrays) { return Offset{arrays.row_count} * row_lanes; }
    static constexpr Run<Known<row_lanes>> run(const auto& arrays, Offset thread, const auto& load) {
        const Offset row = thread / row_lanes;
        if (row >= arrays.row_count) return {};
        const Offset* const offsets = arrays.row_offsets.data() + row;
        return run_of_lane<row_lanes>(static_cast<Index>(row), load.kept(offsets), load.kept(offsets + 1),
                                      static_cast<int>(thread % row_lanes));
    }
};

/// The fewest lanes, at least `least`, that have at most two entries each of a row of mean length, or else a whole warp.
[[nodiscard]] constexpr int lanes_for(Index rows, Offset nonzeros, int least = 1) {
    int lanes = least;
    while (lanes < 32 && Offset{2} * lanes * rows < nonzeros) lanes *= 2;
    return lanes;
}

}  // namespace workbench
