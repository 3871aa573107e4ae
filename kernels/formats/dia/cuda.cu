#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/formats/dia/layout.hpp"

template struct workbench::CudaRows<workbench::DiaLayout, workbench::DiaRows>;
