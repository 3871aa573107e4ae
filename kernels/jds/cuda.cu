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
    multiply(const __grid_constant__ Arrays jds, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const JaggedRow row = JdsRows::row(jds, static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x);
    if (row.row < 0) return;
    const Value sum = multiply_run<JdsRows>(jds, row, x, Load{});
    __stcs(y + row.row, accumulate ? y[row.row] + sum : sum);
}

template <ValueType Value, typename Load, bool constant>
class JdsKernel final : public Kernel<Value> {
public:
    JdsKernel(const JdsLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), jds_(copy_to(device, layout.stored(), "jds")) {
        const auto& offsets = layout.diagonal_offsets;
        fits_ = constant && offsets.size() <= constant_offsets;
        if (fits_) std::copy(offsets.begin(), offsets.end(), constant_offsets_.offsets);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (jds_.row_count == 0) return;
        const auto view = view_of(jds_);
        const auto launch = [&](const auto& arrays) {
            multiply<Load><<<blocks_for(jds_.row_count, row_threads), row_threads, 0, stream_>>>(arrays, x, y, accumulate);
        };
        fits_ ? launch(WithConstantOffsets<Jds<Value, ArrayView>>{view, constant_offsets_}) : launch(view);
        check_launch("jds");
    }

private:
    cudaStream_t stream_;
    Jds<Value, DeviceArray> jds_;
    ConstantOffsets constant_offsets_{};
    bool fits_ = false;
};

template <ValueType Value, typename Load, bool constant>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::make_unique<JdsKernel<Value, Load, constant>>(dynamic_cast<const JdsLayout<Value>&>(layout), device);
}

}  // namespace

std::vector<KernelEntry> jds_cuda_kernels() {
    return {
        {"streaming",
         Backend::cuda,
         "one thread a row; streaming loads of the matrix, the diagonals' offsets through L1",
         {prepare<float, StreamingLoad, false>, prepare<double, StreamingLoad, false>}},
        {"constant",
         Backend::cuda,
         "one thread a row; streaming loads of the matrix, the diagonals' offsets in constant memory where they fit",
         {prepare<float, StreamingLoad, true>, prepare<double, StreamingLoad, true>}},
        {"uncached",
         Backend::cuda,
         "as the slides have it: ld.global.cv for the matrix, st.global.cs for y, offsets in constant memory where they fit",
         {prepare<float, VolatileLoad, true>, prepare<double, VolatileLoad, true>}}};
}

}  // namespace workbench
