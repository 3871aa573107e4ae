#include "gpu/recorded/recording.cuh"
#include "kernels/bccoo/kernel.cuh"

namespace workbench {

RecordedArrays record_bccoo(const BccooLayout<double>& layout, Device& device) {
    return record(bccoo::LanesKernel<double>(layout, device), layout, device);
}

}  // namespace workbench
