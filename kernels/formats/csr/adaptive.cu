#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/formats/csr/adaptive.cuh"

namespace workbench {
namespace {

/// Counts the columns that follow the column before them, as reads_x_in_runs.
__global__ void __launch_bounds__(256)
    count_neighbours(const Index* __restrict__ columns, Offset count, unsigned long long* neighbours) {
    unsigned own = 0;
    for (Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x + 1; i < count; i += Offset{gridDim.x} * blockDim.x) {
        own += columns[i] == columns[i - 1] + 1 ? 1 : 0;
    }
    own = __reduce_add_sync(~0U, own);
    if (threadIdx.x % 32 == 0 && own > 0) atomicAdd(neighbours, own);
}

bool reads_x_in_runs_on_gpu(const Index* columns, Offset count, Device& device) {
    const DeviceMemory neighbours = device.allocate(sizeof(unsigned long long), "the number of neighbours");
    device.zero(neighbours.address(), neighbours.bytes());
    count_neighbours<<<1024, 256, 0, cuda_device(device).stream()>>>(columns, count, neighbours.as<unsigned long long>());
    check_launch("count_neighbours");
    unsigned long long found = 0;
    device.download(neighbours, std::as_writable_bytes(std::span(&found, 1)));
    return 2 * found > static_cast<unsigned long long>(count);
}

}  // namespace

template <ValueType Value>
struct CsrAdaptive {
    static std::unique_ptr<Kernel<Value>> prepare(const CsrLayout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& csr) {
            return with_tile_shape(csr, [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
                return std::make_unique<csr_adaptive::AdaptiveKernel<Shape, Value, Stored>>(layout, csr, device);
            });
        });
    }
};

template struct CudaLoop<CsrLayout, CsrAdaptive>;

template <ValueType Value, typename Arrays>
std::unique_ptr<Kernel<Value>> csr_kernel_on_gpu(Arrays&& csr, std::int64_t bytes, Device& device) {
    HostArray<Offset> row_offsets;
    make_room(row_offsets, csr.row_offsets.size());
    copy_from_device(device, csr.row_offsets.data(), std::span(row_offsets));
    const auto in_runs = [&] { return reads_x_in_runs_on_gpu(csr.column_indices.data(), csr.column_indices.size(), device); };
    return with_tile_shape(view_of(csr), in_runs, [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
        using Tiles = csr_adaptive::AdaptiveKernel<Shape, Value, InStorage<Arrays, HostArray>>;
        return std::make_unique<Tiles>(std::move(csr), bytes, row_offsets, device);
    });
}

template std::unique_ptr<Kernel<float>> csr_kernel_on_gpu(Csr<float, DeviceArray>&&, std::int64_t, Device&);
template std::unique_ptr<Kernel<float>> csr_kernel_on_gpu(CsrPattern<float, DeviceArray>&&, std::int64_t, Device&);
template std::unique_ptr<Kernel<float>> csr_kernel_on_gpu(Csr<Coded<float, std::uint8_t>, DeviceArray>&&, std::int64_t,
                                                          Device&);
template std::unique_ptr<Kernel<double>> csr_kernel_on_gpu(Csr<double, DeviceArray>&&, std::int64_t, Device&);
template std::unique_ptr<Kernel<double>> csr_kernel_on_gpu(CsrPattern<double, DeviceArray>&&, std::int64_t, Device&);
template std::unique_ptr<Kernel<double>> csr_kernel_on_gpu(Csr<Coded<double, std::uint8_t>, DeviceArray>&&, std::int64_t,
                                                           Device&);
template std::unique_ptr<Kernel<double>> csr_kernel_on_gpu(Csr<float, DeviceArray>&&, std::int64_t, Device&);

}  // namespace workbench
