// A format as one value: its layout, how it is filled, its kernels, and the schedules by which they read.
//
//   LayoutEntry my_csr16_entry() {
//       return format<MyCsr16Layout>({.summary = "CSR with columns of 16 bits", ...}, fill)
//           .host<MyCsr16Rows<1>>("rows", "rows in parallel")
//           .cuda<MyCsr16Rows<8>>("lanes", "eight threads a row");
//   }
//
// The kernel and the walk over its reads follow from one schedule, so that they cannot differ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/common/entry/loop_kernel.hpp"
#include "kernels/common/entry/run_time_rows.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/schedule/host_vectors.hpp"
#include "kernels/common/schedule/walk.hpp"

namespace workbench {

// The parts of Format that are the same for all layouts.
void add_kernel(LayoutEntry& entry, KernelEntry&& kernel);
/// Sets KernelEntry::prepare_vectors of the kernel that was added last.
void add_vectors(LayoutEntry& entry, ForEachPrecision<PrepareVectors> prepare);
void add_schedule(LayoutEntry& entry, std::string kernel, const ForEachPrecision<WalkReads>& walk);
/// Unless the entry says otherwise, it has the layout's name and takes a matrix that is not split.
void complete_entry(LayoutEntry& entry, const char* name, const ForEachPrecision<EmptyLayout>& empty,
                    const ForEachPrecision<ListFields>& fields);

/// Builds up a LayoutEntry.
template <template <typename> typename LayoutOf>
class Format {
public:
    explicit Format(LayoutEntry entry) : entry_(std::move(entry)) {}
    operator LayoutEntry() { return std::move(entry_); }  // NOLINT(*-explicit-*): the end of the expression

    /// The Kokkos kernel of a schedule with one lane a row, or of a choice of schedules.
    template <typename S>
    Format& host(std::string name, std::string summary) {
        add(host_rows<LayoutOf, S>(std::move(name), std::move(summary)));
        return vectors<S>();
    }
    /// A Kokkos kernel with a loop of its own: KernelOf<Value>(layout).
    template <template <typename> typename KernelOf>
    Format& host(std::string name, std::string summary) {
        return add(loop_kernel<LayoutOf, KernelOf>(Backend::kokkos, std::move(name), std::move(summary)));
    }

