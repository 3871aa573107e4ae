// Stands in for kernels/common/device/cuda_device.cu where CUDA is not built.
#include "kernels/common/device/cuda_device.hpp"

namespace workbench {

std::unique_ptr<Device> make_cuda_device() { return nullptr; }

std::string cuda_absence_reason() { return "this program was built without CUDA"; }

}  // namespace workbench
