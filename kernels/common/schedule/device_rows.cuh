// One CUDA kernel for all schedules in which a thread reads one run of slots for one row. A row of y is written by exactly one
// thread, the first of those that share it; where a schedule is atomic, y is zeroed on the stream and then added to atomically.
// So threads cannot race in global memory; no shared memory is used.
#pragma once

#include "kernels/common/schedule/share_rows.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/loads.cuh"
#include "kernels/device/sparse_dot.cuh"
#include "kernels/device/target_rows.cuh"

namespace workbench {

/// Are the runs of a warp about as long as one another (sparse_dot)?
template <typename Schedule>
inline constexpr bool has_counts_alike = requires {
    requires Schedule::counts_alike;
};

/// The slots of a run times x where each column is the element of the same number.
template <typename Schedule, typename Value, typename Load>
__device__ __forceinline__ Value multiply_stored_run(const auto& arrays, const auto& run, const Value* __restrict__ x,
                                                     const Load& load) {
    return sparse_dot<Schedule::entries_in_flight, Schedule::no_column != NoColumn::never, has_counts_alike<Schedule>>(
        Schedule::values(arrays).data() + run.first, Schedule::columns(arrays).data() + run.first, run.count,
        number_of(run.stride), x + run.first_column, load);
}

/// The slots of a run times x. A thread loads entries_in_flight entries before it uses the first: the fewer threads a
/// multiprocessor holds, the more each must have under way to hide the latency of memory. `x` may lie in global or in shared
/// memory.
template <typename Schedule, typename Value, typename Load>
__device__ __forceinline__ Value multiply_run(const auto& arrays, const auto& run, const Value* __restrict__ x,
                                              const Load& load) {
    constexpr int in_flight = Schedule::entries_in_flight;
    constexpr bool column_first = Schedule::no_column == NoColumn::column_read || Schedule::no_column == NoColumn::skipped;
    if constexpr (!column_first && !has_own_column<Schedule, decltype(arrays), decltype(run)>) {
        return multiply_stored_run<Schedule>(arrays, run, x, load);
    } else {
        if constexpr (may_have_plain_columns<Schedule, decltype(run)>) {
            if (Schedule::has_plain_columns(run)) return multiply_stored_run<Schedule>(arrays, run, x, load);
        }
        const Value* const values = Schedule::values(arrays).data() + run.first;
        Value sum = 0;
        for (Offset k = 0; k < run.count; k += in_flight) {
            Value value[in_flight];
            Index column[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                if (k + u < run.count) {
                    column[u] = load_column<Schedule>(arrays, run, RunSlot{k + u, run.slot(k + u)}, load);
                    if (!column_first || column[u] >= 0) value[u] = load(values + (k + u) * run.stride);
                }
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                if (k + u < run.count && (Schedule::no_column == NoColumn::never || column[u] >= 0)) {
                    sum += value[u] * (x + run.first_column)[column[u]];
                }
            }
        }
        return sum;
    }
}

/// The sum over the lanes of a row, for the first of them. All lanes of the warp take part.
template <typename Schedule, typename Value>
__device__ __forceinline__ Value sum_over_row(Value sum) {
#pragma unroll
    for (int distance = Schedule::lanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(~0u, sum, distance * Schedule::lane_distance);
    }
    return sum;
}

inline constexpr int row_threads = 256;  // of a block

template <typename Schedule, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads,
                                  Schedule::lanes == 1 || has_counts_alike<Schedule> ? Schedule::resident_blocks : 0)
    multiply_rows(const __grid_constant__ Arrays arrays, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Offset thread = static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x;
    const auto run = run_of_thread<Schedule>(arrays, thread, StreamingLoad{});
    if constexpr (Schedule::lanes == 1) {
        if (run.row < 0) return;  // here already, so that what follows is one block, whose loads may all be started first
    }
    Value sum = 0;
    if (run.row >= 0) sum = multiply_run<Schedule>(arrays, run, x, StreamingLoad{});
    // Outside the branch: all threads of a warp take part, those past the last row too.
    if constexpr (Schedule::lanes > 1) sum = sum_over_row<Schedule>(sum);
    if (run.row < 0 || lane_of<Schedule>(thread) != 0) return;
    Value* const y_of_row = y + Schedule::row_of(arrays, run, StreamingLoad{});
    if constexpr (Schedule::atomic) {
        if (Schedule::no_column == NoColumn::never || sum != 0) atomicAdd(y_of_row, sum);  // nothing for padding
    } else {
        write_result(y_of_row, sum, accumulate);
    }
}

