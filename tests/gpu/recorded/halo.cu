#include "gpu/recorded/recording.cuh"
#include "kernels/formats/halo/kernel.cuh"

namespace workbench {

RecordedArrays record_halo(const HaloLayout<double>& layout, Device& device) {
    return record(halo::PartsKernel<double>(layout, device), layout, device);
}

}  // namespace workbench
