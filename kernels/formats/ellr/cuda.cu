#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/ellr/layout.hpp"

namespace workbench {

template struct CudaRows<EllrLayout, EllrRows>;

template <ValueType Value, typename Stored>
std::unique_ptr<Kernel<Value>> ellr_kernel_on_gpu(Ellr<Stored, DeviceArray>&& ellr, Offset nonzeros, Device& device) {
    const auto view = view_of(ellr);
    const auto vectors = static_cast<std::int64_t>((Offset{ellr.row_count} + ellr.column_count) * sizeof(Value));
    const auto bytes = nonzeros * bytes_of_slot(view) + bytes_of_dictionary(view.values) +
                       static_cast<std::int64_t>(ellr.row_count * sizeof(Index)) + vectors;
    return device_rows_of<EllrRows, Value, Ellr<Stored, HostArray>>(std::move(ellr), device, EllrLayout<Value>::name, bytes);
}

template std::unique_ptr<Kernel<float>> ellr_kernel_on_gpu(Ellr<float, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<float>> ellr_kernel_on_gpu(Ellr<Constant<float>, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<float>> ellr_kernel_on_gpu(Ellr<Coded<float, std::uint8_t>, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<double>> ellr_kernel_on_gpu(Ellr<double, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<double>> ellr_kernel_on_gpu(Ellr<Constant<double>, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<double>> ellr_kernel_on_gpu(Ellr<Coded<double, std::uint8_t>, DeviceArray>&&, Offset, Device&);
template std::unique_ptr<Kernel<double>> ellr_kernel_on_gpu(Ellr<float, DeviceArray>&&, Offset, Device&);

}  // namespace workbench
