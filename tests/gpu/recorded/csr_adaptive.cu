#include "gpu/recorded/recording.cuh"
#include "kernels/formats/csr/adaptive.cuh"

namespace workbench {

RecordedArrays record_csr_adaptive(const CsrLayout<double>& layout, Device& device) {
    const FullCsr<double>& csr = full_csr<double>(layout, "adaptive");
    return with_tile_shape(csr, [&]<typename Shape>(Shape) {
        return record<RecordingPackets>(csr_adaptive::AdaptiveKernel<Shape, double>(layout, csr, device), layout, device);
    });
}

}  // namespace workbench
