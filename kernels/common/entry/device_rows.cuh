// Prepares and launches the CUDA kernel of a schedule (rows_kernel.cuh).
#pragma once

#include "kernels/common/device_code/target_rows.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/kernels.hpp"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/common/storage/stored_layout.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

/// y = A x, or y += A x, for the rows of the schedule: those of the layout, or of `target`. An atomic schedule adds to what y
/// holds.
template <typename S, typename Value, typename View>
requires ScheduleOf<S, View>
void launch_rows(const View& view, TargetRows target, const Value* x, Value* y, bool accumulate, cudaStream_t stream,
                 const char* name) {
    const Offset threads = S::threads(view);
    if (threads == 0) return;
    multiply_rows<S><<<blocks_for(threads, row_threads), row_threads, bytes_of_dictionary(slot_values<S>(view)), stream>>>(
        view, target, x, y, accumulate);
    check_launch(name);
}

/// launch_rows of one schedule, as a pointer, so that DeviceRows is compiled once for all schedules of a layout.
template <ValueType Value, typename View>
using LaunchRows = void (*)(const View& view, TargetRows target, const Value* x, Value* y, bool accumulate, cudaStream_t stream,
                            const char* name);

template <ValueType Value, typename Stored>
class DeviceRows final : public Kernel<Value> {
public:
    using View = InStorage<Stored, ArrayView>;

    DeviceRows(InStorage<Stored, DeviceArray>&& arrays, std::span<const Index> rows, Device& device, const char* name,
               std::optional<std::int64_t> own_bytes, LaunchRows<Value, View> launch, bool atomic)
        : stream_(cuda_device(device).stream()),
          own_bytes_(own_bytes),
          arrays_(std::move(arrays)),
          rows_(device, rows, name),
          name_(name),
          launch_(launch),
          atomic_(atomic) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (atomic_ && !accumulate) rows_.zero(y, arrays_.row_count, stream_);
        launch_(view_of(arrays_), rows_.view(), x, y, accumulate, stream_, name_);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    cudaStream_t stream_;
    std::optional<std::int64_t> own_bytes_;
    InStorage<Stored, DeviceArray> arrays_;
    OwnedTargetRows rows_;
    const char* name_;
    LaunchRows<Value, View> launch_;
    bool atomic_;
};

/// True if the program contains the kernel of this schedule over these arrays. NVRTC compiles any other when it is prepared.
template <Schedule S, typename Value, typename View>
inline constexpr bool is_compiled_in =
    S::hooks.compiled_in&& std::is_same_v<decltype(slot_values<S>(std::declval<const View&>()).data()), const Value*>;

/// Not a template of the schedule, because it would be compiled for each.
template <ValueType Value, typename Stored>
std::unique_ptr<Kernel<Value>> run_time_kernel_of(InStorage<Stored, DeviceArray>&& arrays, RunTimePlan&& plan,
                                                  RunTimeSchedule&& schedule, Device& device) {
    const auto owner = std::make_shared<InStorage<Stored, DeviceArray>>(std::move(arrays));
    ArraysOnGpu on_gpu{owner};
    on_gpu.set_view(view_of(*owner));
    plan.row_count = owner->row_count;
    plan.add(std::move(schedule));
    return std::make_unique<RunTimeRowsKernel<Value>>(std::move(on_gpu), plan, device);
}

/// The kernel of a schedule for arrays on the device. name: of the format. own_bytes: Kernel::own_bytes_to_move.
template <Schedule S, ValueType Value, typename Stored>
std::unique_ptr<Kernel<Value>> rows_kernel_of(InStorage<Stored, DeviceArray>&& arrays, std::span<const Index> rows,
                                              Device& device, const char* name, std::optional<std::int64_t> own_bytes) {
    using View = InStorage<Stored, ArrayView>;
    if constexpr (is_compiled_in<S, Value, View>) {
        return std::make_unique<DeviceRows<Value, Stored>>(std::move(arrays), rows, device, name, own_bytes,
                                                           launch_rows<S, Value, View>, S::atomic);
    } else {
        const auto view = view_of(arrays);
        auto schedule = run_time_schedule<S>(run_time_types<Value>(name, view), 1, view);
        return run_time_kernel_of<Value, Stored>(std::move(arrays), {.rows = rows, .layout = name, .own_bytes = own_bytes},
                                                 std::move(schedule), device);
    }
}

/// The kernel of a schedule, or of a choice of them, for a layout with a name. rows: as in PrepareRows; empty: those of the
/// layout.
template <typename S, ValueType Value, typename OwnLayout>
std::unique_ptr<Kernel<Value>> prepare_device_rows(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    const auto& own = dynamic_cast<const OwnLayout&>(layout);
    return with_stored(own, [&]<typename Stored>(const Stored& stored) {
        return with_schedule<S>(stored, [&]<typename Chosen>(Chosen) -> std::unique_ptr<Kernel<Value>> {
            return rows_kernel_of<Chosen, Value, Stored>(copy_to(device, stored, OwnLayout::name), rows, device,
                                                         OwnLayout::name, own_bytes_of(own));
        });
    });
}

/// The kernel of a schedule, or of a choice of them, for arrays that were made on the device. Stored: the same on the host.
/// rows: as for prepare_device_rows.
template <typename S, ValueType Value, typename Stored>
std::unique_ptr<Kernel<Value>> device_rows_of(InStorage<Stored, DeviceArray>&& arrays, std::span<const Index> rows,
                                              Device& device, const char* name,
                                              std::optional<std::int64_t> own_bytes = std::nullopt) {
    return with_schedule<S>(view_of(arrays), [&]<typename Chosen>(Chosen) {
        return rows_kernel_of<Chosen, Value, Stored>(std::move(arrays), rows, device, name, own_bytes);
    });
}

/// Not inlined: for a format in one file (cmake/CudaKernels.cmake) no explicit instantiation makes it available to the linker.
template <template <typename> typename LayoutOf, typename S>
[[gnu::noinline]] KernelEntry CudaRows<LayoutOf, S>::entry(std::string name, std::string summary) {
    return kernel_for_rows(Backend::cuda, std::move(name), std::move(summary),
                           {prepare_device_rows<S, float, LayoutOf<float>>, prepare_device_rows<S, double, LayoutOf<double>>});
}

}  // namespace workbench
