// JDS on a GPU: one thread a row, after the slides of Nagasaka. Each row of y is written by exactly one thread, so that threads
// cannot race in global memory; no shared memory is used.
//
// The slides read the matrix with ld.global.cv, so that it does not push x out of the caches of a K20X, and write y with
// st.global.cs. Kernel `uncached` does just that. On present GPUs .cv makes every load as strong as one of a volatile variable:
// it keeps L1 clean, but the compiler may not move it, and L2 holds on to what it read. `.cs` (streaming: first to leave the
// caches) says what is meant and nothing more; the other two kernels use it.
//
// The offsets of the diagonals are the same for all rows. In constant memory (kernel parameters lie there) all lanes of a warp
// get them at once; where they do not fit, and in kernel `streaming`, they come through L1.
#include <algorithm>

#include "kernels/common/storage/multiply_jagged.cuh"
#include "kernels/device/prepare.hpp"
#include "kernels/jds/layout.hpp"

namespace workbench {
namespace {

constexpr int constant_offsets = 480;  // parameters of 4 KiB are what every driver takes

/// Offsets that travel as a parameter.
struct ConstantOffsets {
    Offset offsets[constant_offsets];

    constexpr Offset operator[](Offset diagonal) const { return offsets[diagonal]; }
};

/// The arrays with these offsets in place of those in memory.
template <typename Arrays>
struct WithConstantOffsets : Arrays {
    ConstantOffsets diagonal_offsets;  // hides the view
};

template <typename Load, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads, JdsRows::resident_blocks)
    multiply(const __grid_constant__ Arrays jds, TargetRows target, const Value* __restrict__ x, Value* __restrict__ y,
             bool accumulate) {
    const JaggedRow row = JdsRows::row(jds, static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x);
    if (row.row < 0) return;
    const Value sum = multiply_run<JdsRows>(jds, row, x, Load{});
    Value* const y_of_row = y + target[row.row];
    __stcs(y_of_row, accumulate ? *y_of_row + sum : sum);
}

template <ValueType Value, typename Load, bool constant>
class JdsKernel final : public Kernel<Value> {
public:
    JdsKernel(const JdsLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), jds_(copy_to(device, layout.stored(), "jds")), rows_(device, rows, "jds") {
        const auto& offsets = layout.diagonal_offsets;
        fits_ = constant && offsets.size() <= constant_offsets;
        if (fits_) std::copy(offsets.begin(), offsets.end(), constant_offsets_.offsets);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (jds_.row_count == 0) return;
        const auto view = view_of(jds_);
        const auto launch = [&](const auto& arrays) {
            multiply<Load>
                <<<blocks_for(jds_.row_count, row_threads), row_threads, 0, stream_>>>(arrays, rows_.view(), x, y, accumulate);
        };
        fits_ ? launch(WithConstantOffsets<Jds<Value, ArrayView>>{view, constant_offsets_}) : launch(view);
        check_launch("jds");
    }

private:
    cudaStream_t stream_;
    Jds<Value, DeviceArray> jds_;
    OwnedTargetRows rows_;
    ConstantOffsets constant_offsets_{};
    bool fits_ = false;
};

template <ValueType Value>
using Streaming = JdsKernel<Value, StreamingLoad, false>;
template <ValueType Value>
using Constant = JdsKernel<Value, StreamingLoad, true>;
template <ValueType Value>
using Uncached = JdsKernel<Value, VolatileLoad, true>;

}  // namespace

std::vector<KernelEntry> jds_cuda_kernels() {
    return {
        {"streaming", Backend::cuda, "one thread a row; streaming loads of the matrix, the diagonals' offsets through L1",
         prepare_as<Streaming, JdsLayout>(), prepare_rows_as<Streaming, JdsLayout>()},
        {"constant", Backend::cuda,
         "one thread a row; streaming loads of the matrix, the diagonals' offsets in constant memory where they fit",
         prepare_as<Constant, JdsLayout>(), prepare_rows_as<Constant, JdsLayout>()},
        {"uncached", Backend::cuda,
         "as the slides have it: ld.global.cv for the matrix, st.global.cs for y, offsets in constant memory where they fit",
         prepare_as<Uncached, JdsLayout>(), prepare_rows_as<Uncached, JdsLayout>()}};
}

}  // namespace workbench
