#include "gpu/recorded/recording.cuh"
#include "kernels/csr/adaptive.cuh"

namespace workbench {

RecordedArrays record_csr_adaptive(const CsrLayout<double>& layout, Device& device) {
    return with_tile_shape(layout.stored(), [&]<typename Shape>(Shape) {
        return record<RecordingPackets>(csr_adaptive::TilesKernel<Shape, double>(layout, device), layout, device);
    });
}

}  // namespace workbench
