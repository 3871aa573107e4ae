#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/formats/ellr/layout.hpp"

template struct workbench::CudaRows<workbench::EllrLayout, workbench::EllrRows>;
