// Rows on a GPU. For the kernels of schedules see schedule/rows_kernel.cuh. Kernel `reduce` of ell is after Wikberg (2025),
// chapter 5: exactly one thread writes each row of y, and a barrier separates writing shared memory from reading it.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/rows/variants.hpp"

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
            return prepare_device_rows<RowsOfThreads, Value, EllLayout<Value>>(layout, rows, device);
        });
    }
};

template struct CudaRows<Csr16Layout, RowsOfThreads>;
template struct CudaRows<EllLayout, RowsOfOneLane>;
template struct CudaLoop<EllLayout, EllReduction>;
template struct CudaRows<EllLayout, EllEachSlot>;
template struct CudaRows<EllrLayout, RowsOfOneLane>;

template <ValueType Value>
std::unique_ptr<Kernel<Value>> compiled_rows_kernel(StoredOnDevice<CompiledRows<Value>>&& rows,
                                                    std::span<const Index> rows_of_y, Device& device,
                                                    std::optional<std::int64_t> own_bytes) {
    return with_alternative(rows, [&]<typename OnGpu>(OnGpu& arrays) {
        return device_rows_of<RowsOnGpu, Value, InStorage<OnGpu, HostArray>>(std::move(arrays), rows_of_y, device,
                                                                             AnyRowsLayout<Value>::name, own_bytes);
    });
}

template std::unique_ptr<Kernel<float>> compiled_rows_kernel(StoredOnDevice<CompiledRows<float>>&&, std::span<const Index>,
                                                             Device&, std::optional<std::int64_t>);
template std::unique_ptr<Kernel<double>> compiled_rows_kernel(StoredOnDevice<CompiledRows<double>>&&, std::span<const Index>,
                                                              Device&, std::optional<std::int64_t>);

}  // namespace workbench
