// RunTimeRowsKernel of the schedules of a layout.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/host_vectors.hpp"
#include "kernels/common/schedule/kernels.hpp"
#include "kernels/common/schedule/vector_tiles.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The kernels of schedules, or choices of them, that NVRTC compiles from the file of the format.
template <template <typename> typename LayoutOf, typename... Schedules>
struct RunTimeRows {
    /// The kernel for one vector, of a format beside the recipe.
    static KernelEntry entry(std::string name, std::string summary) {
        KernelEntry kernel =
            kernel_for_rows(Backend::cuda, std::move(name), std::move(summary), {prepare<float>, prepare<double>});
        kernel.try_out = {try_out<float>, try_out<double>};
        return kernel;
    }
    static ForEachPrecision<PrepareVectors> vectors() { return {prepare_vectors<float>, prepare_vectors<double>}; }
    static ForEachPrecision<CompileVectors> compile() { return {compile_vectors<float>, compile_vectors<double>}; }

private:
    static const char* file() {
#ifdef WORKBENCH_FORMAT_FILE
        return WORKBENCH_FORMAT_FILE;
#else
        return LayoutOf<double>::name;
#endif
    }

    /// Adds a schedule. One that any number of lanes can have (OfLanes), and has several, has as many as suit several vectors.
    template <Schedule S>
    static void add_schedule(const auto& slots, const RunTimeTypes& types, RunTimePlan& plan) {
        const auto add = [&]<typename Chosen>(Chosen) { plan.add(run_time_schedule<Chosen>(types, plan.vectors, slots)); };
        if constexpr (S::lanes > 1 && requires { typename S::template OfLanes<1>; }) {
            if (plan.vectors > 1) {
                const auto entries = static_cast<Offset>(slot_values<S>(slots).size());
                const int lanes = lanes_for_vectors(S::threads(slots) / S::lanes, entries, plan.vectors, types.bytes_of_value,
                                                    S::hooks.threads_for_vectors);
                return with_lanes<1>(lanes, [&](auto known) { add(typename S::template OfLanes<known>{}); });
            }
        }
        add(S{});
    }

    /// stored: what schedules are chosen by.
    static void add_schedules_of(const auto& stored, const auto& slots, const RunTimeTypes& types, RunTimePlan& plan) {
        (with_schedule<Schedules>(stored, [&]<typename S>(S) { add_schedule<S>(slots, types, plan); }), ...);
    }
    template <ValueType Value>
    static void add_schedules(const LayoutOf<Value>& layout, RunTimePlan& plan) {
        if constexpr (HasSlots<LayoutOf<Value>>) {
            const RunTimeTypes types =
                with_stored(layout, [](const auto& stored) { return run_time_types<Value>(file(), stored); });
            const auto any = layout.slots();
            with_alternative(any, [&](const auto& slots) { add_schedules_of(slots, slots, types, plan); });
        } else {
            with_stored(layout, [&](const auto& stored) {
                add_schedules_of(stored, view_of(stored), run_time_types<Value>(file(), stored), plan);
            });
        }
    }

    template <ValueType Value>
    static std::unique_ptr<Kernel<Value>> prepare_vectors(const Layout<Value>& layout, std::span<const Index> rows, int vectors,
                                                          Device& device) {
        const auto& own = dynamic_cast<const LayoutOf<Value>&>(layout);
        RunTimePlan plan{.rows = rows,
                         .vectors = vectors,
                         .layout = LayoutOf<Value>::name,
                         .row_count = layout.rows(),
                         .own_bytes = own_bytes_of(own)};
        if (vectors > 1) plan.own_bytes = bytes_with_vectors(layout, plan.own_bytes, vectors);
        const auto owner = std::make_shared<std::vector<DeviceMemory>>();
        ArraysOnGpu arrays{owner};
        add_schedules<Value>(own, plan);
        with_stored(own, [&](const auto& stored) {
            arrays.set_view(view_on(device, stored, plan.layout, *owner));
            if constexpr (requires { stored.first_has_all_rows(); }) plan.first_has_all_rows = stored.first_has_all_rows();
        });
        return std::make_unique<RunTimeRowsKernel<Value>>(std::move(arrays), plan, device);
    }

    template <ValueType Value>
    static std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
        return prepare_vectors<Value>(layout, rows, 1, device);
    }

    template <ValueType Value>
    static void compile_vectors(const Layout<Value>& layout, int vectors, const std::string& architecture) {
        RunTimePlan plan{.vectors = vectors, .layout = LayoutOf<Value>::name};
        add_schedules<Value>(dynamic_cast<const LayoutOf<Value>&>(layout), plan);
        for (const RunTimeSchedule& schedule : plan.schedules) (void)compile_instance(schedule.instance, architecture);
    }

    /// The trial of the format (kernels/source/try_format.hpp) has walked the schedule; what remains is to compile it.
    template <ValueType Value>
    static void try_out(const Layout<Value>& layout, Device&) {
        compile_vectors<Value>(layout, 1, "");
    }
};

}  // namespace workbench
