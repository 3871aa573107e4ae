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
    static std::string file() {
#ifdef WORKBENCH_FORMAT_FILE
        return WORKBENCH_FORMAT_FILE;
#else
        return LayoutOf<double>::name;
#endif
    }

    /// Calls use(schedule). A schedule that any number of lanes can have (OfLanes), and has several, has as many as suit
    /// several vectors.
    template <Schedule S, ValueType Value>
    static void with_lanes_of(const auto& view, int vectors, const auto& use) {
        if constexpr (S::lanes > 1 && requires { typename S::template OfLanes<1>; }) {
            if (vectors > 1) {
                const auto entries = static_cast<Offset>(slot_values<S>(view).size());
                const int lanes = lanes_for_vectors(S::threads(view) / S::lanes, entries, vectors, sizeof(Value),
                                                    S::hooks.threads_for_vectors);
                return with_lanes<1>(lanes, [&](auto known) { use(typename S::template OfLanes<known>{}); });
            }
        }
        use(S{});
    }

    template <ValueType Value>
    static void add_schedules(const auto& stored, const auto& view, RunTimePlan& plan) {
        const auto add = [&]<typename S>(S) { plan.add(run_time_schedule<S, Value>(file(), plan.vectors, view)); };
        (with_schedule<Schedules>(stored, [&]<typename S>(S) { with_lanes_of<S, Value>(view, plan.vectors, add); }), ...);
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
        with_stored(own, [&](const auto& stored) {
            const auto view = view_on(device, stored, plan.layout, *owner);
            arrays.set_view(view);
            add_schedules<Value>(stored, view, plan);
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
        with_stored(dynamic_cast<const LayoutOf<Value>&>(layout),
                    [&](const auto& stored) { add_schedules<Value>(stored, view_of(stored), plan); });
        for (const RunTimeSchedule& schedule : plan.schedules) (void)compile_instance(schedule.instance, architecture);
    }

    /// The trial of the format (kernels/source/try_format.hpp) has walked the schedule; what remains is to compile it.
    template <ValueType Value>
    static void try_out(const Layout<Value>& layout, Device&) {
        compile_vectors<Value>(layout, 1, "");
    }
};

}  // namespace workbench
