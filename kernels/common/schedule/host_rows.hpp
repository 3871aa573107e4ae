// The Kokkos kernel of all schedules whose threads have one row and one run of slots each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "kernels/common/schedule/kernels.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/stored_layout.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

/// Threads of a schedule that a thread of the host takes at a time.
inline constexpr int rows_of_host_block = 512;

/// Bytes of values that the host prefetches ahead, without which a core alone waits for memory. Half or twice as much took up
/// to 1.1 times as long (docs/results/cpu-peers.md).
inline constexpr Offset bytes_ahead = 2048;

/// Prefetches the value and the column that are read bytes_ahead after this slot.
template <Schedule S, ValueType Value>
[[gnu::always_inline]] inline void prefetch_slots(const auto& arrays, Offset slot) {
    constexpr Offset slots_ahead = bytes_ahead / static_cast<Offset>(sizeof(Value));
    // Inlined early, because GCC removes calls of functions that only prefetch.
    const auto prefetch = [=](const auto& address) __attribute__((always_inline)) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(address)>>) {
            __builtin_prefetch(address + slot + slots_ahead);
        } else if constexpr (requires { address.code; }) {
            __builtin_prefetch(address.code + slot + slots_ahead);
        }
    };
    prefetch(slot_values<S>(arrays).data());
    if constexpr (S::hooks.own_columns || requires { arrays.column_indices.data(); }) prefetch(slot_columns<S>(arrays).data());
}

/// The value of a slot of a run.
template <Schedule S, ValueType Value>
[[nodiscard]] Value value_of_slot(const auto& arrays, const auto& run, const RunSlot& place, Index column) {
    if constexpr (HasLineValues<decltype(arrays)>) {
        if (arrays.row_values.size() > 0) return arrays.row_values[run.row];
        return LineValuePointer<Value>(arrays).in_column(column, PlainLoad{});
    } else {
        return static_cast<Value>(slot_values<S>(arrays)[place.slot]);
    }
}

/// Adds the product of a slot to a sum. x_of_run: from the first column of the run on.
template <Schedule S, ValueType Value>
[[gnu::always_inline]] inline void add_slot(const auto& arrays, const auto& run, const RunSlot& place, const Value* x_of_run,
                                            Value& sum, auto&& state) {
    const Index column = load_column<S>(arrays, run, place, PlainLoad{}, state);
    if (S::no_column != NoColumn::never && column < 0) return;
    sum += value_of_slot<S, Value>(arrays, run, place, column) * x_of_run[column];
}

/// A product's vectors on the host, and the row of y for each row of the layout.
template <ValueType Value>
struct HostVectors {
    const Value* x;
    Value* y;
    bool accumulate;
    const Index* rows = nullptr;  // [rows of the layout]; null: each is itself

    void put_sum(Index row, Value sum) const { put(y, rows == nullptr ? row : rows[row], sum, accumulate); }
};

/// Multiplies threads [first, end), row by row.
template <Schedule S, ValueType Value>
void multiply_row_by_row(const auto& arrays, Offset first, Offset end, const HostVectors<Value>& vectors) {
    for (Offset thread = first; thread < end; ++thread) {
        const auto run = S::run(arrays, thread, PlainLoad{});
        if (run.row < 0) continue;
        auto state = state_of_run<S>(arrays, run, PlainLoad{});
        Value sum = 0;
        for (Offset k = 0; k < run.count; ++k) {
            add_slot<S>(arrays, run, RunSlot{k, run.slot(k)}, vectors.x + run.first_column, sum, state);
        }
        vectors.put_sum(row_of_run<S>(arrays, run, PlainLoad{}), sum);
    }
}

/// Rows that have their sums in registers at a time.
inline constexpr int host_lanes = 8;

/// Most slots between two steps of a row that are near each other.
inline constexpr Offset near_slots = 64;

/// Most steps for which the lanes of a slice are multiplied one group after another, although the slice has several groups.
inline constexpr Offset few_steps = 8;

/// Neighbouring threads with rows, whose runs are side by side. Several have their sums in registers at a time; the slots of a
/// row are added in their order. Loads of x one by one are faster than gathers of AVX2 and AVX-512, and these instructions are
/// no faster than those of any x86-64 (docs/results/cpu-peers.md).
template <Schedule S, ValueType Value, typename View>
class HostLanes {
public:
    /// Threads [first, end), at most rows_of_host_block; those without a row are left out.
    HostLanes(const View& arrays, Offset first, Offset end)
        : arrays_(arrays), first_(first), first_run_(S::run(arrays, first, PlainLoad{})) {
        if (first_run_.row < 0) return;
        count_ = static_cast<int>(end - first);
        auto last = run_of(count_ - 1);
        while (last.row < 0) last = run_of(--count_ - 1);
        set_lengths(last);
        if constexpr (S::hooks.own_first_columns) {
            for (int lane = 0; lane < count_; ++lane) first_columns_[lane] = run_of(lane).first_column;
        }
    }

