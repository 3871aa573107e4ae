// JDS on a GPU: one thread per row, after the slides of Nagasaka. Exactly one thread writes each row of y, so that threads
// cannot race in global memory; no shared memory is used.
//
// The slides read the matrix with ld.global.cv, so that it does not push x out of the caches of a K20X, and write y with
// st.global.cs. Kernel `uncached` does so. On present GPUs .cv is a volatile load: it does not fill L1, but the compiler may
// not move it, and L2 keeps the data. The other two kernels use .cs (streaming: the first data to leave the caches).
//
// The offsets of the diagonals are the same for all rows. In constant memory, where kernel parameters are, all lanes of a warp
// get them at once; if they do not fit, and in kernel `streaming`, they come through L1.
#include <algorithm>
#include <variant>

#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/schemes/multiply_jagged.cuh"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {
namespace {

using JdsRow = RowLanes<jds_shape, 1>;

constexpr int constant_offsets = 480;  // every driver accepts parameters of 4 KiB

/// Offsets as a kernel parameter.
struct ConstantOffsets {
    Offset offsets[constant_offsets];

    constexpr Offset operator[](Offset diagonal) const { return offsets[diagonal]; }
};

/// The arrays with these offsets in place of those in memory.
template <typename Arrays>
struct WithConstantOffsets : Arrays {
    ConstantOffsets diagonal_offsets;  // hides the member of Arrays
};

template <typename Load, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads, JdsRow::resident_blocks)
    multiply(const __grid_constant__ Arrays jds, TargetRows target, const Value* __restrict__ x, Value* __restrict__ y,
             bool accumulate) {
    const JaggedRow row = jagged_row(jds, static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x);
    if (row.row < 0) return;
    const Value sum = multiply_run<JdsRow>(jds, row, x, Load{});
    Value* const y_of_row = y + target[row.row];
    __stcs(y_of_row, accumulate ? *y_of_row + sum : sum);
}

}  // namespace

/// is_volatile: loads of the matrix, otherwise streaming. is_constant: offsets in constant memory.
template <ValueType Value, bool is_volatile, bool is_constant>
class JdsKernel final : public Kernel<Value> {
public:
    JdsKernel(const JdsLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()),
          jds_(copy_to(device, std::get<0>(layout.stored), "jds")),
          rows_(device, rows, "jds") {
        const auto& offsets = std::get<0>(layout.stored).diagonal_offsets;
        fits_ = is_constant && offsets.size() <= constant_offsets;
        if (fits_) std::copy(offsets.begin(), offsets.end(), constant_offsets_.offsets);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (jds_.row_count == 0) return;
        const auto view = view_of(jds_);
        const auto launch = [&](const auto& arrays) {
            multiply<Load>
                <<<blocks_for(jds_.row_count, row_threads), row_threads, 0, stream_>>>(arrays, rows_.view(), x, y, accumulate);
        };
        fits_ ? launch(WithConstantOffsets<RowsOfShape<jds_shape, Value, ArrayView>>{view, constant_offsets_}) : launch(view);
        check_launch("jds");
    }

private:
    using Load = std::conditional_t<is_volatile, VolatileLoad, StreamingLoad>;

    cudaStream_t stream_;
    RowsOfShape<jds_shape, Value, DeviceArray> jds_;
    OwnedTargetRows rows_;
    ConstantOffsets constant_offsets_{};
    bool fits_ = false;
};

template struct CudaLoop<JdsLayout, JdsStreaming>;
template struct CudaLoop<JdsLayout, JdsConstant>;
template struct CudaLoop<JdsLayout, JdsUncached>;

}  // namespace workbench