    /// The CUDA kernel of a schedule, or of a choice of schedules.
    template <typename S>
    Format& cuda(std::string name, std::string summary) {
        add_schedule(entry_, name, walk_of<LayoutOf, S>());
#ifdef WORKBENCH_FORMAT_FILE  // the file of a format beside the recipe
        add(RunTimeRows<LayoutOf, S>::entry(std::move(name), std::move(summary)));
#else
        if constexpr (WORKBENCH_HAS_CUDA) add(CudaRows<LayoutOf, S>::entry(std::move(name), std::move(summary)));
#endif
        return vectors_on_gpu<S>();
    }
    /// A CUDA kernel with a loop of its own that reads by these schedules, one after another.
    template <template <typename> typename KernelOf, typename... Schedules>
    requires(sizeof...(Schedules) > 0) Format& cuda(std::string name, std::string summary) {
        return loop<KernelOf>(std::move(name), std::move(summary), walk_of<LayoutOf, Schedules...>());
    }
    /// A CUDA kernel with a loop of its own, and the walk over its reads: walk(layout, visit), a lambda without captures.
    template <template <typename> typename KernelOf, typename Walk>
    Format& cuda(std::string name, std::string summary, Walk) {
        return loop<KernelOf>(std::move(name), std::move(summary),
                              {walk_layout<Walk, LayoutOf<float>, float>, walk_layout<Walk, LayoutOf<double>, double>});
    }
    /// Has the kernel of the host that was added last multiply several vectors by these schedules, one after another. The first
    /// writes all rows, unless it is atomic or the arrays have a function first_has_all_rows(). Kernels of one schedule do so
    /// without being told.
    template <typename... Schedules>
    Format& vectors() {
        add_vectors(entry_, host_vectors_of<LayoutOf, Schedules...>());
        return *this;
    }
    /// Likewise for the CUDA kernel that was added last. The lanes of a row are in one warp.
    template <typename... Schedules>
    Format& vectors_on_gpu() {
        using Made = RunTimeRows<LayoutOf, Schedules...>;
        entry_.schedules.back().compile_vectors = Made::compile();
#ifdef WORKBENCH_FORMAT_FILE
        add_vectors(entry_, Made::vectors());
#else
        if constexpr (WORKBENCH_HAS_CUDA) add_vectors(entry_, Made::vectors());
#endif
        return *this;
    }
    /// States how NVRTC compiles the CUDA kernel with a loop of its own that was added last for several vectors:
    /// compile(layout, vectors, architecture), a lambda without captures.
    template <typename Compile>
    Format& compiled_for_vectors(Compile) {
        entry_.schedules.back().compile_vectors = {compile_loop<Compile, LayoutOf<float>, float>,
                                                   compile_loop<Compile, LayoutOf<double>, double>};
        return *this;
    }
    /// Kernels that exist only with CUDA, from a function that also exists only with CUDA.
    template <std::vector<KernelEntry> (*kernels)()>
    Format& with_cuda() {
        if constexpr (WORKBENCH_HAS_CUDA) with(kernels());
        return *this;
    }
    Format& with(const std::vector<KernelEntry>& kernels) {
        for (KernelEntry kernel : kernels) add(std::move(kernel));
        return *this;
    }

private:
    Format& add(KernelEntry&& kernel) {
        add_kernel(entry_, std::move(kernel));
        return *this;
    }
    template <template <typename> typename KernelOf>
    Format& loop(std::string name, std::string summary, const ForEachPrecision<WalkReads>& walk) {
        add_schedule(entry_, name, walk);
#ifdef WORKBENCH_FORMAT_FILE
        static_assert(sizeof(LayoutOf<float>) == 0, "a kernel with a loop of its own belongs into [kernel] cuda_source");
#endif
        if constexpr (WORKBENCH_HAS_CUDA) add(CudaLoop<LayoutOf, KernelOf>::entry(std::move(name), std::move(summary)));
        return *this;
    }
    template <typename Walk, typename OwnLayout, ValueType Value>
    static void walk_layout(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
        Walk{}(dynamic_cast<const OwnLayout&>(layout), visit);
    }

    template <typename Compile, typename OwnLayout, ValueType Value>
    static void compile_loop(const Layout<Value>& layout, int vectors, const std::string& architecture) {
        Compile{}(dynamic_cast<const OwnLayout&>(layout), vectors, architecture);
    }

    LayoutEntry entry_;
};

template <typename OwnLayout, typename Fill, ValueType Value>
std::unique_ptr<Layout<Value>> build_filled(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<OwnLayout>();
    if constexpr (requires { layout->row_count; }) {
        layout->row_count = matrix.rows;
        layout->column_count = matrix.columns;
    }
    layout->nonzero_count = matrix.nonzeros();
    Fill{}(*layout, staged, parameters);
    return layout;
}

/// A format with a `build` of its own.
template <template <typename> typename LayoutOf>
[[nodiscard]] Format<LayoutOf> format(LayoutEntry entry) {
    complete_entry(entry, LayoutOf<float>::name, empty_layouts_of<LayoutOf>(), field_lists_of<LayoutOf>());
    return Format<LayoutOf>(std::move(entry));
}

/// A format whose layouts are filled by fill(layout, staged, parameters). Before that call the number of nonzeros is set, and
/// the numbers of rows and columns unless they are members of a variant.
/// Fill: a lambda without captures.
template <template <typename> typename LayoutOf, typename Fill>
[[nodiscard]] Format<LayoutOf> format(LayoutEntry entry, Fill) {
    entry.build = {build_filled<LayoutOf<float>, Fill, float>, build_filled<LayoutOf<double>, Fill, double>};
    return format<LayoutOf>(std::move(entry));
}

}  // namespace workbench