    void multiply(const HostVectors<Value>& vectors) {
        const Offset steps = steps_at_a_time();
        const Value* const x = vectors.x + (S::hooks.own_first_columns ? 0 : first_run_.first_column);
        for (Offset step = 0; step < longest_; step += steps) {
            const Offset end = std::min<Offset>(step + steps, longest_);
            int lane = 0;
            for (; lane + at_once <= count_; lane += at_once) add_steps(lane, step, end, x);
            add_row_by_row(lane, count_, step, end, x);
        }
        auto run = first_run_;
        for (int lane = 0; lane < count_; ++lane, ++run.row) {
            vectors.put_sum(row_of_run<S>(arrays_, run, PlainLoad{}), sums_[lane]);
        }
    }

private:
    static constexpr int at_once = host_lanes;

    [[nodiscard]] auto run_of(int lane) const { return S::run(arrays_, first_ + lane, PlainLoad{}); }
    /// x from the first column of a lane on. x: of the run.
    [[nodiscard]] [[gnu::always_inline]] const Value* x_of(const Value* x, int lane) const {
        if constexpr (S::hooks.own_first_columns) return x + first_columns_[lane];
        return x;
    }
    [[nodiscard]] Offset distance() const { return longest_ > 1 ? first_run_.slot(1) - first_run_.slot(0) : 0; }

    /// Few steps at a time read more of each page if the next slots of these rows are far away. If a step has more rows than
    /// are added at a time, few steps read whole lines of the cache, in their order.
    [[nodiscard]] Offset steps_at_a_time() const {
        if (distance() > near_slots) return 4;
        return distance() > at_once && longest_ > few_steps ? 2 : longest_;
    }

    void set_lengths(const auto& last) {
        std::fill_n(sums_.begin(), count_, Value{0});
        longest_ = first_run_.count;
        if (S::side_by_side == AdjacentRuns::descending && last.count == first_run_.count) return;
        alike_ = false;
        for (int lane = 0; lane < count_; ++lane) {
            lengths_[lane] = run_of(lane).count;
            longest_ = std::max(longest_, lengths_[lane]);
        }
    }

    /// Adds the steps [begin, end) of lanes [lane, lane + at_once).
    void add_steps(int lane, Offset begin, Offset end, const Value* x_of_run) {
        const Offset* const lengths = lengths_.data() + lane;
        const Offset shortest = alike_ ? end : std::min(end, *std::min_element(lengths, lengths + at_once));
        // Copied one by one: a load of two sums would wait until both have been written to memory.
        std::array<Value, at_once> sums;
#pragma GCC unroll 8
        for (int i = 0; i < at_once; ++i) sums[i] = sums_[lane + i];
        const bool is_near = distance() <= near_slots;
        for (Offset k = begin; k < shortest; ++k) {
            const Offset slot = first_run_.slot(k) + lane;
            if (is_near) prefetch_slots<S, Value>(arrays_, slot);
#pragma GCC unroll 8
            for (int i = 0; i < at_once; ++i)
                add_slot<S>(arrays_, first_run_, RunSlot{k, slot + i}, x_of(x_of_run, lane + i), sums[i], NoState());
        }
#pragma GCC unroll 8
        for (int i = 0; i < at_once; ++i) sums_[lane + i] = sums[i];
        if (shortest < end) add_row_by_row(lane, lane + at_once, std::max(begin, shortest), end, x_of_run);
    }

    /// Adds the steps [begin, end) of lanes [first, last), each up to the length of its row. Not inlined, because each copy
    /// takes long to compile.
    [[gnu::noinline]] void add_row_by_row(int first, int last, Offset begin, Offset end, const Value* x_of_run) {
        for (int lane = first; lane < last; ++lane) {
            const Offset end_of_lane = alike_ ? end : std::min(end, lengths_[lane]);
            for (Offset k = begin; k < end_of_lane; ++k) {
                add_slot<S>(arrays_, first_run_, RunSlot{k, first_run_.slot(k) + lane}, x_of(x_of_run, lane), sums_[lane],
                            NoState());
            }
        }
    }

    const View& arrays_;
    Offset first_ = 0;
    RunOf<S, View> first_run_;
    int count_ = 0;  // of the threads
    bool alike_ = true;
    Offset longest_ = 0;
    std::array<Offset, rows_of_host_block> lengths_;  // unless alike_
    std::array<Index, S::hooks.own_first_columns ? rows_of_host_block : 1> first_columns_;
    std::array<Value, rows_of_host_block> sums_;
};

