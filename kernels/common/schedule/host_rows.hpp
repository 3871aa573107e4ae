// The Kokkos kernel of all schedules whose threads have one row and one run of slots each.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "kernels/common/entry/kernels.hpp"
#include "kernels/common/schedule/share_rows.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/stored_layout.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

/// Adds the product of a slot to a sum.
template <Schedule S, ValueType Value>
void add_slot(const auto& arrays, const auto& run, Offset k, const Value* x, Value& sum) {
    const RunSlot place{k, run.slot(k)};
    const Index column = load_column<S>(arrays, run, place, PlainLoad{});
    if (S::no_column != NoColumn::never && column < 0) return;
    sum += static_cast<Value>(slot_values<S>(arrays)[place.slot]) * (x + run.first_column)[column];
}

inline constexpr int rows_of_host_block = 64;

/// Multiplies neighbouring threads of a schedule, row by row where the slots of a row are neighbours, otherwise step by step.
/// The products of a row are added in the order of its slots in both cases.
template <Schedule S, ValueType Value>
void multiply_block(const auto& arrays, Offset first, int rows, const Value* x, Value* y, bool accumulate) {
    using RunOfRow = decltype(S::run(arrays, first, PlainLoad{}));
    if constexpr (requires { requires std::is_same_v<decltype(RunOfRow::stride), Known<1>>; }) {
        for (int i = 0; i < rows; ++i) {
            const RunOfRow run = S::run(arrays, first + i, PlainLoad{});
            if (run.row < 0) continue;
            Value sum = 0;
            for (Offset k = 0; k < run.count; ++k) add_slot<S>(arrays, run, k, x, sum);
            put(y, row_of_run<S>(arrays, run, PlainLoad{}), sum, accumulate);
        }
    } else {
        std::array<RunOfRow, rows_of_host_block> runs;
        std::array<Value, rows_of_host_block> sums{};
        Offset least = std::numeric_limits<Offset>::max();
        Offset most = 0;
        for (int i = 0; i < rows; ++i) {
            runs[i] = S::run(arrays, first + i, PlainLoad{});
            if (runs[i].row < 0) runs[i].count = 0;
            least = std::min(least, runs[i].count);
            most = std::max(most, runs[i].count);
        }
        for (Offset k = 0; k < least; ++k) {
            for (int i = 0; i < rows; ++i) add_slot<S>(arrays, runs[i], k, x, sums[i]);
        }
        for (Offset k = least; k < most; ++k) {
            for (int i = 0; i < rows; ++i) {
                if (k < runs[i].count) add_slot<S>(arrays, runs[i], k, x, sums[i]);
            }
        }
        for (int i = 0; i < rows; ++i) {
            if (runs[i].row >= 0) put(y, row_of_run<S>(arrays, runs[i], PlainLoad{}), sums[i], accumulate);
        }
    }
}

/// y = A x, or y += A x, for the rows of the schedule, blocks of them in parallel. `arrays` are views.
template <typename S, ValueType Value, typename View>
requires ScheduleOf<S, View>
void multiply_on_host(const View& arrays, const Value* x, Value* y, bool accumulate) {
    const Offset threads = S::threads(arrays);
    for_each_in_parallel((threads + rows_of_host_block - 1) / rows_of_host_block, 1, [&](std::int64_t number) {
        const Offset first = number * rows_of_host_block;
        const auto rows = static_cast<int>(std::min<Offset>(rows_of_host_block, threads - first));
        multiply_block<S>(arrays, first, rows, x, y, accumulate);
    });
}

/// The rows of a layout, or of a share of a larger matrix: row i of the layout is row rows[i] of y.
template <ValueType Value, typename View, Schedule S>
class HostRows final : public Kernel<Value> {
public:
    HostRows(const View& arrays, std::span<const Index> rows, std::optional<std::int64_t> own_bytes)
        : arrays_(arrays), rows_(rows.begin(), rows.end()), own_bytes_(own_bytes) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_.empty()) return multiply_on_host<S>(arrays_, x, y, accumulate);
        const ShareArrays<View> share{arrays_, {rows_.data(), static_cast<Offset>(rows_.size())}};
        multiply_on_host<ShareRows<S>>(share, x, y, accumulate);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    View arrays_;
    HostArray<Index> rows_;
    std::optional<std::int64_t> own_bytes_;
};

template <typename S, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_host_rows(const Layout<Value>& layout, std::span<const Index> rows, Device&) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_stored(own, [&](const auto& stored) {
        return with_schedule<S>(stored, [&]<typename Chosen>(Chosen) -> std::unique_ptr<Kernel<Value>> {
            using View = decltype(view_of(stored));
            return std::make_unique<HostRows<Value, View, Chosen>>(view_of(stored), rows, own_bytes_of(own));
        });
    });
}

/// The Kokkos kernel of a schedule with one lane a row, or of a choice of them.
template <template <typename> typename LayoutOf, typename S>
[[nodiscard]] KernelEntry host_rows(std::string name, std::string summary) {
    return kernel_for_rows(Backend::kokkos, std::move(name), std::move(summary),
                           {prepare_host_rows<S, float, LayoutOf<float>>, prepare_host_rows<S, double, LayoutOf<double>>});
}

}  // namespace workbench
