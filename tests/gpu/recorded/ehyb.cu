#include "gpu/recorded/recording.cuh"
#include "kernels/formats/ehyb/kernel.cuh"

namespace workbench {

RecordedArrays record_ehyb(const EhybLayout<double>& layout, bool fused, Device& device) {
    return std::visit(
        [&]<typename ColumnIndex>(const Ehyb<double, ColumnIndex, HostArray>& own) {
            return record(ehyb::PartitionsKernel<double, ColumnIndex>(own, fused, device), layout, device);
        },
        layout.stored);
}

}  // namespace workbench