/// Multiplies `count` neighbouring threads whose runs are side by side and have the same number of slots. It does little before
/// and after the loop over the slots, because such work takes most of the time of a short slice.
template <Schedule S, ValueType Value>
void multiply_alike(const auto& arrays, const auto& first_run, int count, const HostVectors<Value>& vectors) {
    const Value* const x_of_run = vectors.x + first_run.first_column;
    auto run = first_run;
    for (int lane = 0; lane < count; lane += host_lanes) {
        std::array<Value, host_lanes> sums{};
        for (Offset k = 0; k < first_run.count; ++k) {
            const Offset slot = first_run.slot(k) + lane;
            prefetch_slots<S, Value>(arrays, slot);
#pragma GCC unroll 8
            for (int i = 0; i < host_lanes; ++i)
                add_slot<S>(arrays, first_run, RunSlot{k, slot + i}, x_of_run, sums[i], NoState());
        }
        if (!S::hooks.own_row_of && vectors.rows == nullptr && !vectors.accumulate) {
#pragma GCC unroll 8
            for (int i = 0; i < host_lanes; ++i) vectors.y[run.row + i] = sums[i];
            run.row += host_lanes;
        } else {
            for (int i = 0; i < host_lanes; ++i, ++run.row) {
                vectors.put_sum(row_of_run<S>(arrays, run, PlainLoad{}), sums[i]);
            }
        }
    }
}

/// True if multiply_alike is right for the runs of `count` threads, and fast.
template <Schedule S>
[[nodiscard]] bool are_alike(const auto& first, const auto& last, Offset count) {
    if (S::side_by_side != AdjacentRuns::descending || S::hooks.own_first_columns) return false;
    if (first.row < 0 || last.row < 0) return false;
    const Offset distance = first.count > 1 ? first.slot(1) - first.slot(0) : 0;
    return first.count == last.count && count % host_lanes == 0 &&
           (distance <= host_lanes || (distance <= near_slots && first.count <= few_steps));
}

/// Multiplies threads [first, end).
template <Schedule S, ValueType Value>
void multiply_block(const auto& arrays, Offset first, Offset end, const HostVectors<Value>& vectors) {
    if constexpr (S::side_by_side == AdjacentRuns::none) {
        multiply_row_by_row<S>(arrays, first, end, vectors);
    } else {
        const Offset side_by_side = S::threads_side_by_side(arrays);
        for (Offset next = (first / side_by_side + 1) * side_by_side; first < end; next += side_by_side) {
            const Offset until = std::min(next, end);
            const auto run = S::run(arrays, first, PlainLoad{});
            if (are_alike<S>(run, S::run(arrays, until - 1, PlainLoad{}), until - first)) {
                multiply_alike<S>(arrays, run, static_cast<int>(until - first), vectors);
            } else {
                HostLanes<S, Value, std::remove_cvref_t<decltype(arrays)>>(arrays, first, until).multiply(vectors);
            }
            first = until;
        }
    }
}

/// y = A x, or y += A x, for the rows of the schedule, blocks of them in parallel. `arrays` are views.
template <typename S, ValueType Value, typename View>
requires ScheduleOf<S, View>
void multiply_on_host(const View& arrays, const HostVectors<Value>& vectors) {
    const Offset threads = S::threads(arrays);
    for_each_in_parallel((threads + rows_of_host_block - 1) / rows_of_host_block, 1, [&](std::int64_t number) {
        const Offset first = number * rows_of_host_block;
        multiply_block<S>(arrays, first, std::min<Offset>(first + rows_of_host_block, threads), vectors);
    });
}

/// multiply_on_host of one schedule over arrays without their types.
template <ValueType Value>
using MultiplyOnHost = void (*)(const void* view, const HostVectors<Value>& vectors);

/// The kernel of the rows of a layout, or of a share of a larger matrix: row i of the layout is row rows[i] of y. view: the
/// bytes of the views. Not a template of the arrays, because it would be compiled for each.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> make_host_rows(std::span<const std::byte> view, std::span<const Index> rows,
                                                            std::optional<std::int64_t> own_bytes,
                                                            MultiplyOnHost<Value> multiply);

template <typename S, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_host_rows(const Layout<Value>& layout, std::span<const Index> rows, Device&) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_stored(own, [&](const auto& stored) -> std::unique_ptr<Kernel<Value>> {
        const auto view = view_of(stored);
        const auto multiply = with_schedule<S>(stored, []<typename Chosen>(Chosen) -> MultiplyOnHost<Value> {
            return [](const void* arrays, const HostVectors<Value>& vectors) {
                multiply_on_host<Chosen>(*static_cast<decltype(&view)>(arrays), vectors);
            };
        });
        return make_host_rows<Value>(std::as_bytes(std::span(&view, 1)), rows, own_bytes_of(own), multiply);
    });
}

/// The Kokkos kernel of a schedule with one lane a row, or of a choice of them.
template <template <typename> typename LayoutOf, typename S>
[[nodiscard]] KernelEntry host_rows(std::string name, std::string summary) {
    return kernel_for_rows(Backend::kokkos, std::move(name), std::move(summary),
                           {prepare_host_rows<S, float, LayoutOf<float>>, prepare_host_rows<S, double, LayoutOf<double>>});
}

}  // namespace workbench
