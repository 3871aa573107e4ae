// The CUDA kernel of any rows. The program has those of presets with values in full (cuda.cu) and of slices by the lengths of
// their rows (slices.cu); NVRTC compiles the others when they are prepared.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/formats/rows/long_rows.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {
namespace {

/// Slices by the lengths of their rows, without the arrays of the layout. any: RowsLayout::slots.
SlicesByLengths slices_by_lengths(const auto& any, const HostArray<Index>& lengths, DeviceArray<Index>&& row_lengths,
                                  Device& device) {
    SlicesByLengths slices{.row_lengths = std::move(row_lengths)};
    with_alternative(any, [&]<typename Slots>(const Slots& slots) {
        if constexpr (Slots::shape.together == RowsTogether::slices) {
            slices.schedule = with_sell_whole_rows(slots, []<typename S>(S) { return type_name<S>(); });
            slices.long_rows = find_long_rows(lengths, slots.split_length);
        }
    });
    slices.row_count = static_cast<Index>(lengths.size());
    slices.parts = {device, slices.long_rows.parts, "sell parts of long rows"};
    return slices;
}

/// Adds the arrays. first_columns: of slices with short columns. bytes: Layout::bytes_to_move.
template <ValueType Value, typename View>
void set_arrays(SlicesByLengths& slices, const View& view, const HostArray<Index>& lengths,
                std::span<const Index> first_columns, std::int64_t bytes) {
    using WithLengths = SellWithLengths<View>;
    slices.arrays.set_view(
        WithLengths{view, {slices.row_lengths.data(), slices.row_lengths.size()}, {slices.parts.data(), slices.parts.size()}});
    slices.type_of_arrays = type_name<WithLengths>();
    slices.shared_bytes = bytes_of_dictionary(view.values);
    slices.bytes = bytes_by_rows<Value>(view, lengths, first_columns, slices.long_rows, bytes);
}

/// The schedule of RowsOnGpu. any: RowsLayout::slots.
RunTimeSchedule schedule_on_gpu(const auto& any, const RunTimeTypes& types) {
    return with_alternative(any, [&](const auto& slots) {
        return with_schedule<RowsOnGpu>(slots, [&]<typename S>(S) { return run_time_schedule<S>(types, 1, slots); });
    });
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_by_lengths(const AnyRowsLayout<Value>& layout, std::span<const Index> rows,
                                                  Device& device) {
    const HostArray<Index> lengths = layout.row_lengths();
    SlicesByLengths slices = slices_by_lengths(layout.slots(), lengths, {device, lengths, "sell row lengths"}, device);
    const auto owner = std::make_shared<std::vector<DeviceMemory>>();
    slices.arrays.owner = owner;
    slices.alternative = layout.stored.index();
    with_stored(layout, [&]<typename Stored>(const Stored& stored) {
        if constexpr (Stored::shape.together == RowsTogether::slices) {
            set_arrays<Value>(slices, view_on(device, stored, "sell", *owner), lengths, first_columns_of_slices(stored),
                              layout.bytes_to_move());
        }
    });
    return kernel_by_lengths<Value>(std::move(slices), rows, device);
}

}  // namespace

template <ValueType Value>
std::unique_ptr<Kernel<Value>> AnyRowsKernel<Value>::prepare(const AnyRowsLayout<Value>& layout, std::span<const Index> rows,
                                                             Device& device) {
    if (layout.by_lengths()) return prepare_by_lengths(layout, rows, device);
    std::unique_ptr<Kernel<Value>> kernel;
    [&]<typename... Compiled>(const std::variant<Compiled...>*) {
        const auto prepare_if = [&](const auto* stored) {
            if (stored == nullptr) return;
            kernel = compiled_rows_kernel<Value>(copy_to(device, *stored, layout.name), rows, device, own_bytes_of(layout));
        };
        (prepare_if(std::get_if<Compiled>(&layout.stored)), ...);
    }(static_cast<const CompiledRows<Value>*>(nullptr));
    if (kernel) return kernel;
    RunTimePlan plan{.rows = rows, .layout = layout.name, .row_count = layout.rows(), .own_bytes = own_bytes_of(layout)};
    const auto owner = std::make_shared<std::vector<DeviceMemory>>();
    ArraysOnGpu on_gpu{owner};
    RunTimeTypes types;
    with_stored(layout, [&](const auto& stored) {
        const auto view = view_on(device, stored, plan.layout, *owner);
        on_gpu.set_view(view);
        types = run_time_types<Value>(layout.name, view);
    });
    plan.add(schedule_on_gpu(layout.slots(), types));
    return std::make_unique<RunTimeRowsKernel<Value>>(std::move(on_gpu), plan, device);
}

template struct CudaLoop<AnyRowsLayout, AnyRowsKernel>;

namespace {

HostArray<Index> on_host(const DeviceArray<Index>& array, Device& device) {
    HostArray<Index> copy;
    make_room(copy, array.size());
    copy_from_device(device, array.data(), std::span(copy));
    return copy;
}

}  // namespace

template <ValueType Value>
std::unique_ptr<Kernel<Value>> rows_kernel_on_gpu(RowArraysOnGpu<Value>&& rows, DeviceArray<Index>&& row_lengths,
                                                  Offset nonzeros, std::int64_t bytes, std::span<const Index> rows_of_y,
                                                  Device& device) {
    const bool by_lengths = row_lengths.size() > 0;
    RunTimePlan plan{.rows = rows_of_y, .layout = AnyRowsLayout<Value>::name};
    ArraysOnGpu on_gpu{rows.arrays};
    RunTimeTypes types;
    typename SlotsOf<decltype(AnyRowsLayout<Value>::stored)>::Type any;
    auto compiled = with_alternative(*rows.arrays, [&]<typename OnGpu>(OnGpu& arrays) -> std::unique_ptr<Kernel<Value>> {
        if constexpr (OnGpu::shape.is_made_on_gpu()) {
            const auto view = view_of(arrays);
            any = slots_of(view);
            if (by_lengths) return nullptr;
            if constexpr (OnGpu::shape.lengths) plan.own_bytes = bytes - (view.values.size() - nonzeros) * bytes_of_slot(view);
            if constexpr (is_compiled_rows<InStorage<OnGpu, HostArray>, Value>) {
                return compiled_rows_kernel<Value>(std::move(arrays), rows_of_y, device, plan.own_bytes);
            }
            on_gpu.set_view(view);
            plan.row_count = view.row_count;
            types = run_time_types<Value>(AnyRowsLayout<Value>::name, view);
        }
        return nullptr;
    });
    if (compiled) return compiled;
    if (!by_lengths) {
        plan.add(schedule_on_gpu(any, types));
        return std::make_unique<RunTimeRowsKernel<Value>>(std::move(on_gpu), plan, device);
    }
    const HostArray<Index> lengths = on_host(row_lengths, device);
    SlicesByLengths slices = slices_by_lengths(any, lengths, std::move(row_lengths), device);
    slices.arrays.owner = rows.arrays;
    slices.alternative = rows.arrays->index();
    with_alternative(*rows.arrays, [&]<typename OnGpu>(const OnGpu& arrays) {
        if constexpr (OnGpu::shape.together == RowsTogether::slices && OnGpu::shape.is_made_on_gpu()) {
            HostArray<Index> first_columns;
            if constexpr (HasShortColumns<OnGpu>) first_columns = on_host(arrays.first_columns, device);
            set_arrays<Value>(slices, view_of(arrays), lengths, first_columns, bytes);
        }
    });
    return kernel_by_lengths<Value>(std::move(slices), rows_of_y, device);
}

template std::unique_ptr<Kernel<float>> rows_kernel_on_gpu(RowArraysOnGpu<float>&&, DeviceArray<Index>&&, Offset, std::int64_t,
                                                           std::span<const Index>, Device&);
template std::unique_ptr<Kernel<double>> rows_kernel_on_gpu(RowArraysOnGpu<double>&&, DeviceArray<Index>&&, Offset,
                                                            std::int64_t, std::span<const Index>, Device&);

}  // namespace workbench
