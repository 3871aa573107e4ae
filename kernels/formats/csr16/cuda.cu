#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/csr16/layout.hpp"

namespace workbench {

template struct CudaRows<Csr16Layout, Csr16Rows<8>>;

template <ValueType Value, typename Stored>
std::unique_ptr<Kernel<Value>> csr16_kernel_on_gpu(Csr16<Stored, DeviceArray>&& csr16, Device& device) {
    return device_rows_of<Csr16Rows<8>, Value, Csr16<Stored, HostArray>>(std::move(csr16), device, Csr16Layout<Value>::name);
}

template std::unique_ptr<Kernel<float>> csr16_kernel_on_gpu(Csr16<float, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<float>> csr16_kernel_on_gpu(Csr16<Constant<float>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<float>> csr16_kernel_on_gpu(Csr16<Coded<float, std::uint8_t>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> csr16_kernel_on_gpu(Csr16<double, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> csr16_kernel_on_gpu(Csr16<Constant<double>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> csr16_kernel_on_gpu(Csr16<Coded<double, std::uint8_t>, DeviceArray>&&, Device&);
template std::unique_ptr<Kernel<double>> csr16_kernel_on_gpu(Csr16<float, DeviceArray>&&, Device&);

}  // namespace workbench
