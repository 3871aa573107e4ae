// ELL on a GPU, after Wikberg (2025), chapter 5. In `reduce`, exactly one thread writes each row of y, and a barrier separates
// writing shared memory from reading it; for the others see schedule/device_rows.cuh.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/ell/layout.hpp"

namespace workbench {
namespace {

/// Column by column: warp g of a block takes the slots g, g + groups, ... of its 32 rows; the first warp sums up.
template <typename Groups, typename Arrays, typename Value>
__global__ void __launch_bounds__(Groups::rows_of_block* Groups::groups)
    reduce_columns(const __grid_constant__ Arrays ell, TargetRows target, const Value* __restrict__ x, Value* __restrict__ y,
                   bool accumulate) {
    __shared__ Value sums[Groups::groups][Groups::rows_of_block];
    const int lane = static_cast<int>(threadIdx.x);
    const int group = static_cast<int>(threadIdx.y);
    const auto load = loads_of_block(ell.values);
    const auto run = Groups::run_of(ell, blockIdx.x, group, lane);
    sums[group][lane] = run.row >= 0 ? multiply_run<Groups>(ell, run, x, load) : Value{0};
    __syncthreads();
    if (group != 0 || run.row < 0) return;
    Value sum = 0;
#pragma unroll
    for (int other = 0; other < Groups::groups; ++other) sum += sums[other][lane];
    write_result(y + target[run.row], sum, accumulate);
}

template <ValueType Value, typename Stored>
class EllReduceColumns final : public Kernel<Value> {
public:
    EllReduceColumns(const Stored& ell, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), ell_(copy_to(device, ell, "ell")), rows_(device, rows, "ell") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (ell_.row_count == 0) return;
        const auto ell = view_of(ell_);
        EllWarps::choose(ell, [&]<typename Groups>(Groups) {
            const dim3 threads(Groups::rows_of_block, Groups::groups);
            const unsigned blocks = blocks_for(ell.row_count, Groups::rows_of_block);
            reduce_columns<Groups>
                <<<blocks, threads, bytes_of_dictionary(ell.values), stream_>>>(ell, rows_.view(), x, y, accumulate);
        });
        check_launch("ell reduce");
    }

private:
    cudaStream_t stream_;
    InStorage<Stored, DeviceArray> ell_;
    OwnedTargetRows rows_;
};

}  // namespace

template <ValueType Value>
struct EllReduction {
    static std::unique_ptr<Kernel<Value>> prepare(const EllLayout<Value>& layout, std::span<const Index> rows, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& ell) -> std::unique_ptr<Kernel<Value>> {
            if (ell.order == EllOrder::column_major) {
                return std::make_unique<EllReduceColumns<Value, Stored>>(ell, rows, device);
            }
            return prepare_device_rows<EllNeighbours, Value, EllLayout<Value>>(layout, rows, device);
        });
    }
};

template struct CudaRows<EllLayout, EllRow>;
template struct CudaLoop<EllLayout, EllReduction>;
template struct CudaRows<EllLayout, EllEachSlot>;

template <ValueType Value, typename Stored>
std::unique_ptr<Kernel<Value>> ell_kernel_on_gpu(Ell<Stored, DeviceArray>&& ell, Device& device) {
    return device_rows_of<EllRow, Value, Ell<Stored, HostArray>>(std::move(ell), device, EllLayout<Value>::name);
}

template std::unique_ptr<Kernel<float>> ell_kernel_on_gpu(Ell<float, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<float>> ell_kernel_on_gpu(Ell<Constant<float>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<float>> ell_kernel_on_gpu(Ell<Coded<float, std::uint8_t>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> ell_kernel_on_gpu(Ell<double, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> ell_kernel_on_gpu(Ell<Constant<double>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> ell_kernel_on_gpu(Ell<Coded<double, std::uint8_t>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> ell_kernel_on_gpu(Ell<float, DeviceArray>&&, Device&);

}  // namespace workbench
