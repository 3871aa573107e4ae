// Stands in for kernels/device/cuda_device.cu and kernels/gpu/gpu.cu where CUDA is not built.
#include "kernels/device/cuda_device.hpp"
#include "kernels/gpu/gpu.hpp"

#include <stdexcept>

namespace workbench {

int cuda_device_number() { return -1; }
std::unique_ptr<Device> make_cuda_device() { return nullptr; }

std::unique_ptr<Device> make_cuda_device_on(void*) { return nullptr; }

std::unique_ptr<Device> make_cuda_device_for_solver(void*) { return nullptr; }

std::string cusparse_version() { return ""; }

void choose_cuda_device(int) {}

std::string cuda_absence_reason() { return "this program was built without CUDA"; }

void* stream_of(Device&) { throw std::logic_error("a stream is asked for where there is no CUDA"); }

}  // namespace workbench
