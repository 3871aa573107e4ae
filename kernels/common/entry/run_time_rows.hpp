// The CUDA kernel of a schedule in a format beside the recipe: compiled by NVRTC when it is prepared. CudaRows
// (schedule/device_rows.cuh) is its counterpart for formats of the program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/contract/errors.hpp"
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

template <typename S, typename View, ValueType Value>
[[nodiscard]] constexpr RowsKernelName rows_kernel_name() {
    return {type_name<S>(), type_name<View>(), type_name<Value>()};
}

template <ValueType Value, typename Stored, Schedule S>
class RunTimeRowsKernel final : public Kernel<Value> {
public:
    using View = InStorage<Stored, ArrayView>;

    RunTimeRowsKernel(const Stored& stored, std::span<const Index> rows, Device& device, const char* file, const char* layout,
                      std::optional<std::int64_t> own_bytes)
        : own_bytes_(own_bytes),
          arrays_(copy_to(device, stored, layout)),
          rows_(device, rows, std::string(layout) + " rows of y"),
          kernel_(load_rows_kernel(file, rows_kernel_name<S, View, Value>(), device)) {
        if (S::atomic && !rows.empty()) {
            throw Unsuitable(std::string(layout) +
                             ": a schedule that adds to y atomically cannot multiply a share of the rows");
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        View view = view_of(arrays_);
        const Offset threads = S::threads(view);
        if (S::atomic && !accumulate) kernel_->zero(y, static_cast<std::size_t>(view.row_count) * sizeof(Value));
        if (threads == 0) return;
        const Index* target = rows_.size() == 0 ? nullptr : rows_.data();  // TargetRows of the kernel
        void* arguments[] = {&view, &target, &x, &y, &accumulate};
        kernel_->launch(threads, arguments);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    std::optional<std::int64_t> own_bytes_;
    InStorage<Stored, DeviceArray> arrays_;
    DeviceArray<Index> rows_;
    std::unique_ptr<LoadedRowsKernel> kernel_;
};

template <template <typename> typename LayoutOf, typename S>
struct RunTimeRows {
    static KernelEntry entry(std::string name, std::string summary) {
        KernelEntry kernel =
            kernel_for_rows(Backend::cuda, std::move(name), std::move(summary), {prepare<float>, prepare<double>});
        kernel.try_out = {try_out<float>, try_out<double>};
        return kernel;
    }

private:
    static constexpr const char* file = WORKBENCH_FORMAT_FILE;

    template <ValueType Value>
    static void with_kernel(const Layout<Value>& layout, const auto& use) {
        const auto& own = dynamic_cast<const LayoutOf<Value>&>(layout);
        with_stored(own, [&](const auto& stored) { with_schedule<S>(stored, [&](auto chosen) { use(own, stored, chosen); }); });
    }

    template <ValueType Value>
    static std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
        std::unique_ptr<Kernel<Value>> kernel;
        with_kernel(layout, [&]<typename Stored, typename Chosen>(const auto& own, const Stored& stored, Chosen) {
            using Made = RunTimeRowsKernel<Value, Stored, Chosen>;
            kernel = std::make_unique<Made>(stored, rows, device, file, LayoutOf<Value>::name, own_bytes_of(own));
        });
        return kernel;
    }

    /// The trial of the format (kernels/source/try_format.hpp) has walked the schedule; what remains is to compile it.
    template <ValueType Value>
    static void try_out(const Layout<Value>& layout, Device&) {
        with_kernel(layout, [&]<typename Stored, typename Chosen>(const auto&, const Stored&, Chosen) {
            using View = InStorage<Stored, ArrayView>;
            (void)compile_rows_kernel(file, rows_kernel_name<Chosen, View, Value>());
        });
    }
};

}  // namespace workbench
