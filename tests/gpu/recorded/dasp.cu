#include "gpu/recorded/recording.cuh"
#include "kernels/formats/dasp/kernel.cuh"

namespace workbench {

template <typename Shape>
RecordedArrays record_dasp(const DaspLayout<double>& layout, Device& device) {
    return record(dasp::ClassesKernel<Shape, true, double>(layout, device), layout, device);
}

template RecordedArrays record_dasp<DaspFlat>(const DaspLayout<double>&, Device&);
template RecordedArrays record_dasp<DaspSmall>(const DaspLayout<double>&, Device&);
template RecordedArrays record_dasp<DaspLong>(const DaspLayout<double>&, Device&);
template RecordedArrays record_dasp<DaspWide>(const DaspLayout<double>&, Device&);
template RecordedArrays record_dasp<DaspDeep>(const DaspLayout<double>&, Device&);

}  // namespace workbench
