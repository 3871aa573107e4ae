#include "gpu/recorded/recording.cuh"
#include "kernels/formats/hola/kernel.cuh"

namespace workbench {

RecordedArrays record_hola(const HolaLayout<double>& layout, Device& device) {
    return record(hola::HolaKernel<double>(layout, std::get<0>(layout.stored), device), layout, device);
}

}  // namespace workbench
