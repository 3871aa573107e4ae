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

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/storage/device_jagged.cuh"
#include "kernels/jds/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;
constexpr int constant_offsets = 480;  // parameters of 4 KiB are what every driver takes

/// Offsets that travel as a parameter.
struct ConstantOffsets {
    Offset offsets[constant_offsets];

    __device__ __forceinline__ Offset operator[](Offset diagonal) const { return offsets[diagonal]; }
};

/// Offsets that stay where they are.
struct GlobalOffsets {
    const Offset* offsets;

    __device__ __forceinline__ Offset operator[](Offset diagonal) const { return offsets[diagonal]; }
};

template <typename Load, typename Offsets, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, Offset diagonals, JaggedView<Value, Index> jagged, const __grid_constant__ Offsets offsets,
             const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= rows) return;
    const Value sum = jagged.template multiply_row<entries_in_flight, Load>(offsets, 0, diagonals, row, x);
    __stcs(y + row, accumulate ? y[row] + sum : sum);
}

template <ValueType Value, typename Load, bool constant>
class JdsKernel final : public Kernel<Value> {
public:
    JdsKernel(const JdsLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          diagonals_(layout.jagged.diagonal_count()),
          jagged_(device, layout.jagged, "JDS") {
        const auto& offsets = layout.jagged.diagonal_offsets;
        fits_ = constant && offsets.size() <= constant_offsets;
        if (fits_) std::copy(offsets.begin(), offsets.end(), constant_offsets_.offsets);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        const JaggedView<Value, Index> view = jagged_.view();
        const unsigned blocks = blocks_for(rows_, threads_per_block);
        if (fits_) {
            multiply<Load>
                <<<blocks, threads_per_block, 0, stream_>>>(rows_, diagonals_, view, constant_offsets_, x, y, accumulate);
        } else {
            multiply<Load><<<blocks, threads_per_block, 0, stream_>>>(rows_, diagonals_, view,
                                                                      GlobalOffsets{view.diagonal_offsets}, x, y, accumulate);
        }
        check_launch("jds");
    }

private:
    cudaStream_t stream_;
    Index rows_;
    Offset diagonals_;
    DeviceJagged<Value, Index> jagged_;
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
