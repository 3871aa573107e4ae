// The Kokkos kernel of schedules for several vectors: Y = A X. A schedule is compiled only to unpack rows; the sums are made by
// code that is the same for all schedules.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/storage/pattern.hpp"

namespace workbench {

/// X, Y and the rows of Y of a product on the host.
template <ValueType Value>
struct HostTile {
    const Value* x;  // [columns x vectors], row by row
    Value* y;        // [rows x vectors]
    int vectors;
    bool accumulate;
    const Index* rows = nullptr;       // as in HostVectors
    const Pattern* pattern = nullptr;  // of the layout, if a schedule stores zeros
};

/// Multiplies one row after another with X. Entries wait until a batch of them is added to the sums of all vectors.
template <ValueType Value>
class RowTimesVectors {
public:
    explicit RowTimesVectors(const HostTile<Value>& tile) : tile_(tile) {}

    void add(Offset column, Value value) {
        columns_[waiting_] = column;
        values_[waiting_] = value;
        if (++waiting_ == batch) add_waiting();
    }
    /// Ends a row: writes its sums to Y, or adds them.
    void put(Index row, bool atomically);
    /// True if a sum of the row is not finite; the row then begins again.
    [[nodiscard]] bool begins_again();
    [[nodiscard]] bool is_entry(Offset row, Offset column) const { return tile_.pattern->has(row, column); }

private:
    static constexpr int batch = 256;

    void add_waiting();

    HostTile<Value> tile_;
    int waiting_ = 0;
    bool is_begun_ = false;  // the sums contain entries of the row
    std::array<Offset, batch> columns_;
    std::array<Value, batch> values_;
    std::array<Value, most_vectors> sums_;
};

/// A schedule over arrays without their types.
template <ValueType Value>
struct UnpackedSchedule {
    Offset threads = 0;
    bool atomic = false;
    /// Multiplies the rows of threads [first, end). view: of the arrays.
    void (*multiply)(const void* view, Offset first, Offset end, RowTimesVectors<Value>& row) = nullptr;
};

template <Schedule S, ValueType Value, typename View>
void multiply_with_vectors(const void* address, Offset first, Offset end, RowTimesVectors<Value>& row) {
    const View& arrays = *static_cast<const View*>(address);
    for (Offset thread = first; thread < end; ++thread) {
        const auto run = S::run(arrays, thread, PlainLoad{});
        if (run.row < 0) continue;
        const auto add_slots = [&](const auto& is_wanted) {
            auto state = state_of_run<S>(arrays, run, PlainLoad{});
            for (Offset k = 0; k < run.count; ++k) {
                const RunSlot place{k, run.slot(k)};
                const Index column = load_column<S>(arrays, run, place, PlainLoad{}, state);
                if (S::no_column != NoColumn::never && column < 0) continue;
                if (!is_wanted(Offset{run.first_column} + column)) continue;
                row.add(Offset{run.first_column} + column, value_of_slot<S, Value>(arrays, run, place, column));
            }
        };
        add_slots([](Offset) { return true; });
        if constexpr (S::hooks.stores_zeros) {
            if (row.begins_again()) add_slots([&](Offset column) { return row.is_entry(run.row, column); });
        }
        row.put(row_of_run<S>(arrays, run, PlainLoad{}), S::atomic);
    }
}

/// The first of several schedules, and the rows of Y.
struct HostRowsPlan {
    std::span<const Index> rows = {};  // as in PrepareRows
    int vectors = 1;
    bool zeroes_first = false;              // because the first schedule does not write all
                                            // rows, or adds to them
    std::vector<Index> without_first = {};  // rows of the layout to which the first schedule adds padding alone,
                                            // perhaps NaN
    std::optional<std::int64_t> own_bytes = {};
    const Pattern* pattern = nullptr;  // see HostTile
};

/// Not a template of the schedules, because it would be compiled for each.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> make_host_vectors(std::span<const std::byte> view,
                                                               std::span<const UnpackedSchedule<Value>> schedules,
                                                               HostRowsPlan plan, const Layout<Value>& layout);

template <ValueType Value, typename OwnLayout, typename... Schedules>
std::unique_ptr<Kernel<Value>> prepare_host_vectors(const Layout<Value>& layout, std::span<const Index> rows, int vectors,
                                                    Device&) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    HostRowsPlan plan{.rows = rows, .vectors = vectors, .own_bytes = own_bytes_of(own)};
    if constexpr (requires { own.pattern.columns_of(Index{}); }) plan.pattern = &own.pattern;
    if constexpr (requires { own.rows_without_inside(); }) plan.without_first = own.rows_without_inside();
    return with_stored(own, [&](const auto& stored) {
        const auto view = view_of(stored);
        using View = std::remove_const_t<decltype(view)>;
        if constexpr (requires { stored.first_has_all_rows(); }) plan.zeroes_first = !stored.first_has_all_rows();
        const auto unpacked = [&]<typename Chosen>(Chosen) -> UnpackedSchedule<Value> {
            return {Chosen::threads(view), Chosen::atomic, multiply_with_vectors<Chosen, Value, View>};
        };
        const UnpackedSchedule<Value> schedules[] = {with_schedule<Schedules>(stored, unpacked)...};
        return make_host_vectors<Value>(std::as_bytes(std::span(&view, 1)), schedules, std::move(plan), layout);
    });
}

/// For KernelEntry::prepare_vectors of a Kokkos kernel: schedules with one lane a row, or choices of them.
template <template <typename> typename LayoutOf, typename... Schedules>
[[nodiscard]] ForEachPrecision<PrepareVectors> host_vectors_of() {
    return {prepare_host_vectors<float, LayoutOf<float>, Schedules...>,
            prepare_host_vectors<double, LayoutOf<double>, Schedules...>};
}

}  // namespace workbench