/// y = A x, or y += A x, for the rows that the schedule has. What an atomic one adds to must be there.
template <typename Schedule, typename Value, typename View>
void launch_rows(const View& view, const Value* x, Value* y, bool accumulate, cudaStream_t stream, const char* name) {
    const Offset threads = Schedule::threads(view);
    if (threads == 0) return;
    multiply_rows<Schedule><<<blocks_for(threads, row_threads), row_threads, 0, stream>>>(view, x, y, accumulate);
    check_launch(name);
}

/// launch_rows of one schedule, so that the class which calls it is compiled once for all schedules of a layout.
template <ValueType Value, typename View>
using LaunchRows = void (*)(const View& view, const Value* x, Value* y, bool accumulate, cudaStream_t stream, const char* name);

template <ValueType Value, typename OwnLayout>
class DeviceRows final : public Kernel<Value> {
public:
    using Arrays = typename OwnLayout::Stored::template In<DeviceArray>;
    using View = decltype(view_of(std::declval<const Arrays&>()));

    DeviceRows(const OwnLayout& layout, Device& device, LaunchRows<Value, View> launch, bool atomic)
        : stream_(cuda_device(device).stream()),
          own_bytes_(own_bytes_of(layout)),
          arrays_(copy_to(device, layout.stored(), OwnLayout::name)),
          rows_(layout.rows()),
          launch_(launch),
          atomic_(atomic) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (atomic_ && !accumulate && rows_ > 0) zero_result(y, rows_, stream_);
        launch_(view_of(arrays_), x, y, accumulate, stream_, OwnLayout::name);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    cudaStream_t stream_;
    std::optional<std::int64_t> own_bytes_;
    Arrays arrays_;
    Index rows_;
    LaunchRows<Value, View> launch_;
    bool atomic_;
};

template <typename Schedule, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_device_rows(const Layout<Value>& layout, Device& device) {
    using Own = DeviceRows<Value, OwnLayout>;
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_schedule<Schedule>(own.stored(), [&]<typename Chosen>(Chosen) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<Own>(own, device, launch_rows<Chosen, Value, typename Own::View>, Chosen::atomic);
    });
}

/// The same for some rows of a larger matrix, no row of which stands in `rows` twice.
template <ValueType Value, typename OwnLayout>
class DeviceShareRows final : public Kernel<Value> {
public:
    using Arrays = typename OwnLayout::Stored::template In<DeviceArray>;
    using View = ShareArrays<decltype(view_of(std::declval<const Arrays&>()))>;

    DeviceShareRows(const OwnLayout& layout, std::span<const Index> rows, Device& device, LaunchRows<Value, View> launch,
                    bool atomic)
        : stream_(cuda_device(device).stream()),
          own_bytes_(own_bytes_of(layout)),
          arrays_(copy_to(device, layout.stored(), OwnLayout::name)),
          row_count_(static_cast<Index>(rows.size())),
          rows_(device, rows, OwnLayout::name),
          launch_(launch),
          atomic_(atomic) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (atomic_ && !accumulate) rows_.zero(y, row_count_, stream_);
        const View arrays{view_of(arrays_), {rows_.view().rows, row_count_}};
        launch_(arrays, x, y, accumulate, stream_, OwnLayout::name);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    cudaStream_t stream_;
    std::optional<std::int64_t> own_bytes_;
    Arrays arrays_;
    Index row_count_;
    OwnedTargetRows rows_;
    LaunchRows<Value, View> launch_;
    bool atomic_;
};

template <typename Schedule, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_device_share(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    using Own = DeviceShareRows<Value, OwnLayout>;
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_schedule<Schedule>(own.stored(), [&]<typename Chosen>(Chosen) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<Own>(own, rows, device, launch_rows<ShareRows<Chosen>, Value, typename Own::View>,
                                     Chosen::atomic);
    });
}

/// The CUDA kernel of a schedule over the arrays of a StoredLayout.
template <template <typename> typename LayoutOf, typename Schedule>
[[nodiscard]] KernelEntry device_rows(std::string name, std::string summary) {
    return {std::move(name),
            Backend::cuda,
            std::move(summary),
            {prepare_device_rows<Schedule, float, LayoutOf<float>>, prepare_device_rows<Schedule, double, LayoutOf<double>>},
            {prepare_device_share<Schedule, float, LayoutOf<float>>, prepare_device_share<Schedule, double, LayoutOf<double>>}};
}

}  // namespace workbench
