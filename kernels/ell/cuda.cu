// ELL on a GPU, after Wikberg (2025), chapter 5. `reduce` writes each row of y from exactly one thread, and meets at a barrier
// between writing shared memory and reading it; the others are as in schedule/device_rows.cuh.
#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/ell/layout.hpp"

namespace workbench {
namespace {

/// Column by column: warp g of a block takes the slots g, g + groups, ... of its 32 rows; the first warp sums up.
template <typename Arrays, typename Value>
__global__ void __launch_bounds__(EllGroups::rows_of_block* EllGroups::most_groups)
    reduce_columns(const __grid_constant__ Arrays ell, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    __shared__ Value sums[EllGroups::most_groups][EllGroups::rows_of_block];
    const int lane = static_cast<int>(threadIdx.x);
    const int group = static_cast<int>(threadIdx.y);
    const int groups = static_cast<int>(blockDim.y);
    const auto run = EllGroups::run_of(ell, blockIdx.x, group, lane, groups);
    sums[group][lane] = run.row >= 0 ? multiply_run<EllGroups>(ell, run, x, StreamingLoad{}) : Value{0};
    __syncthreads();
    if (group != 0 || run.row < 0) return;
    Value sum = 0;
    for (int other = 0; other < groups; ++other) sum += sums[other][lane];
    write_result(y + run.row, sum, accumulate);
}

template <ValueType Value>
class EllReduceColumns final : public Kernel<Value> {
public:
    EllReduceColumns(const EllLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), ell_(copy_to(device, layout.stored(), "ell")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (ell_.row_count == 0) return;
        const dim3 threads(EllGroups::rows_of_block, static_cast<unsigned>(EllGroups::groups(ell_)));
        reduce_columns<<<blocks_for(ell_.row_count, EllGroups::rows_of_block), threads, 0, stream_>>>(view_of(ell_), x, y,
                                                                                                      accumulate);
        check_launch("ell reduce");
    }

private:
    cudaStream_t stream_;
    Ell<Value, DeviceArray> ell_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_reduce(const Layout<Value>& layout, Device& device) {
    const auto& ell = dynamic_cast<const EllLayout<Value>&>(layout);
    if (ell.order == EllOrder::row_major) return prepare_device_rows<EllNeighbours, Value, EllLayout<Value>>(layout, device);
    return std::make_unique<EllReduceColumns<Value>>(ell, device);
}

}  // namespace

std::vector<KernelEntry> ell_cuda_kernels() {
    return {device_rows<EllLayout, EllRow>("rows", "one thread a row"),
            {"reduce",
             Backend::cuda,
             "several threads a row, by its width, whose sums meet in shared memory or by shuffles",
             {prepare_reduce<float>, prepare_reduce<double>}},
            device_rows<EllLayout, EllEachSlot>("atomic", "one thread a slot, which adds to y atomically")};
}

}  // namespace workbench
