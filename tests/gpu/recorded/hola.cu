#include "gpu/recorded/recording.cuh"
#include "kernels/hola/kernel.cuh"

namespace workbench {

RecordedArrays record_hola(const HolaLayout<double>& layout, Device& device) {
    return record(hola::SharesKernel<double>(layout, device), layout, device);
}

}  // namespace workbench
