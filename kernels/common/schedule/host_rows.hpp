// One Kokkos kernel for all schedules in which a thread has one row and one run of slots.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "kernels/common/schedule/share_rows.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

/// Adds the product of a slot to a sum.
template <typename Schedule, ValueType Value>
void add_slot(const auto& arrays, const auto& run, Offset k, const Value* x, Value& sum) {
    const RunSlot place{k, run.slot(k)};
    const Index column = load_column<Schedule>(arrays, run, place, PlainLoad{});
    if (Schedule::no_column != NoColumn::never && column < 0) return;
    sum += Schedule::values(arrays)[place.slot] * (x + run.first_column)[column];
}

inline constexpr int rows_of_host_block = 64;

/// Neighbouring threads of a schedule, row by row where the slots of a row are neighbours, otherwise step by step. Either way a
/// row's products are added in the order of its slots.
template <typename Schedule, ValueType Value>
void multiply_block(const auto& arrays, Offset first, int rows, const Value* x, Value* y, bool accumulate) {
    using RunOfRow = decltype(run_of_thread<Schedule>(arrays, first, PlainLoad{}));
    if constexpr (requires { requires std::is_same_v<decltype(RunOfRow::stride), Known<1>>; }) {
        for (int i = 0; i < rows; ++i) {
            const RunOfRow run = run_of_thread<Schedule>(arrays, first + i, PlainLoad{});
            if (run.row < 0) continue;
            Value sum = 0;
            for (Offset k = 0; k < run.count; ++k) add_slot<Schedule>(arrays, run, k, x, sum);
            put(y, Schedule::row_of(arrays, run, PlainLoad{}), sum, accumulate);
        }
    } else {
        std::array<RunOfRow, rows_of_host_block> runs;
        std::array<Value, rows_of_host_block> sums{};
        Offset least = std::numeric_limits<Offset>::max();
        Offset most = 0;
        for (int i = 0; i < rows; ++i) {
            runs[i] = run_of_thread<Schedule>(arrays, first + i, PlainLoad{});
            if (runs[i].row < 0) runs[i].count = 0;
            least = std::min(least, runs[i].count);
            most = std::max(most, runs[i].count);
        }
        for (Offset k = 0; k < least; ++k) {
            for (int i = 0; i < rows; ++i) add_slot<Schedule>(arrays, runs[i], k, x, sums[i]);
        }
        for (Offset k = least; k < most; ++k) {
            for (int i = 0; i < rows; ++i) {
                if (k < runs[i].count) add_slot<Schedule>(arrays, runs[i], k, x, sums[i]);
            }
        }
        for (int i = 0; i < rows; ++i) {
            if (runs[i].row >= 0) put(y, Schedule::row_of(arrays, runs[i], PlainLoad{}), sums[i], accumulate);
        }
    }
}

/// y = A x, or y += A x, for the rows that the schedule has, blocks of them in parallel. `arrays` are views.
template <typename Schedule, ValueType Value>
void multiply_on_host(const auto& arrays, const Value* x, Value* y, bool accumulate) {
    const Offset threads = Schedule::threads(arrays);
    for_each_in_parallel((threads + rows_of_host_block - 1) / rows_of_host_block, 1, [&](std::int64_t number) {
        const Offset first = number * rows_of_host_block;
        const auto rows = static_cast<int>(std::min<Offset>(rows_of_host_block, threads - first));
        multiply_block<Schedule>(arrays, first, rows, x, y, accumulate);
    });
}

template <ValueType Value, typename OwnLayout, typename Schedule>
class HostRows final : public Kernel<Value> {
public:
    explicit HostRows(const OwnLayout& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        multiply_on_host<Schedule>(view_of(layout_.stored()), x, y, accumulate);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_of(layout_); }

private:
    const OwnLayout& layout_;
};

template <typename Schedule, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_host_rows(const Layout<Value>& layout, Device&) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_schedule<Schedule>(own.stored(), [&]<typename Chosen>(Chosen) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<HostRows<Value, OwnLayout, Chosen>>(own);
    });
}

/// The same for some rows of a larger matrix.
template <ValueType Value, typename OwnLayout, typename Schedule>
class HostShareRows final : public Kernel<Value> {
public:
    HostShareRows(const OwnLayout& layout, std::span<const Index> rows) : layout_(layout), rows_(rows.begin(), rows.end()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const ShareArrays<decltype(view_of(layout_.stored()))> arrays{view_of(layout_.stored()),
                                                                      {rows_.data(), static_cast<Offset>(rows_.size())}};
        multiply_on_host<ShareRows<Schedule>>(arrays, x, y, accumulate);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_of(layout_); }

private:
    const OwnLayout& layout_;
    HostArray<Index> rows_;
};

template <typename Schedule, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_host_share(const Layout<Value>& layout, std::span<const Index> rows, Device&) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_schedule<Schedule>(own.stored(), [&]<typename Chosen>(Chosen) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<HostShareRows<Value, OwnLayout, Chosen>>(own, rows);
    });
}

/// The Kokkos kernel of a schedule, with one lane a row, over the arrays of a StoredLayout.
template <template <typename> typename LayoutOf, typename Schedule>
[[nodiscard]] KernelEntry host_rows(std::string name, std::string summary) {
    return {std::move(name),
            Backend::kokkos,
            std::move(summary),
            {prepare_host_rows<Schedule, float, LayoutOf<float>>, prepare_host_rows<Schedule, double, LayoutOf<double>>},
            {prepare_host_share<Schedule, float, LayoutOf<float>>, prepare_host_share<Schedule, double, LayoutOf<double>>}};
}

}  // namespace workbench
