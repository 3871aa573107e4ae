#include "gpu/recorded/recording.cuh"
#include "kernels/formats/csr/merge.cuh"

namespace workbench {

RecordedArrays record_csr_merge(const CsrLayout<double>& layout, Device& device) {
    return record(csr_merge::MergeKernel<double>(layout, device), layout, device);
}

}  // namespace workbench
