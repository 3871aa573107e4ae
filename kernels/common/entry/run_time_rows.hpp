// The CUDA kernel of a schedule that NVRTC compiles when it is prepared: in a format beside the recipe, and for several
// vectors. CudaRows (schedule/device_rows.cuh) is its counterpart for one vector in formats of the program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/kernels.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/stored_layout.hpp"
#include "kernels/source/rows_kernel.hpp"

namespace workbench {

/// The name of a type as source code: "workbench::Csr16Rows<8>".
template <typename Type>
[[nodiscard]] constexpr std::string_view type_name() {
    const std::string_view text = __PRETTY_FUNCTION__;  // "... [with Type = workbench::Csr16Rows<8>; ...]"
    const std::size_t begin = text.find("Type = ") + 7;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// A schedule over arrays of a type that NVRTC knows, for arrays on a GPU.
struct RunTimeSchedule {
    RowsKernelName name;
    Offset threads = 0;
    unsigned shared_bytes = 0;
    bool atomic = false;
    int lanes = 1;
};

/// Arrays on a GPU and their views, without types.
struct ArraysOnGpu {
    std::vector<DeviceMemory> arrays = {};
    std::vector<std::byte> view = {};
};

/// What a kernel launches, one schedule after another, for which vectors and rows.
struct RunTimePlan {
    std::span<const Index> rows = {};  // as in PrepareRows
    int vectors = 1;
    std::string layout;
    std::optional<std::int64_t> own_bytes = {};
    bool first_has_all_rows = true;  // the first schedule writes every row
    std::vector<RunTimeSchedule> schedules = {};

    void add(RunTimeSchedule&& schedule);
};

/// Launches schedules one after another.
template <ValueType Value>
class RunTimeRowsKernel final : public Kernel<Value> {
public:
    RunTimeRowsKernel(ArraysOnGpu arrays, const RunTimePlan& plan, const Layout<Value>& layout, Device& device);

    void run(const Value* x, Value* y, bool accumulate) override;
    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    struct Step {
        Offset threads;
        unsigned shared_bytes;
        std::unique_ptr<LoadedRowsKernel> kernel;
    };

    void zero(Value* y);

    ArraysOnGpu arrays_;
    int vectors_;
    std::size_t elements_of_y_;  // of the layout's rows
    std::optional<std::int64_t> bytes_;
    Device& device_;
    std::vector<Step> steps_;
    bool zeroes_first_;
    DeviceArray<Index> rows_;
    DeviceArray<Index> zeroed_;  // elements of y; empty: all, or none is zeroed
    DeviceArray<Value> zeros_;
};

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

    /// view: of arrays on the host or on a device.
    template <ValueType Value, typename View>
    static void add_schedules(const auto& stored, const View& view, RunTimePlan& plan) {
        const auto add = [&]<typename S>(S) {
            plan.add({{file(), type_name<S>(), type_name<View>(), type_name<Value>(), plan.vectors},
                      S::threads(view),
                      bytes_of_dictionary(slot_values<S>(view)),
                      S::atomic,
                      S::lanes});
        };
        (with_schedule<Schedules>(stored, add), ...);
    }

    template <ValueType Value>
    static std::unique_ptr<Kernel<Value>> prepare_vectors(const Layout<Value>& layout, std::span<const Index> rows, int vectors,
                                                          Device& device) {
        const auto& own = dynamic_cast<const LayoutOf<Value>&>(layout);
        RunTimePlan plan{.rows = rows, .vectors = vectors, .layout = LayoutOf<Value>::name, .own_bytes = own_bytes_of(own)};
        ArraysOnGpu arrays;
        with_stored(own, [&](const auto& stored) {
            const auto view = view_on(device, stored, plan.layout, arrays.arrays);
            const auto bytes = std::as_bytes(std::span(&view, 1));
            arrays.view.assign(bytes.begin(), bytes.end());
            add_schedules<Value>(stored, view, plan);
            if constexpr (requires { stored.first_has_all_rows(); }) plan.first_has_all_rows = stored.first_has_all_rows();
        });
        return std::make_unique<RunTimeRowsKernel<Value>>(std::move(arrays), plan, layout, device);
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
        for (const RunTimeSchedule& schedule : plan.schedules) (void)compile_rows_kernel(schedule.name, architecture);
    }

    /// The trial of the format (kernels/source/try_format.hpp) has walked the schedule; what remains is to compile it.
    template <ValueType Value>
    static void try_out(const Layout<Value>& layout, Device&) {
        compile_vectors<Value>(layout, 1, "");
    }
};

}  // namespace workbench
