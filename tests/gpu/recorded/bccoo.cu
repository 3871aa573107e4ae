#include "gpu/recorded/recording.cuh"
#include "kernels/formats/bccoo/kernel.cuh"

namespace workbench {

RecordedArrays record_bccoo(const BccooLayout<double>& layout, Device& device) {
    return record(bccoo::LanesKernel<double>(layout, std::get<0>(layout.stored), device), layout, device);
}

}  // namespace workbench
