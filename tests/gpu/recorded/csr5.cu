#include "gpu/recorded/recording.cuh"
#include "kernels/formats/csr5/kernel.cuh"

namespace workbench {

RecordedArrays record_csr5(const Csr5Layout<double>& layout, Device& device) {
    return record(csr5::Csr5TilesKernel<double>(layout, std::get<0>(layout.stored), device), layout, device);
}

}  // namespace workbench
