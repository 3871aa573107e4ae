#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/formats/ellr/layout.hpp"

namespace workbench {

template struct CudaRows<EllrLayout, EllrRows>;

template <ValueType Value>
std::unique_ptr<Kernel<Value>> ellr_kernel_on_gpu(Ellr<Value, DeviceArray>&& ellr, Offset nonzeros, Device& device) {
    const auto vectors = Offset{ellr.row_count} + ellr.column_count;
    const auto bytes =
        static_cast<std::int64_t>((nonzeros + vectors) * sizeof(Value) + (nonzeros + ellr.row_count) * sizeof(Index));
    return device_rows_of<EllrRows, Value, Ellr<Value, HostArray>>(std::move(ellr), device, EllrLayout<Value>::name, bytes);
}

template std::unique_ptr<Kernel<float>> ellr_kernel_on_gpu(Ellr<float, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<double>> ellr_kernel_on_gpu(Ellr<double, DeviceArray>&&, Offset, Device&);

}  // namespace workbench
